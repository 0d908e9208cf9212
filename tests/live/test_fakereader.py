# SPDX-License-Identifier: BSD-2-Clause
"""What comes from the reader is taken for bytes of a stranger: a fake one (rig/fakereader.py) says what cannot be."""

import contextlib
import os
import re
import signal
import subprocess
import time
import unicodedata

import pytest
from rig import fakereader
from rig.fakereader import Fake
from rig.load import KEEP, LOAD
from rig.node import TOP
from rig.process import wait_until

NOT_UNDERSTOOD = "sent what the agent does not understand, and was killed"


@pytest.fixture
def fake(node):
    return Fake(node, node.run(["cli/blkin", "--version"]).split()[1])


def test_the_fake_knows_the_rows():
    """Of the ledger, by their places in agent/core/rows.h."""
    with open(os.path.join(TOP, "agent/core/rows.h"), encoding="utf-8") as file:
        rows = re.findall(r"^\t([A-Z_]+)(?:,|$)", file.read().split("enum ledger_row {")[1].split("};")[0], re.MULTILINE)
    known = [rows.index(name) for name in ("EVENTS_READ", "EVENTS_IN_SPANS", "SPANS_MADE", "SPANS_PENDING", "LEDGER_ROWS")]
    assert known == [fakereader.READ, fakereader.IN_SPANS, fakereader.MADE, fakereader.PENDING, fakereader.ROWS]


def restarts(node):
    return int(node.metrics()["blkin_agent_reader_restarts_total"])


def kill_reader(node):
    with contextlib.suppress(ProcessLookupError, TypeError):  # it may be gone by itself
        os.kill(node.reader_pid(), signal.SIGKILL)


def check_real(fake, receiver, spans=50, had=0):
    """The real one takes over: its spans come, the rows are right, and it is watched."""
    node = fake.node
    fake.mode("real")
    kill_reader(node)
    load = node.start([node.built(LOAD), "-n", spans, "-w", 30])
    assert load.wait() == 0
    ledger = node.wait_ledger(lambda ledger: ledger.sent >= had + spans and ledger.idle(), 30, "its spans")
    receiver.wait_for(had + spans, 5)
    assert (ledger.read, ledger.in_spans, ledger.made, ledger.sent) == (had + spans,) * 4, str(ledger)
    before, pid = restarts(node), node.reader_pid()
    time.sleep(1)
    assert (restarts(node), node.reader_pid()) == (before, pid), "it does not go on undisturbed"
    kill_reader(node)
    wait_until(lambda: node.reader_pid() not in (None, pid) and node.collecting(), 10, "another one")
    assert restarts(node) == before + 1
    assert node.agent.stop() == 0


@pytest.mark.parametrize("mode", ["hugeledger", "badledger", "negledger", "placemax", "ended", "finished"])
def test_refused(fake, receiver, mode):
    """What it said counts for nothing, nobody's programs are suspected, and the next one is heard."""
    agent = fake.start(mode, receiver.port, session=KEEP)
    wait_until(lambda: agent.expect_running() and NOT_UNDERSTOOD in agent.log(), 10, "the agent to end the reader")
    wait_until(lambda: restarts(fake.node) >= 2, 20, "restarts to be counted")
    assert fake.node.status()["users_left_out"] == []
    check_real(fake, receiver)


def test_page_made_smaller(fake, receiver):
    agent = fake.start("truncate", receiver.port, session=KEEP)
    wait_until(fake.node.collecting, 20, "the reader to talk")
    time.sleep(1)
    agent.expect_running()
    check_real(fake, receiver)


def test_an_event_before_all_time(fake, receiver):
    """The span is delivered; that its age is no number computes wrongly nowhere, as a sanitizer would tell."""
    agent = fake.start("eventmin", receiver.port, session=KEEP)
    receiver.wait_for(1, 20)
    fake.node.wait_ledger(lambda ledger: ledger.sent == 1, 10, "it to be counted")
    assert agent.complaints() == ""
    check_real(fake, receiver, had=1)


def test_records_that_are_none(fake, receiver):
    """Each is refused by itself, and counted; what is good beside them is delivered."""
    agent = fake.start("norecord", receiver.port, session=KEEP)
    receiver.wait_for(1, 20)
    fake.node.wait_ledger(lambda ledger: (ledger.sent, ledger.dropped) == (1, 2), 10, "all to be counted")
    assert agent.complaints() == ""
    agent.expect_running()


def test_books_asked_for_without_end(fake, receiver):
    """They are large, and written no more often than there is time for: a stop ends in time."""
    agent = fake.start("savestorm", receiver.port, session=KEEP, agent={"stop_timeout": "2s"})
    wait_until(fake.node.collecting, 20, "the reader to talk")
    time.sleep(3)
    assert fake.node.http_get("/healthz")[0] == 200
    agent.send(signal.SIGTERM)
    assert agent.wait(20) >= 0, "it was ended by a signal"


def test_control_characters(fake, receiver):
    """None comes to a terminal or to the log."""
    node = fake.node
    agent = fake.start("control", receiver.port, session=KEEP)
    wait_until(lambda: "forged" in agent.log() and "forged" in node.status()["session_error"], 10, "its words to be told")
    command = [node.built("cli/blkin"), "status", "--socket", node.socket]
    shown = subprocess.run(command, capture_output=True, text=True, env=node.environment, check=False).stdout
    assert shown.count("forged") >= 2, shown  # the session's name, and what is wrong
    for printed in shown, agent.log():
        assert not [c for c in printed if unicodedata.category(c) == "Cc" and c != "\n"], repr(printed)
    assert all(line.startswith("blkin-agent: ") for line in agent.log().splitlines()), agent.log()
    check_real(fake, receiver)
