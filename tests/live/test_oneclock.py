# SPDX-License-Identifier: BSD-2-Clause
"""Traces of one clock have one offset from the epoch, however often LTTng measured it: so what they record is in order."""

import os
import re
import shutil
import uuid

import pytest
from rig.kerneltrace import KernelTrace
from rig.process import wait_until
from test_events_live import start
from test_events_session import FOREIGN, TICKS
from test_events_traces import printed

EPOCH = 1_700_000_000 * 10**9
STEP = 1_000_000  # ns: what is further apart was measured before and after the wall clock was set
COUNT = 100
BOOT = uuid.uuid4()


def write(node, number, offset, boot=BOOT):
    """A trace that says @offset, and has each of its events one ns after that of the trace before it; its folder."""
    trace = KernelTrace(offset)
    trace.boot = boot
    for i in range(COUNT):
        trace.event(0, 10**12 + 10 * i + number, "syscall_entry_fsync", (7, 7, 7, 7, "fake"), fd=100 * i + number)
    folder = trace.write(node.path(f"trace{number}"))
    if boot is None:
        path = os.path.join(folder, "metadata")
        with open(path, encoding="utf-8") as file:
            text = re.sub(r'\tuuid = "None";\n', "", file.read())
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return folder


def offsets_of(node, *traces):
    """Traces as `write` has them: what `blkin import` takes for the offset of each. All are in order of their time."""
    events, _ = printed(node, "--events", *[write(node, number, *trace) for number, trace in enumerate(traces)])
    assert len(events) == COUNT * len(traces)
    assert [event["timestamp"] for event in events] == sorted(event["timestamp"] for event in events)
    found = {}
    for event in events:
        i, number = divmod(event["payload"]["fd"], 100)
        found.setdefault(number, set()).add(event["timestamp"] - 10**12 - 10 * i - number)
    assert all(len(offsets) == 1 for offsets in found.values())
    return [offsets.pop() for _, offsets in sorted(found.items())], [event["payload"]["fd"] for event in events]


def test_measured_anew(node):
    """As for spans, for the kernel, and for another session: each event stands where it happened."""
    offsets, numbers = offsets_of(node, (EPOCH + 3800,), (EPOCH,), (EPOCH - 600,), (EPOCH + STEP - 1,))
    assert len(set(offsets)) == 1 and offsets[0] - EPOCH in (3800, 0, -600)
    assert numbers == [100 * i + number for i in range(COUNT) for number in range(4)]


def test_wall_clock_was_set(node):
    """Between two sessions: each has its own time."""
    given = [EPOCH, EPOCH + STEP, EPOCH - 3600 * 10**9]
    assert offsets_of(node, *[(offset,) for offset in given])[0] == given


@pytest.mark.parametrize("boot", [uuid.uuid4(), None])
def test_other_clocks(node, boot):
    """Of another machine, or of one that the trace does not name: there is nothing to compare them with."""
    given = [EPOCH, EPOCH + 3800]
    assert offsets_of(node, (EPOCH,), (EPOCH + 3800, boot))[0] == given


def uuid_of(clock):
    """Of a clock's class; where babeltrace2 2.1 reads by the later version of its protocol, it has a name for any clock instead."""
    return uuid.UUID(clock.uid) if getattr(clock, "graph_mip_version", 0) > 0 else clock.uuid


def clocks(folder):
    """Of each event that babeltrace2 reads: its number, the clock's uuid, its value, and the offset that the trace says."""
    import bt2

    for message in bt2.TraceCollectionMessageIterator(folder):
        if type(message) is bt2._EventMessageConst and message.event.name == "foreign:tick":
            snapshot = message.default_clock_snapshot
            offset = snapshot.clock_class.offset
            yield (int(message.event.payload_field["number"]), uuid_of(snapshot.clock_class), snapshot.value,
                   offset.seconds * 10**9 + offset.cycles)


def one_offset(events, *folders):
    """What was delivered is what the traces have, of one clock: the boot's. Returns the offset, and those that they say."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        boot = uuid.UUID(file.read().strip())
    values, said = {}, set()
    for folder in folders:
        for number, clock, value, offset in clocks(folder):
            assert clock == boot
            values.setdefault(number, []).append(value)
            said.add(offset)
    got = {}
    for event in events:
        got.setdefault(event["payload"]["number"], []).append(event["timestamp"])
    assert got.keys() == values.keys()
    found = {t - v for number, times in got.items() for t, v in zip(sorted(times), sorted(values[number]), strict=True)}
    (offset,) = found
    assert offset in said
    return offset, said


def restart_sessiond(node):
    """LTTng 2.13's measures the offset once, for all programs."""
    assert node.sessiond.stop() == 0
    node.start_sessiond()


def test_sessions_of_one_boot(node):
    """LTTng's, each of a session daemon of its own."""
    folders = [node.path(name) for name in ("one", "two", "three")]
    for number, folder in enumerate(folders):
        node.lttng("create", "disk", "-o", folder)
        node.lttng("enable-event", "-u", "foreign:tick")
        node.lttng("start")
        node.run([FOREIGN, 50, 0, 1000 * number])
        node.lttng("destroy")
        restart_sessiond(node)
    events, _ = printed(node, "--events", *folders)
    assert len(events) == 3 * 50
    offset, said = one_offset(events, *folders)
    print(f"LTTng measured {sorted(other - offset for other in said)} ns from {offset}")


def test_restarts_and_sessions(node, receiver):
    """The agent's: the next run, and the next session, go on with the offset that the first one met."""
    files = start(node, receiver, events=TICKS)
    for turn, end in enumerate(("stop", "kill", "stop")):
        if turn:
            node.start_agent_again()
            wait_until(node.collecting, 20, "the session")
        node.run([FOREIGN, 50, 0, 1000 * turn])
        wait_until(lambda turn=turn: len(numbered(files)) == 50 * (turn + 1), 30, "the events to be delivered")
        node.wait_quiet("state", 0.5)  # the checkpoint has it
        getattr(node.agent, end)()
        if turn == 1:
            (folder,) = node.session_folders()
            shutil.copytree(folder, node.path("first"))
            restart_sessiond(node)
    (second,) = [other for other in node.session_folders() if other != folder]
    offset, said = one_offset(numbered(files).values(), node.path("first"), second)
    print(f"LTTng measured {sorted(other - offset for other in said)} ns from {offset}")


def numbered(files):
    """Those that were delivered, each once, by their numbers."""
    return {event["payload"]["number"]: event for event in files.lines(parts=True) if event["event"] == "foreign:tick"}
