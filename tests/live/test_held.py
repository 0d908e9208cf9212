# SPDX-License-Identifier: BSD-2-Clause
"""
Somebody keeps everybody's new programs from being registered: LTTng's session daemon takes one connection after the other, and
waits five seconds for each that says nothing. `blkin status` says so, and names who it is; the others' spans go on.
"""

import glob
import sys

import pytest
from rig.process import wait_until
from rig.users import start_as
from test_doctor import expect, findings, start_load
from test_standstill import begin
from test_stopped import connections

USER, HOLDER = 12345, 12346
FOREVER = 10**6
CONNECTIONS = 80  # more than LTTng lets wait
SOON = 15  # s

HOLDS = """
import socket, sys, time

held = [socket.socket(socket.AF_UNIX) for _ in range(int(sys.argv[2]))]
for one in held:
    one.setblocking(False)
    while one.connect_ex(sys.argv[1]):
        time.sleep(0.1)
time.sleep(1000)
"""

# LTTng waits for five seconds for each byte
TRICKLES = """
import socket, sys, time

one = socket.socket(socket.AF_UNIX)
one.connect(sys.argv[1])
while True:
    one.send(bytes(1))
    time.sleep(3)
"""

as_root = pytest.mark.as_root("becomes other users")


def hold(node, *program):
    become = ["setpriv", f"--reuid={HOLDER}", f"--regid={HOLDER}", "--clear-groups"]
    (path,) = glob.glob(node.sessiond_file("lttng-ust-sock-*"))
    return node.start(become + [sys.executable, "-c", program[0], path, *program[1:]], name="holder", HOME="/")


def waiting(node):
    return node.metrics()["blkin_agent_registrations_waiting"]


@as_root
@pytest.mark.parametrize("count", [CONNECTIONS, 4])
def test_says_nothing(node, receiver, count):
    begin(node, receiver)
    start_load(node)
    wait_until(lambda: findings(node) == {}, 20, "the doctor to be content")
    assert waiting(node) == 0
    holder = hold(node, HOLDS, count)
    wait_until(lambda: waiting(node), SOON, "connections to wait")
    start_as(node, USER, "spanload", "-n", FOREVER, "-r", 10)
    waits = "to be registered by lttng-sessiond, the longest for "
    found = expect(node, "registration-held", waits, "end it (kill -KILL", SOON)
    assert "programs that start now are not recorded, and may wait in their start" in found["what"]
    named = found["what"].split("; what holds it up is ")[1]
    assert named.startswith(f"python3 ({holder.pid}) of user {HOLDER} (") and ", " not in named, "and nobody else"
    assert node.http_get("/readyz")[0] == 200
    sent = node.ledger().sent
    node.wait_ledger(lambda ledger: ledger.sent > sent + 100, SOON, "spans of the program that is registered")
    holder.kill()
    wait_until(lambda: findings(node) == {} and waiting(node) == 0, SOON, "the doctor to be content again")
    wait_until(lambda: node.status()["programs_with_blkin"] == 4, SOON, "both to be registered, and what they start")
    assert node.sessiond.running()


@as_root
def test_says_little(node, receiver):
    """One connection, which the session daemon has taken, is enough."""
    begin(node, receiver)
    start_load(node)
    wait_until(lambda: findings(node) == {}, 20, "the doctor to be content")
    before = connections()
    holder = hold(node, TRICKLES)
    wait_until(lambda: connections() == before + 1, SOON, "the session daemon to take it")
    start_as(node, USER, "spanload", "-n", FOREVER, "-r", 10)
    found = expect(node, "registration-held", "to be registered by lttng-sessiond, ", "end it (kill -KILL", 20)
    assert found["what"].endswith(f"; what holds it up is python3 ({holder.pid}) of user {HOLDER} (1 connection)")
    holder.kill()
    wait_until(lambda: findings(node) == {} and waiting(node) == 0, SOON, "the doctor to be content again")
    wait_until(lambda: node.status()["programs_with_blkin"] == 4, SOON, "both to be registered, and what they start")
