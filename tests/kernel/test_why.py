# SPDX-License-Identifier: BSD-2-Clause
"""`blkin why` on a real kernel: a program whose span is slow for a known reason (tests/live/programs/slow.c), named in turn."""

import json
import re

import pytest
from rig import bt2json
from rig.whytruth import agrees

# What doc/events.md says that it takes.
KERNEL = {
    "events": "sched_switch, sched_waking, block_rq_*, irq_handler_*, irq_softirq_e*, timer_hrtimer_expire_*",
    "syscalls": "*",
}
RELAY = "/var/lib/blkin/relay"
DISK = "/dev/vda"
# A disk of so many bytes a second that are written, and of so many reads.
SLOW_DISK = ["systemd-run", "--quiet", "--wait", "--pipe", "-p", f"IOWriteBandwidthMax={DISK} 1M", "-p", f"IOReadIOPSMax={DISK} 50"]

CAUSES = {
    "cpu": ("runnable", r"mostly waiting for a processor: .* of .*; meanwhile it ran hog \(\d+\)"),
    "lock": ("lock", r"mostly waiting for a lock: futex, .* of .*; woken by holder \({other}\)"),
    "network": ("network", r"mostly waiting for somebody's answer: poll, .* of .*; woken by peer \({other}\)"),
    "sleep": ("sleep", r"mostly asleep: clock_nanosleep, .* of .*; woken by a timer"),
    "disk": ("disk", r"mostly waiting for the disk: fsync, .* of .*; woken by (kworker|jbd2)\S* \(\d+\)"),
    "fault": ("page_fault", r"mostly waiting for memory \(page faults\): .* of .*; woken by .*"),
}


def suffer(machine, reason):
    """Returns the trace's id, and the other thread's number."""
    words = ["slow", reason]
    if reason == "disk":
        words = SLOW_DISK + words + ["/var/tmp/written"]
    elif reason == "fault":
        machine.shell("head -c 240K /dev/urandom >/var/tmp/cold; sync")
        words = SLOW_DISK + words + ["/var/tmp/cold"]
    said = machine.run(*words, seconds=300).split()
    return said[-5], int(said[-1])


def why(machine, *words):
    return machine.run("blkin", "why", *words, RELAY, seconds=600)


@pytest.mark.parametrize("reasons", [["cpu"], ["lock", "network", "sleep"], ["disk"], ["fault"]], ids="-".join)
def test_causes(recording, reasons):
    """Each is named, and the parts are what babeltrace2's bindings read; they add up to the nanosecond."""
    machine = recording.start(kernel=KERNEL).machine
    traces = {reason: suffer(machine, reason) for reason in reasons}
    machine.run("sleep", "2")
    recording.end()
    events = recording.everything()
    for reason, (trace, other) in traces.items():
        part, sentence = CAUSES[reason]
        (line,) = map(json.loads, why(machine, "--json", trace).splitlines())
        assert line["main"] == part, line
        assert re.fullmatch(sentence.format(other=other), line["cause"]), line["cause"]
        assert line["parts_ns"]["unknown"] == 0 and line["missing"] == [], line
        agrees(events, line)


def test_what_is_not_recorded(recording):
    """It says what has to be, and does not guess."""
    machine = recording.start(kernel={"syscalls": "futex"}).machine
    trace, _ = suffer(machine, "lock")
    machine.run("sleep", "2")
    recording.end()
    said = why(machine, trace)
    assert said.startswith("`lock` of slow: not known: no sched_switch is recorded")
    assert "put into [kernel] `events = sched_switch, sched_waking," in said.replace("\n", " ")
