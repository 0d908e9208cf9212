# SPDX-License-Identifier: BSD-2-Clause
"""
The flight recorder ([kernel] mode = flight) with a stand-in for the kernel's tracer, which gives no snapshot that has anything
in it: what is asked for, bounds and failures. tests/kernel/test_flight.py has a kernel.
"""

import json
import os
import signal
import subprocess

from rig.load import KEEP
from rig.process import wait_until

SLOW = "tests/live/programs/slow"
KERNEL = {"mode": "flight", "events": "sched_switch", "syscalls": "openat"}
LATE = {"slow/*": "p99 20ms"}
NO_DATA = 71


def start(node, receiver, keep=KEEP, kernel=KERNEL, thresholds=LATE, **environment):
    node.write_config(receiver.port, session=keep, kernel=kernel, thresholds=thresholds)
    fake = node.built("tests/live/programs/libfakekernel.so")
    preload = ":".join(filter(None, [fake, node.leak_environment.get("LD_PRELOAD")]))
    node.start_agent_again(LD_PRELOAD=preload, FAKE_KERNEL="0", **environment)
    wait_until(lambda: "fakekernel: blkin-flight is started" in node.agent.log(), 20, "the flight recorder")


def late(node):
    """Records a late trace; returns its id."""
    return node.run([SLOW, "sleep"]).split()[-5]


def command(node, *words):
    return subprocess.run(
        [node.built("cli/blkin"), *words, "--config", node.path("agent.conf")],
        env=dict(node.environment, TMPDIR=node.folder), capture_output=True, text=True, timeout=60, check=False)


def flight(node):
    return node.status()["flight"]


def left(node):
    folder = os.path.join(node.path("state"), "flight")
    return os.listdir(folder) if os.path.isdir(folder) else []


def sessions(node):
    return node.lttng("list")


def test_no_snapshot(node, receiver):
    """It fails once, is counted and said, and nothing is left; spans are delivered as ever."""
    start(node, receiver, FAKE_SNAPSHOT=str(NO_DATA))
    trace = late(node)
    wait_until(lambda: flight(node) == {"kept": 0, "refused": 0, "failed": 1}, 20, "a failure")
    line = f"what the kernel did during the late trace {trace} is not kept: the LTTng session `blkin-flight` gives no snapshot"
    assert node.agent.log().count(line) == 1
    assert left(node) == []
    receiver.wait_for(1)
    # of it is known what programs have recorded, and that [kernel] is as it has to be
    done = wait_until(lambda: (done := command(node, "why", trace)).returncode == 0 and done, 30, "the span to be found")
    assert "of this one nothing is kept" in " ".join(done.stdout.split()) and "put into [kernel]" not in done.stdout


def test_empty_snapshot(node, receiver):
    """`blkin why` finds nothing in it."""
    start(node, receiver)
    late(node)
    wait_until(lambda: flight(node) == {"kept": 0, "refused": 0, "failed": 1}, 30, "a failure")
    said = node.agent.log()
    assert "`blkin why` ended with code 1" in said and "there is nothing in the flight recorder's snapshot" in said
    assert left(node) == []


def test_bound(node, receiver):
    """Two of a minute; of one trace, however many late spans, one."""
    start(node, receiver, FAKE_SNAPSHOT=str(NO_DATA))
    for _ in range(5):
        late(node)
    wait_until(lambda: flight(node) == {"kept": 0, "refused": 3, "failed": 2}, 30, "three to be refused")
    assert node.agent.log().count("fakekernel: snapshot of blkin-flight") == 2


def test_reload(node, receiver):
    """Nothing is late at first. The recorder goes with its mode, and comes back; thresholds take effect."""
    start(node, receiver, thresholds={"slow/*": "10s"}, FAKE_SNAPSHOT=str(NO_DATA))
    assert "blkin-flight" in sessions(node)
    late(node)
    receiver.wait_for(1)
    assert flight(node) == {"kept": 0, "refused": 0, "failed": 0} and "fakekernel: snapshot" not in node.agent.log()
    node.write_config(receiver.port, session=KEEP, kernel=dict(KERNEL, mode="live"), thresholds=LATE)
    node.agent.send(signal.SIGHUP)
    wait_until(lambda: "blkin-flight" not in sessions(node), 30, "the recorder to be gone")
    wait_until(lambda: node.collecting(), 20, "the agent to collect")
    late(node)
    node.write_config(receiver.port, session=KEEP, kernel=KERNEL, thresholds=LATE)
    node.agent.send(signal.SIGHUP)
    wait_until(lambda: "blkin-flight" in sessions(node), 30, "the recorder to be there")
    late(node)
    wait_until(lambda: flight(node)["failed"] >= 1, 30, "a late trace")


def test_its_session(node, receiver):
    """Its channel is the only one of the kernel's, has all, and overwrites what is oldest; it ends with the agent's."""
    start(node, receiver, keep={"keep": "no"})
    assert "blkin-flight" in sessions(node)
    said = node.agent.log()
    assert said.count("fakekernel: channel kernel that overwrites\n") == 1 and "channel kernel\n" not in said
    assert "fakekernel: sched_switch 0 in kernel\n" in said
    assert "  flight    0 late traces kept, 0 refused, 0 failed\n" in command(node, "status").stdout
    assert node.agent.stop() == 0
    assert "blkin-flight" not in sessions(node)


def test_destroyed(node, receiver):
    """By somebody: it is made again, and that is counted."""
    start(node, receiver)
    node.lttng("destroy", "blkin-flight")
    wait_until(lambda: "blkin-flight" in sessions(node), 20, "the recorder to be made again")
    wait_until(lambda: "its flight recorder was destroyed externally" in node.agent.log(), 20, "a line of the log")


def test_somebody_elses(node, receiver):
    """Another session of that name is left alone."""
    node.lttng("create", "blkin-flight", "--output", node.path("theirs"))
    node.write_config(receiver.port, session=KEEP, kernel=KERNEL)
    fake = node.built("tests/live/programs/libfakekernel.so")
    node.start_agent_again(LD_PRELOAD=":".join(filter(None, [fake, node.leak_environment.get("LD_PRELOAD")])), FAKE_KERNEL="0")
    wait_until(lambda: "did not create" in node.status()["kernel_error"], 20, "the finding")
    assert "blkin-flight" in sessions(node)


def test_kept_answers(node, receiver):
    """`blkin why` shows them, by the trace or by one of its spans, before it looks elsewhere."""
    node.write_config(receiver.port, kernel=KERNEL)
    folder = os.path.join(node.path("state"), "flight")
    os.makedirs(folder)
    line = json.dumps({"span": {"traceId": "00000000000000aa", "id": "00000000000000bb"}, "main": "disk"}, separators=(",", ":")) + "\n"
    for name, text in (("00000000000000aa.jsonl", line), ("00000000000000aa.txt", "the disk\n")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    for words, expected in ((["aa"], "the disk\n"), (["bb"], "the disk\n"), (["--json", "aa"], line)):
        done = command(node, "why", *words)
        assert (done.returncode, done.stdout) == (0, expected)
    done = command(node, "why", "cc")
    assert done.returncode == 1 and "nothing is kept of 00000000000000cc" in done.stderr
    os.makedirs(os.path.join(folder, "snapshot"))
    done = command(node, "why", "cc")
    assert done.returncode == 1 and "is being looked into just now" in done.stderr and "nothing is kept" not in done.stderr
