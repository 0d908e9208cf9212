# SPDX-License-Identifier: BSD-2-Clause
"""A reload while more is recorded than the agent can read."""

import time

from rig.process import wait_until


def recorded(machine):
    """The system calls that the session has enabled."""
    told = machine.shell("lttng list blkin").split("- kernel:")[1].split("=== Domain")[0]
    return [line.split()[0] for line in told.splitlines() if "type:syscall" in line and "[enabled]" in line]


def written(machine):
    """What relayd has on disk, in bytes."""
    return int(machine.shell("du -sb /var/lib/blkin/relay").split()[0])


EVENT = 150  # bytes that one takes at the most, more or less


def test_narrowed_under_load(recording):
    """What is asked for no more ends before the agent has read what there is, which it would never come to an end of."""
    session = {"disk": "256M"}
    machine = recording.start(session=session, kernel={"syscalls": "read, write"}).machine
    flood = machine.shell("setsid dd if=/dev/zero of=/dev/null bs=1 >/dev/null 2>&1 </dev/null & echo $!").strip()
    try:
        wait_until(lambda: written(machine) > 16 * 2**20, 300, "much to be recorded", 1)
        recording.reload(session=session, kernel={"syscalls": "openat"})
        begun = time.monotonic()
        wait_until(lambda: recorded(machine) == ["openat"], 120, "the new rules", 1)
        took, read, size = time.monotonic() - begun, machine.metric("blkin_agent_events_read_total"), written(machine)
        print(f"the new rules are in force {took:.0f} s after the reload: {read:.0f} events are read, {size} bytes are written")
        assert read < size / EVENT, "all is read already"
        machine.run("sleep", "2")  # what is on its way comes to disk
        size = written(machine)
        machine.run("sleep", "5")
        assert written(machine) - size < 2**19, "the flood is recorded on"
        later = machine.metric("blkin_agent_events_read_total")
        wait_until(lambda: machine.metric("blkin_agent_events_read_total") > later, 60, "the rest to be read")
    finally:
        machine.run("kill", flood)
