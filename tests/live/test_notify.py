# SPDX-License-Identifier: BSD-2-Clause
"""What the service manager hears: ready, the status line, reload, stop, and signs of life while all threads move."""

import contextlib
import signal
import socket
import time

import pytest
from rig.process import free_port, wait_until
from rig.scribe import Receiver

INTERVAL = 4  # the watchdog's, seconds


class Manager:
    """The service manager's end of NOTIFY_SOCKET: what came, with its time."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.setblocking(False)
        self.path = path
        self.heard = []

    def listen(self):
        while True:
            try:
                text = self.socket.recv(65536).decode()
            except BlockingIOError:
                return self.heard
            self.heard.append((time.monotonic(), text))

    def listen_for(self, seconds):
        """Times are those of listening, so it does not just sleep."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.listen()
            time.sleep(0.05)

    def messages(self):
        return [text for _, text in self.listen()]

    def status(self):
        """The last status line."""
        lines = [line for text in self.messages() for line in text.split("\n") if line.startswith("STATUS=")]
        return lines[-1].removeprefix("STATUS=") if lines else ""

    def signs(self, since):
        """When signs of life came after @since."""
        return [at for at, text in self.listen() if text == "WATCHDOG=1" and at > since]

    def wait_sign(self):
        """The next sign of life."""
        since = time.monotonic()
        return wait_until(lambda: self.signs(since), INTERVAL + 10, "a sign of life")[0]


@pytest.fixture
def manager(bare_node):
    heard = Manager(bare_node.path("notify"))
    yield heard
    heard.socket.close()


def start(node, manager, server, **sections):
    config = node.write_config(server, **sections)
    node.agent = node.start(
        [node.built("agent/blkin-agent"), "-c", config],
        NOTIFY_SOCKET=manager.path,
        WATCHDOG_USEC=str(INTERVAL * 1000000),
    )
    node.agent.wait_ready(lambda: "READY=1" in manager.messages())
    return node.agent


def test_ready_before_lttng_is_there(bare_node, manager):
    """Ready means that it listens and that its thread waits; what it waits for is in the status."""
    agent = start(bare_node, manager, free_port())
    assert manager.messages()[0] == "READY=1"
    assert bare_node.http_get("/healthz")[0] == 200 and bare_node.status()["pid"] == agent.pid
    wait_until(lambda: "NOT collecting: no LTTng session daemon answers" in manager.status(), 10, "what is missing")
    bare_node.start_sessiond()
    wait_until(lambda: "NOT collecting: no LTTng relay daemon answers" in manager.status(), 10, "the next one")
    bare_node.start_relayd()
    wait_until(lambda: manager.status().startswith("collecting "), 10, "the status to follow")
    assert agent.stop() == 0


def test_status_follows_the_collector(node, manager):
    receiver = Receiver(node, free_port())
    agent = start(node, manager, receiver.port)
    wait_until(lambda: "; NOT delivering to 127.0.0.1:" in manager.status(), 10, "the collector to be missed")
    receiver.start()
    node.run(["tests/live/programs/spanload", "-n", 10])
    settled = f"collecting from 0 programs; delivering to 127.0.0.1:{receiver.port}"
    wait_until(lambda: manager.status() == settled, 30, "delivery, and the program to be gone")
    # a line is sent when it changes, not each second
    before = len(manager.messages())
    time.sleep(2.5)
    assert sum(text.startswith("STATUS=") for text in manager.messages()[before:]) == 0
    agent.send(signal.SIGHUP)
    wait_until(lambda: manager.messages().count("READY=1") == 2, 10, "the reload to end")
    messages = manager.messages()
    reloading = next(i for i, text in enumerate(messages) if text.startswith("RELOADING=1\nMONOTONIC_USEC="))
    stamp = int(messages[reloading].split("=")[2]) / 1e6
    assert 0 <= time.monotonic() - stamp < 10 and "READY=1" in messages[reloading + 1 :]
    assert agent.stop() == 0
    assert sum(text.startswith("STOPPING=1\nSTATUS=stopping") for text in manager.messages()) == 1


def test_status_of_many_outputs(node, manager):
    """The line is cut to its room, and still sent only when it changes."""
    port = free_port()
    outputs = {f"output with-a-long-name-{i}": {"server": f"127.0.0.1:{port}"} for i in range(10)}
    agent = start(node, manager, port, **outputs)
    wait_until(lambda: "; delivering to 0 of 11 outputs; NOT delivering to default at 127.0" in manager.status(), 10, "it")
    wait_until(lambda: manager.status().count("connection refused") > 4, 10, "all outputs to have tried")
    time.sleep(2)
    before = len(manager.messages())
    time.sleep(3)
    assert len(manager.status()) == 511
    assert sum(text.startswith("STATUS=") for text in manager.messages()[before:]) == 0
    assert agent.stop() == 0


def test_long_stop_is_waited_for(node, manager, receiver):
    """A stop's two stages may take longer than the manager's time-out, so the agent asks for more time."""
    agent = start(node, manager, receiver.port, agent={"stop-timeout": "40s"})
    assert agent.stop() == 0
    stopping = [text for text in manager.messages() if text.startswith("STOPPING=1")]
    assert [text.split("EXTEND_TIMEOUT_USEC=")[1] for text in stopping] == ["90000000"]


@contextlib.contextmanager
def stopped(program):
    """A program that hangs, from now to the block's end."""
    program.send(signal.SIGSTOP)
    try:
        yield time.monotonic()
    finally:
        program.send(signal.SIGCONT)


def expect_patience(node, manager, daemon, since):
    """Keep-alives continue for longer than the watchdog waits, and the status says what hangs."""
    manager.listen_for(3 * INTERVAL)
    times = [since] + manager.signs(since) + [time.monotonic()]
    assert max(later - earlier for earlier, later in zip(times, times[1:])) < INTERVAL, times
    assert manager.status().startswith(f"NOT collecting: {daemon} hangs"), manager.status()
    assert node.http_get("/healthz")[0] == 200
    assert node.http_get("/readyz")[0] == 503


def test_signs_of_life(node, manager, receiver):
    """They come while all is well, and while the relay daemon hangs: another agent would fare no better."""
    agent = start(node, manager, receiver.port)
    first = manager.wait_sign()
    second = manager.wait_sign()
    assert INTERVAL / 2 - 0.6 <= second - first < INTERVAL
    with stopped(node.relayd) as since:
        expect_patience(node, manager, "lttng-relayd", since)
    wait_until(node.collecting, 20, "the agent to collect again")
    node.run(["tests/live/programs/spanload", "-n", 10])
    node.wait_ledger(lambda ledger: ledger.sent == 10, 20, "10 spans")
    assert agent.stop() == 0


def test_hung_session_daemon_is_told(node, manager, receiver):
    """The same inside a call of liblttng-ctl, which knows no time-outs either."""
    agent = start(node, manager, receiver.port)
    wait_until(node.collecting, 20, "the agent to collect")
    manager.wait_sign()
    with stopped(node.sessiond) as since:
        node.relayd.kill()
        expect_patience(node, manager, "lttng-sessiond", since)
    manager.wait_sign()
    node.start_relayd()
    wait_until(node.collecting, 20, "the agent to collect again")
    assert agent.stop() == 0


def test_hung_loop_gives_no_sign(node, manager, receiver):
    agent = start(node, manager, receiver.port)
    manager.wait_sign()
    with stopped(agent) as since:
        manager.listen_for(1.5 * INTERVAL)
        assert manager.signs(since + 0.1) == []
    manager.wait_sign()
    assert agent.stop() == 0


def test_no_manager_no_word(node, receiver):
    """Without NOTIFY_SOCKET a watchdog's interval alone changes nothing."""
    config = node.write_config(receiver.port)
    agent = node.start([node.built("agent/blkin-agent"), "-c", config], WATCHDOG_USEC="1000000")
    agent.wait_ready(node.collecting)
    assert agent.stop() == 0
