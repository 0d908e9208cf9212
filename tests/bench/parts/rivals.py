# SPDX-License-Identifier: BSD-2-Clause
"""
Others for the same span, of three annotations (events) and three tags (attributes), in the same run: in the traced program,
and on the node. Their sources are in rivals/; what they need comes from their registries, when this part runs. What cannot be
built here is left out, and named.
"""

import os
import shutil
import subprocess
import sys
import time
from collections import defaultdict

from rig.process import Trouble, answers, free_port
from rig.scribe import generated

from .client import run_client
from .files import record, trace_of
from .live import Agent
from .processes import below, of_node, seconds
from .setup import TOP
from .table import Table, median, ratio
from .trace import Session, Sink, cpu_at_end

SOURCES = os.path.join(TOP, "tests/bench/rivals")
PATH = {
    "cargo": "Rust 1.85 or later (cargo)",
    "go": "Go 1.25 or later",
    "g++": "opentelemetry-cpp (Debian 13's opentelemetry-cpp-dev)",
}
COLLECTOR = """
receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:{port}
processors:
  batch:
exporters:
  otlphttp:
    endpoint: http://127.0.0.1:{sink}
    compression: {compression}
service:
  telemetry:
    metrics:
      level: none
    logs:
      level: error
  pipelines:
    traces:
      receivers: [otlp]
      processors: [batch]
      exporters: [otlphttp]
"""


def folder():
    return os.path.join(os.environ["BLKIN_BUILD"], "rivals")


def build_one(tool, source, command, **environment):
    """
    Builds a copy of a source, as locks and caches are none of ours, if its tool is here; what that says goes to standard
    error.
    """
    if not shutil.which(tool):
        return
    copy = os.path.join(folder(), f"{source}-source")
    shutil.copytree(os.path.join(SOURCES, source), copy, dirs_exist_ok=True)
    subprocess.run(command, cwd=copy, env=dict(os.environ, **environment), stdout=sys.stderr, check=False)


def build():
    """Before the bench goes into namespaces of its own. What cannot be built is missing later, and said to be."""
    os.makedirs(folder(), exist_ok=True)
    build_one("cargo", "rust", ["cargo", "build", "--release"], CARGO_TARGET_DIR=os.path.join(folder(), "rust"))
    go = ["go", "build", "-o", folder() + "/", "./sdk", "./collector"]
    build_one("go", "go", go, GOFLAGS="-mod=mod -buildvcs=false")
    if os.path.exists("/usr/include/opentelemetry/sdk/trace/batch_span_processor.h"):
        libraries = [f"-lopentelemetry_{name}" for name in ("trace", "resources", "common")]
        build_one("g++", "cpp", ["g++", "-O2", "-std=c++17", "cpp.cpp", "-o", os.path.join(folder(), "cpp"), *libraries])


OURS = {
    "tracepoint": "bare LTTng tracepoint, LTTng's consumer with it",
    "span-six": "BlkKin, LTTng's consumer with it",
    "span-bare": "BlkKin, a span with nothing in it",
}
RUST, GO, CPP = "rust/release/rivals", "sdk", "cpp"
IN_PROGRAM = {
    "fastrace, 100 local spans a root, to a reporter that counts": (RUST, "fastrace", "null"),
    "fastrace, a local span with nothing in it": (RUST, "fastrace-empty", "null"),
    "opentelemetry-rust, to an exporter that counts": (RUST, "opentelemetry", "null"),
    "opentelemetry-rust, OTLP to a receiver": (RUST, "opentelemetry", "receiver"),
    "OpenTelemetry Go SDK, to an exporter that counts": (GO, "null"),
    "OpenTelemetry Go SDK, OTLP to a receiver": (GO, "receiver"),
    "opentelemetry-cpp, to an exporter that counts": (CPP, "null"),
}
NEEDS = {RUST: PATH["cargo"], GO: PATH["go"], CPP: PATH["g++"]}


def run_rival(node, words, spans):
    """ns a span: of the thread (Go: wall), and of the process until all is exported."""
    sink = Sink(node, free_port())
    words = [f"http://127.0.0.1:{sink.port}" if word == "receiver" else word for word in words]
    program = node.start([os.path.join(folder(), words[0]), *words[1:], spans])
    if program.wait(600) != 0:
        raise Trouble(f"{words[0]} failed:\n{program.log()}")
    sink.stop()
    return tuple(map(float, program.log().split()[-2:]))


def run_ours(node, sizes):
    """
    The same of BlkKin's calls, by row. LTTng's daemon works for the program as others' exporting threads do: its time is the
    process's.
    """
    sizes = type(sizes)(**dict(vars(sizes), rounds=1))
    daemons = {"lttng": below(node.sessiond.pid)}
    with Session(node) as session:
        before = seconds(daemons)["lttng"]
        rows = run_client(node, "on", 1, sizes)
        daemon = (seconds(daemons)["lttng"] - before) / rows["events"] * 1e9
        session.stop()
    return {name: (rows[row][0][1], rows[row][0][1] + daemon) for row, name in OURS.items()}


def measure_programs(node, sizes):
    rounds, missing = defaultdict(list), set()
    for _ in range(sizes.rival_rounds):
        for name, used in run_ours(node, sizes).items():
            rounds[name].append(used)
        for name, words in IN_PROGRAM.items():
            if os.path.exists(os.path.join(folder(), words[0])):
                rounds[name].append(run_rival(node, words, sizes.rival_spans))
            else:
                missing.add(NEEDS[words[0]])
    note = f"not measured, as these are not here: {', '.join(sorted(missing))}" if missing else None
    table = Table("Rivals, in the program: ns of CPU a span", "thread", "process", "process / ours", note=note)
    ours = [whole for _, whole in rounds[OURS["span-six"]]]
    for name, values in rounds.items():
        own, whole = zip(*values)
        table.add(name, median(own), median(whole), ratio(whole, ours))
    return table


def megabytes_at_most(pids):
    """Of all of them, each at its highest: what they share, as libraries, is in it for each."""
    most = 0
    for pid in pids:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            most += next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))
    return most


def deliver(node, rate, compression, sizes):
    """Of the agent with its reader and LTTng's daemons: CPU µs a span and highest memory by name, and bytes a span."""
    sink = Sink(node, free_port())
    agent = Agent(node, sink.port, output={"type": "otlp", "compression": compression})
    pids = of_node(node, agent.program)
    before = seconds(pids)
    _, ledger = agent.deliver("span", rate * sizes.rival_seconds, rate)
    after = seconds(pids)
    most = {name: megabytes_at_most(group) for name, group in pids.items()}
    agent.stop()
    return {name: (after[name] - before[name]) / ledger.sent * 1e6 for name in after}, most, sink.stop()[1] / ledger.sent


def collect(node, rate, compression, sizes):
    """Of the Collector, which the Go SDK gives spans: CPU µs a span, its highest memory, and bytes a span."""
    sink, port = Sink(node, free_port()), free_port()
    config = node.path("collector.yaml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(COLLECTOR.format(port=port, sink=sink.port, compression=compression))
    collector = node.start([os.path.join(folder(), "collector"), "--config", config])
    collector.wait_ready(lambda: answers(port), 60)
    pids, spans = {"collector": [collector.pid]}, rate * sizes.rival_seconds
    before = seconds(pids)["collector"]
    load = node.start([os.path.join(folder(), "sdk"), f"http://127.0.0.1:{port}", spans, rate])
    if load.wait(600) != 0:
        raise Trouble(f"the load failed:\n{load.log()}")
    time.sleep(1)  # its batches are sent after 200 ms
    used = (seconds(pids)["collector"] - before) / spans * 1e6
    most = megabytes_at_most(pids["collector"])
    collector.stop()
    return used, most, sink.stop()[1] / spans


def measure_nodes(node, sizes):
    table = Table("Rivals, on the node: CPU µs a span, memory", "µs", "highest MB", "bytes a span")
    for rate in sizes.rival_rates:
        for compression in ("gzip", "none"):
            label = f"OTLP, {compression}, {rate:,} spans/s"
            used, most, size = deliver(node, rate, compression, sizes)
            table.add(f"blkin-agent alone: {label}", used["blkin-agent"], most["blkin-agent"], round(size))
            table.add(f"blkin-agent and LTTng's daemons: {label}", sum(used.values()), sum(most.values()), None)
            if os.path.exists(os.path.join(folder(), "collector")):
                used, most, size = collect(node, rate, compression, sizes)
                table.add(f"OpenTelemetry Collector: {label}", used, most, round(size))
    return table


def measure_old(node, sizes):
    """Both read the same classic trace, and send it to the same collector."""
    few, _, _ = record(node, "classic", 60, 0)
    many, events, spans = record(node, "classic", sizes.old_events, 30_000)
    sink = Sink(node, free_port())
    old = [sys.executable, os.path.join(SOURCES, "old.py"), generated(), sink.port]
    new = [node.built("cli/blkin"), "import", "--server", f"127.0.0.1:{sink.port}"]
    rounds = defaultdict(list)
    for _ in range(sizes.rival_rounds):
        for name, words in (("Python, a Scribe call an event, as in 2014", old), ("blkin import", new)):
            start = cpu_at_end(node.start([*words, trace_of(few)]))
            rounds[name].append((cpu_at_end(node.start([*words, trace_of(many)])) - start) / events * 1e6)
    sink.stop()
    table = Table("Rivals: BlkKin's old way, classic events", "CPU µs an event", "/ ours")
    for name, values in rounds.items():
        table.add(name, median(values), ratio(values, rounds["blkin import"]))
    return table


def measure(node, sizes):
    return [measure_programs(node, sizes), measure_nodes(node, sizes), measure_old(node, sizes)]
