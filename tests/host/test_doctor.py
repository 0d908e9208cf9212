# SPDX-License-Identifier: BSD-2-Clause
"""Nothing arrives: each reason made on a node as packages set it up; `blkin status` names it, and what it advises helps."""

import pytest
from rig.process import Trouble, wait_until


def wait_findings(node, codes, fix=""):
    """What passes by itself is told after half a minute only. Returns the screen of text."""
    found, text = [], ""

    def are_found():
        nonlocal found, text
        found = node.status()["findings"]
        if [finding["code"] for finding in found] != codes or not all(fix in finding["fix"] for finding in found):
            return False
        # the agent may have helped itself in between
        text = node.run("blkin", "status")
        return all(f" -> {finding['fix']} " in " ".join(text.split()) + " " for finding in found)

    try:
        wait_until(are_found, 50, f"the doctor to find {codes}", 0.3)
    except Trouble as trouble:
        raise Trouble(f"{trouble}: {found}, {text}") from None
    return text


def expect(node, code, fix):
    """Waits until the doctor finds this and nothing else; a screen of text says so too."""
    text = wait_findings(node, [code], fix)
    assert len(text.splitlines()) <= 24, text


def expect_nothing(node):
    wait_findings(node, [])


@pytest.fixture
def traced(rack, node):
    """A node on which a program of a user's records spans all the time."""
    node.put(rack.program("spanload"), "/usr/local/bin/spanload")
    node.wait_collecting()
    start_program(node)
    # a session that ends before its metadata is on the relay's disk is another matter
    wait_until(lambda: node.metric("blkin_agent_events_read_total") > 100, 20, "its spans to be read")
    expect_nothing(node)
    return node


def start_program(node, *properties):
    node.run("systemd-run", "--quiet", "--collect", "--unit=traced", "--uid=games", *properties, "spanload", "-n", 10**6, "-r", 100)


def test_no_session_daemon(traced):
    traced.systemctl("stop", "lttng-sessiond")
    expect(traced, "no-session-daemon", "systemctl start lttng-sessiond")
    traced.systemctl("start", "lttng-sessiond")
    expect_nothing(traced)


def test_no_permission(traced):
    traced.run("gpasswd", "--delete", "blkin", "tracing")
    traced.systemctl("restart", "blkin-agent")
    expect(traced, "no-permission", "usermod --append --groups tracing blkin")
    traced.run("usermod", "--append", "--groups", "tracing", "blkin")
    traced.systemctl("restart", "blkin-agent")
    expect_nothing(traced)


def test_no_relay(traced):
    traced.systemctl("stop", "blkin-relayd")
    expect(traced, "no-relay-daemon", "systemctl start blkin-relayd")
    traced.systemctl("start", "blkin-relayd")
    expect_nothing(traced)


def test_no_program(traced):
    traced.systemctl("stop", "traced")
    expect(traced, "no-program", "start one that includes <blkin/blkin.h>")
    start_program(traced)
    expect_nothing(traced)


def test_provider_missing(rack, traced):
    traced.run("apt-get", "-q", "-y", "remove", "libblkin-provider")
    traced.systemctl("stop", "traced")
    start_program(traced, "--setenv=BLKIN_DEBUG=1")
    said = "this program is not traced: libblkin-provider.so.1: cannot open"
    wait_until(lambda: said in traced.journal("traced"), 20, "the program to say so")
    expect(traced, "no-program", "libblkin-provider")
    traced.install(rack.package("libblkin-provider"))
    traced.run("systemctl", "stop", "traced", code=None)  # untraced, it may have come to its end
    start_program(traced)
    expect_nothing(traced)


def test_events_disabled(traced):
    traced.run("lttng", "disable-event", "--userspace", "--session=blkin", "--channel=spans", "--all-events")
    expect(traced, "events-disabled", "restart the agent")
    traced.systemctl("restart", "blkin-agent")
    expect_nothing(traced)


def test_collector_refuses(traced, collector):
    collector.stop()
    try:
        expect(traced, "output-refused", "start the collector there")
    finally:
        collector.start()
    expect_nothing(traced)
