# SPDX-License-Identifier: BSD-2-Clause
"""What it costs to store spans while the collector is down, and to deliver them when it is back."""

import time

from rig.process import free_port

from .live import Agent
from .table import Table, median
from .trace import Sink, cpu, generate

KEYS = {
    "output": {"queue-size": "1M", "retry-min": "100ms", "retry-max": "200ms"},
    "spool": {"replay-share": 100, "replay-floor": 1000000, "max-size": "8G"},
}


def run(node, sizes):
    """CPU ns a span to store, bytes that it takes, CPU ns to deliver, and spans a second that arrive again."""
    port = free_port()
    agent = Agent(node, port, **KEYS)
    before = cpu(agent.program)
    events, spans = generate(node, "span", sizes.spool_events, sizes.spool_rate)
    ledger = node.wait_ledger(lambda ledger: ledger.read >= events and not ledger.pending, 120, f"{events} events read")
    ledger = node.wait_ledger(lambda ledger: ledger.spooled + 3000 >= spans, 120, f"{spans} spans in the spool")
    stored = (cpu(agent.program) - before) / spans * 1e9
    size = ledger.metrics["blkin_agent_spool_bytes"] / ledger.spooled
    before, begun = cpu(agent.program), time.monotonic()
    sink = Sink(node, port)
    node.wait_ledger(lambda ledger: ledger.sent >= spans, 300, f"{spans} spans sent")
    rate = spans / (time.monotonic() - begun)
    sent = (cpu(agent.program) - before) / spans * 1e9
    agent.stop()
    sink.stop()
    return stored, size, sent, rate


def measure(node, sizes):
    stored, size, sent, rate = zip(*(run(node, sizes) for _ in range(sizes.spool_rounds)))
    table = Table("Spool: spans of 3 annotations and 3 tags, the collector down and up again", "a span")
    table.add("CPU ns, read to stored", median(stored))
    table.add("bytes in the file", median(size))
    table.add("CPU ns, stored to acknowledged", median(sent))
    table.add("replayed a second, as the pace grows", median(rate))
    return [table]
