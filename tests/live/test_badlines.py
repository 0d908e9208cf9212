# SPDX-License-Identifier: BSD-2-Clause
"""
Programs that write anything into the text of their spans: the reader goes on, takes bounded memory, counts what it leaves out, and
mixes up nothing of others'. BLKIN_BADLINES is how many events of such a program there are, BLKIN_SEED what they have.
"""

import os
import random
import time
from collections import Counter

import pytest
from rig.load import KEEP
from rig.memory import allowance, rss_of_all
from rig.otlpsink import OtlpSink, messages, value
from rig.process import exactly, wait_until
from rig.unpack import unpack
from rig.users import start_as
from test_hostile import GOOD, HOSTILE

COUNT = int(os.environ.get("BLKIN_BADLINES", "10000"))
SEED = int(os.environ.get("BLKIN_SEED", "0")) or random.randrange(1, 1 << 30)
TRACE = 0x600D

pytestmark = pytest.mark.as_root("only root may run programs as another user")


class Sink(OtlpSink):
    """Its spans are (message, attributes): keys may come twice. And so many others came."""

    others = 0

    def answer(self, request, body):
        call = messages().ExportTraceServiceRequest.FromString(unpack(body, request.headers["Content-Encoding"]))
        spans = [span for group in call.resource_spans for scope in group.scope_spans for span in scope.spans]
        good = [span for span in spans if int.from_bytes(span.trace_id, "big") == TRACE]
        with self.lock:
            self.spans += [(span, {pair.key: value(pair.value) for pair in span.attributes}) for span in good]
            self.others += len(spans) - len(good)
        return 200, {"Content-Type": "application/x-protobuf"}, b""


@pytest.fixture
def sink():
    with Sink() as server:
        yield server


def start_agent(node, sink, **sections):
    output = {"type": "otlp", "server": f"127.0.0.1:{sink.port}", "batch_delay": "50ms"}
    node.start_agent(sink.port, output=output, session=KEEP, **sections)
    return node.reader_pid()


def numbers_of(text):
    return [one.int_value for one in text.values]


def check_span(span, attributes):
    """Of programs/manylines.c."""
    n = int.from_bytes(span.span_id, "big")
    for i in range(5):
        exactly(numbers_of(attributes[f"list {i}"]) == list(range(n, n + 40)), f"list {i} of {n}")
    for i in range(5):
        exactly([one.string_value for one in attributes[f"text {i}"].values] == ["x" * 400], f"text {i} of {n}")
    exactly(attributes["number"] == n and len(attributes) == 11, str(attributes))
    (event,), links = span.events, span.links
    exactly((event.name, [one.value.int_value for one in event.attributes]) == ("again", [n]), str(event))
    if n > 1:
        exactly([(int.from_bytes(one.span_id, "big"), one.attributes[0].value.int_value) for one in links] == [(n - 1, n)], str(links))


def check_good(sink, count):
    wait_until(lambda: len(sink.spans) >= count, 30, f"{count} spans")
    came = Counter(int.from_bytes(span.span_id, "big") for span, _ in sink.spans)
    exactly(came == Counter(range(1, count + 1)), f"{[one for one in came.items() if one[1] != 1][:10]}")
    for span, attributes in sink.spans:
        check_span(span, attributes)


def test_anything(node, sink):
    """At random, and with ids that get into each other's way."""
    print(f"BLKIN_SEED={SEED}")
    reader = start_agent(node, sink)
    others = start_as(node, GOOD, "manylines", str(TRACE), "600", "100")
    bad = start_as(node, HOSTILE, "badlines", "any", str(SEED), str(COUNT))
    before, most = rss_of_all(node.agent), 0
    while bad.running() or others.running():
        most = max(most, rss_of_all(node.agent))
        time.sleep(0.1)
    assert bad.wait() == others.wait() == 0
    check_good(sink, 600)
    ledger = node.wait_ledger(lambda ledger: ledger.read + ledger.lost >= COUNT and ledger.idle(), 60, "all of it")
    print(f"{before} KiB, {most} KiB at most; {sink.others} others came; {ledger}")
    exactly(node.reader_pid() == reader, "the reader is the same")
    assert most - before < allowance(96 * 1024)
