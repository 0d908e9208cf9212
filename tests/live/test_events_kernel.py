# SPDX-License-Identifier: BSD-2-Clause
"""[kernel] with a tracer that is there, and one that the agent may not use: as liblttng-ctl would answer."""

import os
import pathlib
import signal

import pytest
from rig.load import KEEP, LOAD
from rig.process import wait_until
from test_events_session import findings

KERNEL = {"events": "sched_switch, unknown, block_*", "syscalls": "openat", "functions": "filemap_fault"}
NEED_ROOT = 79
UNAVAILABLE = 33


def start(node, receiver, code, kernel=KERNEL):
    node.write_config(receiver.port, session=KEEP, kernel=kernel)
    fake = node.built("tests/live/programs/libfakekernel.so")
    preload = ":".join(filter(None, [fake, node.leak_environment.get("LD_PRELOAD")]))
    node.start_agent_again(LD_PRELOAD=preload, FAKE_KERNEL=str(code), FAKE_KERNEL_OFF=os.path.join(node.folder, "off"))
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.sent == 100, 20, "100 spans")


@pytest.mark.parametrize("code, finding", [(NEED_ROOT, "kernel-denied"), (UNAVAILABLE, "kernel-missing")])
def test_may_not(node, receiver, code, finding):
    start(node, receiver, code)
    found = wait_until(lambda: findings(node).get(finding), 20, "the finding")
    assert node.status()["kernel_error"] == found["what"]
    assert "fakekernel:" not in node.agent.log()


def test_events_and_system_calls(node, receiver):
    """Each is asked for by its kind, once. The tracer takes any name; what the kernel does not have is named."""
    start(node, receiver, 0)
    found = wait_until(lambda: findings(node).get("kernel-failed"), 20, "the finding")
    assert "`unknown` of [kernel]" in found["what"]
    said = node.agent.log()
    for line in (
        "channel kernel", "sched_switch 0 in kernel but its own", "unknown 0 in kernel", "block_rq_issue 0 in kernel",
        "openat 5 in kernel but its own", "filemap_fault 2 in kernel at filemap_fault",
    ):  # fmt: skip
        assert said.count(f"fakekernel: {line}\n") == 1, said

@pytest.mark.parametrize("kernel", [{"events": "sched_switch, block_*", "syscalls": "openat, cl*"}, {"syscalls": "*"}])
def test_all_are_there(node, receiver, kernel):
    start(node, receiver, 0, kernel)
    wait_until(lambda: " in kernel but its own\n" in node.agent.log(), 20, "events to be enabled")
    assert not node.status().get("kernel_error")
    assert not [name for name in findings(node) if name.startswith("kernel-")]


def test_no_such_system_call(node, receiver):
    start(node, receiver, 0, {"syscalls": "openat, sched_switch"})
    found = wait_until(lambda: findings(node).get("kernel-failed"), 20, "the finding")
    assert "`sched_switch` of [kernel]" in found["what"]


def test_channel_is_disabled(node, receiver):
    """What LTTng lists says nothing about it."""
    start(node, receiver, 0)
    pathlib.Path(node.folder, "off").touch()
    wait_until(lambda: node.agent.log().count("fakekernel: channel kernel\n") == 2, 20, "the channel to be enabled again")
    wait_until(lambda: "its channel of kernel events was disabled externally" in node.agent.log(), 20, "a line of the log")


def test_nothing_is_asked_for_any_more(node, receiver):
    """What could not be recorded is no longer in the configuration: that is said, and not that it is recorded now."""
    start(node, receiver, NEED_ROOT)
    wait_until(lambda: findings(node).get("kernel-denied"), 20, "the finding")
    node.write_config(receiver.port, session=KEEP)
    node.agent.send(signal.SIGHUP)
    wait_until(lambda: "nothing that [kernel] asks for is left out any more" in node.agent.log(), 20, "a line of the log")
    assert "recorded now" not in node.agent.log() and not node.status().get("kernel_error")


def test_own_events_too(node, receiver):
    """Nothing is filtered, and patterns stay patterns."""
    start(node, receiver, 0, {"events": "sched_switch, block_*", "syscalls": "*", "own": "yes"})
    for line in ("sched_switch 0 in kernel", "block_* 0 in kernel", "* 5 in kernel"):
        wait_until(lambda line=line: f"fakekernel: {line}\n" in node.agent.log(), 20, line)
