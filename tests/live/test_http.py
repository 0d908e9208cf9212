# SPDX-License-Identifier: BSD-2-Clause
"""
The agent's HTTP: who holds connections, in silence or slowly, costs it neither descriptors, nor its loop, nor its log,
and does not shut others out. A port that is taken costs it nothing but the port.
"""

import contextlib
import os
import resource
import signal
import socket
import stat
import sys
import threading
import time

from rig.process import free_port, wait_until
from rig.scribe import Receiver
from rig.sections import REFUSED

CONNECTIONS_MAX = 32  # agent/httplimit.h


@contextlib.contextmanager
def held_connections(count, address, family=socket.AF_INET):
    """That many connections that say nothing."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            held = stack.enter_context(socket.socket(family))
            held.connect(address)
        yield


def rows(pid, name):
    """The rows, in words, of a table of the network."""
    with open(f"/proc/{pid}/net/{name}", encoding="ascii") as file:
        return [line.split() for line in file.readlines()[1:]]


def inodes(pid):
    """The sockets of a process, which may close any while one looks."""
    links = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            links.add(os.readlink(f"/proc/{pid}/fd/{name}"))
    return {link[8:-1] for link in links if link.startswith("socket:[")}


def connections_at(pid, port):
    """How many connections the agent has taken on a port of its own."""
    there = f"0100007F:{port:04X}"
    return len({row[9] for row in rows(pid, "tcp") if row[1] == there and row[3] != "0A"} & inodes(pid))


def connections(node):
    """How many connections the agent has taken: on its port, and on its socket."""
    pid = node.agent.pid
    local = {row[6] for row in rows(pid, "unix") if row[7:] == [node.socket] and row[5] == "03"}
    return connections_at(pid, node.http), len(local & inodes(pid))


def least_sockets(pid):
    """What a process holds for longer: it asks LTTng's daemon, and closes that connection again, twice a second."""
    least = sys.maxsize
    end = time.monotonic() + 1
    while time.monotonic() < end:
        least = min(least, len(inodes(pid)))
        time.sleep(0.02)
    return least


def steady_sockets(pid):
    """Once their number stays."""
    count, since = least_sockets(pid), time.monotonic()
    while time.monotonic() - since < 2:
        now = least_sockets(pid)
        if now != count:
            count, since = now, time.monotonic()
    return count


def test_connections_are_bounded(node, receiver):
    """Beyond the limit the oldest are ended, on the port as on the socket, and each has a limit of its own."""
    agent = node.start_agent(receiver.port)
    wait_until(lambda: connections(node) == (0, 0), 10, "what asked whether it is ready to have hung up")
    before = steady_sockets(agent.pid)
    with held_connections(100, ("127.0.0.1", node.http)):
        wait_until(lambda: connections(node) == (CONNECTIONS_MAX, 0), 10, "the port to be full")
        assert node.status()["collecting"], "the socket is free"
        with held_connections(CONNECTIONS_MAX, node.socket, socket.AF_UNIX):
            full = (CONNECTIONS_MAX, CONNECTIONS_MAX)
            wait_until(lambda: connections(node) == full, 10, "the socket to be full")
            cpu = cpu_seconds(agent.pid)
            time.sleep(2)
            assert cpu_seconds(agent.pid) - cpu < 0.5, "the loop spins"
            assert connections(node) == full
            # on a machine that is busy, LTTng's daemon may not answer for a second
            wait_until(lambda: least_sockets(agent.pid) == before + 2 * CONNECTIONS_MAX, 10, "no more sockets than connections")
    wait_until(lambda: connections(node) == (0, 0), 10, "all to be closed")
    wait_until(lambda: least_sockets(agent.pid) == before, 10, "as many sockets as before")
    assert node.http_get("/healthz")[0] == 200 and node.status()["collecting"]
    assert agent.stop() == 0


def test_descriptors_are_used_again(node):
    """A connection that was served leaves nothing behind that would deafen the next use of its descriptor."""
    receiver = Receiver(node, free_port())
    agent = node.start_agent(receiver.port)
    for _ in range(20):
        assert node.http_get("/metrics")[0] == 200 and node.status()["pid"] == agent.pid
    receiver.start()
    node.run(["tests/live/programs/spanload", "-n", 100])
    receiver.wait_for(100, 20)
    assert agent.stop() == 0


class Slow:
    """Connections that send a request's head a byte at a time, and come back when they are ended."""

    def __init__(self, count, port, pause):
        self.port, self.pause = port, pause
        self.held = [self.connect() for _ in range(count)]
        self.ended = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def connect(self):
        held = socket.create_connection(("127.0.0.1", self.port), 10)
        held.sendall(b"GET / HTTP/1.1\r\nX: ")
        held.setblocking(False)
        return held

    def trickle(self, index):
        try:
            self.held[index].send(b"x")
            ended = self.held[index].recv(4096) == b""
        except BlockingIOError:
            ended = False
        except OSError:
            ended = True
        if ended:
            self.ended += 1
            self.held[index].close()
            self.held[index] = self.connect()

    def run(self):
        while not self.over.wait(self.pause):
            for index in range(len(self.held)):
                self.trickle(index)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        for held in self.held:
            held.close()


def test_slow_requests_shut_nobody_out(node, receiver):
    """A hundred that send a byte now and then: everybody else is served all the time."""
    agent = node.start_agent(receiver.port)
    with Slow(100, node.http, 0.5) as slow:
        end = time.monotonic() + 15
        while time.monotonic() < end:
            # on a busy machine, 32 others may come between connecting and asking
            wait_until(lambda: node.http_get("/metrics")[0] == 200, 5, f"an answer; {slow.ended} slow requests have ended")
            time.sleep(0.5)
        assert slow.ended > 68, "the slow ones change"
    wait_until(lambda: connections(node) == (0, 0), 20, "all to be closed")
    assert agent.stop() == 0


def test_a_request_has_a_deadline(node, receiver):
    """A slow request ends, though it is never silent, and nobody needs its place."""
    agent = node.start_agent(receiver.port)
    with socket.create_connection(("127.0.0.1", node.http), 5) as slow:
        begun = time.monotonic()
        slow.setblocking(False)
        slow.send(b"GET / HTTP/1.1\r\nX: ")
        while time.monotonic() - begun < 20:
            time.sleep(0.3)
            try:
                slow.send(b"x")
                assert slow.recv(4096) == b""
                break
            except BlockingIOError:
                continue
            except OSError:
                break
        assert 9 < time.monotonic() - begun < 15
    assert agent.stop() == 0


def test_one_address_does_not_displace_another(node, receiver):
    agent = node.start_agent(receiver.port)
    with socket.create_connection(("127.0.0.1", node.http), 5, ("127.0.0.2", 0)) as other:
        other.sendall(b"GET /healthz HTTP/1.0\r\n")
        with held_connections(100, ("127.0.0.1", node.http)):
            wait_until(lambda: connections(node) == (CONNECTIONS_MAX, 0), 8, "the port to be full")
            other.sendall(b"\r\n")
            assert other.recv(4096).startswith(b"HTTP/1.0 200")
    assert agent.stop() == 0


def test_connections_end_with_the_answer(node, receiver):
    agent = node.start_agent(receiver.port)
    with socket.create_connection(("127.0.0.1", node.http), 5) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        answer = b""
        while part := connection.recv(4096):
            answer += part
        assert b"\r\nConnection: close\r\n" in answer and answer.endswith(b"ok\n")
    assert agent.stop() == 0


def test_a_port_that_is_taken(node, receiver):
    """Tracing works without it; the log, the status and the doctor say so; it is opened once it is free."""
    node.write_config(receiver.port)
    with socket.create_server(("127.0.0.1", node.http)):
        agent = node.start_agent_again(wait=False)
        wait_until(lambda: os.path.exists(node.socket) and node.status()["collecting"], 20, "it to collect")
        node.run(["tests/live/programs/spanload", "-n", 100])
        receiver.wait_for(100, 20)
        status = node.status()
        found = {finding["code"]: finding for finding in status["findings"]}["http-port"]
        assert f"127.0.0.1:{node.http}: Address already in use" in found["what"] and "`http` in [agent]" in found["fix"]
        assert status["http_error"] == "Address already in use"
        time.sleep(5)
        assert agent.log().count("cannot listen on") == 1
    wait_until(lambda: node.http_get("/healthz")[0] == 200, 10, "the port to be opened")
    assert agent.log().count(f"listening on 127.0.0.1:{node.http} now") == 1
    status = node.status()
    assert status["http_error"] == "" and "http-port" not in [finding["code"] for finding in status["findings"]]
    assert agent.stop() == 0


def test_a_reload_away_from_a_port_that_is_taken(node, receiver):
    node.write_config(receiver.port)
    with socket.create_server(("127.0.0.1", node.http)):
        agent = node.start_agent_again(wait=False)
        wait_until(lambda: "cannot listen on" in agent.log(), 20, "it to find its port taken")
        with open(node.path("agent.conf"), encoding="utf-8") as file:
            text = file.read()
        other = free_port()
        with open(node.path("agent.conf"), "w", encoding="utf-8") as file:
            file.write(text.replace(f"http = 127.0.0.1:{node.http}", f"http = 127.0.0.1:{other}"))
        agent.send(signal.SIGHUP)
        wait_until(lambda: "configuration reloaded" in agent.log(), 10, "the reload")
    taken, node.http = node.http, other
    assert node.http_get("/healthz")[0] == 200 and node.status()["http_error"] == ""
    time.sleep(3)
    with socket.create_server(("127.0.0.1", taken)):
        pass
    assert agent.stop() == 0


def test_a_reload_away_from_a_port_that_is_taken_is_refused(node, receiver):
    """As something else in it cannot be had. The port of before is tried again, and the new one is left."""
    node.write_config(receiver.port)
    with socket.create_server(("127.0.0.1", node.http)), socket.create_server(("127.0.0.1", 0)) as another:
        agent = node.start_agent_again(wait=False)
        wait_until(lambda: "cannot listen on" in agent.log(), 20, "it to find its port taken")
        taken = node.http
        node.write_config(receiver.port, input={"scribe": f"127.0.0.1:{another.getsockname()[1]}"})
        other, node.http = node.http, taken
        agent.send(signal.SIGHUP)
        wait_until(lambda: REFUSED in agent.log(), 10, "the reload to be refused")
        assert node.status()["http_error"] == "Address already in use"
        with socket.create_server(("127.0.0.1", other)):
            pass
    wait_until(lambda: node.http_get("/healthz")[0] == 200, 10, "the port to be opened")
    assert agent.stop() == 0


def test_the_port_moves_while_descriptors_are_short(node, receiver):
    """The port that waits for descriptors is closed: nothing of it is touched later."""
    node.write_config(receiver.port)
    # libevent itself has no sanitizer, but shall not find what it has freed as it was
    agent = node.start_agent_again(
        ASAN_OPTIONS="verify_asan_link_order=0:max_free_fill_size=65536:free_fill_byte=254"
    )
    with open(node.path("agent.conf"), encoding="utf-8") as file:
        text = file.read()
    old, node.http = node.http, free_port()
    with open(node.path("agent.conf"), "w", encoding="utf-8") as file:
        file.write(text.replace(f"http = 127.0.0.1:{old}", f"http = 127.0.0.1:{node.http}"))
    limits = resource.prlimit(agent.pid, resource.RLIMIT_NOFILE)
    open_ones = {int(name) for name in os.listdir(f"/proc/{agent.pid}/fd")}
    few = min(set(range(1000)) - open_ones) + 3
    resource.prlimit(agent.pid, resource.RLIMIT_NOFILE, (few, limits[1]))
    with held_connections(20, ("127.0.0.1", old)):
        time.sleep(0.3)
        assert connections(node) == (0, 0) and connections_at(agent.pid, old) < 20, "descriptors are short"
        resource.prlimit(agent.pid, resource.RLIMIT_NOFILE, limits)
        agent.send(signal.SIGHUP)
        wait_until(lambda: "configuration reloaded" in agent.log(), 10, "the reload")
    time.sleep(2)
    assert agent.running() and node.http_get("/healthz")[0] == 200
    assert agent.stop() == 0


def test_silent_connections_end(node, receiver):
    """Whoever holds all connections in silence loses them, and the next one is served."""
    agent = node.start_agent(receiver.port)
    with held_connections(CONNECTIONS_MAX, ("127.0.0.1", node.http)):
        begun = time.monotonic()
        assert node.http_get("/healthz")[0] in (0, 200)
        wait_until(lambda: node.http_get("/healthz")[0] == 200, 20, "the next one to be served")
        assert time.monotonic() - begun < 20
    assert agent.stop() == 0


def test_only_loopback_and_the_group(bare_node):
    """What the agent listens on: 127.0.0.1 alone, and a socket for its own user and group."""
    agent = bare_node.start_agent(free_port(), wait=False)
    agent.wait_ready(lambda: bare_node.http_get("/healthz")[0] == 200)
    mode = os.stat(bare_node.socket).st_mode
    assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o660
    listening = set()
    mine = inodes(agent.pid)
    for name in ("tcp", "tcp6", "udp", "udp6"):
        found = rows(agent.pid, name)
        listening |= {(name, row[1]) for row in found if row[9] in mine and (row[3] == "0A" or "udp" in name)}
    assert listening == {("tcp", f"0100007F:{bare_node.http:04X}")}
    assert agent.stop() == 0


def test_what_changes_nothing_is_refused(node, receiver):
    """Only GET and HEAD; long requests and headers end in an error, and the next one is served."""
    node.start_agent(receiver.port)
    for request, codes in [
        (b"POST /status.json HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc", (b"405", b"413", b"501")),
        (b"DELETE / HTTP/1.0\r\n\r\n", (b"405", b"501")),
        (b"GET /" + b"a" * 100000 + b" HTTP/1.0\r\n\r\n", (b"400", b"413", b"414")),
        (b"GET / HTTP/1.0\r\nX: " + b"a" * 100000 + b"\r\n\r\n", (b"400", b"413", b"414")),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n", (b"400", b"501")),
        (b"GET /../../etc/passwd HTTP/1.0\r\n\r\n", (b"404", b"400")),
    ]:
        with socket.create_connection(("127.0.0.1", node.http), 5) as connection:
            with contextlib.suppress(OSError):
                connection.sendall(request)
            answer = b""
            with contextlib.suppress(OSError):
                answer = connection.recv(4096)
        assert not answer or answer.split()[1] in codes, (request[:40], answer)
    assert node.http_get("/healthz")[0] == 200


def test_connections_without_end(node, receiver):
    agent = node.start_agent(receiver.port)
    resource.prlimit(agent.pid, resource.RLIMIT_NOFILE, (64, 64))
    sockets = []
    for _ in range(100):
        held = socket.socket()
        held.settimeout(5)
        held.connect(("127.0.0.1", node.http))
        sockets.append(held)
    before = cpu_seconds(agent.pid)
    time.sleep(3)
    assert cpu_seconds(agent.pid) - before < 1.5, "the loop spins"
    assert agent.log().count("Too many open files") <= 5
    for held in sockets:
        held.close()
    wait_until(lambda: node.http_get("/healthz")[0] == 200, 10, "it to come back")
    assert agent.stop() == 0


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100
