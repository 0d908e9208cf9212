# SPDX-License-Identifier: BSD-2-Clause
"""Which failures ./check tries again (tests/again), and that a crash is none of them."""

import os
import subprocess
import sys

import pytest
from rig.node import TOP, Node, build_dir
from rig.process import Inexact

FAILURES = """
import pytest
from types import SimpleNamespace
from rig.process import Inexact, Trouble, exactly

ledger = SimpleNamespace(read=3, lost=1, again=0, sent=2, queued=0)
status = {{"spans": {{"sent": 2}}}}
vain = Trouble("waited 60.1 s in vain for delivery\\nledger: read 3, lost 1, sent 2")


def raises(problem):
    raise problem


@pytest.fixture
def late():
    raise vain


@pytest.fixture
def wrong():
    raise ValueError("in a fixture")


def test_it({fixture}):
    {line}
"""


def tried_again(folder, *lines):
    """Of tests that fail by these lines, or by these fixtures, the names that are tried again."""
    reports = []
    for number, line in enumerate(lines):
        name = f"test_{number}"
        with open(f"{folder}/{name}.py", "w", encoding="utf-8") as file:
            file.write(FAILURES.format(fixture=line, line="pass") if line.isidentifier() else FAILURES.format(fixture="", line=line))
        reports.append(f"{folder}/{number}.xml")
        done = subprocess.run(
            [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", f"--junit-xml={reports[-1]}", f"{name}.py"],
            cwd=folder, env={**os.environ, "PYTHONPATH": f"{TOP}/tests/live"}, stdout=subprocess.PIPE, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 1, done.stdout
    done = subprocess.run([f"{TOP}/tests/again", *reports], stdout=subprocess.PIPE, text=True, check=True, timeout=60)
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    "line",
    [
        "raises(vain)",
        "late",
        "assert raises(vain).sent == 3",
        "assert ledger.queued > 0",
        "assert ledger.sent < 2",
        "assert ledger.lost == 0, 'LTTng lost events: the load was too fast for this machine'",
    ],
)
def test_what_comes_too_late_is_tried_again(tmp_path, line):
    assert tried_again(tmp_path, line) == ["test_0.py::test_it"]


@pytest.mark.parametrize(
    "line",
    [
        "assert ledger.lost == 0",
        "assert (ledger.read, ledger.lost, ledger.again) == (3, 0, 0), str(ledger)",
        "assert 3 <= ledger.sent <= 3 + ledger.again",
        'assert status["spans"]["sent"] == 3',
        "exactly(ledger.lost == 0, 'a count')",
        "raises(Trouble('blkin-agent ended with code -6:'))",
        "wrong",
    ],
)
def test_what_no_busy_machine_does_is_not(tmp_path, line):
    """Nor is what fails beside it."""
    assert tried_again(tmp_path, line, "raises(vain)") == []


def test_no_more_than_three(tmp_path):
    assert tried_again(tmp_path, *["raises(vain)"] * 3) == [f"test_{number}.py::test_it" for number in range(3)]
    assert tried_again(tmp_path, *["raises(vain)"] * 4) == []


def die(node, signal):
    """A program of ours, as the node knows it, that a signal ends."""
    return node.start(["sh", "-c", f"kill -{signal} $$", f"{build_dir()}/agent/blkin-agent"], name="blkin-agent")


def test_a_crash_that_the_test_has_noticed():
    """The node says it at its end, also where somebody knows already how the program ended."""
    with pytest.raises(Inexact, match="blkin-agent ended with code -6"):
        with Node() as node:
            assert die(node, "ABRT").wait() == -6
    with pytest.raises(Inexact, match="blkin-agent ended with code -11"):
        with Node() as node:
            die(node, "SEGV").wait_ready(lambda: False)


def test_an_end_that_is_no_crash():
    with Node() as node:
        die(node, "KILL").wait()
        program = node.start(["sh", "-c", "exec sleep 60", f"{build_dir()}/agent/blkin-agent"])
        program.send(6)
        assert program.wait() == -6
