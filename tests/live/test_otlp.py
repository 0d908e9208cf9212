# SPDX-License-Identifier: BSD-2-Clause
"""`type = otlp`: OpenTelemetry's protocol says what Zipkin's does, and what Zipkin's cannot say."""

import collections
import os
import socket

import pytest
from rig.load import LOAD
from rig.otlpsink import OtlpSink
from rig.spanfiles import SpanFiles
from test_json2 import by_id, converted

KINDS = [None, None, "SERVER", "CLIENT", "PRODUCER", "CONSUMER"]
PEER = ("client.address", "client.port"), ("server.address", "server.port")


@pytest.fixture
def sink():
    with OtlpSink() as server:
        yield server


def output(sink, **keys):
    return dict({"type": "otlp", "server": f"127.0.0.1:{sink.port}", "batch_delay": "50ms"}, **keys)


def endpoint(service, address, port):
    found = {"serviceName": service} if service and service != "unknown_service" else {}
    if address:
        found["ipv6" if ":" in address else "ipv4"] = address
    if port:
        found["port"] = port
    return found


def text(value):
    """As Zipkin has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def to_zipkin(resource, span, tags):
    """A span of OTLP in Zipkin's version 2, for the comparison."""
    tags = dict(tags)
    address, port = PEER[span.kind != 2]
    local = [resource.get(key) for key in ("service.name", "network.local.address", "network.local.port")]
    found = {
        "traceId": span.trace_id.hex().removeprefix("0" * 16),
        "id": span.span_id.hex(),
        "localEndpoint": endpoint(*local),
        "timestamp": span.start_time_unix_nano // 1000,
    }
    duration = span.end_time_unix_nano // 1000 - span.start_time_unix_nano // 1000
    if span.end_time_unix_nano > span.start_time_unix_nano:
        found["duration"] = max(1, duration)
    if span.parent_span_id:
        found["parentId"] = span.parent_span_id.hex()
    if span.name:
        found["name"] = span.name
    if KINDS[span.kind]:
        found["kind"] = KINDS[span.kind]
    for key, name in (("zipkin.shared", "shared"), ("zipkin.debug", "debug")):
        if tags.pop(key, False):
            found[name] = True
    peer = endpoint(tags.pop("peer.service", None), tags.pop(address, None), tags.pop(port, None))
    if peer:
        found["remoteEndpoint"] = peer
    if span.HasField("status"):
        tags["error"] = span.status.message or "true"
    if span.events:
        found["annotations"] = [{"timestamp": event.time_unix_nano // 1000, "value": event.name} for event in span.events]
    if tags:
        found["tags"] = {key: text(tags[key]) for key in tags}
    return found


@pytest.mark.parametrize("compression", ["gzip", "zstd", "none"])
def test_it_says_what_zipkin_does(node, receiver, run_classic, run_sample, sink, compression):
    """Spans of the header, of the classic calls and of the examples: the same at both outputs, by every field."""
    node.start_agent(receiver.port, **{"output otel": output(sink, compression=compression)})
    node.run([LOAD, "-p", 2, "-n", 1000])
    run_classic(node, 20)
    run_sample(node, 20)
    ledger = node.wait_ledger(lambda ledger: ledger.made >= 2000 + 60 and ledger.idle(), 30, "all spans")
    receiver.wait_for(ledger.made)
    sink.wait_for(ledger.made)
    old, new = by_id(map(converted, receiver.spans())), by_id(to_zipkin(*found) for found in sink.spans)
    assert new.keys() == old.keys()
    for key, span in new.items():
        assert span == old[key]
    assert {span.kind for _, span, _ in sink.spans} == {1, 2, 3, 4, 5}
    assert {span.flags for _, span, _ in sink.spans} == {1}
    assert set(sink.requests) == {("/v1/traces", "application/x-protobuf", None if compression == "none" else compression)}
    ((name, version),) = sink.scopes
    assert (name, version) == ("blkin", node.run(["cli/blkin", "--version"]).split()[1])


def test_it_says_what_zipkin_cannot(node, receiver, sink):
    """Types, nanoseconds, the process; and an output's tags, which are its resource's."""
    node.start_agent(receiver.port, **{"output otel": output(sink, tags="cluster=eu1, rack=r7")})
    load = node.start([node.built(LOAD), "-p", 2, "-n", 500])
    assert load.wait(60) == 0
    sink.wait_for(1000)
    host = socket.gethostname()
    processes = collections.defaultdict(set)
    clocks = set()
    for resource, span, tags in sink.spans:
        assert (type(tags["ordinal"]), type(tags["score"])) == (int, int)
        assert isinstance(tags["worker"], str)
        processes[tags["worker"]].add(resource["process.pid"])
        clocks.add(span.start_time_unix_nano - int(tags["start"]))
        assert resource["process.executable.name"] == "spanload"
        assert resource["host.name"] == host
        assert (resource["cluster"], resource["rack"]) == ("eu1", "r7")
        assert resource["process.pid"] > 5
        assert resource["service.instance.id"] == f"{host}:{resource['process.pid']}"
        assert (resource["telemetry.sdk.name"], resource["telemetry.sdk.language"]) == ("blkin", "c")
        assert resource["telemetry.sdk.version"]
    assert len(clocks) == 1, "a start is known to the nanosecond"
    assert [len(pids) for pids in processes.values()] == [1, 1]
    assert len({pid for pids in processes.values() for pid in pids}) == 2, "each forked worker has its own pid"
    assert load.pid not in {pid for pids in processes.values() for pid in pids}


def test_every_type(node, sink):
    """Each call of the header, also in an event of its own, for which the span had no room."""
    files = SpanFiles(node.path("spans"))
    os.mkdir(files.directory)
    node.start_agent(sink.port, output=output(sink), **{"output files": {"type": "file", "directory": files.directory}})
    node.run(["tests/live/programs/types"])
    sink.wait_for(2)
    for round_, (resource, span, tags) in enumerate(sink.spans):
        assert len(tags.pop("filler", "")) == 470 * round_
        assert tags == {
            "#text": "5",
            "int": -(2**63),
            "uint": 7,
            "huge": str(2**64 - 1),
            "double": 0.1,
            "unknown": "NaN",
            "endless": "-Infinity",
            "bool": False,
            "=\n": 3,
        }
        assert {key: type(tag) for key, tag in tags.items()}["bool"] is bool
        assert (span.status.code, span.status.message) == (2, "disk is full" if round_ else "")
        assert resource["service.name"] == "types" and resource["network.local.port"] == 50000
    node.agent.stop()
    for span in files.spans():
        assert (span["tags"]["double"], span["tags"]["unknown"], span["tags"]["endless"]) == ("0.1", "NaN", "-Infinity")
    assert len(files.spans()) == 2
