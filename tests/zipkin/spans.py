# SPDX-License-Identifier: BSD-2-Clause
"""
spans.py FOLDER: Zipkin's test spans by every way in to every output, read by Zipkin's own code. See run.
"""

import base64
import collections
import contextlib
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))

from rig.jsonsink import JsonSink  # noqa: E402
from rig.kafka import Kafka  # noqa: E402
from rig.kafkatopic import Topic  # noqa: E402
from rig.node import Node  # noqa: E402
from rig.otlpsink import OtlpSink  # noqa: E402
from rig.process import exactly, free_port  # noqa: E402
from rig.scribe import Receiver  # noqa: E402, generated
from rig.sender import Client  # noqa: E402
from rig.spanfiles import SpanFiles  # noqa: E402
from rig.unpack import unpack  # noqa: E402
from test_files_otlp import OtlpFiles, read_lines  # noqa: E402
from test_otlp import to_zipkin  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
BATCH = 100


def codec(*words, lines=()):
    """What Zipkin's code makes of lines."""
    command = ["java", "-Xshare:auto", "-cp", os.environ["ZIPKIN_CODEC"], os.path.join(HERE, "Codec.java"), *words]
    text = "".join(f"{line}\n" for line in lines)
    return subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=True).stdout.splitlines()


def files_of(folder):
    """Files of JSON that have spans of version 2, and nothing else."""
    found = []
    for path, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in (".git", "node_modules", "target")]
        for name in names:
            if not name.endswith(".json"):
                continue
            with contextlib.suppress(ValueError), open(os.path.join(path, name), encoding="utf-8") as file:
                spans = json.load(file)
                spans = spans if isinstance(spans, list) else [spans]
                if spans and all(isinstance(span, dict) and {"traceId", "id"} <= span.keys() for span in spans):
                    found.append(os.path.join(path, name))
    return sorted(found)


class ThriftSink(JsonSink):
    """A list of Thrift in each request, of which each is kept in base64."""

    def take(self, request, body):
        with self.lock:
            self.requests.append(base64.b64encode(unpack(body, request.headers["Content-Encoding"])).decode())


def compact(span):
    """As Zipkin writes it."""
    return json.dumps(span, separators=(",", ":"), ensure_ascii=False)


def empty_error(line):
    """OTLP's status says that something failed, and in which words, but not that these are there and empty."""
    span = json.loads(line)
    if span.get("tags", {}).get("error") != "":
        return line
    span["tags"]["error"] = "true"
    return compact(span)


def without_ours(line):
    """Without the tag that the agent adds in Thrift for those who read it as OpenTelemetry's."""
    span = json.loads(line)
    tags = span.get("tags", {})
    if "otel.status_description" not in tags or tags["otel.status_description"] != tags.get("error"):
        return line
    del tags["otel.status_description"]
    return compact(span)


def one_service(line):
    """OTLP's resource has a service for each span: what has none is no service of that name."""
    span = json.loads(line)
    if not span["localEndpoint"]:
        del span["localEndpoint"]
    return json.dumps(span)


class Outputs:
    """One of each type and format, and what Zipkin's code reads of what came there."""

    def __init__(self, node, kafka, way):
        self.node, self.way = node, way
        self.scribe = Receiver(node, free_port()).start()
        self.thrift, self.json, self.otlp = ThriftSink(), JsonSink(), OtlpSink()
        self.files, self.lines = SpanFiles(node.path(f"{way}-json")), OtlpFiles(node.path(f"{way}-otlp"))
        self.topics = {form: Topic(kafka, kafka.create(), form) for form in ("thrift", "json2", "otlp")} if kafka else {}
        for files in self.files, self.lines:
            os.mkdir(files.directory)
        web = {"type": "http", "batch-delay": "50ms"}
        self.sections = {
            "output": {"type": "scribe", "server": f"127.0.0.1:{self.scribe.port}"},
            "output thrift": dict(web, format="thrift", server=f"127.0.0.1:{self.thrift.port}"),
            "output json": dict(web, format="json2", server=f"127.0.0.1:{self.json.port}"),
            "output otlp": {"type": "otlp", "server": f"127.0.0.1:{self.otlp.port}"},
            "output files": {"type": "file", "directory": self.files.directory},
            "output lines": {"type": "file", "directory": self.lines.directory, "format": "otlp-json"},
        }
        for form, topic in self.topics.items():
            self.sections[f"output kafka-{form}"] = {"type": "kafka", "brokers": kafka.bootstrap(), "topic": topic.name, "format": form}
        for server in self.thrift, self.json, self.otlp:
            server.__enter__()

    def names(self):
        return [section.removeprefix("output ").replace("output", "default") for section in self.sections]

    def read(self):
        """{output: lines of JSON}"""
        self.scribe.read()
        from_thrift = lambda lines: list(map(without_ours, codec("thrift", lines=lines)))  # noqa: E731
        from_otlp = lambda found: codec("json", lines=[one_service(json.dumps(to_zipkin(*one))) for one in found])  # noqa: E731
        found = {
            "scribe": from_thrift([text.decode() for _, text in self.scribe.messages]),
            "http, thrift": from_thrift(self.thrift.requests),
            "http, json2": codec("json", lines=map(json.dumps, self.json.spans)),
            "otlp": from_otlp(self.otlp.spans),
            "file, json2": codec("json", lines=map(json.dumps, self.files.spans())),
            "file, otlp-json": from_otlp(read_lines(self.lines)),
        }
        for form, topic in self.topics.items():
            topic.read()
            values = [value for _, _, value in topic.messages]
            if form == "thrift":
                found["kafka, thrift"] = from_thrift([base64.b64encode(value).decode() for value in values])
            elif form == "json2":
                found["kafka, json2"] = codec("json", lines=[json.dumps(span) for value in values for span in json.loads(value)])
            else:
                found["kafka, otlp"] = from_otlp(topic.spans())
        return found


def check(way, spans, outputs):
    """
    Prints how many spans each output has as they were, and shows the first of the others. In Thrift, Zipkin has addresses
    as numbers, and so has the agent: what is wanted is what Zipkin reads from Thrift.
    """
    same = True
    for name, came in outputs.read().items():
        wanted = [empty_error(there) if "otlp" in name else there for _, _, there in spans]
        missing, strange = collections.Counter(wanted) - collections.Counter(came), collections.Counter(came) - collections.Counter(wanted)
        print(f"{way} to {name}: {len(came)} of {len(wanted)} came, {len(wanted) - missing.total()} are equal", flush=True)
        ids = {json.loads(text)["id"]: text for text in strange}
        for text in list(missing)[:3]:
            print(f"  was {text}\n  is  {ids.get(json.loads(text)['id'])}")
        same = same and not missing and not strange
    return same


def by_scribe(node, kafka, spans):
    outputs = Outputs(node, kafka, "scribe")
    port = free_port()
    generated()
    node.start_agent(outputs.scribe.port, input={"scribe": f"127.0.0.1:{port}"}, **outputs.sections)
    with Client(port) as client:
        for begin in range(0, len(spans), BATCH):
            exactly(client.log([thrift for thrift, _, _ in spans[begin : begin + BATCH]]) == 0, "the agent says OK")
    for name in outputs.names():
        node.wait_ledger(lambda ledger: ledger.sent == len(spans) and ledger.idle(), 60, "all to be sent", name)
    exactly(node.agent.stop() == 0, node.agent.log())
    return check("Scribe", spans, outputs)


def by_import(node, kafka, spans):
    outputs = Outputs(node, kafka, "import")
    with open(node.path("spans.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for _, line, _ in spans)
    config = node.write_config(outputs.scribe.port, **outputs.sections)
    done = node.start([node.built("cli/blkin"), "import", "--config", config, node.path("spans.jsonl")], name="import")
    exactly(done.wait(60) == 0, done.log())
    return check("blkin import", spans, outputs)


def run(node, folder):
    files = files_of(folder)
    spans = [line.split("\t") for line in codec("encode", *files)]
    lossy = sum(line != there for _, line, there in spans)
    print(f"{len(spans)} spans in {len(files)} files; in Thrift, Zipkin itself says {lossy} of them differently")
    exactly(spans, "there are spans")
    with Kafka(node) if "KAFKA_JARS" in os.environ else contextlib.nullcontext() as kafka:
        same = [by_scribe(node, kafka, spans), by_import(node, kafka, spans)]
    exactly(all(same), "all are equal")


if __name__ == "__main__":
    with Node() as test_node:
        run(test_node.start_lttng(), sys.argv[1])
