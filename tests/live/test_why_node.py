# SPDX-License-Identifier: BSD-2-Clause
"""`blkin why ID` on a node whose agent records: out of the relay's files while they are written."""

import glob
import json
import os
import signal
import subprocess
import tempfile
import time

import pytest
from rig.kerneltrace import KernelTrace
from rig.load import KEEP
from rig.process import NO_OVERRIDE, Trouble, wait_until
from rig.whystory import Story
from test_around import AROUND
from test_dead import fixture_rename  # noqa: F401 (a fixture)
from test_events_live import start
from test_events_session import TICKS
from test_reload import Reloader

MS = 1_000_000


def why(node, *words):
    return subprocess.run(
        [node.built("cli/blkin"), "why", "--json", "--config", node.path("agent.conf"), *words],
        env=dict(node.environment, TMPDIR=node.path("tmp")), capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("switched", [False, True], ids=["first", "switched"])
def test_live(node, receiver, switched):
    """
    A span that has just finished, with what the kernel had of its thread then; and nothing is left behind. Also of a session that
    took another one's place, as when a reload switches [kernel] on: it has another name.
    """
    os.makedirs(node.path("tmp"))
    if switched:
        reloader = Reloader(node, receiver.port, session=KEEP, events={"names": ""})
        reloader.edit("events", "names", TICKS["names"])
        wait_until(lambda: node.status()["session"] == "blkin-2", 30, "the new session")
        wait_until(lambda: len(node.session_folders()) == 1, 30, "the old one to be gone")
    else:
        start(node, receiver, events=TICKS)
    words = node.run([AROUND]).split()
    trace, pid, tid, within = words[0], int(words[1]), int(words[2]), int(words[4])
    (session,) = node.session_folders()
    kernel = KernelTrace(time.time_ns() - time.monotonic_ns())
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as boot:
        kernel.boot = boot.read().strip()  # as LTTng names the clock
    thread = (pid, tid, pid, tid, "around")
    # a minute before, when the span was, and a minute later
    for shift in (-60_000 * MS, 0, 60_000 * MS):
        story = Story(kernel, thread, within + shift)
        story.run(MS)
        story.enter("futex")
        story.wait(10 * MS, "lock", waker=(pid, tid + 1000, pid, tid + 1000, "holder"), latency=2 * MS)
        story.leave()
        story.run(MS)
        story.end()
    # what was discarded long ago is counted in each packet since then, and is missing nowhere
    kernel.lose(0, within - 60_000 * MS + 5 * MS, 77)
    kernel.lose(0, within - 10_000 * MS, 0)
    kernel.write_relayed(session)

    def told():
        done = why(node, trace)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return len(lines) == 2 and {line["span"]["name"]: line for line in lines}

    lines = wait_until(told, 30, "both spans to be there", 0.5)
    assert set(lines) == {"outer", "inner"}
    for line in lines.values():
        parts = line["parts_ns"]
        assert (parts["lock"], parts["runnable"], parts["cpu"]) == (10 * MS, 2 * MS, 2 * MS)
        assert sum(parts.values()) == line["duration_ns"]
        (lock,) = [wait for wait in line["waits"] if wait["part"] == "lock"]
        assert lock["woken_by"] == {"kind": "thread", "name": "holder", "tid": tid + 1000, "pid": pid}
        assert "discarded" not in " ".join(line["missing"])
    assert os.listdir(node.path("tmp")) == []
    for path in glob.glob(f"{session}/kernel/index/*"):
        with open(path, "r+b") as file:
            file.write(b"\xff" * 16)
    done = why(node, trace)
    assert done.returncode == 1 and "/kernel_" not in done.stdout and "an index cannot be read" in done.stderr
    for line in map(json.loads, done.stdout.splitlines()):
        assert line["missing"][0].startswith("The kernel's trace could not be read")
    done = why(node, "abc")
    assert done.returncode == 1 and "no trace and no span abc is in the agent's files" in done.stderr
    assert "about a second after it ended, until newer ones have taken its room (`disk` in [session])" in done.stderr
    assert node.agent.stop() == 0


def end_while_it_looks(node, trace, number):
    """Sends that signal while its folder is there, which is not for long; returns how it ended, unless it was done just then."""
    folder = node.path("tmp")
    begin = ["env", "--default-signal=TERM,HUP,INT", "nice", "-n", "19"]  # nohup, say, leaves some ignored
    for _ in range(100):
        command = [*begin, node.built("cli/blkin"), "why", "--config", node.path("agent.conf"), trace]
        with subprocess.Popen(command, env=dict(node.environment, TMPDIR=folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            wait_until(lambda: os.listdir(folder) or run.poll() is not None, 60, "its folder", 0)
            run.send_signal(signal.SIGSTOP)
            caught = os.listdir(folder) and run.poll() is None
            run.send_signal(number)
            run.send_signal(signal.SIGCONT)
            run.communicate(timeout=60)
        if caught and run.returncode != 0:
            return run.returncode
    raise Trouble("it does not end early")


def test_ended_early(node, receiver):
    """Whatever ends it, what it has copied is removed."""
    os.makedirs(node.path("tmp"))
    start(node, receiver, events=TICKS)
    trace = node.run([AROUND]).split()[0]
    wait_until(lambda: why(node, trace).stdout.count("\n") == 2, 30, "both spans to be there", 0.5)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        assert end_while_it_looks(node, trace, number) == 1, number
        assert os.listdir(node.path("tmp")) == [], number
    assert node.agent.stop() == 0


def test_host_is_renamed(node, receiver, rename):
    """The relay has the session by the name that the host had when it was made."""
    os.makedirs(node.path("tmp"))
    start(node, receiver, events=TICKS)
    trace = node.run([AROUND]).split()[0]
    rename("renamed")
    wait_until(lambda: why(node, trace).stdout.count("\n") == 2, 30, "both spans to be there", 0.5, promised=True)
    assert node.agent.stop() == 0


def test_nothing_is_there(node, tmp_path):
    """Folders that are missing, or have no session."""
    os.makedirs(node.path("tmp"))
    with tempfile.NamedTemporaryFile("w", suffix=".conf", dir=tmp_path) as config:
        config.write(f"[session]\nrelay-output = {tmp_path}/out\n")
        config.flush()
        command = [node.built("cli/blkin"), "why", "--config", config.name, "abc"]
        environment = dict(node.environment, TMPDIR=node.path("tmp"))
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and "no agent has recorded here" in done.stderr and "name a FOLDER" in done.stderr
        os.mkdir(tmp_path / "out", 0)
        closed = subprocess.run([*NO_OVERRIDE, *command], env=environment, capture_output=True, text=True, timeout=60, check=False)
        os.chmod(tmp_path / "out", 0o700)
        assert closed.returncode == 1 and "only root and the members of group `blkin` may read it" in closed.stderr
        os.makedirs(tmp_path / "out" / os.uname().nodename / "another-20261128-000000")
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and "there is no session `blkin`" in done.stderr
    assert os.listdir(node.path("tmp")) == []
