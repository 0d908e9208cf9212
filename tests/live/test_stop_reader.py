# SPDX-License-Identifier: BSD-2-Clause
"""SIGTERM of a session that is not kept, while readers die: another one reads what was recorded, and ends the session."""

import contextlib
import os
import signal

import pytest
from expect import key_of
from rig.load import LOAD
from rig.process import exactly, wait_until
from test_newusers import start
from test_reader import ONE, OTHER, as_root, start_deadly

# nothing reaches the agent before it is told to stop
SESSION = {"keep": "no", "live_timer": "5s"}
AGENT = {"stop_timeout": "20s"}


def check_ended(node, receiver, wanted):
    """When the agent has ended: all is delivered, and nothing is left of the session."""
    assert node.agent.wait(40) == 0
    came = {key_of(span) for span in receiver.spans()}
    exactly(wanted <= came, f"{len(wanted - came)} of {len(wanted)} spans are missing")
    assert node.session_folders() == []
    assert "blkin" not in node.lttng("list")


def next_reader(node, last):
    """One that is not @last; None if the agent has ended."""
    wait_until(lambda: not node.agent.running() or node.reader_pid() not in (None, last), 10, "another reader")
    return node.reader_pid()


@pytest.mark.parametrize("kills", [0, 1, 3], ids=["stopped", "killed", "killed-often"])
def test_reader_ends_during_the_stop(node, receiver, kills):
    agent = node.start_agent(receiver.port, session=SESSION, agent=AGENT)
    node.run([LOAD, "-n", 5000, "-r", 20000])
    pid = node.reader_pid()
    os.kill(pid, signal.SIGSTOP)  # so that it cannot be done before it ends
    agent.send(signal.SIGTERM)
    wait_until(lambda: "stopping: " in agent.log(), 5, "the stop")
    for _ in range(kills):
        with contextlib.suppress(ProcessLookupError, TypeError):
            os.kill(pid, signal.SIGKILL)
        pid = next_reader(node, pid)
    check_ended(node, receiver, {(0, 0, n) for n in range(5000)})


@as_root
def test_reader_dies_of_one_user_during_the_stop(node, receiver):
    agent = start_deadly(node, receiver, session=SESSION, agent=AGENT)
    good = start(node, ONE, 0, "-n", 2000, "-r", 4000)
    bad = start(node, OTHER, 666, "-n", 5, "-r", 20)
    assert [load.wait(30) for load in (good, bad)] == [0, 0]
    agent.send(signal.SIGTERM)
    check_ended(node, receiver, {(0, 0, n) for n in range(2000)})
