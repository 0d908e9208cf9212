# SPDX-License-Identifier: BSD-2-Clause
"""Programs that would take tracing away from others by what they register and log: only our events are recorded."""

import os
import time

import pytest
from expect import check_load, key_of
from rig.load import KEEP, LOAD
from rig.memory import allowance, rss_of_all
from rig.process import wait_until
from rig.users import start_as

HOSTILE, GOOD = 4321, 4322
RATE, SECONDS = 200, 12
# What the agent may grow by, in KiB: both users' own streams and metadata, and what allocators keep.
GROWTH = 6 * 1024

pytestmark = pytest.mark.as_root("only root may run programs as another user")


class Watch:
    """The agent, watched while another user's load runs."""

    def __init__(self, node):
        self.node, self.ready, self.asked, self.memory = node, 0, 0, []

    def look(self):
        self.asked += 1
        self.ready += self.node.collecting()
        self.memory.append(rss_of_all(self.node.agent))

    def check_memory(self, before):
        most = max(self.memory)
        print(f"{before} KiB before, {most} KiB at most")
        assert most - before < allowance(GROWTH), f"{before} KiB before, {most} KiB at most"


def watch_others(node, receiver, before=0):
    """Another user logs 200 spans a second for a while: all arrive, and the agent is ready all the time."""
    watch = Watch(node)
    load = start_as(node, GOOD, "spanload", "-n", RATE * SECONDS, "-r", RATE)
    while load.running():
        watch.look()
        time.sleep(0.25)
    assert load.wait() == 0
    total = RATE * SECONDS
    node.wait_ledger(lambda ledger: ledger.sent - before >= total and ledger.idle(), 30, f"{total} spans")
    receiver.wait_for(before + total)
    check_load([span for span in receiver.spans() if key_of(span)[0] == 0], 1, 1, total)
    assert watch.ready >= 0.95 * watch.asked, f"ready {watch.ready} of {watch.asked} times"
    return watch


def events_recorded(node):
    """The names in the metadata that the relay has."""
    names = set()
    for folder in node.session_folders():
        for base, _, files in os.walk(folder):
            if "metadata" in files:
                with open(os.path.join(base, "metadata"), "rb") as file:
                    names |= {part.split(b'"')[1] for part in file.read().split(b"event {")[1:]}
    return {name.decode(errors="replace") for name in names}


@pytest.fixture
def agent(node, receiver):
    """A running agent that has read a span, so that it has all its libraries."""
    node.start_agent(receiver.port, session=KEEP)
    node.run([LOAD, "-P", 9, "-n", 1])
    node.wait_ledger(lambda ledger: ledger.sent == 1, 20, "a span")
    return node.agent


@pytest.mark.parametrize("names, fields", [(20000, 4), (3000, 100)])
def test_names_that_are_not_ours(node, receiver, agent, names, fields):
    before = rss_of_all(agent)
    program = start_as(node, HOSTILE, "registrar", "names", names, fields)
    wait_until(lambda: "registered" in program.log(), 60, "the names to be registered")
    watch = watch_others(node, receiver, 1)
    assert program.running()
    assert not {name for name in events_recorded(node) if name.startswith("blkin:x")}
    watch.check_memory(before)


def test_event_that_is_not_ours(node, receiver, agent):
    """Sequences of two million elements."""
    before = rss_of_all(agent)
    program = start_as(node, HOSTILE, "sequences", "whatever", 2_000_000 - 4096)
    watch = watch_others(node, receiver, 1)
    assert program.running()
    assert "blkin:whatever" not in events_recorded(node)
    watch.check_memory(before)
