# SPDX-License-Identifier: BSD-2-Clause
"""Somebody removes, replaces or cuts a spool's files under a running agent: what was in them is counted as lost, and the agent goes on."""

import collections
import os
import re
import shutil
from pathlib import Path

import pytest
from expect import key_of
from rig.load import KEEP, LOAD
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
    lost = re.findall(r"spool\S* (?:has lost|no longer has what was being sent at the end:) (\d+) spans", node.agent.log())
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


def restore(node, folder):
    """Only the spool's files are put back."""
    remove_all(node)
    for path in Path(folder).glob("spool.*"):
        shutil.copy2(path, node.path("state"))


@pytest.mark.parametrize("first", [2000, 0], ids=["its own", "another's"])
def test_files_of_a_backup(node, first):
    """What was stored since is lost, and told; what is there arrives once, though it had been delivered since."""
    receiver = Receiver(node, free_port())
    node.start_agent(receiver.port, output={"retry-max": "300ms"}, session=KEEP)
    if first:
        node.run([LOAD, "-n", first])
        node.wait_ledger(lambda ledger: ledger.spooled == first, 30, "the first in the spool")
    assert node.agent.stop() == 0
    shutil.copytree(node.path("state"), node.path("backup"))
    if not first:
        remove_all(node)
    node.start_agent_again()
    node.run([LOAD, "-P", 2, "-n", 3000])
    node.wait_ledger(lambda ledger: ledger.spooled == first + 3000, 30, "all in the spool")
    assert node.agent.stop() == 0
    restore(node, node.path("backup"))
    receiver.start()
    node.start_agent_again()
    wait_until(lambda: "spool-corrupt" in findings(node), 15, "the doctor to say so")
    assert ": 3000" in findings(node)["spool-corrupt"]["what"]
    ledger = node.wait_ledger(lambda ledger: ledger.sent == first and ledger.idle(), 30, "the rest to be sent")
    assert (ledger.taken, ledger.recovered, ledger.dropped_for("spool_corrupt")) == (first + 3000, 0, 3000)
    assert sorted(key_of(span) for span in receiver.spans()) == [(0, 0, n) for n in range(first)]


def test_backup_of_what_was_delivered(node):
    """It is not sent a second time."""
    receiver = Receiver(node, free_port())
    node.start_agent(receiver.port, output={"retry-max": "300ms"}, session=KEEP)
    node.run([LOAD, "-n", 2000])
    node.wait_ledger(lambda ledger: ledger.spooled == 2000, 30, "all in the spool")
    assert node.agent.stop() == 0
    shutil.copytree(node.path("state"), node.path("backup"))
    receiver.start()
    node.start_agent_again()
    node.wait_ledger(lambda ledger: ledger.sent == 2000 and ledger.idle(), 30, "all to be sent")
    assert node.agent.stop() == 0
    restore(node, node.path("backup"))
    node.start_agent_again()
    node.run([LOAD, "-P", 2, "-n", 100])
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 2100 and ledger.idle(), 30, "the others")
    assert (ledger.recovered, ledger.dropped) == (0, 0) and not findings(node)
    assert len(receiver.spans()) == 2100
