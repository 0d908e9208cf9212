# SPDX-License-Identifier: BSD-2-Clause
"""A real OpenTelemetry Collector takes what `type = otlp` sends: each span once, by every field."""

import collections
import signal
from types import SimpleNamespace

import pytest
from rig.load import LOAD
from rig.otelcol import Otelcol
from rig.process import exactly, free_port, wait_until
from test_connect import make_certificate
from test_files import NONE, files, quick  # noqa: F401
from test_files_otlp import lines  # noqa: F401
from test_json2 import by_id, converted
from test_otlp import output, to_zipkin
from test_outputs_reload import Sections


@pytest.fixture
def collector(node):
    return Otelcol(node).start()


class Status(SimpleNamespace):
    """As of a message of Protocol Buffers."""

    def HasField(self, _):  # noqa: N802
        return bool(self.found)


def message(span):
    """The Collector's JSON in the shape of the generated classes."""
    return Status(
        found=span.get("status"),
        trace_id=bytes.fromhex(span["traceId"]),
        span_id=bytes.fromhex(span["spanId"]),
        parent_span_id=bytes.fromhex(span.get("parentSpanId", "")),
        name=span.get("name", ""),
        kind=span["kind"],
        start_time_unix_nano=int(span["startTimeUnixNano"]),
        end_time_unix_nano=int(span["endTimeUnixNano"]),
        status=SimpleNamespace(message=span.get("status", {}).get("message", "")),
        events=[
            SimpleNamespace(time_unix_nano=int(event["timeUnixNano"]), name=event.get("name", ""))
            for event in span.get("events", [])
        ],
    )


@pytest.mark.parametrize("compression", ["gzip", "zstd", "none"])
def test_every_field(node, receiver, run_classic, run_sample, collector, compression):
    """The same spans at a Scribe server and at the Collector; and what Zipkin has no place for."""
    node.start_agent(receiver.port, **{"output otel": output(collector, compression=compression)})
    node.run([LOAD, "-p", 2, "-n", 2000])
    run_classic(node, 20)
    run_sample(node, 20)
    ledger = node.wait_ledger(lambda ledger: ledger.made >= 4000 + 60 and ledger.idle(), 60, "all spans")
    receiver.wait_for(ledger.made)
    collector.wait_for(ledger.made)
    found = collector.spans()
    old = by_id(map(converted, receiver.spans()))
    new = by_id(to_zipkin(resource, message(span), tags) for resource, _, span, tags in found)
    exactly(new.keys() == old.keys(), "the same spans")
    for key, span in new.items():
        assert span == old[key]
    for resource, scope, span, tags in found:
        assert resource["host.name"] and resource["telemetry.sdk.name"] == "blkin"
        assert scope["name"] == "blkin" and span["flags"] == 1
        if "ordinal" in tags:
            assert isinstance(tags["ordinal"], int) and resource["process.executable.name"] == "spanload"


def test_types_and_errors(node, collector):
    node.start_agent(collector.port, output=output(collector))
    node.run(["tests/live/programs/types"])
    collector.wait_for(2)
    for _, _, span, tags in collector.spans():
        assert (tags["int"], tags["double"], tags["bool"], tags["#text"]) == (-(2**63), 0.1, False, "5")
        assert span["status"]["code"] == 2
        assert span["status"].get("message", "") == ("disk is full" if span["name"] == "without" else "")


def test_many(node, collector):
    """200,000 spans, while the Collector is killed once: each came, and none more often than the ledger says."""
    node.start_agent(collector.port, output=output(collector, retry_max="1s"))
    load = node.start([node.built(LOAD), "-p", 4, "-n", 50000, "-r", 5000])
    collector.wait_for(40000)
    collector.program.kill()
    collector.start()
    assert load.wait(120) == 0
    ledger = node.wait_ledger(lambda ledger: ledger.made == 200000 and ledger.idle(), 120, "delivery")
    ledger.check()
    assert (ledger.lost, ledger.dropped, ledger.sent) == (0, 0, 200000)
    collector.program.stop()
    ids = collections.Counter(span["spanId"] for _, _, span, _ in collector.spans())
    # what it had acknowledged, and not written when it was killed, is its own loss: the file is flushed each 200 ms
    again = sum(ids.values()) - len(ids)
    print(f"{200000 - len(ids)} were acknowledged and lost by the Collector, {again} came twice")
    exactly(again <= ledger.sent_again, f"{again} came twice, {ledger.sent_again} were sent again")
    exactly(200000 - len(ids) <= 5000 * 4, "only what it had in memory is missing")


def ids_of(collector):
    return collections.Counter(span["spanId"] for _, _, span, _ in collector.spans())


def test_hung(node, collector):
    """It stands still under load, with calls open, and goes on: each span came, and none more often than the ledger says."""
    node.start_agent(collector.port, output=output(collector, timeout="1s", retry_max="500ms"))
    load = node.start([node.built(LOAD), "-p", 2, "-n", 10000, "-r", 2500])
    collector.wait_for(2000)
    collector.program.send(signal.SIGSTOP)
    node.wait_for(lambda: node.metrics()['blkin_agent_output_errors_total{kind="timeout"}'] > 1, 30, "calls to time out")
    collector.program.send(signal.SIGCONT)
    assert load.wait(60) == 0
    ledger = node.wait_ledger(lambda ledger: ledger.made == 20000 and ledger.idle(), 60, "delivery")
    ledger.check()
    exactly((ledger.lost, ledger.dropped, ledger.sent) == (0, 0, 20000), str(ledger))
    collector.program.stop()
    ids = ids_of(collector)
    exactly(len(ids) == 20000 and ids.total() - 20000 <= ledger.sent_again, f"{len(ids)} came, {ledger.sent_again} sent again")


def test_tls(node):
    """Nothing goes to a Collector of another authority; with the right one, each span arrives once."""
    for name in ("right", "other"):
        make_certificate(node, name, "IP:127.0.0.1")
    collector = Otelcol(node, tls=node.path("right")).start()
    node.start_agent(collector.port, output=output(collector, tls="yes", tls_ca=node.path("other.pem")))
    node.run([LOAD, "-n", 2000])
    wait_until(lambda: "output-tls" in {found["code"] for found in node.status()["findings"]}, 30, "the doctor to say so")
    ledger = node.wait_ledger(lambda ledger: ledger.made == 2000, 30, "2000 spans")
    assert (ledger.sent, ledger.dropped, collector.count()) == (0, 0, 0)
    sections = Sections(node)
    sections.keys["output"] = sections.keys["output"].replace("other.pem", "right.pem")
    sections.hang_up()
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 2000 and ledger.idle(), 30, "delivery")
    assert ledger.sent_again == 0
    collector.program.stop()
    ids = ids_of(collector)
    assert (len(ids), ids.total()) == (2000, 2000)


def test_lines_in_files(node, files, lines):  # noqa: F811
    """`format = otlp-json`: the Collector's own code reads them, and writes the same."""
    node.start_agent(free_port(), output=NONE, **{"output files": quick(lines, format="otlp-json")})
    node.run([LOAD, "-p", 2, "-n", 2000])
    node.run(["tests/live/programs/types"])
    node.wait_ledger(lambda ledger: ledger.sent == 4002 and ledger.idle(), 30, "spans in files", "files")
    assert node.agent.stop() == 0
    found = Otelcol(node).reads(lines.finished())
    for line in found:  # which has members for what is not there, too
        ((span,),) = [scope["spans"] for group in line["resourceSpans"] for scope in group["scopeSpans"]]
        for key in [key for key, value in span.items() if value in ("", {})]:
            del span[key]
    exactly(len(found) == 4002 and found == lines.spans(), "the same lines, in the same order")
