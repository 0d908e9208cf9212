# SPDX-License-Identifier: BSD-2-Clause
"""A span's annotations and what its thread does between them in the kernel: in the order in which that happened."""

import json
import os

import pytest
from recording import FILES
from rig.process import exactly, wait_until

COUNT = 3000
FIRST = 1000000000  # of the numbers that the program asks for
SPANS = os.path.join(FILES, "spans")
SECTIONS = {
    "kernel": {"syscalls": "getpriority"},
    "output": {"type": "file", "takes": "events", "directory": FILES},
    # the only format with nanoseconds
    "output spans": {"type": "file", "takes": "spans", "directory": SPANS, "format": "otlp-json"},
}
SOURCE = "/sys/devices/system/clocksource/clocksource0/"


def annotated(recording):
    """The times of the two annotations of each span, in ns, by its ordinal."""
    found = {}
    for line in recording.machine.shell(f"cat {SPANS}/*.jsonl {SPANS}/.*.part 2>/dev/null || true").splitlines():
        for resource in json.loads(line)["resourceSpans"]:
            for span in (span for scope in resource["scopeSpans"] for span in scope["spans"]):
                (ordinal,) = [int(tag["value"]["intValue"]) for tag in span["attributes"] if tag["key"] == "ordinal"]
                found[ordinal] = [int(event["timeUnixNano"]) for event in span["events"]]
    return found


def called(recording):
    """The times of each call's two events, in ns, by its ordinal."""
    found, open_call = {}, None
    for event in sorted(recording.events(), key=lambda event: event["timestamp"]):
        if event["process"]["name"] != "between":
            continue
        if event["event"] == "syscall_entry_getpriority":
            open_call = event["payload"]["who"] - FIRST
        found.setdefault(open_call, []).append(event["timestamp"])
    return found


@pytest.fixture
def clocksource(recording):
    """Sets the kernel's clock."""
    machine = recording.machine
    before = machine.read(SOURCE + "current_clocksource").strip()

    def use(name):
        assert name in machine.read(SOURCE + "available_clocksource").split()
        machine.write(SOURCE + "current_clocksource", name)
        assert machine.read(SOURCE + "current_clocksource").strip() == name

    yield use
    use(before)


@pytest.mark.parametrize("clock", ["tsc", "hpet", "acpi_pm"])
def test_order(recording, clocksource, clock):
    clocksource(clock)
    machine = recording.start(**SECTIONS).machine
    machine.shell(f"between {COUNT}", seconds=300)
    wait_until(lambda: machine.metric("blkin_agent_events_in_spans_total") == COUNT, 120, "the spans", 1)
    wait_until(lambda: machine.metric("blkin_agent_events_json_total") >= 2 * COUNT, 120, "the calls", 1)
    machine.systemctl("stop", "blkin-agent")
    spans, calls = annotated(recording), called(recording)
    exactly(spans.keys() == calls.keys() == set(range(COUNT)), f"{len(spans)} spans, {len(calls)} calls")
    times = [(spans[n][0], *calls[n], spans[n][1]) for n in range(COUNT)]
    early = sum(entry < before for before, entry, _, _ in times)
    late = sum(leave > after for _, _, leave, after in times)
    apart = [sorted(entry - before for before, entry, _, _ in times), sorted(after - leave for _, _, leave, after in times)]
    print(f"{clock}: of {COUNT} calls {early} began before the annotation that they came after, {late} ended behind the next; "
          f"ns between (least, median): {[(each[0], each[COUNT // 2]) for each in apart]}")
    assert early == late == 0
