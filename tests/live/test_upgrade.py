# SPDX-License-Identifier: BSD-2-Clause
"""What an agent of version 0.1 left on disk is taken over: tests/fixtures/state-0.1/README says what that is."""

import os
import shutil

from expect import check_load
from rig.load import KEEP
from rig.node import TOP
from rig.process import free_port
from rig.scribe import Receiver

LOAD, WHOLE, OPEN = 60, 6, 25  # spans of spanload; classic ones that had ended, and that had not
READ = 191  # events
STEPS = ["cs", "step 1", "step 2", "step 3", "step 4", "cr"]


def take_over(node, port):
    """Starts today's agent on what the earlier one left."""
    fixture = os.path.join(TOP, "tests/fixtures/state-0.1")
    shutil.copytree(fixture, node.path("state"), ignore=shutil.ignore_patterns("README", "make.py"))
    return node.start_agent(port, session=KEEP)


def ordinal_of(span):
    return next(int(tag.value) for tag in span.binary_annotations if tag.key == "ordinal")


def check_spans(spans):
    """Every span came once, with all that the programs had recorded of it."""
    load = [span for span in spans if any(tag.key == "worker" for tag in span.binary_annotations)]
    check_load(load, 1, 1, LOAD)
    classic = {ordinal_of(span): [note.value for note in span.annotations] for span in spans if span not in load}
    assert len(spans) == LOAD + len(classic)
    assert set(classic) == set(range(WHOLE + OPEN))
    for ordinal, notes in classic.items():
        assert notes == STEPS[: len(notes)]
        assert (len(notes) == len(STEPS)) == (ordinal < WHOLE)
    # of each event a span has an annotation, but of one, which is a tag
    assert sum(map(len, classic.values())) == READ - LOAD - len(classic)


def check_nothing_is_wrong(node):
    """But that the session is gone, which the log says once; nothing was set aside."""
    known = {f"{name}.{number}" for name in ("checkpoint", "reached") for number in (0, 1)}
    known |= {"page-token", "spool.db", "spool.db-shm", "spool.db-wal", "spool.tally"}
    assert set(os.listdir(node.path("state"))) <= known
    said = node.agent.log().splitlines()
    gone = [line for line in said if "has ended: " in line]
    assert len(gone) == 1
    assert gone[0].startswith("blkin-agent: LTTng session `blkin` has ended: lttng-sessiond no longer knows it; ")
    bounds = [line for line in said if line.endswith(", was lost with the LTTng session: LTTng does not tell how many events")]
    assert len(bounds) == 1
    for word in ("checkpoint", "damaged", "cannot", "lost", "wall clock"):
        assert not [line for line in said if word in line and line not in gone + bounds], word


def test_spool_and_spans_in_assembly(node):
    """The collector is away at first: the counters go on from where they stood, then every span arrives once."""
    receiver = Receiver(node, free_port())
    take_over(node, receiver.port)
    ledger = node.wait_ledger(lambda ledger: ledger.spooled == LOAD + WHOLE + OPEN, 30, "all to be in the spool")
    assert (ledger.read, ledger.again, ledger.spans, ledger.recovered) == (READ, 0, LOAD + WHOLE + OPEN, 0)
    assert (ledger.sessions, ledger.sessions_lost) == (2, 1)
    receiver.start()
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 30, "all to be delivered")
    assert (ledger.sent, ledger.sent_again, ledger.dropped) == (LOAD + WHOLE + OPEN, 0, 0)
    receiver.wait_for(LOAD + WHOLE + OPEN)
    check_spans(receiver.spans())
    check_nothing_is_wrong(node)
