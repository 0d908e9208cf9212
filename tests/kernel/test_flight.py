# SPDX-License-Identifier: BSD-2-Clause
"""The flight recorder ([kernel] mode = flight) on a real kernel: what it keeps of a late trace, and what it does otherwise."""

import json
import re

from rig.process import wait_until
from test_why import CAUSES, suffer

KERNEL = {"mode": "flight", "events": "sched_switch, sched_waking", "syscalls": "futex"}
LATE = {"slow/*": "20ms"}
FOLDER = "/var/lib/blkin/flight"


def flight(machine):
    """[kept, refused, failed]; None while the agent does not answer."""
    said = machine.run("blkin", "status", "--json", code=None)
    return list(json.loads(said)["flight"].values()) if said.startswith("{") else None


def folder(machine):
    return machine.run("ls", FOLDER, code=None).split()


def main_pid(machine):
    return machine.run("systemctl", "show", "-p", "MainPID", "--value", "blkin-agent").strip()


def ring(machine):
    """The recorder's session, as its owner sees it."""
    return machine.run("su", "-s", "/bin/bash", "blkin", "-c", "lttng list", code=None)


def test_late(recording):
    """Exactly one answer, which names the cause; nothing else is left, and no event of the kernel was read."""
    machine = recording.start(kernel=KERNEL, thresholds=LATE).machine
    trace, other = suffer(machine, "lock")
    wait_until(lambda: flight(machine) == [1, 0, 0], 300, "the answer", 2)
    assert folder(machine) == [f"{trace}.jsonl", f"{trace}.txt"]
    (line,) = map(json.loads, machine.read(f"{FOLDER}/{trace}.jsonl").splitlines())
    assert line["main"] == "lock" and line["missing"] == [] and line["parts_ns"]["unknown"] == 0, line
    assert re.fullmatch(CAUSES["lock"][1].format(other=other), line["cause"]), line["cause"]
    assert sum(line["parts_ns"].values()) == line["duration_ns"], line
    # kept when nothing else has it any more
    machine.systemctl("stop", "blkin-agent")
    machine.shell("lttng destroy --all; systemctl stop blkin-relayd; rm -rf /var/lib/blkin/relay/*")
    assert machine.run("blkin", "why", trace) == machine.read(f"{FOLDER}/{trace}.txt")
    machine.systemctl("start", "blkin-agent")
    machine.wait_collecting(60)
    page = machine.page("/metrics")[1]
    assert re.search(r'^blkin_agent_flight_traces_total\{result="kept"\} 1$', page, re.MULTILINE)
    assert re.search(r"^blkin_agent_events_read_total 1$", page, re.MULTILINE)


def test_killed(recording):
    """In the midst of a snapshot: the next agent removes what is left, and keeps the next late trace."""
    machine = recording.start(kernel=KERNEL, thresholds=LATE).machine
    pid = main_pid(machine)
    suffer(machine, "lock")
    machine.shell(f"for i in $(seq 3000); do [ -e {FOLDER}/snapshot ] && exec kill -9 {pid}; sleep 0.02; done; exit 1")
    wait_until(lambda: main_pid(machine) not in ("0", pid), 60, "another agent", 1)
    machine.wait_collecting(120)
    wait_until(lambda: not [name for name in folder(machine) if not name.endswith((".txt", ".jsonl"))], 60, "a clean folder", 1)
    assert "blkin-flight [active snapshot]" in ring(machine)
    trace, _ = suffer(machine, "lock")
    wait_until(lambda: f"{trace}.jsonl" in folder(machine), 300, "the answer", 2)


def test_switched(recording):
    """A reload takes the recorder away, and brings it back."""
    machine = recording.start(kernel=KERNEL, thresholds=LATE).machine
    assert "blkin-flight" in ring(machine)
    recording.reload(kernel=dict(KERNEL, mode="live"), thresholds=LATE)
    wait_until(lambda: "blkin-flight" not in ring(machine), 120, "the recorder to be gone", 2)
    recording.reload(kernel=KERNEL, thresholds=LATE)
    wait_until(lambda: "blkin-flight" in ring(machine), 120, "the recorder to be back", 2)
