# SPDX-License-Identifier: BSD-2-Clause
"""
What may befall the flight recorder, on a stand-in for LTTng's tracer that gives the snapshots which a test wants: nothing is
left over, it is counted, status says what to do, and the next late trace is kept. tests/kernel/test_flight.py has a kernel.
"""

import os
import shutil
import signal
import subprocess

import pytest
from rig.load import KEEP, LOAD, finish
from rig.process import child_of, wait_until
from test_flight import KERNEL, LATE, NO_DATA, flight, late, left, start

ERRORS = "tests/live/programs/errorload"
SNAPSHOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../fixtures/why-6.1/kernel"))
# The command is this, in place of itself, as the file beside it says.
INSTEAD = """#!/bin/sh
case $(cat {way}) in
hang) exec sleep 1000 ;;
*) exec {command} "$@" ;;
esac
"""


class Installed:
    """The agent's programs once more, in a folder of their own, with another command."""

    def __init__(self, node):
        self.node = node
        for folder in ("app/agent", "app/cli"):
            os.makedirs(node.path(folder))
        for name in ("blkin-agent", "blkin-reader", "blkin-canary"):
            shutil.copy(node.built(f"agent/{name}"), node.path("app/agent"))
        self.go("on")
        with open(node.path("app/cli/blkin"), "w", encoding="ascii") as file:
            file.write(INSTEAD.format(way=node.path("way"), command=node.built("cli/blkin")))
        os.chmod(node.path("app/cli/blkin"), 0o755)
        built = node.built
        node.built = lambda path: node.path("app/" + path) if path == "agent/blkin-agent" else built(path)

    def go(self, way):
        with open(self.node.path("way"), "w", encoding="ascii") as file:
            file.write(way)

    def hanging(self):
        """The command's process."""
        return wait_until(lambda: child_of(self.node.agent.pid, "sleep"), 30, "the command to be started")


@pytest.fixture
def installed(node):
    return Installed(node)


def counts(node):
    return tuple(flight(node).values())


def finding(node):
    return {found["code"]: found for found in node.status()["findings"]}.get("flight-failed")


def keeps_the_next(node, kept=1):
    """As it should be again."""
    failed = counts(node)[2]
    trace = late(node)
    wait_until(lambda: counts(node)[0] == kept, 60, "an answer")
    assert sorted(left(node))[-2:] == [f"{trace}.jsonl", f"{trace}.txt"] and len(left(node)) == 2 * kept
    assert counts(node)[2] == failed and finding(node) is None


def start_with_snapshots(node, receiver, **more):
    """Of a kernel of some other machine, which is as good for what is tested here."""
    start(node, receiver, kernel=KERNEL | {"flight-per-minute": 60}, FAKE_SNAPSHOT_RUN=f"cp -r {SNAPSHOT}", **more)


def test_command_is_killed(node, receiver, installed):
    start_with_snapshots(node, receiver)
    installed.go("hang")
    trace = late(node)
    os.kill(installed.hanging(), signal.SIGKILL)
    found = wait_until(lambda: finding(node), 20, "the finding")
    assert found["what"].startswith(f"what the kernel did during the late trace {trace} is not kept: `blkin why` was ended by signal 9 ")
    assert "journalctl -u blkin-agent" in found["fix"]
    assert counts(node) == (0, 0, 1) and left(node) == []
    installed.go("on")
    keeps_the_next(node)


def test_agent_is_killed(node, receiver, installed):
    """With the command at work, which ends with it; the next agent removes what is left."""
    start_with_snapshots(node, receiver)
    installed.go("hang")
    late(node)
    command = installed.hanging()
    assert "snapshot" in left(node)
    node.agent.kill()
    wait_until(lambda: not os.path.exists(f"/proc/{command}") or open(f"/proc/{command}/stat").read().split()[2] == "Z", 20, "its end")
    installed.go("on")
    start_with_snapshots(node, receiver)
    assert left(node) == []
    keeps_the_next(node)


def test_command_is_missing(node, receiver, installed):
    start_with_snapshots(node, receiver)
    os.rename(node.path("app/cli/blkin"), node.path("app/cli/away"))
    late(node)
    found = wait_until(lambda: finding(node), 20, "the finding")
    assert "`blkin why` cannot be started" in found["what"] and found["fix"] == "install the package again"
    assert counts(node) == (0, 0, 1) and left(node) == []
    os.rename(node.path("app/cli/away"), node.path("app/cli/blkin"))
    keeps_the_next(node)


def test_folder_cannot_be_made(node, receiver):
    """As something else is in its place: what to do is not to make room."""
    start_with_snapshots(node, receiver)
    folder = node.path("state/flight")
    with open(folder, "w", encoding="ascii") as file:
        file.write("somebody's")
    late(node)
    found = wait_until(lambda: finding(node), 20, "the finding")
    assert f"{folder} cannot be made: Not a directory (failed: 1, kept: 0)" in found["what"]
    assert found["fix"].startswith("make it a folder in which the agent's user may write")
    assert counts(node) == (0, 0, 1)
    os.remove(folder)
    keeps_the_next(node)


# A snapshot; the first one has no room left.
FULL = """#!/bin/sh
cp -r {snapshot} "$1"
[ -e {once} ] || dd if=/dev/zero of="$1/fill" bs=64k 2>/dev/null
touch {once}
"""


def test_disk_is_full(node, receiver):
    """Before a snapshot: none is taken; while one is there: the answer is not whole, and so is none."""
    os.makedirs(node.path("state"), exist_ok=True)
    node.mount(node.path("state"), "40m")
    with open(node.path("fill"), "w", encoding="ascii") as file:
        file.write(FULL.format(snapshot=SNAPSHOT, once=node.path("once")))
    start(node, receiver, keep=KEEP | {"memory": "1M"}, kernel=KERNEL | {"flight-per-minute": 60, "flight-size": "1M"},
          FAKE_SNAPSHOT_RUN="sh " + node.path("fill"))
    late(node)
    found = wait_until(lambda: finding(node), 20, "the finding")
    assert "has too little room for a snapshot" in found["what"] and found["fix"].startswith("make room on the disk of `state-directory`")
    assert counts(node) == (0, 0, 1) and "fakekernel: snapshot" not in node.agent.log()
    subprocess.run(["mount", "-o", "remount,size=120m", node.path("state")], check=True)
    late(node)
    wait_until(lambda: counts(node) == (0, 0, 2), 60, "another failure")
    assert "No space left on device" in node.agent.log()
    wait_until(lambda: left(node) == [], 20, "a clean folder")
    keeps_the_next(node)


def test_no_snapshot_and_then_one(node, receiver):
    """As from a session daemon that was killed meanwhile; what it writes late is removed all the same."""
    start(node, receiver, kernel=KERNEL | {"flight-per-minute": 60},
          FAKE_SNAPSHOT_RUN=f"test -e {node.path('well')} && cp -r {SNAPSHOT}")
    late(node)
    found = wait_until(lambda: finding(node), 20, "the finding")
    assert "gives no snapshot" in found["what"] and "systemctl restart lttng-sessiond" in found["fix"]
    assert counts(node) == (0, 0, 1) and left(node) == []
    with open(node.path("well"), "w", encoding="ascii"):
        keeps_the_next(node)


def test_flood(node, receiver):
    """Each late trace is taken or counted, once, and all spans are delivered as ever."""
    start(node, receiver, kernel=KERNEL | {"flight-per-minute": 3}, thresholds={"*/*": "p99 0us"}, FAKE_SNAPSHOT=str(NO_DATA))
    spans, traces = 10000, 2000
    assert node.run([LOAD, "-n", spans, "-w", 20]).split()[-1] == str(spans)
    finish(node, receiver, spans)
    wait_until(lambda: sum(counts(node)) == traces, 60, "each to be counted")
    kept, refused, failed = counts(node)
    assert kept == 0 and 3 <= failed <= 6 and refused == traces - failed
    assert left(node) == []


@pytest.mark.parametrize("limits, failed", [({}, 0), ({"errors/*": "p99 1h"}, 1), ({"*/*": "mean 1h", "errors/*": "none"}, 0)])
def test_errors(node, receiver, limits, failed):
    """One is late where its name has a limit, whatever that is of; what comes behind it is late in any case."""
    start(node, receiver, thresholds={**limits, **LATE}, FAKE_SNAPSHOT=str(NO_DATA))
    node.run([ERRORS, 10])
    finish(node, receiver, 10)
    late(node)
    wait_until(lambda: sum(counts(node)) == 1 + failed, 20, "what is late")
    assert counts(node) == (0, 0, 1 + failed)
