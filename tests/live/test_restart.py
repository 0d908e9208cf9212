# SPDX-License-Identifier: BSD-2-Clause
"""SIGTERM and a new start, as `systemctl restart` does it: the session goes on, no span is lost, and none comes twice."""

import random
import time

from expect import check_recorded, end_load
from rig.load import KEEP, LOAD, finish


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
