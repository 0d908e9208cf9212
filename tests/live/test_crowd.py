# SPDX-License-Identifier: BSD-2-Clause
"""More senders than the intake has room for: who holds connections without use, or far more than others, makes room."""

import contextlib
import os
import resource
import socket
import stat
import subprocess
import sys
import time

import pytest
from rig.idsink import IdSink
from rig.process import answers, exactly, free_port, wait_until
from rig.scribe import generated
from rig.sender import Client, Sender, message, raw
from test_input import TIMID, check_came, run_senders, start_agent, wait_received, wait_senders

PLACES = 64
STRANGER = 61234
OTHERS = os.path.join(os.path.dirname(__file__), "rig", "crowd.py")


class Crowd:
    """crowd.py at work, as some user."""

    def __init__(self, port, count, mode, user=0, span=""):
        words = [sys.executable, "-B", "-", str(port), str(count), mode, span]
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        with open(OTHERS, encoding="utf-8") as file:
            words[2:3] = ["-c", file.read()]  # a stranger may not read our files
        self.process = subprocess.Popen(become + words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/")
        exactly(int(self.process.stdout.readline()) == count, "the crowd is there")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        assert self.process.wait(20) == 0
        self.process.stdout.close()


def finding(node, code):
    return next((one for one in node.status()["findings"] if one["code"] == code), None)


def one_after_the_other(port, process, count):
    """Senders who come, hand over and go, each once; and how often one found no room."""
    senders = [Sender(port, process, n, 3, 3, framed=n % 2 == 0) for n in range(count)]
    for sender in senders:
        run_senders([sender], 30)
    return senders, sum(s.broken + s.put_off for s in senders)


@pytest.mark.parametrize("mode", ["slow", "half", "mute", "deaf"])
def test_places_are_held_without_use(node, mode):
    """Whoever delivers finds room, and who has delivered stays; status names who holds the places."""
    sink = IdSink(node, free_port()).start()
    port = start_agent(node, sink.port, input={"connections": PLACES})
    settled = [Client(port, framed=n % 2 == 0) for n in range(10)]
    for n, client in enumerate(settled):
        assert client.log([message(50, n, 0)]) == 0
    with Crowd(port, 2 * PLACES, mode, STRANGER):
        senders, misses = one_after_the_other(port, 51, 20)
        print(f"{misses} of {len(senders)} found no room at first; {node.status()['input']}")
        assert misses == 0, "a user who has less than a share finds room"
        for n, client in enumerate(settled):
            assert client.log([message(50, n, 1)]) == 0, "who has delivered stays"
        said = finding(node, "input-crowded")
        assert said and f"by user {STRANGER}" in said["what"], str(node.status()["findings"])
    status = node.status()["input"]
    assert status["closed"]["crowded"] >= 1 and status["closed"]["crowded"] + status["turned_away"] >= PLACES, str(status)
    ledger = wait_received(node, 20 + 60)
    exactly(ledger.received == ledger.sent == 80, str(ledger))
    assert check_came(sink, senders) == 0


def test_slow_calls_of_the_same_user(node):
    """The same from one user, whom the kernel cannot tell from the good senders: what makes no progress goes."""
    sink = IdSink(node, free_port()).start()
    port = start_agent(node, sink.port, input={"connections": PLACES})
    settled = [Client(port) for n in range(10)]
    for n, client in enumerate(settled):
        assert client.log([message(50, n, 0)]) == 0
    with Crowd(port, PLACES, "slow"):
        senders, misses = one_after_the_other(port, 51, 20)
        print(f"{misses} of {len(senders)} found no room at first; {node.status()['input']}")
        for n, client in enumerate(settled):
            assert client.log([message(50, n, 1)]) == 0, "who has delivered stays"
    ledger = wait_received(node, 80)
    exactly(ledger.received == ledger.sent == 80, str(ledger))
    assert check_came(sink, senders) == 0


def test_slow_calls_end(node):
    """Also where there is room, a byte now and then is no progress."""
    sink = IdSink(node, free_port()).start()
    port = start_agent(node, sink.port, input={"timeout": "3s"})
    with Crowd(port, 20, "slow"):
        wait_until(lambda: node.status()["input"]["closed"]["slow"] >= 20, 20, "the slow calls to end")
        assert node.status()["input"]["closed"]["silent"] == 0


def test_share_of_a_user(node):
    """One who delivered on each connection holds them all; the others have their share, and no more."""
    sink = IdSink(node, free_port()).start()
    port = start_agent(node, sink.port, input={"connections": PLACES})
    with Crowd(port, PLACES, "good", STRANGER, message(52, 0, 0)):
        assert node.status()["input"]["connections"] == PLACES
        clients = [Client(port) for _ in range(PLACES // 2)]
        for n, client in enumerate(clients):
            assert client.log([message(53, n, 0)]) == 0
        wait_until(lambda: node.status()["input"]["largest"] == PLACES // 2, 10, "a half for each")
        with Client(port) as more:
            assert more.log([message(53, PLACES, 0)]) == 1, "beyond its share it is told to try later"
        assert f"by user {STRANGER}" in finding(node, "input-crowded")["what"]
        for n, client in enumerate(clients):
            assert client.log([message(53, n, 1)]) == 0
            client.close()
    assert node.status()["input"]["turned_away"] == 1


def test_guests_have_no_share(node):
    """Whoever has no place makes nobody's share smaller."""
    sink = IdSink(node, free_port()).start()
    port = start_agent(node, sink.port, input={"connections": 8})

    def crowd(count, user):
        return Crowd(port, count, "good", STRANGER + user, message(58, user, 0))

    with contextlib.ExitStack() as stack:
        assert stack.enter_context(Client(port)).log([message(59, 0, 0)]) == 0
        others = [crowd(1, n) for n in range(7)]
        guests = [stack.enter_context(crowd(1, 10 + n)) for n in range(4)]
        exactly(node.status()["input"]["turned_away"] == len(guests), "these are guests, for five seconds")
        for other in others:
            other.__exit__()
        wait_until(lambda: node.status()["input"]["connections"] == 1, 10, "the others to go")
        for n in range(7):
            assert stack.enter_context(Client(port)).log([message(59, 1, n)]) == 0
        stack.enter_context(crowd(4, 20))
        wait_until(lambda: node.status()["input"]["largest"] == 4, 10, "a half for each")


def test_more_leaves_than_places(node):
    """Of senders who all deliver none displaces another: there is no going round."""
    sink = IdSink(node, free_port()).start()
    port = start_agent(node, sink.port, input={"connections": 20})
    senders = [Sender(port, 54, t, 300, 10, framed=t % 2 == 0, rate=50) for t in range(40)]
    for sender in senders:
        sender.start()
    wait_senders(senders, 90)
    status = node.status()["input"]
    print(f"{sum(s.broken for s in senders)} were broken, {sum(s.put_off for s in senders)} put off; {status}")
    exactly(status["closed"]["crowded"] == 0, str(status))
    assert sum(s.put_off for s in senders) > 0
    ledger = wait_received(node, 40 * 300)
    exactly(ledger.dropped == 0, str(ledger))
    assert check_came(sink, senders) <= sum(s.batch * s.broken for s in senders)


def start_at_path(node, server, path, **keys):
    generated()
    node.start_agent(server, input=dict({"scribe": path}, **keys))
    wait_until(lambda: os.path.exists(path), 10, "the socket")


def test_socket_of_the_node(node):
    """A path instead of a port: any user may connect, and each has a share."""
    sink = IdSink(node, free_port()).start()
    os.chmod(node.folder, 0o755)
    path = node.path("scribe.sock")
    start_at_path(node, sink.port, path, connections=PLACES)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o666
    with Crowd(path, 2 * PLACES, "slow", STRANGER):
        senders, misses = one_after_the_other(path, 55, 10)
        assert misses == 0, "a user who has less than a share finds room"
        assert f"by user {STRANGER}" in finding(node, "input-crowded")["what"]
    ledger = wait_received(node, 30)
    exactly(ledger.received == 30, str(ledger))
    assert check_came(sink, senders) == 0
    said = node.run(["cli/blkin", "status", "--socket", node.socket])
    assert f"taking in   yes, at {path}, from " in said, said


def test_socket_comes_and_goes(node):
    """What a killed agent left is replaced, a reload moves it, and a stop removes it."""
    sink = IdSink(node, free_port()).start()
    path, port = node.path("scribe.sock"), free_port()
    start_at_path(node, sink.port, path)
    node.agent.kill()
    assert os.path.exists(path)
    node.start_agent_again()
    with Client(path) as client:
        assert client.log([message(56, 0, 0)]) == 0
        with open(node.path("agent.conf"), encoding="utf-8") as file:
            text = file.read()
        with open(node.path("agent.conf"), "w", encoding="utf-8") as file:
            file.write(text.replace(f"scribe = {path}", f"scribe = 127.0.0.1:{port}"))
        node.agent.send(1)
        wait_until(lambda: answers(port), 10, "the port")
        wait_until(lambda: not os.path.exists(path), 10, "the socket to go")
        assert client.log([message(56, 0, 1)]) == 0, "who is connected stays"
    with open(node.path("agent.conf"), "w", encoding="utf-8") as file:
        file.write(text)
    node.agent.send(1)
    wait_until(lambda: os.path.exists(path), 10, "the socket again")
    node.agent.send(15)
    assert node.agent.wait(20) == 0
    assert not os.path.exists(path)
    taken = socket.socket(socket.AF_UNIX)
    taken.bind(path)
    taken.listen(1)
    node.start_agent_again()
    assert "Address already in use" in finding(node, "input-port")["what"]
    taken.close()
    wait_until(lambda: not finding(node, "input-port"), 20, "it to be tried again")
    with Client(path) as client:
        assert client.log([message(56, 0, 2)]) == 0


def start_with_files(node, server, soft, hard, **sections):
    """An agent that may have so many files open."""
    generated()
    node.write_config(server, **sections)
    command = ["prlimit", f"--nofile={soft}:{hard}", node.built("agent/blkin-agent"), "-c", node.path("agent.conf")]
    node.agent = node.start(command, "blkin-agent", **node.leak_environment)
    node.agent.wait_ready(node.collecting)


@pytest.mark.parametrize("inputs", [0, 1, 2])
@pytest.mark.parametrize("hard", [900, 4096])
def test_open_files_are_for_all_inputs(node, inputs, hard):
    """All that senders may hold leaves some for all else; what cannot be is said once, and only of inputs that there are."""
    sink = IdSink(node, free_port()).start()
    addresses = {key: f"127.0.0.1:{free_port()}" for key in ("scribe", "otlp")[:inputs]}
    start_with_files(node, sink.port, 900, hard, **({"input": addresses} if inputs else {}))
    soft, _ = resource.prlimit(node.agent.pid, resource.RLIMIT_NOFILE)
    most = {int(value) for name, value in node.metrics().items() if name.startswith("blkin_agent_input_connections_max")}
    exactly(len(most) == (inputs > 0), f"one number for each: {most}")
    for each in most:
        assert inputs * (each + min(each // 4, 256)) + 300 <= soft, f"of {soft} files {inputs} times {each} are for senders"
    few = inputs > 0 and hard == 900
    exactly(most == {1024} or few or not inputs, f"as configured: {most}")
    exactly(node.agent.log().count("`connections`") == few, "it is said")


def test_no_more_files(node):
    """Who comes meanwhile waits, and the log says what to do."""
    sink = IdSink(node, free_port()).start()
    port = start_agent(node, sink.port)
    limits = resource.prlimit(node.agent.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(node.agent.pid, resource.RLIMIT_NOFILE, (3, limits[1]))
    with Client(port) as client:
        wait_until(lambda: "senders cannot be let in" in node.agent.log(), 20, "it to be told")
        assert "Too many open files; raise LimitNOFILE= in the unit, or `ulimit -n`, or lower `connections`" in node.agent.log()
        resource.prlimit(node.agent.pid, resource.RLIMIT_NOFILE, limits)
        assert client.log([message(57, 0, 0)]) == 0
    wait_received(node, 1)


def test_many_bad_senders(node):
    """A thousand of them, of each kind, take little memory and processor time, and nobody else's room."""
    sink = IdSink(node, free_port()).start()
    port = start_agent(node, sink.port, output=TIMID)
    good = [Sender(port, 57, t, 1500, 30, rate=150) for t in range(2)]
    before = memory_of(node)
    for sender in good:
        sender.start()
    crowds = [Crowd(port, 300, mode, STRANGER + n) for n, mode in enumerate(("slow", "half", "mute", "deaf"))]
    time.sleep(3)
    wait_senders(good, 60)
    after = memory_of(node)
    print(f"{before >> 10} KiB, then {after >> 10} KiB; {node.status()['input']}")
    for crowd in crowds:
        crowd.__exit__()
    wait_until(lambda: node.status()["input"]["connections"] == 0, 20, "them to be gone")
    ledger = wait_received(node, 3000)
    exactly(ledger.received == ledger.sent == 3000, str(ledger))
    assert check_came(sink, good) == 0
    assert sum(s.broken for s in good) == 0


def memory_of(node):
    with open(f"/proc/{node.agent.process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) << 10
