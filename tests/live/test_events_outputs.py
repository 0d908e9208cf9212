# SPDX-License-Identifier: BSD-2-Clause
"""Events at every kind of output: the same ones, each once, and in each its own lane beside spans."""

import collections
import glob
import json
import os
import socket
import time

from rig import ctfcases
from rig.idsink import IdSink
from rig.messages import MessageSink
from rig.process import Trouble, exactly, free_port
from test_events_traces import printed
from test_import import run_import
from test_messages import LogSink
from test_reload import Reloader

EVENTS = 5000
SPANLOAD = "tests/live/programs/spanload"
QUICK = {"retry-min": "50ms", "retry-max": "500ms"}


def write_trace(node, count=EVENTS):
    trace = ctfcases.simple(
        "le", "uint32_t n; string words;", *(lambda out, n=n: (out.number("I", n), out.text(f"w\u00f6rd {n}".encode())) for n in range(count))
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
        "le", "uint32_t n; string words;", *(lambda out, n=n: (out.number("I", n), out.text(b"x" * n)) for n in (10, 20000, 30))
    )
    trace.write(node.path("trace"))
    sink = MessageSink(node, free_port()).start()
    config = node.write_config(sink.port, output=dict(QUICK, takes="events", batch_size="4K"))
    done = run_import(node, "--config", config, "--events", node.path("trace"))
    assert done.returncode == 1
    assert "3 events: 2 sent, 0 refused, 1 too large, 0 not sent" in done.stdout, done.stdout
    exactly(sorted(json.loads(one)["payload"]["n"] for one in sink.of(b"LTTng")) == [10, 30], "what came")


FOREIGN = "tests/live/programs/foreign"
TICKS = {"names": "foreign:*"}


def numbers(events):
    """How often each event came, by name and number."""
    return collections.Counter((event["event"], event["payload"]["number"]) for event in events)


def wanted_numbers(count):
    return collections.Counter({(f"foreign:{name}", n): 1 for name in ("tick", "whisper") for n in range(count)})


def files_of(folder):
    found = []
    for name in glob.glob(f"{folder}/events-*.jsonl"):
        with open(name, encoding="utf-8", newline="\n") as file:
            found += [json.loads(line) for line in file]
    return found


def test_live(node):
    """Beside spans of the same session: every event once at each output, and every span once at its own."""
    sink, spans = MessageSink(node, free_port()).start(), IdSink(node, free_port()).start()
    os.mkdir(node.path("files"))
    with LogSink() as logs:
        outputs = {
            "output west": dict(QUICK, server=f"127.0.0.1:{sink.port}", takes="events"),
            "output files": {"type": "file", "directory": node.path("files"), "takes": "events"},
            "output logs": dict(QUICK, type="otlp", server=f"127.0.0.1:{logs.port}", takes="events"),
        }
        node.start_agent(spans.port, events=TICKS, **outputs)
        load = node.start([node.built(SPANLOAD), "-n", 3000, "-r", 3000])
        node.run([FOREIGN, 3000, 5000, 0])
        assert load.wait(60) == 0
        ledger = node.wait_ledger(lambda one: one.read == 9000 and one.idle(), 30, "all to be read")
        exactly((ledger.in_spans, ledger.json, ledger.sent, ledger.lost) == (3000, 6000, 3000, 0), str(ledger))
        for name in ("west", "files", "logs"):
            lane = node.wait_lane("events", lambda one: one.taken == 6000 and one.idle(), 30, "the events", name)
            exactly(lane.sent == 6000 and lane.dropped == 0, str(lane))
        exactly(spans.check(1, 1, 3000) == 0, "spans came twice")
        wanted = wanted_numbers(3000)
        events = [json.loads(payload) for category, payload in sink.messages()]
        exactly(numbers(events) == wanted, "at Scribe")
        assert {category for category, _ in sink.messages()} == {b"LTTng"}
        records = collections.Counter(record.event_name for _, record, _ in logs.spans)
        exactly(records == {"foreign:tick": 3000, "foreign:whisper": 3000}, str(records))
        node.agent.stop()
        exactly(numbers(files_of(node.path("files"))) == wanted, "in files")


def test_a_server_of_events_that_hangs(node):
    """Events fill their own queue, and are dropped and counted; spans are delivered as ever."""
    spans = IdSink(node, free_port()).start()
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        small = {"queue_size": "512K", "batch_size": "64K", "spool_size": "0"}
        server = f"127.0.0.1:{deaf.getsockname()[1]}"
        node.start_agent(spans.port, events=TICKS, **{"output west": dict(QUICK, **small, server=server, takes="events")})
        load = node.start([node.built(SPANLOAD), "-n", 3000, "-r", 1000])
        node.run([FOREIGN, 5000, 5000, 0])
        assert load.wait(60) == 0
        ledger = node.wait_ledger(lambda one: one.read == 13000 and one.idle(), 30, "all to be read")
        exactly((ledger.sent, ledger.dropped, ledger.json, ledger.lost) == (3000, 0, 10000, 0), str(ledger))
        exactly(spans.check(1, 1, 3000) == 0, "spans came twice")
        lane = node.lane("events", "west")
        lane.check()
        exactly(lane.taken == 10000 and lane.dropped == lane.dropped_for("queue_full") > 0, str(lane))
        shown = node.run(["cli/blkin", "status", "--socket", node.socket])
        assert "west:events: events dropped: the collector was away too long" in shown, shown
        ways = ("takes no events: no answer within", "west:events: yes", "west:events: NO", "west:events: connected, nothing sent there yet")
    assert any(way in shown for way in ways), shown


def test_killed(node):
    """kill -9 under load: no event is lost, at Scribe or in files; in files none is there twice."""
    sink = MessageSink(node, free_port()).start()
    os.mkdir(node.path("files"))
    outputs = {"output": {"takes": "spans, events"}, "output files": {"type": "file", "directory": node.path("files"), "takes": "events"}}
    node.start_agent(sink.port, events=TICKS, session={"keep": "yes"}, **outputs)
    load = node.start([node.built(FOREIGN), 6000, 1500, 0])
    for _ in range(3):
        time.sleep(0.7)
        node.agent.kill()
        node.start_agent_again()
    assert load.wait(60) == 0

    def settled(output):
        node.wait_ledger(lambda one: one.read - one.again >= 12000, 60, "all to be read")
        return node.wait_lane("events", lambda one: one.idle(), 60, "the events", output)

    lanes = [settled(name) for name in ("default", "files")]
    exactly(all(lane.dropped == 0 for lane in lanes), f"{lanes[0]} {lanes[1]}")
    wanted = wanted_numbers(6000)
    came = numbers(json.loads(payload) for payload in sink.of(b"LTTng").elements())
    exactly(came.keys() == wanted.keys(), f"{len(wanted.keys() - came.keys())} are missing")
    node.agent.stop()
    kept = numbers(files_of(node.path("files")))
    exactly(kept.keys() == wanted.keys(), f"{len(wanted.keys() - kept.keys())} are missing in files")
    print(f"came again: {sum(came.values()) - 12000} at Scribe, {sum(kept.values()) - 12000} in files")
    exactly(kept == wanted, "some are in files twice")


def record_until(node, first, taken):
    """The reader hears of a reload a moment later: records one by one until it does, and returns the ledger."""
    for number in range(first, first + 400):
        before = node.ledger()
        node.run([FOREIGN, 1, 0, number])
        ledger = node.wait_ledger(lambda one, read=before.read + 2: one.read == read, 20, "what was just recorded")
        if ledger.json - before.json == (2 if taken else 0):
            return ledger
    raise Trouble("the reader does not hear of the reload")


def test_added_by_a_reload(node, receiver):
    """An output begins to take events while they are recorded: it has those since; and when it no more does, they end."""
    sink = MessageSink(node, free_port()).start()
    west = dict(QUICK, server=f"127.0.0.1:{sink.port}", takes="messages")
    reloader = Reloader(node, receiver.port, events=TICKS, **{"output west": west})
    node.run([FOREIGN, 100, 0, 0])
    node.wait_ledger(lambda one: one.read == 200, 20, "the first")
    reloader.edit("output west", "takes", "events, messages")
    total = record_until(node, 500, True).json + 200
    node.run([FOREIGN, 100, 0, 1000])
    lane = node.wait_lane("events", lambda one: one.sent >= total, 20, "the second", "west")
    exactly(lane.taken == total == lane.sent, str(lane))
    reloader.edit("output west", "takes", "messages")
    before = record_until(node, 1500, False)
    node.run([FOREIGN, 100, 0, 2000])
    ledger = node.wait_ledger(lambda one: one.read == before.read + 200, 20, "the third")
    exactly((ledger.json, ledger.ignored) == (before.json, before.ignored + 200), str(ledger))
    came = {n for _, n in numbers(json.loads(one) for one in sink.of(b"LTTng"))}
    exactly({n for n in came if 1000 <= n < 1500} == set(range(1000, 1100)), "others came")
    exactly(min(came) >= 500 and max(came) < 2000, "others came")
