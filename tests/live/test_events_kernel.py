# SPDX-License-Identifier: BSD-2-Clause
"""[kernel] with a tracer that is there, and one that the agent may not use: as liblttng-ctl would answer."""

import pytest
from rig.process import wait_until
from test_events_session import findings
from test_restart import KEEP, LOAD

KERNEL = {"events": "sched_switch, unknown, block_*", "syscalls": "openat"}
NEED_ROOT = 79
UNAVAILABLE = 33


def start(node, receiver, code):
    node.write_config(receiver.port, session=KEEP, kernel=KERNEL)
    fake = node.built("tests/live/programs/libfakekernel.so")
    preload = ":".join(filter(None, [fake, node.leak_environment.get("LD_PRELOAD")]))
    node.start_agent_again(LD_PRELOAD=preload, FAKE_KERNEL=str(code))
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.sent == 100, 20, "100 spans")


@pytest.mark.parametrize("code, finding", [(NEED_ROOT, "kernel-denied"), (UNAVAILABLE, "kernel-missing")])
def test_may_not(node, receiver, code, finding):
    start(node, receiver, code)
    found = wait_until(lambda: findings(node).get(finding), 20, "the finding")
    assert node.status()["kernel_error"] == found["what"]
    assert "fakekernel:" not in node.agent.log()


def test_events_and_system_calls(node, receiver):
    """Each is asked for by its kind; what the kernel does not have is named, and the others are recorded."""
    start(node, receiver, 0)
    found = wait_until(lambda: findings(node).get("kernel-failed"), 20, "the finding")
    assert "`unknown` of [kernel]" in found["what"]
    said = node.agent.log()
    for line in ("sched_switch 0 in kernel", "block_* 0 in kernel", "openat 5 in kernel"):
        assert said.count(f"fakekernel: {line}") == 1, said
