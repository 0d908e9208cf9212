# SPDX-License-Identifier: BSD-2-Clause
"""Events at every kind of output: the same ones, each once, and in each its own lane beside spans."""

import collections
import glob
import json
import os

from rig import ctfcases
from rig.messages import MessageSink
from rig.process import exactly, free_port
from test_events_traces import printed
from test_import import run_import
from test_messages import LogSink

EVENTS = 5000
QUICK = {"retry-min": "50ms", "retry-max": "500ms"}


def write_trace(node, count=EVENTS):
    trace = ctfcases.simple(
        "le", "uint32_t n; string words;", *(lambda out, n=n: (out.number("I", n), out.text(f"w\u00f6rd {n}")) for n in range(count))
    )
    trace.write(node.path("trace"))
    return printed(node, "--events", node.path("trace"))[0]


def test_each_output(node):
    """Scribe (category LTTng), files, and OTLP's logs: what import prints, value by value."""
    expected = write_trace(node)
    exactly(len(expected) == EVENTS, "the trace")
    sink = MessageSink(node, free_port()).start()
    os.mkdir(node.path("files"))
    with LogSink() as logs:
        outputs = {
            "output": {"takes": "events, spans"},
            "output own": dict(QUICK, server=f"127.0.0.1:{sink.port}", takes="events", events_category="own"),
            "output files": {"type": "file", "directory": node.path("files"), "takes": "events, messages"},
            "output logs": dict(QUICK, type="otlp", server=f"127.0.0.1:{logs.port}", takes="events"),
        }
        config = node.write_config(sink.port, **outputs)
        done = run_import(node, "--config", config, "--events", node.path("trace"))
        assert done.returncode == 0, done.stderr + done.stdout
        for name in ("default:events", "own:events", "files:events", "logs:events"):
            assert f"output {name}: {EVENTS} events: {EVENTS} sent, 0 refused, 0 too large, 0 not sent" in done.stdout, done.stdout
        wanted = collections.Counter(json.dumps(event) for event in expected)
        for category in (b"LTTng", b"own"):
            came = collections.Counter()
            for payload, times in sink.of(category).items():
                came[json.dumps(json.loads(payload))] += times
            exactly(came == wanted, f"{category}: {sum(came.values())} came")
        exactly(len(sink.messages()) == 2 * EVENTS, "others came")
        lines = []
        for name in glob.glob(node.path("files/*")):
            assert os.path.basename(name).startswith("events-"), name
            with open(name, encoding="utf-8", newline="\n") as file:
                lines += [json.dumps(json.loads(line)) for line in file]
        exactly(collections.Counter(lines) == wanted, f"{len(lines)} lines")
        exactly({path for path, _, _ in logs.requests} == {"/v1/logs"}, logs.requests[:2])
        exactly(len(logs.spans) == EVENTS, f"{len(logs.spans)} records")
        numbers = collections.Counter(record.event_name for _, record, _ in logs.spans)
        exactly(numbers == collections.Counter(event["event"] for event in expected), str(numbers)[:200])


def test_too_large_for_a_batch(node):
    """What is larger than a batch may be is counted, and its neighbours arrive."""
    trace = ctfcases.simple(
        "le", "uint32_t n; string words;", *(lambda out, n=n: (out.number("I", n), out.text("x" * n)) for n in (10, 20000, 30))
    )
    trace.write(node.path("trace"))
    sink = MessageSink(node, free_port()).start()
    config = node.write_config(sink.port, output=dict(QUICK, takes="events", batch_size="4K"))
    done = run_import(node, "--config", config, "--events", node.path("trace"))
    assert done.returncode == 1
    assert "3 events: 2 sent, 0 refused, 1 too large, 0 not sent" in done.stdout, done.stdout
    exactly(sorted(json.loads(one)["payload"]["n"] for one in sink.of(b"LTTng")) == [10, 30], "what came")
