# SPDX-License-Identifier: BSD-2-Clause
"""What the agent and LTTng do is left out of what the kernel records, and nothing that is about others is."""

from rig.process import wait_until

WORK = "for i in 1 2 3 4; do dd if=/dev/zero of=/var/tmp/work bs=4k count=20 conv=fsync 2>/dev/null; cat /etc/passwd >/dev/null; done"


def is_own(name):
    return name in ("blkin-agent", "blkin-reader") or name.startswith("lttng-")


def about(event):
    """The threads that an event is about, by their names; of an idle processor it is about nobody."""
    payload = event["payload"]
    if event["event"] == "sched_switch":
        return [payload[f"{side}_comm"] for side in ("prev", "next") if payload[f"{side}_tid"] != 0]
    if event["event"] in ("sched_wakeup", "sched_wakeup_new", "sched_waking"):
        return [payload["comm"]]
    return [event["process"]["name"]]


def record(recording, **kernel):
    recording.start(kernel={"events": "sched_switch, sched_wak*, block_bio_*", "syscalls": "*", **kernel})
    recording.machine.shell(WORK)
    recording.wait_read()
    recording.machine.systemctl("stop", "blkin-agent")
    return recording.events()


def test_own_is_left_out(recording):
    events = record(recording)
    assert [event for event in events if all(map(is_own, about(event)))] == []
    switches = [event for event in events if event["event"] == "sched_switch"]
    assert switches and any(any(map(is_own, about(event))) for event in switches)  # from one of ours to another's, or back
    assert {"dd", "cat"} <= {event["process"]["name"] for event in events}
    entries = sum(event["event"].startswith("syscall_entry_") for event in events)
    exits = sum(event["event"].startswith("syscall_exit_") for event in events)
    assert entries > 200 and abs(entries - exits) < 20  # those that wait when it starts or ends


def test_switches_of_others_are_complete(recording):
    """On each processor, whoever goes away had come, and goes away before another one does; but for ours and nobody."""
    events = [event["payload"] | {"cpu": event["cpu"]} for event in record(recording) if event["event"] == "sched_switch"]
    for cpu in (0, 1):
        mine = [event for event in events if event["cpu"] == cpu]
        for before, after in zip(mine, mine[1:]):
            came, goes = [(event[f"{side}_tid"], event[f"{side}_comm"]) for event, side in ((before, "next"), (after, "prev"))]
            unseen = all(tid == 0 or is_own(name) for tid, name in (came, goes))
            assert came[0] == goes[0] or unseen, (before, after)


def test_own_too(recording):
    events = record(recording, own="yes", syscalls="openat")
    own = sum(all(map(is_own, about(event))) for event in events)
    assert own > len(events) / 4


def test_idle(recording):
    """Nobody does anything, so hardly anything is recorded: what is recorded does not cause more."""
    machine = recording.start(kernel={"syscalls": "*", "events": "sched_switch"}).machine
    first, last = map(int, machine.shell("sleep 3; date +%s%N; sleep 15; date +%s%N", seconds=120).split())
    recording.wait_read()
    recorded = sum(first <= event["timestamp"] <= last for event in recording.events())
    assert recorded < (last - first) / 1e9 * 600, recorded


def test_reload_changes_it(recording):
    """Rules with a filter, and without: in the session that is there."""
    machine = recording.start(kernel={"syscalls": "openat"}).machine

    def rules():
        told = machine.shell("lttng list blkin").split("- kernel:")[1].split("=== Domain")[0]
        return [line.strip() for line in told.splitlines() if "type:syscall" in line]

    for own in ("yes", "no"):
        recording.reload(kernel={"syscalls": "openat", "own": own})
        wait_until(lambda own=own: [line for line in rules() if "[enabled]" in line and ("filter" in line) == (own == "no")], 60, own)
        assert len([line for line in rules() if "[enabled]" in line]) == 1
    assert machine.metric("blkin_agent_sessions_created_total") == 1
