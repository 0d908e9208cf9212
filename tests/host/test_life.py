# SPDX-License-Identifier: BSD-2-Clause
"""What happens to services: started, stopped, killed, hung; and the host with them. Each time all ids come again."""

import signal

import pytest
from rig.process import wait_until

SPANS = 1000


def load_arrives(rack, node, collector):
    """A program that starts now has its spans delivered, each once."""
    collector.forget()
    node.wait_collecting()
    node.put(rack.program("spanload"), "/usr/local/bin/spanload")
    node.run("spanload", "-n", SPANS, "-w", 20, user="games")
    assert set(collector.wait_load(SPANS).values()) == {1}


def test_start_stop_restart_status(rack, node, collector):
    load_arrives(rack, node, collector)
    wait_until(lambda: node.property("blkin-agent", "StatusText").startswith("collecting"), 5, "the status text")
    text = node.property("blkin-agent", "StatusText")
    assert text.endswith(f"delivering to {collector.address}") and text in node.systemctl("status", "blkin-agent")
    node.systemctl("stop", "blkin-agent")
    assert node.property("blkin-agent", "Result") == "success"
    assert not node.active("blkin-agent") and node.active("blkin-relayd")
    assert node.code("systemctl", "status", "blkin-agent") == 3
    assert node.code("blkin", "status") == 69
    node.systemctl("start", "blkin-agent")
    load_arrives(rack, node, collector)
    before = node.main_pid("blkin-agent")
    node.systemctl("restart", "blkin-agent")
    assert node.main_pid("blkin-agent") != before
    load_arrives(rack, node, collector)


@pytest.mark.parametrize("unit", ["blkin-relayd", "lttng-sessiond"])
def test_killed(rack, node, collector, unit):
    load_arrives(rack, node, collector)
    before = node.main_pid(unit)
    node.systemctl("kill", "--kill-whom=main", "--signal=KILL", unit)
    wait_until(lambda: node.main_pid(unit) not in (0, before) and node.active(unit), 20, f"systemd to restart {unit}")
    wait_until(lambda: not node.collecting(), 20, "the agent to notice")
    load_arrives(rack, node, collector)


def test_agent_waits_for_its_services(rack, node, collector):
    units = ("lttng-sessiond", "blkin-relayd")
    node.systemctl("stop", "blkin-agent", *units)
    node.systemctl("mask", "--runtime", *units)
    node.systemctl("start", "blkin-agent")
    wait_until(lambda: "NOT collecting: no LTTng session daemon" in node.property("blkin-agent", "StatusText"), 10, "the status to say so")
    assert node.active("blkin-agent") and node.property("blkin-agent", "NRestarts") == "0"
    node.systemctl("unmask", "--runtime", *units)
    for unit in units:
        node.systemctl("start", unit)
    load_arrives(rack, node, collector)
    assert node.property("blkin-agent", "NRestarts") == "0"


@pytest.mark.parametrize("end", ["power_off", "pull_the_plug"])
def test_host_goes_down(rack, node, collector, end):
    load_arrives(rack, node, collector)
    getattr(node, end)()
    node.boot()
    load_arrives(rack, node, collector)


def test_agent_is_told_by_term_and_ends_well(node):
    node.wait_collecting()
    node.systemctl("kill", "--signal", signal.SIGTERM.name, "blkin-agent")
    wait_until(lambda: node.property("blkin-agent", "NRestarts") == "1" and node.active("blkin-agent"), 20, "a restart")
    assert "stopped: " in node.journal("blkin-agent")
