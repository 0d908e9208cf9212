# SPDX-License-Identifier: BSD-2-Clause
"""`blkin why` on a real kernel: a program whose span is slow for a known reason (tests/live/programs/slow.c), named in turn."""

import json
import re
import subprocess

import pytest
from rig import bt2json
from rig.process import wait_until
from rig.whytruth import agrees

# What doc/events.md says that it takes.
KERNEL = {
    "events": "sched_switch, sched_waking, block_rq_*, irq_handler_*, irq_softirq_e*, timer_hrtimer_expire_*",
    "syscalls": "*",
}
DISK = "/dev/vda"
# A disk that writes so many bytes a second, or reads so often.
SLOW_DISK = {"disk": f"IOWriteBandwidthMax={DISK} 300K", "fault": f"IOReadIOPSMax={DISK} 20"}
# What is read before, as it is not meant.
PROGRAM = "cat /usr/local/bin/slow /usr/lib/x86_64-linux-gnu/lib{blkin-provider,lttng-ust}*.so.* >/dev/null"

CAUSES = {
    "cpu": ("runnable", r"mostly waiting for a processor: .* of .*; hog \(\d+\) ran there"),
    "lock": ("lock", r"mostly waiting for a lock: futex, .* of .*; woken by holder \({other}\)"),
    "network": ("network", r"mostly waiting for the network or a pipe: poll, .* of .*; woken by peer \({other}\)"),
    "sleep": ("sleep", r"mostly asleep: clock_nanosleep, .* of .*; woken by a timer"),
    "disk": ("disk", r"(mostly|above all) waiting for the disk: fsync, .* of .*; woken by (kworker|jbd2)\S* \(\d+\)"),
    "fault": ("page_fault", r"(mostly|above all) waiting for memory \(page faults\): .* of .*; woken by .*"),
}


# These are soon over, and then LTTng's daemons may have had the processors meanwhile, which are emulated, as with the ring buffers of
# the first program: that is what is named, and one of several is slow for its own reason.
ATTEMPTS = {"lock": 3, "network": 3, "sleep": 3}


def suffer(machine, reason):
    """Returns the trace's id, and the other thread's number."""
    words = ["slow", reason]
    if reason in SLOW_DISK:
        # a file's pages are written on account of who has made it
        machine.shell(f"{PROGRAM}; head -c 240K /dev/urandom >/var/tmp/fault; rm -f /var/tmp/disk; sync")
        words = ["systemd-run", "--quiet", "--wait", "--pipe", "-p", SLOW_DISK[reason]] + words + [f"/var/tmp/{reason}"]
    said = machine.run(*words, seconds=300).split()
    return said[-5], int(said[-1])


@pytest.fixture(scope="module")
def command(machine, tmp_path_factory):
    """
    The machine's command, to be run here: it is of the same Debian. For the machine, whose processor is emulated, the names of all
    system calls can be more than the command is patient with (import/guard.h).
    """
    machine.shell("mkdir -p /var/tmp/command; cp /usr/bin/blkin /var/tmp/command/")
    return machine.get("/var/tmp/command", str(tmp_path_factory.mktemp("command") / "command")) + "/blkin"


def is_named(line, reason, other):
    part, sentence = CAUSES[reason]
    return line["main"] == part and bool(re.fullmatch(sentence.format(other=other), line["cause"]))


def why(command, *words):
    done = subprocess.run([command, "why", *words], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("reasons", [["cpu"], ["lock", "network", "sleep"], ["disk"], ["fault"]], ids="-".join)
def test_causes(recording, command, reasons):
    """Each is named, and the parts are what babeltrace2's bindings read; they add up to the nanosecond."""
    machine = recording.start(kernel=KERNEL).machine
    found = {reason: [suffer(machine, reason) for _ in range(ATTEMPTS.get(reason, 1))] for reason in reasons}
    machine.run("sleep", "2")
    recording.end()
    traces = recording.traces()
    events = list(bt2json.read(traces))
    for reason, attempts in found.items():
        lines = [json.loads(why(command, "--json", trace, traces)) for trace, _ in attempts]
        for line in lines:
            print(line["cause"])
            assert line["parts_ns"]["unknown"] == 0 and line["missing"] == [], line
            agrees(events, line)
        named = [is_named(line, reason, other) for line, (_, other) in zip(lines, attempts)]
        assert any(named), lines
        assert all(fits or line["main"] == "runnable" for fits, line in zip(named, lines)), lines


def test_live(recording):
    """On the machine, while its agent records."""
    machine = recording.start(kernel={"events": "sched_switch, sched_waking", "syscalls": "futex"}).machine
    trace, other = suffer(machine, "lock")

    def told():
        said = machine.run("blkin", "why", trace, code=None, seconds=300)
        return said.startswith("`lock` of slow:") and said

    said = wait_until(told, 300, "the span to be there", 2)
    assert re.match(CAUSES["lock"][1].format(other=other), said.removeprefix("`lock` of slow: ").replace("\n", " ")), said


def test_what_is_not_recorded(recording, command):
    """It says what has to be, and does not guess."""
    machine = recording.start(kernel={"syscalls": "futex"}).machine
    trace, _ = suffer(machine, "lock")
    machine.run("sleep", "2")
    recording.end()
    said = why(command, trace, recording.traces())
    assert said.startswith("`lock` of slow: not known: no sched_switch is recorded")
    assert "put into [kernel] `events = sched_switch, sched_waking," in said.replace("\n", " ")
