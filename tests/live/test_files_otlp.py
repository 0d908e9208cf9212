# SPDX-License-Identifier: BSD-2-Clause
"""`format = otlp-json`: lines that say what OTLP over HTTP says, read by google's own code; and `blkin import` of them."""

import base64
import collections
import json
import os
import random

import pytest
from google.protobuf import json_format
from rig.load import KEEP, LOAD
from rig.otlpsink import OtlpSink, attributes, messages
from rig.process import exactly, free_port, wait_until
from rig.spanfiles import SpanFiles
from test_files import NONE, files, lines_in, quick, wait_sent  # noqa: F401
from test_import import run_import
from test_json2 import by_id
from test_outputs_reload import Sections
from test_otlp import output, sink, to_zipkin  # noqa: F401

IDS = ("traceId", "spanId", "parentSpanId")
KINDS = [None, "CLIENT", "SERVER", "PRODUCER", "CONSUMER"]


def in_base64(span):
    """The ids as protobuf's JSON has bytes; in OTLP's they are in hex."""
    return {key: base64.b64encode(bytes.fromhex(span[key])).decode() if key in IDS else span[key] for key in span}


def read_lines(files):  # noqa: F811
    """(resource, span, attributes) of each line, as of an OtlpSink."""
    found = []
    for line in files.spans():
        ((resource_spans,),) = line.values()
        (scope_spans,) = resource_spans["scopeSpans"]
        scope_spans["spans"] = [in_base64(span) for span in scope_spans["spans"]]
        request = json_format.ParseDict(line, messages().ExportTraceServiceRequest())
        ((group,),) = [request.resource_spans]
        ((scope,),) = [group.scope_spans]
        assert scope.scope.name == "blkin" and scope.scope.version
        (span,) = scope.spans
        found.append((attributes(group.resource.attributes), span, attributes(span.attributes)))
    return found


def by_content(spans):
    """Each with what it says; a span of which a second part came is there twice."""
    return collections.Counter(
        (tuple(sorted(resource.items())), span.SerializeToString(deterministic=True)) for resource, span, _ in spans
    )


class OtlpFiles(SpanFiles):
    def finished(self):
        return sorted(f"{self.directory}/{name}" for name in os.listdir(self.directory) if name.startswith("otlp-"))


@pytest.fixture
def lines(files):  # noqa: F811
    return OtlpFiles(files.directory)


def test_lines_say_what_http_does(node, run_classic, run_sample, sink, lines):  # noqa: F811
    """Every field of every span, its resource, and the output's tags; and the files are named for what is in them."""
    tags = {"tags": "cluster=eu1, rack=r7"}
    into = quick(lines, format="otlp-json", **{"rotate-size": "1M"}, **tags)
    node.start_agent(sink.port, output=output(sink, **tags), **{"output files": into})
    node.run([LOAD, "-p", 2, "-n", 2000])
    node.run(["tests/live/programs/types"])
    run_classic(node, 20)
    run_sample(node, 20)
    ledger = node.wait_ledger(lambda ledger: ledger.sent >= 4000 + 60 and ledger.idle(), 30, "all spans", output="files")
    sink.wait_for(ledger.sent)
    assert node.agent.stop() == 0
    assert len(lines.finished()) > 1 and not lines.parts()
    found = read_lines(lines)
    assert len(found) == ledger.sent
    assert by_content(found) == by_content(sink.spans)
    assert all(resource["cluster"] == "eu1" and resource["telemetry.sdk.name"] == "blkin" for resource, _, _ in found)


def random_text(rng, most=12):
    letters = "ab 0\"\\/\n\t\x01\x7fé€😀{}[]:,"
    return "".join(rng.choice(letters) for _ in range(rng.randrange(most)))


def random_endpoint(rng):
    found = {"serviceName": random_text(rng), "port": rng.randrange(65536)}
    address = rng.choice([{}, {"ipv4": "10.1.2.255"}, {"ipv6": "2001:db8::7"}])
    return {key: value for key, value in dict(found, **address).items() if value and rng.random() < 0.8}


def random_span(rng):
    """In Zipkin's version 2."""
    span = {
        "traceId": f"{rng.randrange(1, 1 << rng.choice([64, 128])):032x}",
        "id": f"{rng.randrange(1, 1 << 64):016x}",
        "timestamp": rng.randrange(1, 1 << 52),
        "localEndpoint": random_endpoint(rng),
        "tags": {f"{n}{random_text(rng)}": random_text(rng, 40) for n in range(rng.randrange(4))},
        "annotations": [{"timestamp": rng.randrange(1 << 52), "value": random_text(rng)} for _ in range(rng.randrange(3))],
    }
    more = {
        "parentId": f"{rng.randrange(1, 1 << 64):016x}", "name": random_text(rng), "duration": rng.randrange(1, 1 << 40),
        "kind": rng.choice(KINDS[1:]), "remoteEndpoint": random_endpoint(rng), "shared": True, "debug": True,
    }  # fmt: skip
    span.update({key: value for key, value in more.items() if rng.random() < 0.5})
    if rng.random() < 0.2:
        span["tags"]["error"] = rng.choice(["true", "no such object", random_text(rng)])
    return span


def test_random_spans_there_and_back(node, sink, lines):  # noqa: F811
    """Spans of all kinds become the same by HTTP and in files; and what is read back from files is the same again."""
    seed = int(os.environ.get("BLKIN_SEED", random.randrange(1 << 32)))
    print(f"BLKIN_SEED={seed}")
    rng = random.Random(seed)
    with open(node.path("random.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(random_span(rng), ensure_ascii=rng.random() < 0.5) + "\n" for _ in range(3000))
    into = quick(lines, format="otlp-json")
    both = node.write_config(sink.port, output=output(sink), **{"output files": into})
    done = run_import(node, "--config", both, node.path("random.jsonl"))
    assert done.returncode == 0 and done.stdout.count("3000 spans: 3000 sent") == 2, done.stdout + done.stderr
    first = by_content(sink.spans)
    exactly(by_content(read_lines(lines)) == first, "files say what HTTP does")
    sink.spans.clear()
    done = run_import(node, "--config", node.write_config(sink.port, output=output(sink)), lines.directory)
    assert done.returncode == 0, done.stderr
    assert "3000 lines read: 3000 spans, 0 that are not spans" in done.stdout
    exactly(by_content(sink.spans) == first, "what was read back is what was written")


def test_format_changes(node, lines):
    """What waits when the format is changed is written in the new one, and each line is in a file of its name."""
    os.rmdir(lines.directory)
    node.start_agent(free_port(), output=NONE, **{"output files": quick(lines, format="json2")})
    sections = Sections(node)
    keys = sections.keys["output files"]
    node.run([LOAD, "-n", 500])
    node.wait_ledger(lambda ledger: ledger.queued + ledger.spooled == 500, 20, "500 spans to wait", output="files")
    sections.keys["output files"] = keys.replace("json2", "otlp-json")
    sections.hang_up()
    os.mkdir(lines.directory)
    node.wait_ledger(lambda ledger: ledger.sent == 500, 20, "500 spans", output="files")
    sections.keys["output files"] = keys
    sections.hang_up()
    node.run([LOAD, "-n", 500])
    node.wait_ledger(lambda ledger: ledger.sent == 1000, 20, "1000 spans", output="files")
    assert node.agent.stop() == 0
    assert len(by_id(to_zipkin(*found) for found in read_lines(lines))) == 500
    assert len(SpanFiles(lines.directory).spans()) == 500


def test_killed_while_a_spool_is_replayed(node, lines):
    """What comes again is known by its line, which is the same each time that it is made."""
    os.rmdir(lines.directory)
    into = quick(lines, format="otlp-json", batch_spans=100)
    node.start_agent(free_port(), output=NONE, session=KEEP, **{"output files": into})
    node.run([LOAD, "-p", 2, "-n", 3000])
    node.wait_ledger(lambda ledger: ledger.spooled == 6000, 60, "6000 spans in the spool", output="files")
    os.mkdir(lines.directory)
    for count in (500, 3000):
        wait_until(lambda: lines_in(lines) >= count, 30, "some of them to be written")
        node.agent.kill()
        node.start_agent_again()
    wait_sent(node, 6000)
    assert node.agent.stop() == 0
    came = collections.Counter((tags["worker"], tags["ordinal"]) for _, _, tags in read_lines(lines))
    exactly((len(came), came.total()) == (6000, 6000), f"{len(came)} spans, in {came.total()} lines")
