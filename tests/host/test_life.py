# SPDX-License-Identifier: BSD-2-Clause
"""What happens to services: started, stopped, killed, hung; and the host with them. Each time all ids come again."""

import json
import os
import signal

import pytest
from rig.process import wait_until

SPANS = 1000
RATE, SECONDS = 1000, 20  # of each program


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


@pytest.mark.parametrize("unit", ["blkin-agent", "blkin-relayd", "lttng-sessiond"])
def test_killed(rack, node, collector, unit):
    load_arrives(rack, node, collector)
    before, sessions = node.main_pid(unit), node.metric("blkin_agent_sessions_created_total")
    node.systemctl("kill", "--kill-whom=main", "--signal=KILL", unit)
    wait_until(lambda: node.main_pid(unit) not in (0, before) and node.active(unit), 20, f"systemd to restart {unit}")
    if unit != "blkin-agent":
        wait_until(lambda: node.metric("blkin_agent_sessions_created_total") > sessions, 20, "the agent to make a session")
    load_arrives(rack, node, collector)


def test_watchdog(rack, node, collector):
    """The agent's process is stopped: it cannot say that it is alive."""
    node.write("/etc/systemd/system/blkin-agent.service.d/quick.conf", "[Service]\nWatchdogSec=2\nTimeoutAbortSec=1\n")
    node.systemctl("daemon-reload")
    node.systemctl("restart", "blkin-agent")
    load_arrives(rack, node, collector)
    before = node.main_pid("blkin-agent")
    node.systemctl("kill", "--signal=STOP", "blkin-agent")
    wait_until(lambda: node.main_pid("blkin-agent") not in (0, before), 20, "systemd to replace the agent")
    assert "Watchdog timeout" in node.journal("blkin-agent")
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


def test_collector_is_away_over_a_reboot(rack, node, collector):
    """What the collector does not accept is stored on disk, and delivered from there."""
    collector.forget()
    collector.stop()
    try:
        node.put(rack.program("spanload"), "/usr/local/bin/spanload")
        node.run("spanload", "-n", SPANS, "-w", 20, user="games")
        wait_until(lambda: f'{{output="default",state="spooled"}} {SPANS}\n' in node.page("/metrics")[1], 20, "the spans to be on disk")
        node.run("blkin", "spool", "check")
        node.reboot()
        node.wait_collecting()
    finally:
        collector.start()
    assert set(collector.wait_load(SPANS).values()) == {1}


def test_host_is_renamed(rack, node, collector):
    """Its name changes while the agent runs: the relay has the next session by the new one, and the agent finds it there."""
    load_arrives(rack, node, collector)
    sessions = node.metric("blkin_agent_sessions_created_total")
    node.run("hostname", "renamed")
    node.run("lttng", "--no-sessiond", "destroy", "blkin")
    wait_until(lambda: node.metric("blkin_agent_sessions_created_total") > sessions, 20, "the agent to make a session")
    load_arrives(rack, node, collector)
    assert not node.status()["session_error"]
    relay = node.path("/var/lib/blkin/relay")
    wait_until(lambda: not os.listdir(f"{relay}/alpha"), 20, "the old files to go")
    assert len(os.listdir(f"{relay}/renamed")) == 1


def test_reload(rack, node, collector):
    """Another collector, while programs record: the same process goes on, and no span is lost."""
    collector.forget()
    node.wait_collecting()
    conf, before = "/etc/blkin/agent.conf.d/server.conf", node.main_pid("blkin-agent")
    good = node.read(conf)
    node.write(conf, "[output]\nserver = collector:1\n")
    node.systemctl("reload", "blkin-agent")
    wait_until(lambda: "collector:1" in node.property("blkin-agent", "StatusText"), 10, "the new server to count")
    node.put(rack.program("spanload"), "/usr/local/bin/spanload")
    node.run("spanload", "-n", SPANS, "-w", 20, user="games")
    assert not collector.load()
    node.write(conf, good)
    node.systemctl("reload", "blkin-agent")
    assert set(collector.wait_load(SPANS).values()) == {1}
    assert node.main_pid("blkin-agent") == before


def test_counter_that_the_unit_forbids(node):
    """What asks for it is told so: it is not killed, over and over, and spans are collected."""
    conf = "/etc/blkin/agent.conf.d/counter.conf"
    node.write(conf, "[events]\nnames = nothing:*\ncontext = perf:cycles\n")
    node.systemctl("restart", "blkin-agent")
    node.wait_collecting()

    def told():
        status = json.loads(node.run("blkin", "status", "--json", code=None))
        return status if "events-context" in [finding["code"] for finding in status["findings"]] else None

    status = wait_until(told, 20, "it to say that the counter is left out")
    assert (status["collecting"], status["reader_restarts"]) == (True, 0)
    node.run("rm", conf)
    node.systemctl("restart", "blkin-agent")


def test_agent_is_told_by_term_and_ends_well(node):
    node.wait_collecting()
    node.systemctl("kill", "--signal", signal.SIGTERM.name, "blkin-agent")
    wait_until(lambda: node.property("blkin-agent", "NRestarts") == "1" and node.active("blkin-agent"), 20, "a restart")
    assert "stopped: " in node.journal("blkin-agent")


@pytest.mark.parametrize("signal_name", ["TERM", "KILL"])
def test_agent_ends_under_load(rack, node, collector, signal_name):
    """Again and again, while programs of two users record: no span is lost; after an orderly end none comes twice."""
    collector.forget()
    node.wait_collecting()
    node.put(rack.program("spanload"), "/usr/local/bin/spanload")
    count = RATE * SECONDS
    loads = [node.start("spanload", "-n", count, "-r", RATE, "-w", 20, user=user) for user in ("games", "root")]
    rounds = 0
    while all(load.running() for load in loads):
        before = node.main_pid("blkin-agent")
        node.systemctl("kill", "--kill-whom=main", f"--signal={signal_name}", "blkin-agent")
        wait_until(lambda: node.main_pid("blkin-agent") not in (0, before), 20, "the agent to be back")
        node.wait_collecting()
        rounds += 1
    assert rounds >= 3
    assert [load.wait(60) for load in loads] == [0, 0]
    seen = {}

    def all_came():
        seen.clear()
        for span in collector.read():
            seen[span["id"]] = seen.get(span["id"], 0) + 1
        return len(seen) >= 2 * count

    wait_until(all_came, 30, f"{2 * count} spans")
    assert len(seen) == 2 * count
    if signal_name == "TERM":
        assert set(seen.values()) == {1}
    folders = os.listdir(node.path("/var/lib/blkin/relay/alpha"))
    assert len(folders) == 1, "a session was made anew, or its folder was left"
