# SPDX-License-Identifier: BSD-2-Clause
"""`spans` in [events]: two events of a thread become a span, with the times that babeltrace2 reads."""

import collections
import json
import os
import subprocess
import time

from rig.eventfiles import EventFiles
from rig.kerneltrace import KernelTrace
from rig.load import KEEP, LOAD
from rig.node import TOP
from rig.process import wait_until
from rig.spanfiles import SpanFiles
from test_fakereader import kill_reader
from test_import import run_import
from test_reload import Reloader

PAIRED = "tests/live/programs/paired"
RULE = {"spans": "paired:*_enter/*_exit by vtid"}
# of a round: a read, and two flushes
SPANS, EVENTS = 3, 6


def start(node, receiver, takes="spans", **keys):
    os.makedirs(node.path("out"), exist_ok=True)
    output = {"type": "file", "takes": takes, "directory": node.path("out"), "batch-delay": "50ms", "format": "json2"}
    events = dict(RULE, **keys.pop("events", {}))
    node.start_agent(receiver.port, session=KEEP, events=events, **{"output files": output}, **keys)
    return SpanFiles(node.path("out"))


def recorded(folder):
    """What the trace has, as babeltrace2 reads it: (ns, name, tid, number) of each event, in order."""
    import bt2

    found = []
    for message in bt2.TraceCollectionMessageIterator(folder):
        if type(message) is bt2._EventMessageConst and message.event.name.startswith("paired:"):
            event = message.event
            found.append((message.default_clock_snapshot.ns_from_origin, event.name.split(":")[1],
                          int(event.common_context_field["vtid"]), int(event.payload_field["number"])))
    return found


def paired(events):
    """The spans that these are, by the rule: (begin, duration, name, tid, number) and the same of the parent, or None."""
    stacks, spans = collections.defaultdict(list), []
    for time, name, tid, number in events:
        what, half = name.split("_")
        stack = stacks[tid]
        if half == "enter":
            stack.append((time, what, number))
        elif stack:
            begin, of, same = stack.pop()
            assert (of, same) == (what, number)
            parent = (stack[-1][0], tid) if stack else None
            spans.append(((begin, tid), time - begin, f"paired:{what}", number, parent))
    return spans


def check_spans(spans, wanted):
    """The spans are those, by times in us, names, fields and parents."""
    assert len(spans) == len(wanted)
    ids = {span["id"]: span for span in spans}
    assert len(ids) == len(spans)

    def key(span):
        return span["timestamp"], int(span["tags"]["thread.id"]), span["name"], int(span["tags"]["number"])

    found = collections.Counter()
    for span in spans:
        parent = ids.get(span.get("parentId"))
        assert (parent is None) == ("parentId" not in span)
        assert not parent or parent["traceId"] == span["traceId"]
        found[key(span), span["duration"], parent and (parent["timestamp"], int(parent["tags"]["thread.id"]))] += 1
    expected = collections.Counter()
    for (begin, tid), duration, name, number, parent in wanted:
        us = max((begin + duration) // 1000 - begin // 1000, 1)
        expected[(begin // 1000, tid, name, number), us, parent and (parent[0] // 1000, parent[1])] += 1
    assert found == expected


def broken(node):
    """By reason."""
    return {reason: node.metrics()[f'blkin_agent_pairs_broken_total{{reason="{reason}"}}']
            for reason in ("no_exit", "no_enter", "malformed")}


def of_pairs(spans):
    return [span for span in spans if span["name"].startswith("paired:")]


def test_pairs(node, receiver):
    """Each pair is a span, with ENTER's time, its duration, its thread and its parent, to the ns of what LTTng recorded."""
    files = start(node, receiver, takes="spans, events")
    load = node.start([node.built(LOAD), "-n", 500, "-r", 1000])
    program = node.start([node.built(PAIRED), 200, 3, 2000])
    assert load.wait(60) == 0 and program.wait(60) == 0
    ledger = node.wait_ledger(lambda ledger: ledger.read == 500 + 600 * EVENTS and ledger.idle(), 30, "all")
    assert (ledger.in_spans, ledger.ignored, ledger.json) == (500 + 600 * EVENTS, 0, 0)
    (folder,) = node.session_folders()
    events = recorded(folder)
    assert node.agent.stop() == 0
    spans = of_pairs(files.spans())
    check_spans(spans, paired(events))
    reads = [span for span in spans if span["name"] == "paired:read"]
    for span in reads:
        tags, number = span["tags"], span["tags"]["number"]
        assert (tags["path"], tags["flags"], tags["result"], tags.get("exit.number"), tags["share"]) == (
            "/etc/hosts", hex(int(number)), str(-int(number)), None, f"{int(number) / 4:g}")
    assert {span["localEndpoint"]["serviceName"] for span in spans} == {"paired"}
    assert not EventFiles(node.path("out")).lines()


def test_import_makes_the_same_ids(node, receiver):
    """What was delivered live is made again of the files: the same spans, by id and parent, to the ns."""
    files = start(node, receiver, events=dict(names="paired:read_*"))
    node.run([PAIRED, 50, 2])
    node.wait_ledger(lambda ledger: ledger.read == 100 * EVENTS and ledger.idle(), 30, "all")
    assert node.agent.stop() == 0
    (folder,) = node.session_folders()
    live = {(span["traceId"].zfill(32), span["id"], span.get("parentId", "")) for span in files.spans()}
    assert len(live) == 100 * SPANS
    with open(node.path("agent.conf"), "a", encoding="utf-8") as file:
        file.write(f"\n[output imported]\ntype = file\nformat = otlp-json\ndirectory = {node.path('imported')}\n")
    os.makedirs(node.path("imported"))
    done = run_import(node, "--config", node.path("agent.conf"), folder)
    assert done.returncode == 0, done.stderr
    imported = []
    for name in os.listdir(node.path("imported")):
        with open(node.path(f"imported/{name}"), encoding="utf-8") as file:
            for line in file:
                for resource in json.loads(line)["resourceSpans"]:
                    imported += [span for scope in resource["scopeSpans"] for span in scope["spans"]]
    assert {(span["traceId"], span["spanId"], span.get("parentSpanId", "")) for span in imported} == live
    times = sorted((int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])) for span in imported)
    assert times == sorted((begin, begin + duration) for (begin, _), duration, *_ in paired(recorded(folder)))


def test_events_as_well(node, receiver):
    """An event that `names` has, too, is delivered as before, and its pair is a span beside it."""
    files = start(node, receiver, takes="spans, events", events={"names": "paired:read_*"})
    node.run([PAIRED, 100, 1])
    ledger = node.wait_ledger(lambda ledger: ledger.read == 100 * EVENTS and ledger.idle(), 30, "all")
    assert (ledger.in_spans, ledger.json) == (400, 200)
    assert node.agent.stop() == 0
    events = EventFiles(node.path("out")).lines()
    assert collections.Counter(event["event"] for event in events) == {"paired:read_enter": 100, "paired:read_exit": 100}
    assert set(events[0]["context"]) == {"vpid", "vtid", "procname", "pid_ns"}
    assert len(of_pairs(files.spans())) == 100 * SPANS


def test_in_spans_of_the_program(node, receiver):
    """What lies in a span of the program's own thread is its child, in its trace, at its endpoint."""
    files = start(node, receiver)
    program = node.start([node.built(PAIRED), 100, 3, 1000, "spans"])
    assert program.wait(60) == 0
    node.wait_ledger(lambda ledger: ledger.read == 300 * (EVENTS + 1) and ledger.idle(), 30, "all")
    assert node.agent.stop() == 0
    spans = {span["id"]: span for span in files.spans()}
    assert len(spans) == 300 * (SPANS + 1)
    parents = collections.Counter()
    for span in of_pairs(spans.values()):
        parent = spans[span["parentId"]]
        assert parent["traceId"] == span["traceId"] and span["localEndpoint"] == parent["localEndpoint"]
        assert parent["timestamp"] <= span["timestamp"]
        parents[span["name"], parent["name"]] += 1
    assert parents == {("paired:read", "request"): 300, ("paired:flush", "paired:read"): 300,
                       ("paired:flush", "paired:flush"): 300}
    (folder,) = node.session_folders()
    done = run_import(node, "--config", node.path("agent.conf"), "--print", "--json", folder)
    assert done.returncode == 0, done.stderr
    imported = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(imported) == len(spans)
    assert {(span["traceId"], span["id"], span.get("parentId")) for span in imported} == {
        (span["traceId"], span["id"], span.get("parentId")) for span in spans.values()}


def test_halves(node, receiver):
    """An EXIT alone is counted; an ENTER of a killed program is delivered when the agent gives it up, and is counted."""
    files = start(node, receiver)
    node.run([PAIRED, 10, 2, 0, "lone"])
    killed = node.start([node.built(PAIRED), 10, 1, 0, "killed"])
    assert killed.wait(30) == -9
    ledger = node.wait_ledger(lambda ledger: ledger.read == 30 * EVENTS + 2 + 2 and ledger.ignored == 2, 30, "all")
    assert ledger.in_spans == 30 * EVENTS + 2
    assert broken(node) == {"no_exit": 0, "no_enter": 2, "malformed": 0}
    assert node.status()["events"]["pairs"] == broken(node)
    assert "  pairs     0 without EXIT, 2 without ENTER, 0 malformed\n" in node.run(["cli/blkin", "status", "--socket", node.socket])
    node.wait_for(lambda: node.ledger().pending == 2, 20, "what is over to be sent")
    # over a restart, and a kill, what is open stays so
    assert node.agent.stop() == 0
    node.start_agent_again()
    kill_reader(node)
    node.wait_for(lambda: node.ledger().pending == 2 and node.collecting(), 30, "the next reader")
    assert node.agent.stop() == 0
    assert len(of_pairs(files.spans())) == 30 * SPANS
    # who reads the files to their end gives it up
    (folder,) = node.session_folders()
    done = run_import(node, "--config", node.path("agent.conf"), "--print", "--json", folder)
    assert done.returncode == 0, done.stderr
    spans = of_pairs([json.loads(line) for line in done.stdout.splitlines()])
    read, flush = sorted((span for span in spans if "duration" not in span), key=lambda span: span["timestamp"])
    assert len(spans) == 30 * SPANS + 2
    assert (read["name"], read["tags"]["blkin.unfinished"]) == ("paired:read", "paired:read_enter/paired:read_exit")
    assert (flush["name"], flush["parentId"], flush["traceId"]) == ("paired:flush", read["id"], read["traceId"])


def test_killed_reader_and_agent(node, receiver):
    """Killed again and again, with pairs open: each span comes, and whatever comes twice has the same id, and is counted."""
    files = start(node, receiver)
    program = node.start([node.built(PAIRED), 3000, 2, 1500])
    for number in range(4):
        wait_until(node.collecting, 30, "the agent")
        time.sleep(0.4)
        if number % 2:
            node.agent.kill()
            node.start_agent_again()
        else:
            kill_reader(node)
    assert program.wait(60) == 0
    ledger = node.wait_ledger(
        lambda ledger: ledger.read - ledger.again >= 6000 * EVENTS and ledger.idle(), 60, "all")
    assert ledger.read - ledger.again == 6000 * EVENTS
    assert (ledger.lost, ledger.packets_lost) == (0, 0)
    assert broken(node) == {"no_exit": 0, "no_enter": 0, "malformed": 0}
    again = ledger.again
    assert node.agent.stop() == 0
    (folder,) = node.session_folders()
    spans = of_pairs(files.spans())
    once = list({(span["id"], span["timestamp"]): span for span in spans}.values())
    assert len(spans) - len(once) <= again
    check_spans(once, paired(recorded(folder)))


def test_reload(node, receiver):
    """A rule that is added, changed and taken away: programs record what it needs, and no more, and none is lost meanwhile."""
    os.makedirs(node.path("out"))
    reloader = Reloader(node, receiver.port, session=KEEP, events={"spans": ""}, **{
        "output files": {"type": "file", "directory": node.path("out"), "batch-delay": "50ms"}})
    load = node.start([node.built(LOAD), "-n", 8000, "-r", 2000])
    node.run([PAIRED, 10, 1])
    reloader.edit("events", "spans", "paired:flush_enter/flush_exit by vtid")
    session = wait_until(lambda: node.status()["session"] not in ("", "blkin") and node.status()["session"], 30, "the session")
    node.run([PAIRED, 10, 1])
    node.wait_for(lambda: node.metrics()["blkin_agent_events_in_spans_total"] - 40 == node.ledger().made - 20, 20, "flushes")
    reloader.edit("events", "spans", "paired:*_enter/*_exit by vtid")
    wait_until(lambda: "paired:*_exit" in node.lttng("list", session), 20, "the rule")
    wait_until(node.collecting, 20, "the next reader")
    node.run([PAIRED, 10, 1])
    assert load.wait(60) == 0
    ledger = node.wait_ledger(lambda ledger: ledger.in_spans == 8000 + 40 + 60 and ledger.idle(), 30, "all")
    assert (ledger.ignored, ledger.lost, ledger.sessions_lost) == (0, 0, 0)
    reloader.edit("events", "spans", "")
    wait_until(lambda: node.status()["session"] not in ("", session), 30, "another session")
    node.run([PAIRED, 10, 1])
    node.run([LOAD, "-n", 10])
    node.wait_ledger(lambda ledger: ledger.in_spans == 8110 and ledger.idle(), 30, "spans")
    assert node.agent.stop() == 0
    names = collections.Counter(span["name"] for span in of_pairs(SpanFiles(node.path("out")).spans()))
    assert names == {"paired:flush": 40, "paired:read": 10}


def test_many_threads(node, receiver):
    """Of a thousand threads that record at once, each has its own pairs."""
    files = start(node, receiver)
    node.run([PAIRED, 3, 1000])
    node.wait_ledger(lambda ledger: ledger.read == 3000 * EVENTS and ledger.idle(), 60, "all")
    assert node.agent.stop() == 0
    (folder,) = node.session_folders()
    check_spans(of_pairs(files.spans()), paired(recorded(folder)))


def test_kernel(node):
    """System calls are pairs, too, by the kernel's thread."""
    trace = KernelTrace(10**18)
    for number in range(100):
        for tid in (7, 8):
            trace.event(0, 1000 * number + tid, "syscall_entry_fsync", (7, tid, 1, tid - 6, "fake"), fd=number)
        for tid in (7, 8):
            trace.event(0, 1000 * number + 500 + 2 * tid, "syscall_exit_fsync", (7, tid, 1, tid - 6, "fake"), ret=-tid)
    trace.write(node.path("kernel"))
    config = node.write_config(1, events={"spans": "syscall_entry_*/syscall_exit_* by tid"})
    done = run_import(node, "--config", config, "--print", "--json", node.path("kernel"))
    assert done.returncode == 0, done.stderr
    spans = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(spans) == 200 and {span["name"] for span in spans} == {"syscall_fsync"}
    assert collections.Counter((span["tags"]["thread.id"], span["tags"]["ret"]) for span in spans) == {
        ("7", "-7"): 100, ("8", "-8"): 100}
    assert sorted(int(span["tags"]["fd"]) for span in spans) == sorted(2 * list(range(100)))


def test_idle_processors(node):
    """Each has a thread 0, in which it takes interrupts: they overlap, and are pairs of one processor all the same."""
    trace = KernelTrace(10**18)
    for number in range(100):
        for cpu in (0, 1):
            trace.event(cpu, 1000 * number + 10 * cpu, "irq_softirq_entry", (0, 0, 0, 0, f"swapper/{cpu}"), vec=cpu)
        for cpu in (0, 1):
            trace.event(cpu, 1000 * number + 500 + 30 * cpu, "irq_softirq_exit", (0, 0, 0, 0, f"swapper/{cpu}"), vec=cpu)
    trace.write(node.path("kernel"))
    config = node.write_config(1, events={"spans": "irq_softirq_entry/irq_softirq_exit by tid"}, kernel={"events": "irq_softirq_*"})
    done = run_import(node, "--config", config, "--print", "--json", node.path("kernel"))
    assert done.returncode == 0, done.stderr
    spans = [json.loads(line) for line in done.stdout.splitlines()]
    assert collections.Counter((span["localEndpoint"]["serviceName"], span["tags"]["vec"]) for span in spans) == {
        ("swapper/0", "0"): 100, ("swapper/1", "1"): 100}
    assert {span["tags"]["thread.id"] for span in spans} == {"0"} and not any("exit.vec" in span["tags"] for span in spans)
    assert len({span["id"] for span in spans}) == 200


def test_lists(node):
    """A field that is an array, of a real kernel's system call, is what `blkin import --around` shows of it."""
    config = node.write_config(1, events={"spans": "syscall_entry_*/syscall_exit_* by tid"}, kernel={"syscalls": "*"})
    done = run_import(node, "--config", config, "--print", "--json", os.path.join(TOP, "tests/fixtures/why-6.1"))
    assert done.returncode == 0, done.stderr
    calls = [json.loads(line) for line in done.stdout.splitlines() if "syscall_unknown" in line]
    assert [json.loads(call["tags"]["args"]) for call in calls] == [[140721147207632, 16, 0, 140721147248768, 0, 117]]


def test_no_thread(node):
    """A trace of somebody else, whose events do not say of what thread they are: none is in a span."""
    node.lttng("create", "bare", "-o", node.path("bare"))
    node.lttng("enable-event", "-u", "paired:*", "-s", "bare")
    node.lttng("start", "bare")
    node.run([PAIRED, 10, 1])
    node.lttng("destroy", "bare")
    config = node.write_config(1, events=RULE)
    done = run_import(node, "--config", config, "--print", "--json", node.path("bare"))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert f"{10 * EVENTS} rejected" in done.stderr
    assert f"{10 * EVENTS} events of pairs (`spans` in [events]) do not say their thread" in done.stderr
    assert "lttng add-context --userspace --type=vtid" in done.stderr


FUNCTIONS = """
#include <stdio.h>
#include <unistd.h>

static void wait_for_disk(void) { usleep(20000); }
static void store(int number) { if (number % 2) wait_for_disk(); }

int main(void)
{
	for (int i = 0; i < 3; i++)
		store(i);
	return 0;
}
"""


def test_functions(node, receiver):
    """The example of doc/events.md: each call of a function of a program that gcc has instrumented."""
    files = start(node, receiver, events={"spans": "lttng_ust_cyg_profile:func_entry/func_exit by vtid"})
    with open(node.path("calls.c"), "w", encoding="utf-8") as file:
        file.write(FUNCTIONS)
    subprocess.run(["cc", "-finstrument-functions", node.path("calls.c"), "-o", node.path("calls")], check=True)
    environment = dict(node.environment, LD_PRELOAD="liblttng-ust-cyg-profile.so", LTTNG_UST_REGISTER_TIMEOUT="-1")
    subprocess.run([node.path("calls")], env=environment, check=True)
    node.wait_ledger(lambda ledger: ledger.read == 10 and ledger.idle(), 30, "all")
    assert node.agent.stop() == 0
    spans = {span["id"]: span for span in files.spans()}
    assert {span["name"] for span in spans.values()} == {"lttng_ust_cyg_profile:func"}
    (main,) = [span for span in spans.values() if "parentId" not in span]
    stores = [span for span in spans.values() if span.get("parentId") == main["id"]]
    (wait,) = [span for span in spans.values() if span not in stores and span is not main]
    assert len(stores) == 3 and wait["duration"] >= 20000
    assert spans[wait["parentId"]] in stores and len({span["tags"]["addr"] for span in stores}) == 1
