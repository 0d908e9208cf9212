# SPDX-License-Identifier: BSD-2-Clause
"""Spans of others on their way to a real Zipkin by Scribe: it skips what agents tell each other, and has every span."""

from rig.process import exactly, wait_until
from rig.sender import Client, Sender
from rig.zipkin import Zipkin
from test_input import run_senders, start_agent, wait_received


def test_through_an_agent(node):
    zipkin = Zipkin(node).start()
    port = start_agent(node, zipkin.scribe_port)
    senders = [Sender(port, 40, t, 500, 50, framed=t % 2 == 0) for t in range(2)]
    run_senders(senders)
    ledger = wait_received(node, 1000)
    exactly(ledger.sent == ledger.received == 1000 and ledger.sent_again == 0, str(ledger))
    wait_until(lambda: zipkin.span_count("sender40", 100000) >= 1000, 30, "1000 spans in Zipkin")
    spans = [span for trace in zipkin.traces("sender40", 100000) for span in trace]
    exactly(len(spans) == len({span["id"] for span in spans}) == 1000, "spans are missing, or there twice")
    assert all(span["kind"] == "CLIENT" and span["duration"] == 100 for span in spans)
    metrics = zipkin.collector_metrics()
    assert metrics["spans"] == 1000 and metrics["messages_dropped"] == metrics["spans_dropped"] == 0, metrics
    with Client(port) as client:
        assert client.scribe.getCounters()["spans"] == 1000
