# SPDX-License-Identifier: BSD-2-Clause
"""A server that does not take the compression refuses nothing of the spans: they wait, and the status says what to set."""

import pytest
from rig.jsonsink import JsonSink
from rig.load import LOAD
from rig.process import wait_until
from test_doctor import findings
from test_outputs_reload import Sections

SETTING = "see the output's `compression`"


@pytest.fixture
def sink():
    """It takes gzip only."""
    with JsonSink() as server:
        server.encodings = {"gzip"}
        yield server


# As RFC 9110 asks for; as the OpenTelemetry Collector and Jaeger do it; and without a hint of what the matter is.
@pytest.mark.parametrize(
    "refusal, what, fix",
    [
        ((415, {"Accept-Encoding": "gzip"}, b""), f"compressed like this: {SETTING}; it accepts gzip", "mostly gzip"),
        ((400, {}, b"unsupported Content-Encoding: zstd\n"), f"{SETTING}: unsupported Content-Encoding: zstd", "mostly gzip"),
        ((415, {}, b""), "it does not take spans in this form: see the output's `compression`, and `format`", "`compression = none`"),
    ],
)
@pytest.mark.parametrize("form", ["thrift", "json2"])
def test_compression_that_is_not_taken(node, sink, form, refusal, what, fix):
    sink.refusal = refusal
    keys = {"type": "http", "format": form, "compression": "zstd"}
    node.start_agent(sink.port, output=keys)
    node.run([LOAD, "-n", 1000])
    wait_until(lambda: sink.refused >= 3, 20, "three refusals")
    wait_until(lambda: "output-format" in findings(node), 20, "the status to say so")
    finding = findings(node)["output-format"]
    assert what in finding["what"] and fix in finding["fix"]
    ledger = node.ledger()
    assert (ledger.sent, ledger.dropped) == (0, 0)
    assert (ledger.queued + ledger.spooled, sink.spans) == (1000, [])
    sections = Sections(node)
    sections.output("output", sink, **dict(keys, format="json2", compression="gzip"))
    sections.hang_up()
    sink.wait_for(1000)
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 20, "delivery")
    assert (ledger.sent, ledger.lost, ledger.dropped) == (1000, 0, 0)
    assert sorted(int(span["tags"]["ordinal"]) for span in sink.spans) == list(range(1000))
