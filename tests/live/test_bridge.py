# SPDX-License-Identifier: BSD-2-Clause
"""
Spans of OpenTelemetry's SDK for C++ through <blkin/otel.hpp>: each is field by field what the SDK's own exporter sends; and
those that have ended outlive their program. For this Debian must have the SDK, as Debian 13 has.
"""

import glob
import os
import re
import signal
import subprocess

import pytest
from rig.node import TOP, build_dir
from rig.otlpsink import OtlpSink, messages
from rig.unpack import unpack

PROGRAM = "tests/live/programs/otelspans"
pytestmark = pytest.mark.otel_sdk("takes the SDK of OpenTelemetry for C++, which Debian 12 does not have")
SHAPES = 112
ERROR = 2
NO_PROCESSOR = "std::unique_ptr<opentelemetry::sdk::trace::SpanProcessor>()"


class WholeSink(OtlpSink):
    """Its spans are (resource, scope, span): each with what stands around it."""

    def answer(self, request, body):
        call = messages().ExportTraceServiceRequest.FromString(unpack(body, request.headers["Content-Encoding"]))
        spans = [
            (
                (group.schema_url, attributes(group.resource.attributes)),
                (scope.scope.name, scope.scope.version, scope.schema_url, attributes(scope.scope.attributes)),
                span,
            )
            for group in call.resource_spans
            for scope in group.scope_spans
            for span in scope.spans
        ]
        with self.lock:
            self.spans += spans
        empty = messages().ExportTraceServiceResponse().SerializeToString()
        return 200, {"Content-Type": "application/x-protobuf"}, empty


def attributes(pairs):
    return sorted((pair.key, pair.value.SerializeToString()) for pair in pairs)


def fields(span):
    """All that OTLP has in a span."""
    return {
        "ids": (span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex().strip("0")),
        "name": span.name,
        "kind": span.kind,
        "state": span.trace_state,
        "flags": span.flags,
        "times": (span.start_time_unix_nano, span.end_time_unix_nano),
        "attributes": attributes(span.attributes),
        "events": [(event.time_unix_nano, event.name, attributes(event.attributes)) for event in span.events],
        "links": [
            (link.trace_id.hex(), link.span_id.hex(), link.trace_state, attributes(link.attributes))
            for link in span.links
        ],
        # the exporter leaves the description of a status that was an error, and is none any more; Zipkin and we do not
        "status": (span.status.code, span.status.message if span.status.code == ERROR else ""),
        "dropped": (
            span.dropped_attributes_count,
            span.dropped_events_count,
            span.dropped_links_count,
            [event.dropped_attributes_count for event in span.events],
        ),
    }


def by_id(sink):
    found = {span.span_id: (resource, scope, fields(span)) for resource, scope, span in sink.spans}
    assert len(found) == len(sink.spans)
    return found


@pytest.fixture
def sink():
    with WholeSink() as server:
        yield server


@pytest.fixture
def direct():
    """What the SDK's own exporter sends to."""
    with WholeSink() as server:
        yield server


def start_agent(node, sink):
    output = {"type": "otlp", "server": f"127.0.0.1:{sink.port}", "batch_delay": "50ms"}
    node.start_agent(sink.port, output=output)


def check_cut_span(through, expected):
    """What is beyond 384 KiB is left out, and counted, but not that it failed; takes the span off both."""
    (key,) = [key for key, (_, _, span) in expected.items() if span["name"] == "too much"]
    (_, _, came), (_, _, sent) = through.pop(key), expected.pop(key)
    (note,) = [value for name, value in came["attributes"] if name == "blkin.truncated"]
    kept = [attribute for attribute in came["attributes"] if attribute[0] != "blkin.truncated"]
    assert note[2:].decode() == f"{41 - len(kept) + 1} attributes, events and links", "with the status's description"
    assert came["status"] == (ERROR, "") and sent["status"][0] == ERROR
    assert set(kept) < set(sent["attributes"]) and 19 <= len(kept) <= 20


def test_fields_are_equal(node, sink, direct):
    """The same spans, through both at once."""
    start_agent(node, sink)
    node.run([PROGRAM, "shapes", str(direct.port)])
    assert len(direct.spans) == SHAPES
    sink.wait_for(len(direct.spans))
    through, expected = by_id(sink), by_id(direct)
    assert through.keys() == expected.keys()
    check_cut_span(through, expected)
    for key, (resource, scope, span) in expected.items():
        name = span["name"][:40]
        assert through[key][0] == resource, name
        assert through[key][1] == scope, name
        for field, value in span.items():
            assert through[key][2][field] == value, (name, field)
    (links,) = [span.links for _, _, span in sink.spans if span.name == "links"]
    assert [link.flags for link in links] == [1, 0, 1], "which the exporter of 1.19 leaves out"
    assert node.metrics()["blkin_agent_spans_truncated_total"] == 0


def ordinals(sink):
    return sorted(
        pair.value.int_value for _, _, span in sink.spans for pair in span.attributes if pair.key == "number"
    )


def crash(node, *words):
    program = node.start([node.built(PROGRAM), "crash", *map(str, words)])
    assert program.wait(60) == -signal.SIGSEGV
    program.sent.add(signal.SIGSEGV)  # it sends it itself


@pytest.mark.parametrize("count", [int(os.environ.get("BLKIN_BRIDGE_SPANS", "20000"))])
def test_what_has_ended_outlives_a_crash(node, sink, direct, count):
    """All of it is delivered, once; the SDK's batches are lost with their program."""
    start_agent(node, sink)
    crash(node, "bridge", count)
    sink.wait_for(count, 60)
    assert ordinals(sink) == list(range(count))
    crash(node, "batch", count, direct.port)
    came = len(direct.spans)
    print(f"{count} spans, and a crash: {len(sink.spans)} through the bridge, {came} by the batch processor")
    assert came < count


def test_untraced(node, sink, direct):
    """Without a session the program runs as it would, and nothing is recorded."""
    node.run([PROGRAM, "shapes", str(direct.port)])
    assert len(direct.spans) == SHAPES
    assert not sink.spans


def test_zipkin(node, receiver, direct):
    """A server of Zipkin gets them in its own terms."""
    node.start_agent(receiver.port)
    node.run([PROGRAM, "shapes", str(direct.port)])
    node.wait_ledger(lambda ledger: ledger.sent == len(direct.spans), 20, "as many spans")
    receiver.wait_for(len(direct.spans))
    status, events = (named(receiver, name) for name in ("status that changes", "events"))
    assert b"OK" in tags(status)["otel.status_code"] and "error" not in tags(status)
    assert tags(status)["otel.scope.name"] == b"shapes"
    assert tags(named(receiver, "types"))["ints"] == b"[-1,0,2147483647]"
    assert "with attributes: {" in " ".join(annotation.value for annotation in events.annotations)


def named(receiver, name):
    return next(span for span in receiver.spans() if span.name == name)


def tags(span):
    return {tag.key: tag.value for tag in span.binary_annotations}


def tool(command, **environment):
    environment = dict(os.environ, PATH="/usr/bin:/bin", **environment)
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("options", ["-O2 -std=c++17", "-O0 -std=c++20"])
def test_what_the_page_says(tmp_path, options):
    """Its lines compile as they are, without a warning, and need nothing that the SDK has not."""
    with open(os.path.join(TOP, "doc/instrument.md"), encoding="utf-8") as page:
        (program,) = [part for part in re.findall(r"```cpp\n(.*?)```", page.read(), re.DOTALL) if "otel.hpp" in part]
    (tmp_path / "program.cpp").write_text(program)
    other = program.replace("#include <blkin/otel.hpp>", "#include <opentelemetry/sdk/trace/processor.h>")
    (tmp_path / "without.cpp").write_text(other.replace("blkin::make_otel_processor()", NO_PROCESSOR))
    root = tmp_path / "root"
    tool(f"meson install -C {build_dir()} --no-rebuild --quiet --destdir {root}")
    (found,) = glob.glob(f"{root}/**/pkgconfig/blkin-otel.pc", recursive=True)
    flags = tool(
        "pkg-config --cflags blkin-otel", PKG_CONFIG_SYSROOT_DIR=str(root), PKG_CONFIG_PATH=os.path.dirname(found)
    ).split()
    # the SDK is where Debian has it, and not below that folder
    flags = [flag for flag in flags if not flag.startswith("-I") or os.path.isdir(flag[2:])]
    warnings = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
    undefined = {}
    for name in ("program", "without"):
        tool(f"g++ {options} {warnings} {' '.join(flags)} -c {tmp_path}/{name}.cpp -o {tmp_path}/{name}.o")
        names = tool(f"nm -C --undefined-only {tmp_path}/{name}.o")
        undefined[name] = set(re.findall(r"U (opentelemetry::.*|absl::.*|google::.*)", names))
    more = {name.split("[")[0].split("(")[0].split("::")[-1] for name in undefined["program"] - undefined["without"]}
    assert more == {"GetAttributes", "GetSchemaURL"}, "of sdk::resource::Resource, in libopentelemetry_resources"
