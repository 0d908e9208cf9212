# SPDX-License-Identifier: BSD-2-Clause
"""Whatever programs write, the agent's memory stays within what blkin-agent.conf(5) says."""

import os

import pytest
from rig.memory import MemoryWatch, allowance
from rig.process import free_port

KIB = 1024
# Settings, in KiB, small enough that every flood goes far beyond them.
PENDING, QUEUE, BATCH, WINDOW = 4 * KIB, 8 * KIB, 256, 4
# blkin-agent.conf(5), Memory; the second line is to read a session of one user's
STATED = 3 * PENDING + QUEUE + QUEUE // 8 + 2 * BATCH + WINDOW * 2 * BATCH + 16 * KIB
STATED += 7 * KIB // 10 + os.sysconf("SC_NPROCESSORS_CONF") * (16 + 256)
# The statistics of as many names as there is room for, without their last hour.
NAMES = 10000 * 2


def stated(kind):
    return STATED + (NAMES if kind == "names" else 0)


pytestmark = pytest.mark.no_threads("ThreadSanitizer keeps several times the memory that is measured, and reads a flood slowly")

FLOODS = [("endless", 600000, 50000), ("names", 400000, 50000), ("strings", 60000, 10000)]


def flood(node, collector, kind, events, rate):
    """Lets the flood come, and returns the memory that the agent took before and at most, in KiB."""
    node.start_agent(
        collector,
        session={"memory": "256M", "disk": "2G"},
        spans={"max_pending": f"{PENDING}K", "linger": "10min"},
        output={"queue_size": f"{QUEUE}K", "batch_size": f"{BATCH}K", "window": WINDOW},
        spool={"max_size": "64M"},
    )
    watch = MemoryWatch(node.agent)
    load = node.start([node.built("tests/live/programs/flood"), kind, events, rate])
    ledger = None

    def read():
        nonlocal ledger
        watch.look()
        ledger = node.ledger()
        ledger.check()
        if load.running():
            return False
        assert load.process.returncode == 0, load.log()
        return ledger.read + ledger.lost >= events

    node.wait_for(read, 240, f"{events} events to be read")
    return watch, ledger


@pytest.mark.parametrize("kind, events, rate", FLOODS, ids=[flood[0] for flood in FLOODS])
def test_flood_without_a_collector(node, kind, events, rate):
    watch, ledger = flood(node, free_port(), kind, events, rate)
    # far more than memory was to hold came, and is on disk or counted
    assert ledger.spooled + ledger.dropped > 10000 or kind == "strings"
    assert ledger.pending * 200 < PENDING * KIB * 1.1
    print(f"{kind}: {watch.most} KiB at most, {stated(kind)} stated; {ledger.spooled} spooled, {ledger.dropped} dropped")
    assert watch.most < allowance(stated(kind)), f"{watch.most} KiB, and {stated(kind)} are stated"


def test_flood_with_a_collector(node, receiver):
    watch, ledger = flood(node, receiver.port, "names", 100000, 20000)
    print(f"{watch.most} KiB at most, {stated('names')} stated; {ledger.sent} sent")
    assert watch.most < allowance(stated("names")), f"{watch.most} KiB, and {stated('names')} are stated"
