# SPDX-License-Identifier: BSD-2-Clause
"""The agent's HTTP: who holds connections without end costs it neither descriptors, nor its loop, nor its log."""

import contextlib
import os
import resource
import socket
import stat
import sys
import time

from rig.process import free_port, wait_until
from rig.scribe import Receiver

CONNECTIONS_MAX = 32  # agent/httplimit.h


@contextlib.contextmanager
def held_connections(count, address, family=socket.AF_INET):
    """That many connections that say nothing."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            held = stack.enter_context(socket.socket(family))
            held.connect(address)
        yield


def least_descriptors(pid):
    """What a process holds for longer: it asks LTTng's daemon, and closes that connection again, twice a second."""
    least = sys.maxsize
    end = time.monotonic() + 1
    while time.monotonic() < end:
        least = min(least, len(os.listdir(f"/proc/{pid}/fd")))
        time.sleep(0.02)
    return least


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


def connections(node):
    """How many connections the agent has taken: on its port, and on its socket."""
    pid, port = node.agent.pid, f"0100007F:{node.http:04X}"
    tcp = {row[9] for row in rows(pid, "tcp") if row[1] == port and row[3] != "0A"}
    local = {row[6] for row in rows(pid, "unix") if row[7:] == [node.socket] and row[5] == "03"}
    mine = inodes(pid)
    return len(tcp & mine), len(local & mine)


def steady_descriptors(pid):
    """Once their number stays: the agent opens the relay's folder when it first looks into it."""
    count, since = least_descriptors(pid), time.monotonic()
    while time.monotonic() - since < 2:
        now = least_descriptors(pid)
        if now != count:
            count, since = now, time.monotonic()
    return count


def test_connections_are_bounded(node, receiver):
    """Beyond the limit they wait, on the port as on the socket, and each door has a limit of its own."""
    agent = node.start_agent(receiver.port)
    wait_until(lambda: connections(node) == (0, 0), 10, "what asked whether it is ready to have hung up")
    before = steady_descriptors(agent.pid)
    with held_connections(100, ("127.0.0.1", node.http)):
        wait_until(lambda: connections(node) == (CONNECTIONS_MAX, 0), 10, "the port to be full")
        assert node.status()["collecting"], "the socket is free"
        # 16 wait in the kernel, the rest is refused
        with held_connections(CONNECTIONS_MAX, node.socket, socket.AF_UNIX):
            full = (CONNECTIONS_MAX, CONNECTIONS_MAX)
            wait_until(lambda: connections(node) == full, 10, "the socket to be full")
            cpu = cpu_seconds(agent.pid)
            time.sleep(2)
            assert cpu_seconds(agent.pid) - cpu < 0.5, "the loop spins"
            assert connections(node) == full
            assert least_descriptors(agent.pid) == before + 2 * CONNECTIONS_MAX
    wait_until(lambda: connections(node) == (0, 0), 10, "all to be closed")
    assert least_descriptors(agent.pid) == before
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
        (b"POST /status HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc", (b"405", b"413", b"501")),
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
