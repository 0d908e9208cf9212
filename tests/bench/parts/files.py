# SPDX-License-Identifier: BSD-2-Clause
"""What an event costs from traces on disk: `blkin import` against babeltrace2 into sink.utils.dummy."""

import os

from rig.process import free_port

from .live import STREAMS
from .table import Table, median, ratio
from .trace import Session, Sink, babeltrace2, cpu_at_end, generate

FEW = 60


def record(node, stream, events, rate):
    """Records a trace; gives its folder, events and spans."""
    with Session(node) as session:
        events, spans = generate(node, stream, events, rate)
        session.stop()
        return session.folder, events, spans


def trace_of(folder):
    """The folder that holds the trace's metadata."""
    return next(path for path, _, files in os.walk(folder) if "metadata" in files)


def size_of(folder):
    return sum(
        os.path.getsize(os.path.join(path, name))
        for path, _, files in os.walk(folder)
        for name in files
        if name.startswith("spans_")
    )


def read_floor(node, folder):
    return cpu_at_end(babeltrace2(node, "fs", trace_of(folder), muxer=True))


def read_import(node, folder, server):
    return cpu_at_end(node.start([node.built("cli/blkin"), "import", "--server", f"127.0.0.1:{server}", folder]))


def measure_stream(node, stream, sizes):
    """Rounds of CPU ns an event: floor and import, without what it takes to start; spans and bytes an event."""
    few, _, _ = record(node, stream, FEW, 0)
    many, events, spans = record(node, stream, sizes.file_events, sizes.file_rate)
    sink = Sink(node, free_port())
    floor_start, import_start = read_floor(node, few), read_import(node, few, sink.port)
    floors, imports = [], []
    for _ in range(sizes.file_rounds):
        floors.append((read_floor(node, many) - floor_start) / events * 1e9)
        imports.append((read_import(node, many, sink.port) - import_start) / events * 1e9)
    sink.stop()
    return floors, imports, events / spans, size_of(many) / events


def measure(node, sizes):
    disk = Table("Bytes in LTTng's buffers and files", "an event", "a span")
    tables = []
    for stream, name in STREAMS.items():
        floors, imports, events_a_span, size = measure_stream(node, stream, sizes)
        table = Table(f"Agent's line, from files: {name}", "CPU ns/event", "/ floor", "spans a CPU second")
        table.add("babeltrace2 into sink.utils.dummy", median(floors), 1.0, None)
        table.add(
            "blkin import, to the acknowledgement",
            median(imports), ratio(imports, floors), round(1e9 / median(imports) / events_a_span),
        )  # fmt: skip
        disk.add(name, round(size), round(size * events_a_span))
        tables.append(table)
    return tables + [disk]
