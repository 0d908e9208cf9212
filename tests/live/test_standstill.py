# SPDX-License-Identifier: BSD-2-Clause
"""
What programs record stays where it is, as one of LTTng's daemons is stopped, or caught in a fault, or gone: the status never
says that all is well, names the one, and has nothing to do once it is over.
"""

import contextlib
import os
import signal

import pytest
from expect import check_recorded, end_load
from rig.node import WHOLE_STACKS
from rig.process import wait_until
from rig.users import start_as
from test_doctor import LOAD, expect, findings, start_load

NAMED = 12  # s until the status names it: 10, and the time that it takes to ask
FOREVER = 10**6


@contextlib.contextmanager
def stopped(pid):
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def begin(node, receiver):
    node.write_config(receiver.port)
    node.start_agent_again(**WHOLE_STACKS)  # babeltrace2 may keep a little where a session is attached to again


def is_not_ready(node, what):
    """Scripts and alerts are told the same."""
    code, text = node.http_get("/readyz")
    assert code == 503 and what in text
    assert node.metrics()["blkin_agent_collecting"] == 0


def is_over(node):
    """Spans arrive again, and there is nothing to do."""
    wait_until(lambda: node.collecting() and findings(node) == {}, 15, "the doctor to find nothing", 0.3)
    sent = node.ledger().sent
    node.wait_ledger(lambda ledger: ledger.sent > sent, 15, "spans again")
    assert node.collecting()


def check_all(node, receiver, load):
    """Of what was recorded nothing is missing."""
    recorded = end_load(load)
    node.wait_ledger(lambda ledger: ledger.sent == sum(recorded.values()), 30, "everything to be sent")
    ledger = node.ledger()
    assert (ledger.lost, ledger.packets_lost) == (0, 0)
    check_recorded(receiver.spans(), recorded)


def test_consumer_is_stopped(node, receiver):
    begin(node, receiver)
    load = start_load(node)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "spans")
    with stopped(node.consumer_pid()):
        expect(node, "consumer-hangs", "lttng-consumerd is stopped or hangs", "pkill -CONT lttng-consumerd", NAMED)
        is_not_ready(node, "lttng-consumerd is stopped or hangs")
    is_over(node)
    check_all(node, receiver, load)


def test_consumer_is_stopped_while_nothing_is_recorded(node, receiver):
    """The first program to come would not be traced."""
    begin(node, receiver)
    with stopped(node.consumer_pid()):
        expect(node, "consumer-hangs", "lttng-consumerd is stopped or hangs", "pkill -CONT lttng-consumerd", NAMED)
    load = start_load(node)
    is_over(node)
    check_all(node, receiver, load)


@pytest.mark.parametrize("busy", [True, False], ids=["busy", "idle"])
def test_session_daemon_is_stopped(node, receiver, busy):
    begin(node, receiver)
    load = start_load(node) if busy else None
    node.wait_ledger(lambda ledger: not busy or ledger.sent > 100, 20, "spans")
    with stopped(node.sessiond.pid):
        expect(node, "lttng-hangs", "lttng-sessiond hangs", "systemctl restart lttng-sessiond", NAMED)
        is_not_ready(node, "lttng-sessiond hangs")
    load = load or start_load(node)
    is_over(node)
    check_all(node, receiver, load)


@pytest.mark.parametrize("busy", [True, False], ids=["busy", "idle"])
def test_relay_daemon_is_stopped(node, receiver, busy):
    begin(node, receiver)
    load = start_load(node) if busy else None
    node.wait_ledger(lambda ledger: not busy or ledger.sent > 100, 20, "spans")
    with stopped(node.relayd.pid):
        expect(node, "lttng-hangs", "lttng-relayd hangs", "systemctl restart blkin-relayd", NAMED)
        is_not_ready(node, "lttng-relayd hangs")
    load = load or start_load(node)
    is_over(node)
    check_all(node, receiver, load)


def test_consumer_is_killed(node, receiver):
    """The session daemon does not start another, and its own words do not say so."""
    begin(node, receiver)
    start_load(node)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "spans")
    os.kill(node.consumer_pid(), signal.SIGKILL)
    expect(node, "consumer-gone", "lttng-consumerd has ended", "systemctl restart lttng-sessiond", NAMED)
    is_not_ready(node, "lttng-consumerd has ended")
    assert node.sessiond.stop() == 0
    node.start_sessiond()
    is_over(node)
    assert node.ledger().sessions_lost == 1


@pytest.mark.as_root("becomes other users")
def test_ring_buffers_are_cut_off(node, receiver):
    """
    A user makes the files of their own ring buffers shorter: LTTng's consumer daemon is caught in a fault for ever, and
    passes on nothing of anybody.
    """
    begin(node, receiver)
    for number, user in enumerate((5001, 5002)):
        start_as(node, user, "spanload", "-P", number, "-n", FOREVER, "-r", 100)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "spans")
    villain = start_as(node, 5003, "shrink")
    wait_until(lambda: "2 files" in villain.log(), 10, "the files to be cut off")
    expect(node, "consumer-still", "lttng-consumerd passes on nothing", "systemctl kill -s KILL lttng-sessiond", NAMED)
    is_not_ready(node, "lttng-consumerd passes on nothing")
    villain.kill()
    expect(node, "consumer-still", "lttng-consumerd passes on nothing", "systemctl kill -s KILL lttng-sessiond", NAMED)
    # what the remedy does: all processes of the unit are killed, and systemd starts it again
    os.kill(node.consumer_pid(), signal.SIGKILL)
    node.sessiond.kill()
    node.start_sessiond()
    is_over(node)
    assert node.ledger().sessions_lost == 1
