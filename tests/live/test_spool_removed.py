# SPDX-License-Identifier: BSD-2-Clause
"""Somebody removes, replaces or cuts a spool's files under a running agent: what was in them is counted as lost, and the agent goes on."""

import collections
import os
import re
import shutil
from pathlib import Path

import pytest
from expect import key_of
from rig.load import LOAD
from rig.process import free_port, wait_until
from rig.scribe import Receiver

TOTAL = 8000  # in several batches: memory has a copy of the one that is being sent
SUFFIXES = ["", "-wal", "-shm"]


def findings(node):
    return {finding["code"]: finding for finding in node.status()["findings"]}


def spool(node, suffix=""):
    return node.path(f"state/spool.db{suffix}")


def remove(node):
    os.remove(spool(node))


def remove_all(node):
    for name in [*map(lambda suffix: spool(node, suffix), SUFFIXES), node.path("state/spool.tally")]:
        # the agent may have noticed the first one, and have tidied up
        Path(name).unlink(missing_ok=True)


def remove_log(node):
    os.remove(spool(node, "-wal"))


def replace(node):
    with open(f"{spool(node)}.other", "wb") as file:
        file.write(b"no spool")
    os.rename(f"{spool(node)}.other", spool(node))


def cut(node):
    os.truncate(spool(node), 0)


def move_folder(node):
    os.rename(node.path("state"), node.path("elsewhere"))
    shutil.copytree(node.path("elsewhere"), node.path("state"), ignore=shutil.ignore_patterns("spool*"))


# What is done, and how much of it is lost
HARMS = {"removed": (remove, 1), "all removed": (remove_all, 1), "log removed": (remove_log, 0), "replaced": (replace, 1), "emptied": (cut, 1), "folder moved": (move_folder, 1)}


@pytest.mark.parametrize("how", HARMS)
def test_harmed(node, how):
    """Nothing else is stored, and within seconds it is known; what comes later arrives, each span once."""
    harm, share = HARMS[how]
    receiver = Receiver(node, free_port())
    node.start_agent(receiver.port, output={"retry-max": "300ms"})
    node.run([LOAD, "-n", TOTAL])
    node.wait_ledger(lambda ledger: ledger.spooled == TOTAL, 30, f"{TOTAL} spans in the spool")
    harm(node)
    wait_until(lambda: "spool-removed" in findings(node), 10, "the doctor to say so")
    lost = node.ledger().dropped
    assert (lost > 0) == bool(share) and lost <= TOTAL and node.ledger().dropped_for("spool_corrupt") == lost
    assert f"{lost} spans are lost" in findings(node)["spool-removed"]["what"]
    node.run([LOAD, "-P", 2, "-n", 300])
    receiver.start()
    ledger = node.wait_ledger(lambda ledger: ledger.sent == TOTAL + 300 - lost and ledger.idle(), 30, "the rest to be sent")
    assert (ledger.taken, ledger.recovered, ledger.dropped) == (TOTAL + 300, 0, lost)
    receiver.wait_for(TOTAL + 300 - lost)
    arrived = collections.Counter(key_of(span) for span in receiver.spans())
    assert set(arrived.values()) == {1} and len(arrived) == TOTAL + 300 - lost
    assert sum(key[0] == 2 for key in arrived) == 300  # of the first, what memory had a copy of, as it was being sent
    assert node.agent.stop() == 0


@pytest.mark.parametrize("how", ["removed", "all removed"])
def test_harmed_and_stopped(node, how):
    """At once: the stop still counts it, also what memory had a copy of."""
    node.start_agent(free_port(), output={"retry-max": "300ms"})
    node.run([LOAD, "-n", TOTAL])
    node.wait_ledger(lambda ledger: ledger.spooled == TOTAL, 30, f"{TOTAL} spans in the spool")
    HARMS[how][0](node)
    node.agent.stop()
    assert "are in the spool: the next start delivers them" not in node.agent.log()
    lost = re.findall(r"spool\S* (?:has lost|no longer has what was being sent when the agent stopped:) (\d+) spans", node.agent.log())
    assert sum(map(int, lost)) == TOTAL


def test_damaged_while_no_agent_ran(node):
    """What its pages held is lost, and told for a while; the rest, if there is any, is delivered."""
    receiver = Receiver(node, free_port())
    node.start_agent(receiver.port, output={"retry-max": "300ms"})
    node.run([LOAD, "-n", TOTAL])
    node.wait_ledger(lambda ledger: ledger.spooled == TOTAL, 30, f"{TOTAL} spans in the spool")
    assert node.agent.stop() == 0
    with open(spool(node), "r+b") as file:
        file.write(bytes(8192))
    receiver.start()
    node.start_agent_again()
    wait_until(lambda: "spool-corrupt" in findings(node), 15, "the doctor to say so")
    lost = node.ledger().dropped_for("spool_corrupt")
    assert 0 < lost <= TOTAL and f": {lost}" in findings(node)["spool-corrupt"]["what"]
    node.run([LOAD, "-P", 2, "-n", 300])
    node.wait_ledger(lambda ledger: ledger.sent == TOTAL + 300 - lost and ledger.idle(), 30, "the rest to be sent")
