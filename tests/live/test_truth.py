# SPDX-License-Identifier: BSD-2-Clause
"""
The truth table (rig/truth.py): each part that a span goes through, and what may happen to it, while a program records. The
status says so within 15 s, so do `/readyz` and the metrics, and there is nothing to do once it is over.

Whatever the fault is, one thing always holds: nothing to do is only said while spans arrive.
"""

import contextlib
import glob
import os
import re
import signal

import pytest
from rig.node import WHOLE_STACKS
from rig.process import wait_until
from rig.truth import CELLS, PAGE, ROWS, TOP, page, path_of
from test_doctor import findings, start_load

CODE = r'"([a-z]+(?:-[a-z]+)*)"'
TOLD = 15  # s


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


# The page


def codes():
    """Of all findings in the sources: in calls of finding_add, and in the tables of remedies."""
    found = set()
    for path in glob.glob(os.path.join(TOP, "agent/status/*.c")):
        text = read(path)
        found |= set(re.findall(r"finding_add\(\s*findings,\s*" + CODE, text))
        found |= set(re.findall(r"\[(?:REASON|FAULT)_\w+\] = \{\s*" + CODE, text))
    return found


def test_each_finding_is_in_the_table():
    listed = [row[2] for row in ROWS]
    assert len(listed) == len(set(listed))
    known = codes()
    assert len(known) > 60, "the sources are read"
    assert known == set(listed), "add a row to tests/live/rig/truth.py, and run it"


def test_each_row_names_its_test():
    for component, fault, code, remedy, test in ROWS:
        assert remedy, (component, fault)
        if test:
            assert f'"{code}"' in read(path_of(test)), (component, fault, code, test)


def test_page_is_the_table():
    assert read(PAGE) == page(), "run python3 tests/live/rig/truth.py"


# The faults


@contextlib.contextmanager
def stopped(pid):
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def session_daemon_is_killed(node, _):
    consumer = node.consumer_pid()
    node.sessiond.kill()
    os.kill(consumer, signal.SIGKILL)
    yield
    node.start_sessiond()


@contextlib.contextmanager
def consumer_is_killed(node, _):
    """As its session daemon does not start another, both are started anew."""
    os.kill(node.consumer_pid(), signal.SIGKILL)
    yield
    assert node.sessiond.stop() == 0
    node.start_sessiond()


@contextlib.contextmanager
def relay_is_killed(node, _):
    node.relayd.kill()
    yield
    node.start_relayd()


@contextlib.contextmanager
def reader_is_killed(node, _):
    os.kill(node.reader_pid(), signal.SIGKILL)
    yield


@contextlib.contextmanager
def collector_is_killed(_, receiver):
    receiver.program.kill()
    yield
    receiver.start()


@contextlib.contextmanager
def state_is_full(node, receiver):
    """The spool has no room, and spans cannot be sent."""
    path = node.path("state/filled")
    with open(path, "wb", buffering=0) as file:
        receiver.program.kill()
        with contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))
        yield
    os.unlink(path)
    receiver.start()


FAULTS = {
    ("session daemon", "killed"): session_daemon_is_killed,
    ("session daemon", "stopped"): lambda node, _: stopped(node.sessiond.pid),
    ("consumer daemon", "killed"): consumer_is_killed,
    ("consumer daemon", "stopped"): lambda node, _: stopped(node.consumer_pid()),
    ("relay daemon", "killed"): relay_is_killed,
    ("relay daemon", "stopped"): lambda node, _: stopped(node.relayd.pid),
    ("reader", "killed"): reader_is_killed,
    ("reader", "stopped"): lambda node, _: stopped(node.reader_pid()),
    ("collector", "killed"): collector_is_killed,
    ("collector", "stopped"): lambda _, receiver: stopped(receiver.program.pid),
    ("spool", "full"): state_is_full,
}


def go_on(node):
    sent = node.ledger().sent
    node.wait_ledger(lambda ledger: ledger.sent > sent, TOLD, "spans again")


def is_told(node, codes):
    found = set()
    try:
        wait_until(lambda: found.update(findings(node)) or found >= set(codes), TOLD, f"{codes}", 0.3)
    except Exception as trouble:
        raise AssertionError(f"{trouble}: {found}") from None
    assert found == set(codes)


@pytest.mark.as_root("mounts")
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell[0]} {cell[1]}")
def test_cell(node, receiver, cell):
    part, fault, codes, ready = cell
    node.write_config(receiver.port, output={"timeout": "3s"})
    node.mount(node.path("state"), "4M")
    node.start_agent_again(**WHOLE_STACKS)
    start_load(node)
    node.wait_ledger(lambda ledger: ledger.sent > 50, 20, "spans")
    assert findings(node) == {}
    with FAULTS[part, fault](node, receiver):
        if codes:
            is_told(node, codes)
        else:
            go_on(node)
        assert node.http_get("/readyz")[0] == ready
        assert node.metrics()["blkin_agent_collecting"] == (ready == 200)
    wait_until(lambda: node.collecting() and findings(node) == {}, 20, "nothing to do", 0.3)
    go_on(node)
