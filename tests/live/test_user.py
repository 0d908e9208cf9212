# SPDX-License-Identifier: BSD-2-Clause
"""`blkin-agent --user`: one command and no root, from nothing to delivered spans, and nothing left behind."""

import glob
import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess

import pytest
from expect import check_load
from rig.load import LOAD
from rig.process import child_of, free_port, wait_until
from rig.scribe import Receiver


class User:
    """A user of the node, with XDG's folders; root's tests run as nobody, with copies of what they need."""

    def __init__(self, node, runtime=True, programs=()):
        self.node = node
        self.home = node.path("user")
        self.prefix = []
        os.makedirs(os.path.join(self.home, ".config/blkin"))
        self.environment = {"HOME": self.home, "LTTNG_HOME": self.home, "XDG_RUNTIME_DIR": os.path.join(self.home, "run")}
        needed = ("agent/blkin-agent", "agent/blkin-reader", "agent/blkin-canary", "cli/blkin", LOAD, *programs)
        self.programs = {name: node.built(name) for name in needed}
        os.mkdir(self.environment["XDG_RUNTIME_DIR"])
        if os.getuid() == 0:
            self.become_nobody()
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            node.environment.pop(name, None)
        if not runtime:
            node.environment.pop("XDG_RUNTIME_DIR", None)
            del self.environment["XDG_RUNTIME_DIR"]

    def become_nobody(self):
        node = self.node
        self.prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        os.chmod(node.folder, 0o711)
        for name, path in self.programs.items():
            self.programs[name] = shutil.copy(path, self.home)
        shutil.copy(os.path.join(os.path.dirname(node.built(LOAD)), "../../../libclient/libblkin-provider.so.1"), self.home)
        self.environment["LD_LIBRARY_PATH"] = self.home
        subprocess.run(["chown", "-R", "65534:65534", self.home], check=True)

    def configure(self, text, name="agent.conf"):
        path = os.path.join(self.home, ".config/blkin", name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def start(self, name, *words, **environment):
        command = self.prefix + [self.programs[name]] + list(words)
        return self.node.start(command, name=os.path.basename(name), **dict(self.environment, **environment))

    def run(self, name, *words):
        program = self.start(name, *words)
        assert program.wait(60) == 0, program.log()
        return program.log()

    def start_agent(self, **environment):
        agent = self.start("agent/blkin-agent", "--user", **environment)
        agent.wait_ready(lambda: "collecting from LTTng session" in agent.log())
        return agent


@pytest.fixture
def user(bare_node):
    return User(bare_node)


@pytest.fixture
def collector(bare_node, user):
    receiver = Receiver(bare_node, free_port()).start()
    user.configure(f"[output]\nserver = 127.0.0.1:{receiver.port}\n[session]\nmemory = 4M\n")
    return receiver


def daemons(agent):
    """The processes of LTTng that it started, as it says."""
    return [int(pid) for pid in re.findall(r"started lttng-\w+, process (\d+)", agent.log())]


def runs(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def owners(folder):
    """Users and modes of what is in a folder, and of itself."""
    found = [folder] + [os.path.join(base, name) for base, dirs, files in os.walk(folder) for name in dirs + files]
    return {(os.lstat(path).st_uid, stat.S_IMODE(os.lstat(path).st_mode) & 0o077) for path in found}


def test_a_second_agent_leaves_the_first_alone(user, collector):
    """With a state and a socket of its own, but the first one's relay: it does not start, whatever it has to remove."""
    first = user.start_agent()
    user.run(LOAD, "-n", 500)
    collector.wait_for(500)
    state, own = os.path.join(user.home, ".local/state/blkin"), os.path.join(user.home, "second")
    other = f"[agent]\nsocket = {own}.sock\nstate-directory = {own}\n[output]\nserver = 127.0.0.1:{collector.port}\n"
    config = user.configure(other, "second.conf")
    second = user.start("agent/blkin-agent", "--user", "-c", config)
    assert second.wait(20) == 1, second.log()
    assert f"another blkin-agent uses `relay-output` {state}/relay: stop it, or give this one another one" in second.log()
    assert "started" not in second.log() and os.listdir(f"{state}/relay")
    user.run(LOAD, "-n", 500)
    collector.wait_for(1000)
    assert runs(first.pid) and "read again" not in first.log()
    # a relay and a session of its own
    user.configure(other + f"[session]\nname = second\nrelay-output = {own}/relay\nmemory = 4M\n", "second.conf")
    second = user.start("agent/blkin-agent", "--user", "-c", config)
    second.wait_ready(lambda: "collecting from LTTng session" in second.log())
    assert second.stop() == 0
    # the lock dies with the agent
    first.send(signal.SIGKILL)
    first.wait(10)
    wait_until(lambda: not any(map(runs, daemons(first))), 10, "LTTng's daemons to end")
    assert user.start_agent().stop() == 0


def test_from_nothing_to_spans(user, collector):
    agent = user.start_agent()
    user.run(LOAD, "-n", 1000)
    collector.wait_for(1000)
    check_load(collector.spans(), 1, 1, 1000)
    text = user.run("cli/blkin", "status", "--user")
    assert "collecting  yes, from 0 programs, for " in text and "1000: 1000 sent" in text
    assert "tracing-group =\n" in user.run("cli/blkin", "validate", "--user", "--print")
    # nothing is for others to look into, and only loopback listens
    me = 65534 if user.prefix else os.getuid()
    for folder in (".local/state/blkin", "run/blkin"):
        assert {owner for owner, _ in owners(os.path.join(user.home, folder))} == {me}
        assert stat.S_IMODE(os.stat(os.path.join(user.home, folder)).st_mode) == 0o700
    with open(f"/proc/{agent.pid}/status", encoding="ascii") as file:
        assert re.search(rf"^Uid:\t{me}\t{me}\t{me}\t{me}$", file.read(), re.MULTILINE)
    pids = daemons(agent)
    assert len(pids) == 2 and all(map(runs, pids))
    assert agent.stop() == 0
    assert not any(map(runs, pids))
    assert "1000 of 1000 spans delivered" in agent.log()


def test_typo_does_not_blind(user, collector):
    """The agent runs on with what it has; the command finds its socket, and says what is wrong with the file."""
    agent = user.start_agent()
    path = user.configure("[agent]\nsocket-path = /nowhere\n[output]\nservr = 127.0.0.1:1\n")
    text = user.run("cli/blkin", "status", "--user")
    assert f"{path}:2: unknown key `socket-path` in [agent]; blkin-agent.conf(5) lists the keys\n" in text
    assert f"{path}:4: unknown key `servr` in [output]; did you mean `server`?\n" in text
    assert f"pid {agent.pid}, " in text and "collecting  yes" in text
    with open(path, "wb") as file:
        file.write(b"\0")
    text = user.run("cli/blkin", "status", "--user")
    assert f"{path}:1: this is not UTF-8 text: byte 0x00\n" in text and f"pid {agent.pid}, " in text


def test_again_and_again(user, collector):
    """Each run starts its own daemons, and none leaves the relay's files of the one before."""
    for number in range(3):
        agent = user.start_agent()
        user.run(LOAD, "-n", 100)
        collector.wait_for(100 * (number + 1))
        assert agent.stop() == 0
        assert len(relay_folders(user)) <= 1, relay_folders(user)


def test_counts_go_on(user, collector):
    """A stop ends the session, and not the counts; what was acknowledged stays so."""
    state = lambda: json.loads(user.run("cli/blkin", "status", "--user", "--json"))
    for number in range(2):
        agent = user.start_agent()
        assert state()["events"]["read"] == 100 * number and bool(state()["acknowledged"]) == bool(number)
        user.run(LOAD, "-n", 100)
        collector.wait_for(100 * (number + 1))
        user.run("cli/blkin", "status", "--user", "--acknowledge")
        assert agent.stop() == 0
        assert f"stopped: {100 * (number + 1)} events read, {100 * (number + 1)} of {100 * (number + 1)} spans delivered" in agent.log()
        assert len(collector.spans()) == 100 * (number + 1)


@pytest.mark.parametrize("spool", ["1G", "0"])
def test_counts_of_what_was_not_delivered(bare_node, user, spool):
    """They go on, too: what a stop stored is delivered, and what it dropped stays dropped, each once."""
    port = free_port()
    user.configure(f"[output]\nserver = 127.0.0.1:{port}\nspool-size = {spool}\n[session]\nmemory = 4M\n[agent]\nstop-timeout = 1s\n")
    state = lambda: json.loads(user.run("cli/blkin", "status", "--user", "--json"))

    def rows():
        return {row: count for row, count in state()["spans"].items() if count and row in ("made", "taken", "spooled", "recovered", "sent")}

    agent = user.start_agent()
    user.run(LOAD, "-n", 100)
    wait_until(lambda: state()["spans"]["made"] == 100, 10, "all to be read")
    agent.stop()
    agent = user.start_agent()
    left = {"made": 100, "taken": 100}
    assert rows() == (left | {"spooled": 100} if spool != "0" else left)
    assert state()["spans"]["dropped"]["shutdown"] == (100 if spool == "0" else 0)
    receiver = Receiver(bare_node, port).start()
    user.run(LOAD, "-n", 100)
    wanted = 100 if spool == "0" else 200
    receiver.wait_for(wanted)
    wait_until(lambda: rows() == {"made": 200, "taken": 200, "sent": wanted}, 10, "all to be counted")
    assert agent.stop() == 0 and len(receiver.spans()) == wanted


def relay_folders(user):
    relay = os.path.join(user.home, ".local/state/blkin/relay")
    return [name for host in os.listdir(relay) for name in os.listdir(os.path.join(relay, host))]


def test_left_behind(user, collector):
    """What earlier sessions of the agent left is removed, also of those that took another one's place; nothing else is."""
    assert user.start_agent().stop() == 0
    relay = os.path.join(user.home, ".local/state/blkin/relay")
    theirs = {"blkin-9-20260101-000000", "blkin-2", "other-20260101-000000"}
    ours = {"blkin-20260101-000000", "blkin-2-20260101-000000", "blkin-8-20260101-000000"}
    for name in theirs | ours:
        os.makedirs(os.path.join(relay, os.listdir(relay)[0], name, "ust"))
    subprocess.run(["chown", "-R", "--reference", relay, relay], check=True)
    agent = user.start_agent()
    left = set(relay_folders(user))
    assert theirs <= left and not ours & left, left
    assert agent.stop() == 0


def test_spans_of_a_killed_agent(bare_node, user):
    """They are in the files of its relay, which ends with it: the next one, with a relay of its own, reads them."""
    port = free_port()
    user.configure(f"[output]\nserver = 127.0.0.1:{port}\nspool-size = 0\n[session]\nmemory = 4M\n")
    agent = user.start_agent()
    user.run(LOAD, "-n", 1000)
    state = lambda: json.loads(user.run("cli/blkin", "status", "--user", "--json"))
    wait_until(lambda: state()["spans"]["made"] == 1000, 10, "all to be read")
    pids = daemons(agent)
    agent.kill()
    wait_until(lambda: not any(map(runs, pids)), 10, "the daemons to end")
    receiver = Receiver(bare_node, port).start()
    agent = user.start_agent()
    receiver.wait_for(1000)
    check_load(receiver.spans(), 1, 1, 1000)
    assert "cannot be read" not in agent.log()
    wait_until(lambda: len(relay_folders(user)) == 1, 20, "what is read to be removed")
    assert agent.stop() == 0


def test_users_own_session_daemon_is_used(bare_node, user, collector):
    sessiond = bare_node.start(user.prefix + ["lttng-sessiond", "--no-kernel"], **user.environment)
    sessiond.wait_ready(lambda: os.path.exists(os.path.join(user.home, ".lttng/client-lttng-sessiond")))
    agent = user.start_agent()
    assert len(daemons(agent)) == 1 and "started lttng-relayd" in agent.log()
    user.run(LOAD, "-n", 100)
    collector.wait_for(100)
    assert agent.stop() == 0
    assert sessiond.running()


def test_daemons_are_started_again(user, collector):
    agent = user.start_agent()
    for number, pid in enumerate(daemons(agent)):
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda n=number: agent.log().count("collecting again, after") == n + 1, 20, "it to collect again")
    user.run(LOAD, "-n", 100)
    collector.wait_for(100)
    assert agent.log().count("has ended (by signal 9)") == 2
    assert agent.stop() == 0


def test_daemon_that_cannot_be_started_at_once(user, collector):
    """The user has as many processes as there may be: it is started once there may be more."""
    agent = user.start_agent()
    soft = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    limit = lambda most: subprocess.run(user.prefix + ["prlimit", f"--pid={agent.pid}", f"--nproc={most}:"], check=True)
    limit(1)
    os.kill(daemons(agent)[0], signal.SIGKILL)
    wait_until(lambda: "cannot start lttng-sessiond: Resource temporarily unavailable" in agent.log(), 20, "it to fail")
    limit("unlimited" if soft == resource.RLIM_INFINITY else soft)
    wait_until(lambda: "collecting again, after" in agent.log(), 30, "it to collect again")
    user.run(LOAD, "-n", 100)
    collector.wait_for(100)
    assert agent.stop() == 0


def test_daemons_end_with_a_killed_agent(user, collector):
    agent = user.start_agent()
    pids = daemons(agent)
    agent.kill()
    wait_until(lambda: not any(map(runs, pids)), 10, "the daemons to end")


def test_second_agent_is_told(user, collector):
    agent = user.start_agent()
    second = user.start("agent/blkin-agent", "--user")
    assert second.wait(20) == 1 and "another blkin-agent runs already" in second.log()
    assert agent.running() and all(map(runs, daemons(agent)))
    assert agent.stop() == 0


def test_lttng_is_not_installed(bare_node, user):
    empty = bare_node.path("user/empty")
    os.mkdir(empty)
    # found by its whole path, as are the tools that start it
    tools = user.prefix and [shutil.which("setpriv")] + user.prefix[1:]
    agent = bare_node.start(
        ["/usr/bin/env", f"PATH={empty}"] + tools + [user.programs["agent/blkin-agent"], "--user"], **user.environment
    )
    assert agent.wait(20) == 1
    assert "cannot start lttng-sessiond: is package lttng-tools installed?" in agent.log()


def test_without_a_runtime_folder(bare_node):
    user = User(bare_node, runtime=False)
    user.configure(f"[output]\nserver = 127.0.0.1:{free_port()}\n[session]\nmemory = 4M\n")
    agent = user.start_agent()
    assert stat.S_ISSOCK(os.stat(os.path.join(user.home, ".local/state/blkin/run/agent.sock")).st_mode)
    assert f"pid {agent.pid}, " in user.run("cli/blkin", "status", "--user")
    assert agent.stop() == 0


def test_folder_cannot_be_made(user):
    with open(os.path.join(user.home, "file"), "w", encoding="utf-8"):
        pass
    agent = user.start("agent/blkin-agent", "--user", XDG_STATE_HOME=os.path.join(user.home, "file"))
    assert agent.wait(10) == 1 and "cannot make the folder" in agent.log() and "Not a directory" in agent.log()


def child_pids(pid):
    """The processes that one has started."""
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        with open(path, encoding="ascii") as file:
            found += [int(word) for word in file.read().split()]
    return found


def test_own_consumer_is_stopped(bare_node, user, collector):
    """What the agent has started it may also end, and does once that does not go on by itself."""
    agent = user.start_agent()
    sessiond = daemons(agent)[0]
    consumer = child_of(sessiond, "lttng-consumerd")
    before = child_pids(sessiond)
    assert consumer in before
    os.kill(consumer, signal.SIGSTOP)
    wait_until(lambda: "lttng-sessiond holds what programs record" in agent.log(), 60, "the agent to end the session daemon")
    wait_until(lambda: not any(runs(pid) for pid in [sessiond, *before]), 10, "all of them to be gone")
    wait_until(lambda: agent.log().rstrip().endswith("from LTTng session `blkin`"), 30, "the agent to collect again")
    user.run(LOAD, "-n", 100)
    collector.wait_for(100)
