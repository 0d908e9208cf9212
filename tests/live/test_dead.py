# SPDX-License-Identifier: BSD-2-Clause
"""lttng-relayd goes on listing a session that is gone: the agent does not wait for it in place of its successor."""

import contextlib
import ctypes
import glob
import os
import signal
import socket
import subprocess
import time

import pytest
from expect import key_of
from rig.load import KEEP, LOAD
from rig.process import PATIENCE, wait_until
from rig.proxy import Proxy
from rig.relay import COMMAND, SESSION, listed

ROUNDS = 3


def check_collects(node, receiver, loads=1):
    """What is logged now comes, and once: so what `/readyz` says holds."""
    for _ in range(loads):
        read, had = node.ledger().read, receiver.read()
        assert node.collecting()
        node.run([LOAD, "-n", 500, "-r", 2000])
        node.wait_ledger(lambda ledger: ledger.read >= read + 500 and ledger.idle(), 15, "500 spans")
        assert node.ledger().read == read + 500
        receiver.wait_for(had + 500)
        assert sorted(key_of(span)[2] for span in receiver.spans()[had:]) == list(range(500))


def check_nothing_lost(node):
    ledger = node.ledger()
    assert (ledger.lost, ledger.packets_lost, ledger.again) == (0, 0, 0)


def ours(node):
    """How many sessions the relay lists that could be the agent's."""
    return listed(node.relay_ports[2]).count((socket.gethostname(), "blkin"))


@pytest.mark.parametrize("unread", [0, 2000])
def test_destroyed_while_stopped(node, receiver, unread):
    """Stopped, the session destroyed, and started at once; with spans that nobody had read, which are not lost."""
    node.start_agent(receiver.port, session=KEEP)
    for _ in range(ROUNDS):
        check_collects(node, receiver)
        assert node.agent.stop() == 0
        total = node.run([LOAD, "-n", unread]) and receiver.read() + unread
        node.lttng("destroy", "--no-wait", "blkin")
        assert ours(node) == 1, "nothing to be tested: the relay does not list it any more"
        node.start_agent_again()
        node.wait_ledger(lambda ledger, total=total: ledger.read == total and ledger.idle(), 15, "what was left")
        check_collects(node, receiver, 2)
    assert node.ledger().sessions == ROUNDS + 1
    check_nothing_lost(node)


def consumers():
    """The process ids of LTTng's consumer daemons."""
    found = []
    for path in glob.glob("/proc/[0-9]*/comm"):
        try:
            with open(path, encoding="utf-8") as file:
                found += [int(path.split("/")[2])] if file.read().startswith("lttng-consumerd") else []
        except OSError:
            pass
    return found


def hang_up(node):
    """
    The consumer daemon hangs, and the session daemon is killed and started again, so that the relay holds on to the old
    session. Returns the process ids.
    """
    hung = consumers()
    assert hung
    for pid in hung:
        os.kill(pid, signal.SIGSTOP)
    node.sessiond.kill()
    os.unlink(node.sessiond_file("lttng-sessiond.lck"))  # from LTTng 2.13.15 on, the consumer daemon holds it too
    node.start_sessiond()
    return hung


class Blinding(Proxy):
    """
    A proxy to the relay's viewer port, which answers requests for the list only with "no session"; and whoever attaches has the
    newest session last, as babeltrace2 waits for a dead one or not, by where it is in the list.
    """

    def __init__(self, server):
        self.attaching, self.listing = set(), set()
        super().__init__(server)

    def forward(self, data, one, other):
        if data[:16] == COMMAND.pack(0, 2, 0) and one not in self.attaching:
            one.sendall(bytes(4))
            return
        if data[:16] == COMMAND.pack(0, 2, 0):
            self.listing.add(one)
        elif other in self.listing:
            self.listing.remove(other)
            assert (len(data) - 4) % SESSION.size == 0
            data = data[:4] + b"".join(sorted(data[at : at + SESSION.size] for at in range(4, len(data), SESSION.size)))
        elif data[8:12] == b"\0\0\0\x08":  # it makes a viewer's session
            self.attaching.add(one)
        other.sendall(data)


@contextlib.contextmanager
def protected(folder):
    """Nobody removes anything in there, not even root."""
    subprocess.run(["mount", "--bind", folder, folder], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.as_root("protects the relay's files")
def test_attached_to_the_dead(node, receiver):
    """
    It came to that all the same: the agent sees that nothing comes, says so, and delivers it. The consumer daemon hangs, so
    that the relay holds on to the old session with its streams, and has their files, however long the agent takes to attach.
    """
    proxy = Blinding(node.relay_ports[2])
    node.start_agent(receiver.port, session=dict(KEEP, relay_live_port=proxy.port))
    check_collects(node, receiver)
    assert node.agent.stop() == 0
    hang_up(node)
    (dead,) = node.session_folders()
    with protected(dead):
        node.start_agent_again()
        assert ours(node) == 2, "nothing to be tested: the agent is attached to one session"
        had = node.ledger().read
        node.run([LOAD, "-n", 500, "-r", 2000])
        wait_until(lambda: "does not send what it has recorded" in node.http_get("/readyz")[1], 10, "the agent to say so")
        assert not node.collecting()
        ledger = node.wait_ledger(lambda ledger: ledger.read == had + 500 and ledger.idle(), 10, "500 spans")
        check_collects(node, receiver, 3)
        assert (ledger.sessions, node.agent.log().count("cannot be read live")) == (2, 1)
        check_nothing_lost(node)
        assert node.agent.stop() == 0


class HalfAnswers(Proxy):
    """A proxy to the relay's viewer port: one answer stops half way, and nothing follows on that connection."""

    def __init__(self, server):
        self.armed, self.stuck = False, None
        super().__init__(server)

    def forward(self, data, one, other):
        if one is self.stuck:
            return
        if self.armed and one.getpeername()[1] == self.server:
            self.armed, self.stuck = False, one
            data = data[: len(data) // 2]
        super().forward(data, one, other)


def test_answer_stops_half_way(node, receiver):
    """Of a relay that is well: it is told of, and what is recorded comes all the same, from files."""
    proxy = HalfAnswers(node.relay_ports[2])
    node.start_agent(receiver.port, session=dict(KEEP, relay_live_port=proxy.port))
    check_collects(node, receiver)
    proxy.armed = True
    wait_until(lambda: proxy.stuck, 10, "an answer to stop")
    node.run([LOAD, "-n", 500, "-r", 2000])
    wait_until(lambda: node.http_get("/readyz") != (200, "ok\n"), 30, "the agent to be unwell")
    wait_until(lambda: "lttng-relayd has not answered" in node.agent.log(), 30, "the log to say so")
    node.wait_ledger(lambda ledger: ledger.read - ledger.again == 1000 and ledger.idle(), 30, "500 spans")
    receiver.wait_for(1000)
    wait_until(node.collecting, 30, "the agent to collect")
    assert node.agent.stop() == 0


def broken(what):
    def break_it(node, proxies):
        assert proxies[what].break_all()

    return break_it


def half_broken(node, proxies):
    assert proxies["live"].break_all(near_only=True)


def restarted(node, proxies):
    assert proxies["live"].break_all()
    node.agent.stop()
    node.start_agent_again(wait=False)


def killed(node, proxies):
    assert proxies["live"].break_all()
    node.agent.kill()
    node.lttng("destroy", "--no-wait", "blkin")
    node.start_agent_again(wait=False)


HOW = {
    "control": broken("control"),
    "data": broken("data"),
    "live": broken("live"),
    "half": half_broken,
    "restarted": restarted,
    "killed": killed,
}


@pytest.mark.parametrize("how", HOW)
def test_connection_broken(node, receiver, how):
    """A connection to the relay breaks: the viewer's, or those of the session, which it then lists for a while."""
    proxies = {what: Proxy(port) for what, port in zip(("control", "data", "live"), node.relay_ports)}
    ports = {f"relay_{what}_port": proxy.port for what, proxy in proxies.items()}
    node.start_agent(receiver.port, session={"keep": "no", **ports})
    for _ in range(1 if how == "half" else ROUNDS):  # then the session is read from files for a while
        check_collects(node, receiver)
        made = node.ledger().sessions
        HOW[how](node, proxies)
        if how in ("control", "data"):  # lttng-consumerd finds out when it sends the next time; what is recorded before that is lost
            node.wait_for(lambda made=made: node.ledger().sessions > made, 30, "another session")
        else:
            time.sleep(0.5)
        wait_until(node.collecting, 30, "the agent to collect")
        check_collects(node, receiver, 2)


FOREIGN = """
hostname elsewhere || exit 1
lttng-sessiond --no-kernel --daemonize
lttng --no-sessiond create blkin --live --ctrl-url=tcp://127.0.0.1:$0 --data-url=tcp://127.0.0.1:$1 &&
lttng --no-sessiond enable-event -u -s blkin --all &&
lttng --no-sessiond start blkin &&
sleep 600
"""


def test_session_of_another_host(node, receiver):
    """It has the same name, and is none of ours."""
    isolate = os.path.realpath(os.path.join(os.path.dirname(__file__), "../isolate"))
    os.mkdir(node.path("elsewhere"))
    node.start(
        [isolate, "unshare", "--uts", "bash", "-c", FOREIGN] + node.relay_ports[:2],
        name="elsewhere",
        HOME=node.path("elsewhere"),
        LTTNG_HOME=node.path("elsewhere"),
    )
    wait_until(lambda: ("elsewhere", "blkin") in listed(node.relay_ports[2]), 20, "the other host's session")
    node.start_agent(receiver.port, session=KEEP)
    check_collects(node, receiver)
    assert node.agent.stop() == 0
    node.lttng("destroy", "--no-wait", "blkin")
    begun = time.monotonic()
    node.start_agent_again()
    assert time.monotonic() - begun < 5 * PATIENCE
    check_collects(node, receiver, 2)
    check_nothing_lost(node)
    assert ("elsewhere", "blkin") in listed(node.relay_ports[2])


CLONE_NEWUTS = 0x04000000


@pytest.fixture(name="rename")
def fixture_rename(node):
    """Gives the node another host name, which its session daemon sees, too; the machine keeps its own."""
    before = socket.gethostname()
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.unshare(CLONE_NEWUTS) == 0, os.strerror(ctypes.get_errno())
    assert node.sessiond.stop() == 0
    node.start_sessiond()
    yield socket.sethostname
    socket.sethostname(before)


def test_host_is_renamed(node, receiver, rename):
    """The relay has a session, and its files, by the name that the host had when it was made."""
    node.start_agent(receiver.port, session=KEEP)
    check_collects(node, receiver)
    assert node.agent.stop() == 0
    node.run([LOAD, "-n", 2000])
    rename("renamed")
    node.start_agent_again()
    node.wait_ledger(lambda ledger: ledger.read == 2500 and ledger.idle(), 15, "what was left")
    check_collects(node, receiver, 2)
    assert (node.ledger().sessions, node.ledger().sessions_lost) == (1, 0)
    assert node.agent.stop() == 0
    node.lttng("destroy", "--no-wait", "blkin")
    node.start_agent_again()
    check_collects(node, receiver, 2)
    wait_until(lambda: {folder.split("/")[-2] for folder in node.session_folders()} == {"renamed"}, 15, "the old files to go")
    check_nothing_lost(node)


def test_held_for_long(node, receiver):
    """
    The consumer daemon hangs and the session daemon is killed, so that the relay holds on to the old session. The new
    one is read from files then, also by an agent that is started meanwhile; and live once the old one is gone.
    """
    node.start_agent(receiver.port, session=KEEP)
    check_collects(node, receiver)
    hung = hang_up(node)
    wait_until(lambda: not node.collecting(), 10, "the agent to see it")
    # the relay's hold is told for a moment, until the consumer daemon has not answered for long enough
    why = ("an old session of this name, or someone else's", "lttng-consumerd is stopped or hangs")
    wait_until(lambda: any(text in node.http_get("/readyz")[1] for text in why), 20, "the agent to say why")
    wait_until(node.collecting, 30, "the agent to collect")
    assert ours(node) == 2
    check_collects(node, receiver, 2)
    assert node.agent.log().count("cannot be read live") == 1
    assert node.agent.stop() == 0
    node.start_agent_again()
    check_collects(node, receiver, 2)
    assert ours(node) == 2
    for pid in hung:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: ours(node) == 1, 20, "the relay to let go of it")
    wait_until(lambda: not node.status()["session_error"], 90, "live reading")
    wait_until(lambda: node.agent.log().count("is read live again") == 1, 30, "the log to say that it is read live again")
    check_collects(node, receiver, 2)
    check_nothing_lost(node)
