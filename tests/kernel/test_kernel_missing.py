# SPDX-License-Identifier: BSD-2-Clause
"""A machine whose kernel's modules are missing, until somebody installs them."""

import pytest
from rig.process import wait_until

MOVE = "cd /usr/lib/modules/*; mv {} {}; depmod; "
BACK = MOVE.format("/var/tmp/updates", ".") + "systemctl restart lttng-sessiond"
UNLOAD = "for again in 1 2 3 4 5 6 7 8; do rmmod $(lsmod | awk '/^lttng/ { print $1 }') 2>/dev/null || true; done; "


def findings(machine):
    return {found["code"] for found in machine.status()["findings"]}


@pytest.fixture
def without_modules(recording):
    machine = recording.machine
    machine.shell("systemctl stop blkin-agent lttng-sessiond; " + UNLOAD + MOVE.format("updates", "/var/tmp/"))
    machine.systemctl("start", "lttng-sessiond")
    yield recording
    machine.shell(f"[ ! -e /var/tmp/updates ] || {{ {BACK}; }}")


def test_missing(without_modules):
    """That is said once, by the agent and by the session daemon; spans are recorded."""
    recording, machine = without_modules, without_modules.machine
    recording.start(kernel={"events": "sched_switch"})
    wait_until(lambda: "kernel-missing" in findings(machine), 60, "the finding", 1)
    machine.shell("spanload -n 10 -w 20")
    wait_until(lambda: machine.metric("blkin_agent_events_in_spans_total") == 10, 60, "the spans", 1)
    machine.run("sleep", "3")
    said = machine.journal("lttng-sessiond").count("No kernel tracer available")
    machine.run("sleep", "20")
    assert machine.journal("lttng-sessiond").count("No kernel tracer available") == said
    machine.shell(BACK)
    wait_until(lambda: "kernel-missing" not in findings(machine), 60, "the finding to be over", 1)
    recording.wait_read()
