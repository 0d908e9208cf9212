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


def test_is_stopped(recording):
    machine = recording.start(kernel={"events": "sched_switch", "mode": "flight"}, thresholds=LATE).machine
    machine.shell("pkill -STOP -f '[l]ttng-consumerd.* -k '")
    wait_until(lambda: "does not answer" in finding(machine), 60, "the finding", 1)
    machine.shell("pkill -CONT -f '[l]ttng-consumerd.* -k '")
    wait_until(lambda: not finding(machine), 60, "the finding to be over", 1)
