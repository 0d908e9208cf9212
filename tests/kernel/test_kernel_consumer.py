# SPDX-License-Identifier: BSD-2-Clause
"""The kernel's consumer daemon, without which the kernel records nothing, while programs' spans come as ever."""

import pytest
from rig.process import wait_until

LATE = {"*/late": "1ms"}


def finding(machine):
    found = {entry["code"]: entry for entry in machine.status()["findings"]}
    return found.get("kernel-consumer", {}).get("what", "")


@pytest.mark.parametrize("mode", ["live", "flight"])
def test_is_killed(recording, mode):
    """Status says so, whether somebody asks for what the kernel records or not; a restart of the session daemon mends it."""
    machine = recording.start(kernel={"events": "sched_switch", "mode": mode}, thresholds=LATE).machine
    assert not finding(machine)
    machine.shell("pkill -KILL -f '[l]ttng-consumerd.* -k '")
    wait_until(lambda: "has ended" in finding(machine), 60, "the finding", 1)
    machine.shell("spanload -n 200 -w 20")
    wait_until(lambda: machine.metric("blkin_agent_events_in_spans_total") >= 200, 60, "the spans", 1)
    machine.systemctl("restart", "lttng-sessiond")
    wait_until(lambda: not finding(machine), 120, "the finding to be over", 1)
    machine.wait_collecting(60)
    assert machine.shell("pgrep -f '[l]ttng-consumerd.* -k '").strip()


def spans(machine, count):
    """Records some, which come."""
    before = machine.metric("blkin_agent_events_in_spans_total")
    machine.shell(f"spanload -n {count} -w 20")
    wait_until(lambda: machine.metric("blkin_agent_events_in_spans_total") >= before + count, 60, "the spans", 1)


def test_is_stopped(recording):
    machine = recording.start(kernel={"events": "sched_switch", "mode": "flight"}, thresholds=LATE).machine
    machine.shell("pkill -STOP -f '[l]ttng-consumerd.* -k '")
    wait_until(lambda: "does not answer" in finding(machine), 60, "the finding", 1)
    spans(machine, 200)  # of a program that registers only now
    machine.shell("pkill -CONT -f '[l]ttng-consumerd.* -k '")
    wait_until(lambda: not finding(machine), 60, "the finding to be over", 1)


def crashes(machine):
    """How often the session daemon has ended otherwise than it was told to, since the machine booted."""
    return int(machine.shell("journalctl -u lttng-sessiond | grep -cE 'code=(killed|dumped)' || true"))


def test_is_stopped_while_there_is_no_session(recording):
    """One is made without the kernel, as the session daemon would wait for it; once it goes on, another one has the kernel, too."""
    machine = recording.start(kernel={"events": "sched_switch", "mode": "live"}, thresholds=LATE).machine
    before = crashes(machine)
    machine.systemctl("stop", "blkin-agent")
    machine.shell("lttng destroy blkin")
    machine.shell("pkill -STOP -f '[l]ttng-consumerd.* -k '")
    machine.systemctl("start", "blkin-agent")
    spans(machine, 200)
    wait_until(lambda: "does not answer" in finding(machine), 60, "the finding", 1)
    machine.shell("pkill -CONT -f '[l]ttng-consumerd.* -k '")
    wait_until(lambda: machine.status()["session"] == "blkin-2", 120, "a session with the kernel", 1)
    wait_until(lambda: not machine.status()["kernel_error"], 60, "the kernel to be recorded", 1)
    spans(machine, 200)
    wait_until(lambda: any(event["domain"] == "kernel" for event in recording.events()), 60, "its events", 1)
    # LTTng 2.13's session daemon sometimes crashes when the consumer daemon goes on after a session was destroyed; that is counted, too
    assert machine.status()["sessions_lost"] == 1 + crashes(machine) - before, "more than the one that was destroyed"


def test_is_stopped_while_read_live(recording):
    """Live reading, which merges by time, would wait for the kernel's: programs' spans come, and nobody's program is named."""
    machine = recording.start(kernel={"events": "sched_switch", "mode": "live"}, thresholds=LATE).machine
    spans(machine, 200)
    machine.shell("pkill -STOP -f '[l]ttng-consumerd.* -k '")
    wait_until(lambda: "passes on nothing" in finding(machine), 60, "the finding", 1)
    spans(machine, 200)
    told = machine.status()
    assert (told["sessions_replaced"], told["sessions_lost"]) == (0, 0)
    assert [entry["code"] for entry in told["findings"] if entry["about"] == "session"] == ["kernel-consumer"]
    machine.shell("pkill -CONT -f '[l]ttng-consumerd.* -k '")
    wait_until(lambda: not finding(machine), 120, "the finding to be over", 1)
    spans(machine, 200)
    assert "a program of user" not in machine.journal("blkin-agent")
