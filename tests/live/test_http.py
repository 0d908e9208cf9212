# SPDX-License-Identifier: BSD-2-Clause
"""The agent's HTTP: more connections than it has descriptors cost it neither its loop nor its log."""

import resource
import socket
import time


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
    deadline = time.time() + 10
    while node.http_get("/healthz")[0] != 200:
        assert time.time() < deadline, "it does not come back"
    assert agent.stop() == 0


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100
