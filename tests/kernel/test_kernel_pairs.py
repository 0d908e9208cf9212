# SPDX-License-Identifier: BSD-2-Clause
"""System calls as spans, by `spans` of [events]: as many and as long as babeltrace2 reads them of the same session."""

import json
import os

from recording import FILES
from rig.process import exactly, wait_until
from test_kernel_order import SPANS

CALLS = "openat, fsync, write, wait4, clone"
SECTIONS = {
    "events": {"spans": "syscall_entry_*/syscall_exit_* by tid"},
    "kernel": {"syscalls": CALLS},
    "output": {"type": "file", "takes": "events", "directory": FILES},
    "output spans": {"type": "file", "takes": "spans", "directory": SPANS, "format": "otlp-json"},
}
WORK = """
for i in 1 2 3 4 5 6 7 8; do
    dd if=/dev/zero of=/var/tmp/work bs=4k count=20 conv=fsync 2>/dev/null
    cat /etc/passwd >/dev/null
done
"""


def value_of(tag):
    (value,) = tag["value"].values()
    return value


def spans(recording):
    """Of each span, (start, duration, name, thread), and whether its EXIT is missing; of their parents, by its own id."""
    found, parents = {}, {}
    for line in recording.machine.shell(f"cat {SPANS}/*.jsonl {SPANS}/.*.part 2>/dev/null || true").splitlines():
        for resource in json.loads(line)["resourceSpans"]:
            for span in (span for scope in resource["scopeSpans"] for span in scope["spans"]):
                tags = {tag["key"]: value_of(tag) for tag in span["attributes"]}
                start, end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
                assert span["spanId"] not in found, "delivered twice"
                found[span["spanId"]] = (start, end - start, span["name"], int(tags["thread.id"]), "blkin.unfinished" in tags)
                parents[span["spanId"]] = span.get("parentSpanId")
    return found, parents


def paired(events):
    """What these events are, by the rule: (start, duration, name, thread) of each call, and of what it lies in."""
    stacks, found = {}, []
    for event in sorted(events, key=lambda event: event["timestamp"]):
        _, half, call = event["event"].split("_", 2)
        stack = stacks.setdefault(event["process"]["tid"], [])
        if half == "entry":
            stack.append((event["timestamp"], call))
        elif stack:
            start, begun = stack.pop()
            assert begun == call, (begun, event)
            found.append((start, max(event["timestamp"] - start, 1), f"syscall_{call}", event["process"]["tid"]))
            assert not stack, "a thread is in one call at a time"
    return found


def test_system_calls(recording):
    machine = recording.start(**SECTIONS).machine
    machine.shell(WORK, seconds=300)
    begun = int(machine.run("date", "+%s%N"))
    machine.shell(WORK, seconds=300)
    machine.run("sleep", "8")  # what is over is sent after that, at the latest
    read = wait_until(lambda: machine.metric("blkin_agent_events_read_total"), 60, "events")
    recording.end()
    truth = recording.truth()
    assert not any(event["event"].startswith("sched") for event in truth)
    expected = paired(truth)
    got, parents = spans(recording)
    assert not any(parents.values()), "a call within a call"
    whole = sorted(span[:4] for span in got.values() if not span[4])
    offset = min(start for start, *_ in whole) - min(start for start, *_ in expected)
    assert abs(offset) < 1_000_000
    until = max(start + duration for start, duration, *_ in whole)
    expected = sorted((start + offset, *rest) for start, *rest in expected if start + offset + rest[0] <= until)
    exactly(whole == expected, f"{len(whole)} spans, and {len(expected)} calls; {set(whole) ^ set(expected)}")
    calls = [name for _, _, name, _ in whole]
    print(f"{len(whole)} calls of {read} events: " + ", ".join(f"{calls.count(name)} {name}" for name in sorted(set(calls))))
    assert until > begun and calls.count("syscall_fsync") == 16
    assert {f"syscall_{name}" for name in CALLS.split(", ")} == set(calls)
