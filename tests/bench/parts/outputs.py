# SPDX-License-Identifier: BSD-2-Clause
"""What an output costs, and what it puts on the wire: `blkin import` of one trace over each, against Scribe."""

import os
import shutil
from collections import defaultdict

from rig.process import Trouble, free_port

from .files import FEW, record
from .table import Table, median, ratio
from .trace import Sink, cpu_at_end

WEB = {"type": "http"}
OTLP = {"type": "otlp"}
KAFKA = {"type": "kafka"}
OUTPUTS = {
    "scribe": {},
    "http, thrift, compression = none": dict(WEB, compression="none"),
    "http, thrift, compression = gzip": dict(WEB, compression="gzip"),
    "http, thrift, compression = zstd": dict(WEB, compression="zstd"),
    "http, json2, compression = none": dict(WEB, compression="none", format="json2"),
    "http, json2, compression = gzip": dict(WEB, compression="gzip", format="json2"),
    "http, json2, compression = zstd": dict(WEB, compression="zstd", format="json2"),
    "otlp, compression = none": dict(OTLP, compression="none"),
    "otlp, compression = gzip": dict(OTLP, compression="gzip"),
    "otlp, compression = zstd": dict(OTLP, compression="zstd"),
    "kafka, thrift, compression = none": dict(KAFKA, compression="none"),
    "kafka, thrift, compression = gzip": dict(KAFKA, compression="gzip"),
    "kafka, thrift, compression = zstd": dict(KAFKA, compression="zstd"),
    "kafka, otlp, compression = zstd": dict(KAFKA, compression="zstd", format="otlp"),
    "kafka, thrift, key = trace, compression = zstd": dict(KAFKA, compression="zstd", key="trace"),
    "file, lines of json2": {"type": "file"},
}
FLOOR = "scribe"


class Broker:
    """One that acknowledges everything, as Sink does."""

    def __init__(self, node):
        self.program = node.start([node.built("tests/bench/broker")])
        self.program.wait_ready(lambda: self.program.log().endswith("\n"))
        self.keys = {"brokers": self.program.log().strip()}
        self.port = 1  # of a server, of which there is none

    def stop(self):
        self.program.stop()
        return None, int(self.program.log().split()[1])


class Files:
    """A folder of files; what they take is what others put on the wire."""

    def __init__(self, node):
        self.folder = node.path(f"files-{len(node.programs)}")
        os.mkdir(self.folder)
        self.keys = {"directory": self.folder}
        self.port = 1  # of a server, of which there is none

    def stop(self):
        size = sum(os.path.getsize(os.path.join(self.folder, name)) for name in os.listdir(self.folder))
        shutil.rmtree(self.folder)
        return None, size


def start_receiver(node, kind):
    return {"kafka": Broker, "file": Files}[kind](node) if kind in ("kafka", "file") else Sink(node, free_port())


def run_import(node, keys, folder):
    """CPU seconds, and bytes at the collector."""
    sink = start_receiver(node, keys.get("type"))
    config = node.write_config(sink.port, output=dict(keys, **getattr(sink, "keys", {})))
    command = [node.built("cli/blkin"), "import", "--config", config, folder]
    used = cpu_at_end(node.start(command))
    return used, sink.stop()[1]


def measure(node, sizes):
    few, _, _ = record(node, "span", FEW, 0)
    many, _, spans = record(node, "span", sizes.file_events, sizes.file_rate)
    start = run_import(node, OUTPUTS[FLOOR], few)[0]
    rows, size = defaultdict(list), {}
    for _ in range(sizes.file_rounds):
        for name, keys in OUTPUTS.items():
            used, size[name] = run_import(node, keys, many)
            rows[name].append((used - start) / spans * 1e9)
            if not size[name]:
                raise Trouble(f"nothing came over {name}: not a measurement")
    table = Table(
        "Outputs: `blkin import` of spans of 3 annotations and 3 tags, to the acknowledgement",
        "CPU ns/span", "/ Scribe", "above no compression", "bytes a span",
    )  # fmt: skip
    for name, values in rows.items():
        bare = rows.get(name.replace("gzip", "none").replace("zstd", "none"), values)
        more = median(one - other for one, other in zip(values, bare)) if bare is not values else None
        table.add(name, median(values), ratio(values, rows[FLOOR]), more, round(size[name] / spans))
    return [table]
