# SPDX-License-Identifier: BSD-2-Clause
"""The agent killed while it delivers to a real Zipkin: what comes a second time shows once."""

import time

from rig.load import KEEP, LOAD
from rig.process import wait_until
from rig.zipkin import Zipkin


def test_each_span_shows_once(node):
    zipkin = Zipkin(node).start()
    count = 20000
    node.start_agent(zipkin.scribe_port, session=KEEP)
    load = node.start([node.built(LOAD), "-n", count, "-r", 2000])
    for _ in range(8):
        time.sleep(1)
        node.agent.kill()
        node.start_agent_again()
    assert load.wait(60) == 0
    ledger = node.wait_ledger(
        lambda ledger: ledger.read - ledger.again == count and ledger.idle(), 60, "everything to be delivered"
    )
    assert (ledger.lost, ledger.packets_lost) == (0, 0)
    # it answers before it stores
    wait_until(lambda: zipkin.span_count("load-0") >= count, 30, f"{count} spans in Zipkin")
    traces = zipkin.traces("load-0")
    ordinals = [int(span["tags"]["ordinal"]) for trace in traces for span in trace]
    assert sorted(ordinals) == list(range(count))
