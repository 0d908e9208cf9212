# SPDX-License-Identifier: BSD-2-Clause
"""SIGTERM: the agent reads what the session still holds, delivers it, and ends with 0."""

import signal

from expect import check_load
from rig.load import LOAD
from rig.process import free_port, wait_until
from rig.scribe import Receiver


def test_stop_delivers_what_was_recorded(node, receiver):
    # a live timer so long that nothing reaches the agent before it is told to stop
    agent = node.start_agent(receiver.port, session={"live_timer": "5s"})
    node.run([LOAD, "-p", 2, "-n", 10000, "-r", 20000])
    assert agent.stop() == 0
    receiver.wait_for(20000, 5)
    check_load(receiver.spans(), 2, 1, 10000)
    assert "stopped: 20000 events read, 20000 of 20000 spans delivered" in agent.log()


def test_stop_ends_classic_spans_that_linger(node, receiver, run_classic):
    agent = node.start_agent(receiver.port, spans={"linger": "5min", "grace": "1min"})
    run_classic(node, 5)
    node.wait_ledger(lambda ledger: ledger.pending == 15, 20, "15 spans pending")
    assert agent.stop() == 0
    receiver.wait_for(15, 5)


def test_stop_without_a_collector_is_bounded(node):
    receiver = Receiver(node, free_port())
    agent = node.start_agent(receiver.port, agent={"stop_timeout": "1s"}, spool={"max_size": 0})
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.queued == 100, 20, "100 spans queued")
    agent.stop(20)
    assert "100 spans are not delivered" in agent.log()
    assert "stopped: 100 events read, 0 of 100 spans delivered" in agent.log()


def test_stop_while_nothing_is_there(bare_node):
    agent = bare_node.start_agent(free_port(), wait=False)
    agent.wait_ready(lambda: bare_node.http_get("/healthz")[0] == 200)
    said = "not collecting: no LTTng session daemon answers"
    wait_until(lambda: said in agent.log(), 10, "what it says")
    agent.send(signal.SIGINT)
    assert agent.wait(10) == 0
    assert agent.log().count(said) == 1
