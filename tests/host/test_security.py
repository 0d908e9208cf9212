# SPDX-License-Identifier: BSD-2-Clause
"""What doc/security.md says that users of the node cannot do, tried as one of them."""

import os
import subprocess

import pytest
from rig.process import wait_until

GAMES = 5  # a user that every Debian has
RELAY_PORTS = (5342, 5343, 5344)
CONNECT = """
import socket, sys
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5).recv(0)
except OSError as error:
    sys.exit(error.strerror)
"""


def connect(node, user, port):
    """What keeps a user from connecting; empty if nothing does."""
    done = subprocess.run(
        ["nsenter", "-t", str(node.leader), "-n", "--", "setpriv", f"--reuid={user}", "--clear-groups"]
        + ["/usr/bin/python3", "-B", "-c", CONNECT, str(port)],
        capture_output=True, text=True, check=False,
    )
    return done.stderr.strip()


@pytest.mark.parametrize("port", RELAY_PORTS)
def test_relay_is_for_root_and_the_agent(node, port):
    node.wait_collecting()
    agent = int(node.run("id", "-u", "blkin"))
    assert [connect(node, user, port) for user in (0, agent)] == ["", ""]
    assert connect(node, GAMES, port) == "Connection refused"
    node.systemctl("kill", "--kill-whom=main", "--signal=KILL", "blkin-relayd")
    wait_until(lambda: connect(node, 0, port) == "", 10, "the relay to be back")
    assert connect(node, GAMES, port) == "Connection refused"
    node.systemctl("stop", "blkin-relayd")
    assert "blkin" not in node.run("nft", "list", "tables")


def test_agent_is_not_theirs_to_stop(node):
    node.wait_collecting()
    pid = node.main_pid("blkin-agent")
    assert node.code("kill", "-TERM", pid, user="games") != 0
    assert node.code("systemctl", "stop", "blkin-agent", user="games") != 0
    assert node.code("lttng", "--no-sessiond", "destroy", "blkin", user="games") != 0
    assert node.main_pid("blkin-agent") == pid and node.collecting()


def test_spans_are_not_theirs_to_read(rack, node, collector):
    node.put(rack.program("spanload"), "/usr/local/bin/spanload")
    node.wait_collecting()
    collector.stop()
    try:
        node.run("spanload", "-n", 1000, "-w", 20)
        wait_until(lambda: node.metric("blkin_agent_events_read_total") == 1000, 20, "the agent to read")
        for path in ("/var/lib/blkin", "/var/lib/blkin/relay"):
            assert node.code("ls", path, user="games") != 0
        assert node.code("blkin", "status", user="games") != 0
        shown = node.page("/metrics")[1] + node.page("/status.json")[1]
        assert "list objects" not in shown and "erledigt" not in shown
    finally:
        collector.start()


def test_disk_is_bounded(rack, node):
    """A program logs for as long as the agent is away, far more than the relay may keep."""
    bound = 48 << 20
    node.write("/etc/blkin/agent.conf.d/small.conf", "[session]\ndisk = 48M\n")
    node.put(rack.program("spanload"), "/usr/local/bin/spanload")
    node.wait_collecting()
    node.run("lttng", "--no-sessiond", "destroy", "blkin")
    node.systemctl("restart", "blkin-agent")
    wait_until(lambda: node.metric("blkin_agent_sessions_created_total") >= 2, 20, "a session of the new size")
    node.wait_collecting()
    node.systemctl("stop", "blkin-agent")
    node.run("spanload", "-n", 500_000, "-r", 100_000, "-w", 20, user="games")
    files = [os.path.join(folder, name) for folder, _, names in os.walk(node.path("/var/lib/blkin/relay")) for name in names]
    used = sum(os.path.getsize(path) for path in files)
    # beside the packets there is their index
    assert bound / 2 < used < bound * 1.1, [(path, os.path.getsize(path)) for path in files]
