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


def test_causes(recording):
    """What it records where nothing is named costs little, and still tells what a span waited for: each of the four is named."""
    machine = recording.start(kernel={"mode": "flight", "flight-per-minute": "60"}, thresholds=LATE).machine
    assert not [found for found in machine.status()["findings"] if found["code"].startswith("kernel-")]
    for number, reason in enumerate(("cpu", "disk", "lock", "fault"), 1):
        trace, other = suffer(machine, reason)
        wait_until(lambda number=number: flight(machine) == [number, 0, 0], 300, "the answer", 2)
        (line,) = map(json.loads, machine.read(f"{FOLDER}/{trace}.jsonl").splitlines())
        print(machine.read(f"{FOLDER}/{trace}.txt"))
        part, sentence = CAUSES[reason]
        assert line["main"] == part and line["parts_ns"]["unknown"] == 0, line
        assert re.fullmatch(sentence.format(other=other), line["cause"]), line["cause"]


def as_soon_as(condition, then):
    """For the machine's shell, which is nearer to what happens there."""
    return f"for i in $(seq 6000); do {condition} && {{ {then}; exit; }}; sleep 0.01; done; exit 1"


SNAPSHOT = f"[ -e {FOLDER}/snapshot ]"


def records_again(recording):
    """Nothing is left of what went wrong, and the next late trace is kept."""
    machine = recording.machine
    machine.wait_collecting(120)
    wait_until(lambda: not [name for name in folder(machine) if not name.endswith((".txt", ".jsonl"))], 90, "a clean folder", 1)
    wait_until(lambda: "blkin-flight [active snapshot]" in ring(machine), 120, "the recorder", 1)
    trace, _ = suffer(machine, "lock")
    wait_until(lambda: f"{trace}.jsonl" in folder(machine), 300, "the answer", 2)
    (line,) = map(json.loads, machine.read(f"{FOLDER}/{trace}.jsonl").splitlines())
    assert line["main"] == "lock", line
    wait_until(lambda: finding(machine) is None, 30, "the finding to be over", 1)


def finding(machine):
    return {found["code"]: found["what"] for found in machine.status()["findings"]}.get("flight-failed")


def test_agent_is_killed(recording):
    """In the midst of a snapshot."""
    machine = recording.start(kernel=KERNEL, thresholds=LATE).machine
    pid = main_pid(machine)
    suffer(machine, "lock")
    machine.shell(as_soon_as(SNAPSHOT, f"kill -9 {pid}"))
    wait_until(lambda: main_pid(machine) not in ("0", pid), 60, "another agent", 1)
    records_again(recording)


def suffer_and_stand_still(machine, then):
    """
    Does @then when a snapshot has been asked for, and before anything of it is written, however quick that is: the kernel's
    consumer daemon stands still before the agent has waited for the rest of the trace; the session daemon waits for it, and
    answers nobody.
    """
    machine.shell("slow lock && pkill -STOP -f '[l]ttng-consumerd.* -k '", seconds=300)
    machine.shell(as_soon_as("! timeout 10 lttng list >/dev/null", then))


def test_session_daemon_is_killed(recording):
    """In the midst of a snapshot, with its consumer daemon, as systemd does it: that one fails, and is counted."""
    machine = recording.start(kernel=KERNEL, thresholds=LATE).machine
    suffer_and_stand_still(machine, "systemctl kill --kill-whom=all -s KILL lttng-sessiond")
    wait_until(lambda: flight(machine) == [0, 0, 1], 120, "the failure to be counted", 1)
    assert finding(machine)
    machine.shell("systemctl is-active lttng-sessiond || systemctl restart lttng-sessiond", code=None)
    records_again(recording)


def test_command_is_killed(recording):
    machine = recording.start(kernel=KERNEL, thresholds=LATE).machine
    suffer(machine, "lock")
    machine.shell(as_soon_as("pid=$(pgrep -f '[b]lkin why --flight' | head -n 1) && [ \"$pid\" ]", "kill -9 $pid"))
    wait_until(lambda: flight(machine) == [0, 0, 1], 120, "the failure to be counted", 1)
    assert "`blkin why` " in finding(machine)
    records_again(recording)


def test_disk_is_full(recording):
    """While a snapshot is written: that one fails, or its answer, and nothing stays."""
    machine = recording.start(kernel=KERNEL | {"flight-size": "1M"}, session={"memory": "8M"}, thresholds=LATE).machine
    machine.shell(f"mkdir -p {FOLDER}; mount -t tmpfs -o size=90M,mode=777 tmpfs {FOLDER}")
    try:
        suffer_and_stand_still(
            machine, f"dd if=/dev/zero of={FOLDER}/fill bs=1M 2>/dev/null || true; pkill -CONT -f '[l]ttng-consumerd.* -k '")
        wait_until(lambda: flight(machine) == [0, 0, 1], 180, "the failure to be counted", 1)
        assert finding(machine)
        machine.shell(f"rm {FOLDER}/fill")  # which the recorder leaves alone, as it is none of its files
        records_again(recording)
    finally:
        machine.shell(f"umount {FOLDER}")


def test_flood(recording):
    """Each late trace is taken or counted, once; spans are delivered as ever."""
    machine = recording.start(kernel=KERNEL, thresholds={"*/*": "p99 0us"}).machine
    machine.shell("spanload -n 2000 -w 20", seconds=300)
    wait_until(lambda: machine.metric("blkin_agent_events_in_spans_total") == 2000, 120, "the spans", 1)
    wait_until(lambda: sum(flight(machine) or []) == 400, 300, "each to be counted", 2)
    assert flight(machine)[0] >= 1 and len(folder(machine)) == 2 * flight(machine)[0]


def test_switched(recording):
    """A reload brings the recorder, which works though the session has another name then, and takes it away."""
    machine = recording.start(kernel=dict(KERNEL, mode="live"), thresholds=LATE).machine
    assert "blkin-flight" not in ring(machine)
    recording.reload(kernel=KERNEL, thresholds=LATE)
    wait_until(lambda: "blkin-flight" in ring(machine), 120, "the recorder", 2)
    assert machine.status()["session"] == "blkin-2"
    trace, _ = suffer(machine, "lock")
    wait_until(lambda: flight(machine) == [1, 0, 0], 300, "the answer", 2)
    assert f"{trace}.jsonl" in folder(machine)
    recording.reload(kernel=dict(KERNEL, mode="live"), thresholds=LATE)
    wait_until(lambda: "blkin-flight" not in ring(machine), 120, "the recorder to be gone", 2)


def functions(machine):
    """Those that the recorder has, by whether they are recorded."""
    said = machine.run("su", "-s", "/bin/bash", "blkin", "-c", "lttng list blkin-flight", code=None)
    return dict(re.findall(r"(\w+) \(type: function\) \[(\w+)\]", said))


def test_functions(recording):
    """They go and come with a reload; one that the kernel does not have is named."""
    machine = recording.start(kernel={"mode": "flight"}, thresholds=LATE).machine
    assert functions(machine) == {"filemap_fault": "enabled", "do_swap_page": "enabled"}
    recording.reload(kernel=KERNEL, thresholds=LATE)
    wait_until(lambda: set(functions(machine).values()) == {"disabled"}, 120, "the functions to be gone", 2)
    recording.reload(kernel=KERNEL | {"functions": "no_such_function, do_swap_page"}, thresholds=LATE)
    wait_until(lambda: functions(machine) == {"filemap_fault": "disabled", "do_swap_page": "enabled"}, 120, "one to be back", 2)
    (said,) = [found["what"] for found in machine.status()["findings"] if found["code"] == "kernel-failed"]
    assert "`no_such_function` of [kernel] is not recorded" in said
