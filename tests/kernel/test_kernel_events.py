# SPDX-License-Identifier: BSD-2-Clause
"""[kernel] on a real tracer: what is delivered is what babeltrace2 reads of the same session, to the nanosecond."""

from recording import FILES, same
from rig.process import exactly, wait_until

KERNEL = {"events": "sched_switch, sched_process_*, block_rq_*", "syscalls": "openat, fsync, write"}
# reads, writes, waits for the disk, starts processes
WORK = """
for i in 1 2 3 4 5 6 7 8; do
    dd if=/dev/zero of=/var/tmp/work bs=4k count=20 conv=fsync 2>/dev/null
    cat /etc/passwd >/dev/null
done
"""


def test_what_is_recorded(recording):
    """Everything that is asked for, by its thread, and equal to the reference."""
    recording.start(kernel=KERNEL)
    recording.machine.shell(WORK)
    recording.wait_read()
    recording.end()
    got = recording.events()
    assert same(got, recording.truth()) > 500
    assert {event["event"] for event in got} >= {
        "sched_switch", "sched_process_exec", "block_rq_issue", "block_rq_complete", "syscall_entry_openat",
        "syscall_exit_openat", "syscall_entry_fsync", "syscall_exit_fsync", "syscall_entry_write", "syscall_exit_write",
    }  # fmt: skip
    synced = [event for event in got if event["event"] == "syscall_entry_fsync" and event["process"]["name"] == "dd"]
    assert len(synced) == 8
    for event in got:
        assert set(event["context"]) == {"pid", "tid", "vpid", "vtid", "procname"}
        assert event["domain"] == "kernel" and event["host"] == "kernel" and event["cpu"] in (0, 1)


def test_killed(recording):
    """An agent that is killed again and again while the kernel records: no event is missing, and none is invented."""
    machine = recording.start(kernel=KERNEL).machine
    for _ in range(3):
        machine.shell(WORK)
        before = machine.main_pid("blkin-agent")
        machine.run("kill", "-KILL", before)
        machine.shell(WORK)
        wait_until(lambda before=before: machine.main_pid("blkin-agent") not in (0, before), 60, "systemd to start the agent again")
    machine.wait_collecting(60)
    recording.wait_read()
    recording.end()
    got, once = recording.events(), {}
    for event in got:
        once.setdefault(str(event), event)
    same(list(once.values()), recording.truth())
    assert len(got) - len(once) < len(once) / 2


def test_discarded(recording):
    """With the consumer daemon stopped the ring buffers fill; each event that the kernel then discards is counted."""
    machine = recording.start(session={"memory": "1M"}, kernel={"syscalls": "*"}).machine
    consumer = machine.shell("pgrep -P $(cat /run/lttng/lttng-sessiond.pid) -f kconsumerd").strip()
    machine.run("kill", "-STOP", consumer)
    machine.shell("dd if=/dev/zero of=/dev/null bs=1 count=30000 2>/dev/null")
    machine.run("kill", "-CONT", consumer)
    recording.wait_read()
    lost = wait_until(lambda: machine.metric("blkin_agent_events_lost_total"), 60, "lost events to be counted")
    assert lost > 30000

    def discarded():
        told = machine.shell("lttng list blkin").split("- kernel:")[1].split("Discarded events: ")[1]
        return int(told.split()[0])

    wait_until(lambda: discarded() == machine.metric("blkin_agent_events_lost_total"), 60, "both to count the same", 1)


def test_spans_beside_a_flood(recording):
    """Each span comes, and none twice, whatever the kernel has to say meanwhile."""
    machine = recording.start(kernel={"syscalls": "*", "events": "sched_*"}).machine
    machine.shell("""
        dd if=/dev/zero of=/dev/null bs=1 count=30000 2>/dev/null &
        spanload -n 2000 -w 20
        wait
    """, seconds=300)
    found = f"find {FILES} -name '*zipkin-*' -exec cat {{}} + | wc -l"
    wait_until(lambda: int(machine.shell(found)) >= 2000, 300, "the spans", 1)
    recording.wait_read(300)
    ordinals = sorted(int(span["tags"]["ordinal"]) for span in recording.spans())
    exactly(ordinals == list(range(2000)), f"{len(ordinals)} spans")
