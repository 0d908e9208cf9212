# SPDX-License-Identifier: BSD-2-Clause
"""SIGTERM and a new start, as `systemctl restart` does it: the session goes on, no span is lost, and none comes twice."""

import random
import time

from expect import check_load, check_recorded, end_load
from rig.load import KEEP, LOAD, finish
from rig.moody import MoodyWeb
from rig.process import wait_until


def test_ten_restarts_under_load(node, receiver):
    node.start_agent(receiver.port, session=KEEP)
    load = node.start([node.built(LOAD), "-p", 2, "-t", 2, "-n", 10**6, "-r", 1000])
    for _ in range(10):
        time.sleep(random.uniform(0.2, 1.5))
        assert node.agent.stop() == 0
        time.sleep(random.uniform(0, 0.5))
        node.start_agent_again()
    time.sleep(1)
    recorded = end_load(load)
    total = sum(recorded.values())
    ledger = finish(node, receiver, total)
    check_recorded(receiver.spans(), recorded)
    # the ledger went on over all of them
    assert (ledger.read, ledger.again, ledger.sent, ledger.sessions) == (total, 0, total, 1)


def test_in_the_middle_of_what_was_spooled(node):
    """A collector that is busy takes a part of a batch that waited on disk, and then the agent stops: the rest comes once."""
    total, takes = 5000, 0
    calls = []

    def status(messages):
        nonlocal takes
        calls.append(len(messages))
        takes -= 1
        return 202 if takes >= 0 else 429

    with MoodyWeb(node, status) as server:
        node.start_agent(server.port, session=KEEP, output={"type": "http", "retry_min": "20ms", "retry_max": "100ms"})
        node.run([LOAD, "-n", total])
        node.wait_ledger(lambda ledger: ledger.spooled == total, 30, "all to be in the spool")
        wait_until(lambda: calls[-1] < 100, 30, "calls to be small, as they are put off")
        takes = 3
        wait_until(lambda: takes < 0, 30, "three calls to be taken, and one to be put off")
        ledger = node.wait_ledger(lambda ledger: ledger.sent == len(server.taken), 10, "their answers to be read")
        assert 0 < ledger.sent < 400
        assert node.agent.stop() == 0
        takes = total
        node.start_agent_again()
        ledger = node.wait_ledger(lambda ledger: ledger.idle() and not ledger.spooled, 30, "the spool to be empty")
        check_load(server.spans(), 1, 1, total)
        assert (ledger.sent, ledger.spans, ledger.sent_again, ledger.recovered) == (total, total, 0, 0), str(ledger)
        node.agent.stop()
