# SPDX-License-Identifier: BSD-2-Clause
"""The rates of `blkin sampling` last: over restarts of the agent, and over a boot, which empties the runtime directory."""

import functools
import os
import re
import shutil
import stat
import struct

import pytest
from rig.process import free_port, wait_until
from rig.scribe import Receiver
from test_user import User

REQUESTS = "tests/live/programs/requests"
SHOP = "examples/shop"


@pytest.fixture
def user(bare_node):
    user = User(bare_node, programs=(REQUESTS, SHOP))
    user.configure("[output]\ntype = none\n[session]\nmemory = 4M\n")
    return user


def kept(user):
    return os.path.join(user.home, ".local/state/blkin/sampling")


def rates(user, *words):
    return user.run("cli/blkin", "sampling", "--user", *words)


def fails(user, *words, code):
    program = user.start("cli/blkin", "sampling", *words)
    assert program.wait() == code, program.log()
    return program.log()


def boot(user):
    """What is left of the runtime directory by a boot."""
    shutil.rmtree(os.path.join(user.home, "run/blkin"), ignore_errors=True)


def agent_once(user):
    """Starts the agent, and ends it."""
    agent = user.start_agent()
    assert agent.stop() == 0


def test_rate_lasts(user):
    agent_once(user)
    assert rates(user) == "every service: default\n"
    assert rates(user, "1/7") == "every service: 1/7, also after a reboot\n"
    agent_once(user)
    assert rates(user) == "every service: 1/7, also after a reboot\n"
    boot(user)
    assert rates(user) == "every service: 1/7 when the agent starts\n"
    agent_once(user)
    assert rates(user) == "every service: 1/7, also after a reboot\n"
    shop = user.start(SHOP, "3", BLKIN_DEBUG="1")
    assert shop.wait() == 0 and "sampling: 1/7, by `blkin sampling --user`\n" in shop.log()
    assert stat.S_IMODE(os.stat(kept(user)).st_mode) == 0o644


def test_rate_of_now_does_not(user):
    agent_once(user)
    rates(user, "1/7")
    words = "every service: 1/2 until the next boot, then 1/7\n"
    assert rates(user, "--now", "1/2") == words
    agent_once(user)
    assert rates(user) == words
    boot(user)
    # whoever comes first: the command brings back what lasts before it changes the page
    words = "every service: 1/7, also after a reboot\nosd.3: off until the next boot, then default\n"
    assert rates(user, "--now", "off", "--service", "osd.3") == words
    agent_once(user)
    assert rates(user) == words
    boot(user)
    agent_once(user)
    assert rates(user) == "every service: 1/7, also after a reboot\n"


def test_default_removes_both(user):
    rates(user, "1/7")
    rates(user, "off", "--service", "a service of two words")
    rates(user, "--now", "1/2")
    assert rates(user, "default", "--now").startswith("every service: default until the next boot, then 1/7\n")
    assert rates(user, "default") == "every service: default\na service of two words: off, also after a reboot\n"
    with open(kept(user), encoding="utf-8") as file:
        assert file.read().splitlines()[1:] == ["off a service of two words"]
    boot(user)
    agent_once(user)
    assert rates(user) == "every service: default\na service of two words: off, also after a reboot\n"
    assert rates(user, "default", "--service", "a service of two words") == "every service: default\n"
    assert not os.path.exists(kept(user))


def test_long_names_are_kept_whole(user):
    name = "x" * 300
    assert f"\n{name}: 1/3, also after a reboot\n" in rates(user, "1/3", "--service", name)
    assert f"\n{name}: 1/3, also after a reboot\n" in rates(user)
    boot(user)
    assert f"\n{name}: 1/3 when the agent starts\n" in rates(user)


@pytest.mark.parametrize("folder", ["", "run"])
def test_without_a_runtime_directory(user, folder):
    """Programs would not find the page: none is written."""
    program = user.start("cli/blkin", "sampling", "--user", "1/7", XDG_RUNTIME_DIR=folder)
    assert program.wait() == 64
    assert "--user needs XDG_RUNTIME_DIR" in program.log() and "use --page FILE" in program.log()
    assert not os.path.exists(kept(user))


def test_programs_follow(bare_node, user):
    """The page is there before programs start, and what they record follows; also after a boot."""
    collector = Receiver(bare_node, free_port()).start()
    user.configure(f"[output]\nserver = 127.0.0.1:{collector.port}\n[session]\nmemory = 4M\n[spans]\nlinger = 1s\n")
    agent = user.start_agent()
    program = user.start(REQUESTS, "svc", "6", "100")
    collector.wait_for(60, 20)
    rates(user, "off")
    assert program.wait() == 0
    assert int(program.log()) == 600
    assert agent.stop() == 0
    count = len(collector.spans())
    assert 60 <= count < 1800
    boot(user)
    agent = user.start_agent()
    program = user.start(REQUESTS, "svc", "3", "100")
    said = "`blkin sampling` tells programs to record nothing\n    -> run `blkin sampling default --user`"
    wait_until(lambda: said in user.run("cli/blkin", "status", "--user"), 3, "the status to say why nothing comes", 0.3)
    assert program.wait() == 0
    assert agent.stop() == 0
    assert len(collector.spans()) == count


def test_file_with_a_mistake(user):
    """It is named; the agent starts all the same, and nothing is lost by a new rate."""
    rates(user, "1/7")
    with open(kept(user), "a", encoding="utf-8") as file:
        file.write("often osd.3\n")
    text = f"{kept(user)}:3: expected 1/N or off"
    boot(user)
    agent = user.start_agent()
    assert text in agent.log()
    assert agent.stop() == 0
    assert text in fails(user, "--user", "1/2", code=1)
    assert text in fails(user, "--user", code=1)


def test_rate_that_cannot_last(user):
    """Nothing is set then; with --now it is."""
    agent_once(user)
    os.mkdir(kept(user))
    os.mkdir(os.path.join(kept(user), "x"))
    assert "rates that are kept" in fails(user, "--user", "1/2", code=1)
    os.rmdir(os.path.join(kept(user), "x"))
    os.rmdir(kept(user))
    os.chmod(os.path.dirname(kept(user)), 0o500)
    if user.prefix:  # root may write everywhere
        said = fails(user, "--user", "1/2", code=1)
        assert re.search(r"cannot keep the rate over a reboot: .*; --now sets it until the next boot", said)
        assert rates(user) == "every service: default\n"
        assert rates(user, "1/2", "--now") == "every service: 1/2 until the next boot, then default\n"
    os.chmod(os.path.dirname(kept(user)), 0o700)


# The files of the system, in the place of the machine's.
OF_SYSTEM = """
set -e
mount -t tmpfs tmpfs "$1"
mkdir -p "$1/upper/blkin" "$1/work"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" /etc
mount -t tmpfs tmpfs /run
mkdir /run/blkin /run/lttng
boot() { rm /run/blkin/*; }
blkin=$2
agent=$3
conf=$4
show() { echo "$1: $("$blkin" sampling)"; }
"$blkin" sampling 1/7 >/dev/null
"$blkin" sampling 1/2 --now >/dev/null
"$blkin" sampling --restore
show kept
boot
show booted
"$blkin" sampling --restore
show restored
boot
timeout 2 "$agent" -c "$conf" || true
show started
"$blkin" sampling default >/dev/null
[ ! -e /etc/blkin/sampling ]
"""


@pytest.mark.as_root("only root has a page that all programs accept")
def test_rates_of_the_system(bare_node):
    """As the service's command and an agent of root's bring them back."""
    conf = bare_node.write_config(free_port())
    os.mkdir(bare_node.path("system"))
    blkin, agent = bare_node.built("cli/blkin"), bare_node.built("agent/blkin-agent")
    script = bare_node.start(["unshare", "-m", "sh", "-c", OF_SYSTEM, "sh", bare_node.path("system"), blkin, agent, conf])
    assert script.wait() == 0, script.log()
    shown = dict(re.findall(r"^(\w+): every service: (.*)$", script.log(), re.MULTILINE))
    assert shown == {
        "kept": "1/2 until the next boot, then 1/7",
        "booted": "1/7 when the agent starts",
        "restored": "1/7, also after a reboot",
        "started": "1/7, also after a reboot",
    }, script.log()


def write_page(user, services):
    """A page with these services, and their thresholds."""
    path = os.path.join(user.home, "page")
    entries = b"".join(struct.pack("QQ", 1000 + at, threshold) for at, threshold in enumerate(services))
    names = b"".join(f"s{at}".encode().ljust(64, b"\0") for at in range(len(services)))
    with open(path, "wb") as file:
        file.write(struct.pack("8sQQ", b"bsample1", 0, len(services)) + entries.ljust(200 * 16, b"\0") + names.ljust(200 * 64, b"\0"))
    if os.getuid() == 0:
        os.chown(path, 65534, 65534)
    return path


def test_services_without_a_rate_make_room(user):
    page = write_page(user, [1] * 199)
    run = functools.partial(user.run, "cli/blkin", "sampling", "--page", page)
    assert "none:" not in run("default", "--service", "none")
    assert "last: 1/5\n" in run("1/5", "--service", "last")
    assert "200 services have a rate of their own" in fails(user, "--page", page, "1/5", "--service", "one more", code=1)
    run("default", "--service", "unknown")
    assert "last:" not in run("default", "--service", "last")
    shown = run("1/6", "--service", "one more")
    assert "one more: 1/6\n" in shown and "last" not in shown
    with open(page, "rb") as file:
        assert struct.unpack_from("Q", file.read(), 16) == (200,)


def keep_services(user, first, last):
    """As if each had been set, over which a version before 0.3 did not keep count."""
    with open(kept(user), "a", encoding="utf-8") as file:
        file.writelines(f"1/{n} s{n:03}\n" for n in range(first, last + 1))
    boot(user)


def lines_of(user):
    return rates(user).splitlines()


def test_no_room(user):
    """What is refused is not kept either: after the boot no other service has lost its rate."""
    full = "200 services have a rate of their own"
    rates(user, "1/7")
    keep_services(user, 1, 200)
    agent_once(user)
    before = lines_of(user)
    assert len(before) == 201 and all(line.endswith(", also after a reboot") for line in before)
    assert full in fails(user, "--user", "1/5", "--service", "one more", code=1)
    assert lines_of(user) == before
    boot(user)
    agent_once(user)
    assert lines_of(user) == before
    # there is room until the boot, but then there would not be
    rates(user, "default", "--service", "s100", "--now")
    assert full in fails(user, "--user", "1/5", "--service", "one more", code=1)
    assert "one more: 1/5 until the next boot, then default" in rates(user, "1/5", "--service", "one more", "--now")
    assert full in fails(user, "--user", "1/5", "--service", "s100", code=1)
    rates(user, "1/8")
    rates(user, "default", "--service", "s200")
    boot(user)
    assert "one more: 1/5, also after a reboot" in rates(user, "1/5", "--service", "one more")
    assert lines_of(user)[0] == "every service: 1/8, also after a reboot"


def test_more_than_there_is_room_for(user):
    """As a version before kept them: the rate of all others applies, those that find room, and the rest is named."""
    rates(user, "1/7")
    keep_services(user, 1, 202)
    agent = user.start_agent()
    assert f"{kept(user)} has rates of more than 200 services, and 2 of them, such as that of s201, do not apply" in agent.log()
    assert agent.stop() == 0
    lines = lines_of(user)
    assert lines[0] == "every service: 1/7, also after a reboot"
    assert [line for line in lines[1:] if "also after a reboot" not in line] == ["s201: 1/201 when the agent starts", "s202: 1/202 when the agent starts"]
    rates(user, "default", "--service", "s001")
    rates(user, "1/2", "--service", "s002")
    rates(user, "1/2", "--service", "s201")
    rates(user, "default", "--service", "s202")
    boot(user)
    agent_once(user)
    lines = lines_of(user)
    assert len(lines) == 201 and all(line.endswith(", also after a reboot") for line in lines)
    assert "s201: 1/2, also after a reboot" in lines


def test_two_at_once(user):
    """None of their rates is lost, or another service's; here, and among those that last."""
    agent_once(user)
    programs = [user.start("cli/blkin", "sampling", "--user", f"1/{n}", "--service", f"s{n}") for n in range(2, 22)]
    assert [program.wait(60) for program in programs] == [0] * 20
    assert set(rates(user).splitlines()[1:]) == {f"s{n}: 1/{n}, also after a reboot" for n in range(2, 22)}


@pytest.mark.parametrize(
    "words, said",
    [
        (["often"], "often is not a rate: use 1/N (such as 1/100), off or default"),
        (["--now"], "--now needs a rate"),
        (["--page", "x", "--now", "1/2"], "--page names a file whose rates last as long as it does"),
        (["--page", "x", "--user"], "use it without --now, --user and --restore"),
        (["--restore", "1/2"], "--restore takes no rate"),
        (["1/2", "--service", "a\nb"], "no control characters"),
        (["--service", "a"], "--service needs a name and a rate"),
    ],
)
def test_command_line(user, words, said):
    assert said in fails(user, *words, code=64)


def test_help_says_it(user):
    text = user.run("cli/blkin", "sampling", "--help")
    assert "lasts: also after a reboot" in text
    assert re.search(r"--now +set it until the next boot only", text)
