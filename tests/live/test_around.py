# SPDX-License-Identifier: BSD-2-Clause
"""`blkin import --around`: what happened to a span's thread in its time, in user space and in the kernel."""

import glob
import json
import os
import re
import shutil
import subprocess
import time

import pytest
from rig.kerneltrace import KernelTrace
from test_import import run_import

AROUND = "tests/live/programs/around"
EVENT = re.compile(r"\+(\S+) (\S+) · (\S+)  (.*)")


class Recording:
    """The program's trace on disk; with @thread, each span tells its thread."""

    def __init__(self, node, thread):
        self.folder = node.path("trace")
        node.lttng("create", "disk", "-o", self.folder)
        node.lttng("enable-event", "-u", "blkin:*")
        node.lttng("enable-event", "-u", "foreign:*")
        node.lttng("add-context", "-u", *(["-t", "vtid"] if thread else []), "-t", "vpid")
        node.lttng("start")
        words = node.run([AROUND]).split()
        self.trace = words[0]
        self.pid, self.tid, self.other, self.within = map(int, words[1:])
        node.lttng("stop")
        node.lttng("destroy")


def around(node, recording, *words, trace=None):
    return run_import(node, "--around", trace or recording.trace, *words, recording.folder, LC_ALL="C.UTF-8")


def by_span(done):
    """The events' names and numbers by the span's name."""
    return {
        line["span"]["name"]: [(event["event"], event["payload"].get("number")) for event in line["events"]]
        for line in map(json.loads, done.stdout.splitlines())
    }


def test_events_of_the_thread(node):
    recording = Recording(node, True)
    done = around(node, recording, "--json")
    assert done.returncode == 0, done.stderr
    found = by_span(done)
    assert found == {
        "outer": [("foreign:tick", 1), ("foreign:tick", 3)],
        "inner": [("foreign:tick", 2)],
    }
    spans = [json.loads(line) for line in done.stdout.splitlines()]
    assert {(span["pid"], span["tid"], span["more"]) for span in spans} == {(recording.pid, recording.tid, 0)}


def test_tree(node):
    recording = Recording(node, True)
    done = around(node, recording)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    numbers = [re.search(r"number=(\d+)", line)[1] for line in lines if "· foreign:tick" in line]
    assert numbers == ["1", "3", "2"], done.stdout
    assert lines[0].startswith(f"trace {recording.trace}  2 spans")
    assert sum("outer" in line or "inner" in line for line in lines) == 2


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_reader_has_seen_enough(node, words):
    """As `| head` and `| true`: that is no failure, and needs no word."""
    recording = Recording(node, True)
    reading, writing = os.pipe()
    os.close(reading)
    command = [node.built("cli/blkin"), "import", "--around", recording.trace, *words, recording.folder]
    done = subprocess.run(
        command, stdout=writing, stderr=subprocess.PIPE, env=node.environment, text=True, timeout=120, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_threads_the_process_tells(node):
    recording = Recording(node, False)
    found = by_span(around(node, recording, "--json"))
    assert [number for _, number in found["inner"] if number < 100] == [2]
    assert [number for _, number in found["outer"] if number < 100] == [1, 3]
    assert len([number for _, number in found["inner"] if number >= 100]) > 10, "those of the other thread, too"


@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize("container", [False, True])
def test_kernel(node, order, container):
    """The kernel's events of the thread, also where the thread has another number outside of its container."""
    recording = Recording(node, True)
    base = 5000 if container else 0
    thread = (base + recording.pid, base + recording.tid, recording.pid, recording.tid, "around")
    stranger = (77777, 77777, 77777, 77777, "stranger")
    trace = KernelTrace(time.time_ns() - time.monotonic_ns(), order=order)
    at = recording.within
    switch = {"prev_prio": 20, "prev_state": 1, "next_prio": 20}
    openat = {"dfd": -100, "filename": "/etc/\xe9", "flags": 0, "mode": 0o644}
    trace.event(0, at, "syscall_entry_openat", thread, **openat)
    trace.event(0, at + 1000, "syscall_entry_openat", stranger, **openat)
    trace.event(
        0, at + 2000, "sched_switch", thread,
        prev_comm="around", prev_tid=thread[1], next_comm="stranger", next_tid=77777, **switch,
    )
    trace.event(1, at + 3000, "sched_wakeup", stranger, comm="around", tid=thread[1], prio=20, target_cpu=1)
    trace.event(
        1, at + 4000, "sched_switch", stranger,
        prev_comm="stranger", prev_tid=77777, next_comm="around", next_tid=thread[1], **switch,
    )
    trace.event(1, at + 5000, "syscall_exit_openat", thread, ret=3)
    trace.event(1, at + 10**10, "syscall_exit_openat", thread, ret=4)
    trace.write(node.path("trace/kernel"))
    done = around(node, recording, "--json")
    assert done.returncode == 0, done.stderr
    names = [name for name, _ in by_span(done)["inner"]]
    assert names == [
        "foreign:tick", "syscall_entry_openat", "sched_switch", "sched_wakeup", "sched_switch", "syscall_exit_openat",
    ]
    shown = [found[3] for found in map(EVENT.search, around(node, recording).stdout.splitlines()) if found]
    assert shown.count("sched_switch") == 2 and "sched_wakeup" in shown
    # the kernel's events go to the outputs as any other
    done = run_import(node, "--print", "--events=sched_*, syscall_*", node.path("trace/kernel"))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == 7 and {line["domain"] for line in lines} == {"kernel"}
    assert lines[0]["payload"]["filename"].startswith("/etc/") and lines[0]["process"]["tid"] == thread[1]


def test_bounded(node):
    """Of thousands of events in a span the first are shown, and the rest counted."""
    recording = Recording(node, True)
    trace = KernelTrace(time.time_ns() - time.monotonic_ns())
    thread = (recording.pid, recording.tid, recording.pid, recording.tid, "around")
    for number in range(3000):
        trace.event(0, recording.within + number, "syscall_entry_fsync", thread, fd=number)
    trace.write(node.path("trace/kernel"))
    done = around(node, recording, "--json")
    inner = [line for line in map(json.loads, done.stdout.splitlines()) if line["span"]["name"] == "inner"][0]
    assert (len(inner["events"]), inner["more"]) == (1000, 2001)
    assert "and 2001 more events" in around(node, recording).stdout


def test_mistakes(node):
    recording = Recording(node, True)
    done = around(node, recording, trace="abcdef")
    assert done.returncode == 1 and "no span of trace 0000000000abcdef is in these traces" in done.stderr
    for words, message in [
        (["--around", "xyz"], "--around takes a trace's id"),
        (["--around", "1", "--print"], "--around prints"),
        (["--around", "1", "--server", "a:1"], "--around prints"),
    ]:
        done = run_import(node, *words, recording.folder)
        assert done.returncode == 64 and message in done.stderr
    with open(node.path("spans.jsonl"), "w", encoding="utf-8") as file:
        file.write('{"traceId": "000000000000000a", "id": "000000000000000b", "name": "x"}\n')
    done = run_import(node, "--around", "a", node.path("spans.jsonl"))
    assert done.returncode == 1 and "--around reads LTTng's traces" in done.stderr
    # a damaged trace beside it is named
    shutil.copytree(recording.folder, node.path("trace/damaged"), ignore=lambda *_: [])
    for metadata in glob.glob(node.path("trace/damaged/**/metadata"), recursive=True):
        open(metadata, "wb").close()
    done = around(node, recording, "--json")
    assert done.returncode == 1 and "skipped, as babeltrace2 cannot read it" in done.stderr
    assert by_span(done)["inner"] == [("foreign:tick", 2)]
