# SPDX-License-Identifier: BSD-2-Clause
"""
The truth table (rig/truth.py): each part that a span goes through, and what may happen to it, while a program records. The
status says so within 15 s, so do `/readyz` and the metrics, and there is nothing to do once it is over.

Whatever the fault is, one thing always holds: nothing to do is only said while spans arrive. Outputs, losses, the relay's lies and
Kafka are in test_truth_*.py.
"""

import ast
import contextlib
import glob
import os
import re
import signal
import threading

import pytest
from rig.alerts import firing
from rig.collectors import KINDS
from rig.node import WHOLE_STACKS
from rig.process import stopped, wait_until
from rig.truth import CELLS, MATRIX, PAGE, ROWS, STATES, TOP, GoesOn, Never, Says, Tells, page, path_of
from test_doctor import findings, start_load

CODE = r'"([a-z]+(?:-[a-z]+)*)"'
TOLD = 15  # s


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


# The page


def codes():
    """Of all findings in the sources, of the agent and of the command: in calls of finding_add, and in the tables of remedies."""
    found = set()
    for path in glob.glob(os.path.join(TOP, "agent/status/*.c")) + glob.glob(os.path.join(TOP, "cli/state/*.c")):
        text = read(path)
        found |= set(re.findall(r"finding_add\(\s*findings,\s*" + CODE, text))
        found |= set(re.findall(r"\[(?:REASON|FAULT|EVENTS|PACKETS|MESSAGES|SPANS)_\w+\] = \{\s*" + CODE, text))
    return found


def test_each_finding_is_in_the_table():
    listed = [row[2] for row in ROWS]
    assert len(listed) == len(set(listed))
    known = codes()
    assert len(known) > 60, "the sources are read"
    assert known == set(listed), "add a row to tests/live/rig/truth.py, and run it"


def test_each_finding_is_in_the_manual_page():
    """Scripts go by the codes, and blkin(1) lists them."""
    text = read(os.path.join(TOP, "doc/blkin.1")).replace("\\-", "-")
    listed = text[text.index("the codes are\n") : text.index("Unknown values are null.")]
    assert codes() <= set(re.findall(r"^\.BR? ([a-z-]+)", listed, re.MULTILINE))


def test_each_row_names_its_test():
    for component, fault, code, remedy, test in ROWS:
        assert remedy and f'"{code}"' in read(path_of(test)), (component, fault, code, test)


def cells():
    for part, states in MATRIX.items():
        yield from ((part, state, cell) for state, cell in zip(STATES, states))


def test_matrix_has_no_hole():
    """What is not made to happen has a reason why it cannot."""
    for part, states in MATRIX.items():
        assert len(states) == len(STATES), part
    for part, state, cell in cells():
        assert isinstance(cell, (Says, Tells, GoesOn, Never)), (part, state)
        assert not isinstance(cell, Never) or cell.why, (part, state)
    assert {code for _, _, cell in cells() for code in cell.codes} == codes(), "put each finding into a cell"


def test_each_cell_names_its_test():
    for part, state, cell in cells():
        if isinstance(cell, Never):
            continue
        function = cell.test.partition("::")[2]
        assert not function or f"\ndef {function}(" in read(path_of(cell.test)), (part, state, cell.test)
    ours = {(part, state) for part, state, cell in cells() if getattr(cell, "test", None) == "test_truth::test_cell"}
    assert ours == {cell[:2] for cell in CELLS}
    for part, state, codes, *_ in CELLS:
        assert set(MATRIX[part][STATES.index(state)].codes) <= set(codes), (part, state)


def source_of(test):
    """Of a test's function, and of what it uses of its file; or of the whole file."""
    text = read(path_of(test))
    _, _, function = test.partition("::")
    if not function:
        return text
    parts = {}
    for part in ast.parse(text).body:
        targets = part.targets if isinstance(part, ast.Assign) else [part]
        parts.update({getattr(target, "id", getattr(target, "name", None)): part for target in targets})
    names, used = [function], []
    while names:
        part = parts.pop(names.pop(), None)
        if part:
            used.append(ast.unparse(part))
            names += [node.id for node in ast.walk(part) if isinstance(node, ast.Name)]
    return "\n".join(used)


def test_each_cell_says_what_its_test_shows():
    shown = {f"output: {kind.name.rstrip('s')}": kind.findings for kind in KINDS}
    for part, state, cell in cells():
        if not isinstance(cell, Says) or cell.test == "test_truth::test_cell":
            continue
        if cell.test == "test_truth_outputs::test_state":
            assert cell.codes[0] == shown[part].get("killed" if state == "absent" else state), (part, state)
        else:
            assert re.search(rf"(?<![a-z-]){cell.codes[0]}(?![a-z-])", source_of(cell.test)), (part, state, cell.test)


def test_page_is_the_table():
    assert read(PAGE) == page(), "run python3 tests/live/rig/truth.py"


# The faults


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
    ("state's disk", "full"): state_is_full,
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


def start(node, receiver):
    """An agent, and a program that records; returns the metrics."""
    node.write_config(receiver.port, output={"timeout": "3s"})
    node.mount(node.path("state"), "4M")
    node.start_agent_again(**WHOLE_STACKS)
    start_load(node)
    node.wait_ledger(lambda ledger: ledger.sent > 50, 20, "spans")
    assert findings(node) == {}
    return node.metrics()


def is_over(node):
    """
    Spans come, there is nothing to do, and no alert begins, but for a moment where the agent says that it attaches once more, to
    what a daemon that was stopped has not sent.
    """
    wait_until(lambda: node.collecting() and findings(node) == {}, 20, "nothing to do", 0.3)

    def is_quiet():
        before = node.metrics()
        go_on(node)
        alerts = firing(before, node.metrics())
        assert not alerts or (alerts == {"BlkinNotCollecting"} and "the agent attaches to the session again" in node.agent.log())
        return not alerts

    wait_until(is_quiet, 20, "no alert")


@pytest.mark.as_root("mounts")
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell[0]} {cell[1]}")
def test_cell(node, receiver, cell):
    part, fault, codes, ready, alerts = cell
    before = start(node, receiver)
    with FAULTS[part, fault](node, receiver):
        if codes:
            is_told(node, codes)
        else:
            go_on(node)
        wait_until(lambda: node.http_get("/readyz")[0] == ready, TOLD, f"{ready}")
        metrics = node.metrics()
        assert metrics["blkin_agent_collecting"] == (ready == 200)
        assert firing(before, metrics) == alerts
    is_over(node)


@contextlib.contextmanager
def slowed(pids):
    """Processes that are stopped for half a second, one after the other, again and again."""
    ends = threading.Event()

    def slow():
        while not ends.is_set():
            for pid in pids:
                with stopped(pid):
                    ends.wait(0.5)
            ends.wait(0.1)

    thread = threading.Thread(target=slow)
    thread.start()
    try:
        yield
        assert thread.is_alive(), "a process that was to be slow is gone"
    finally:
        ends.set()
        thread.join()


@pytest.mark.as_root("mounts")
def test_slow(node, receiver):
    """All parts of the way, the agent too: nobody notices."""
    before = start(node, receiver)
    with slowed([node.sessiond.pid, node.consumer_pid(), node.relayd.pid, node.reader_pid(), node.agent.pid]):
        for _ in range(3):
            go_on(node)
            assert findings(node) == {} and node.collecting() and firing(before, node.metrics()) == set()
    is_over(node)


@pytest.mark.as_root("mounts")
def test_sockets_are_removed(node, receiver):
    """As by somebody who tidies up /run: of the session daemon that is said, and the agent makes its own again."""
    before = start(node, receiver)
    path = node.sessiond_file("client-lttng-sessiond")
    os.rename(path, f"{path}.away")
    os.unlink(node.socket)
    wait_until(lambda: os.path.exists(node.socket), TOLD, "the control socket to be made again")
    is_told(node, ["no-session-daemon"])
    go_on(node)
    assert node.collecting() and firing(before, node.metrics()) == set()
    os.rename(f"{path}.away", path)
    is_over(node)
    assert node.agent.log().count("somebody removed the control socket") == 1
