# SPDX-License-Identifier: BSD-2-Clause
"""Programs that would take tracing away from others by what they register and log: only our events are recorded."""

import os
import time

import pytest
from expect import check_load, check_recorded, end_load, key_of
from rig.load import KEEP, LOAD
from rig.memory import allowance, rss_of_all
from rig.node import WHOLE_STACKS, sanitized
from rig.process import wait_until
from rig.users import start_as

HOSTILE, GOOD = 4321, 4322
RATE, SECONDS = 200, 12
KINDS = 500  # of 34 fields, which take 100 MB
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


def findings(node):
    return {finding["code"]: finding["fix"] for finding in node.status()["findings"]}


def test_kinds_of_events_that_are_named(node, receiver):
    """
    More than the reader has memory for: their user is left out, or all are read from files, status says why, and the
    others' spans arrive.
    """
    node.write_config(receiver.port, session=dict(KEEP, reader_memory="32M"), events={"names": "foreign:*"})
    node.start_agent_again(**WHOLE_STACKS)
    load = start_as(node, GOOD, "spanload", "-n", RATE * SECONDS, "-r", RATE)
    program = start_as(node, HOSTILE, "classes", KINDS, 10, 1)
    if sanitized():  # such a reader's memory has no bound
        node.wait_ledger(lambda ledger: ledger.ignored == KINDS, 60, "all to be read")
    else:
        wait_until(lambda: "name fewer" in findings(node).get("reader-memory", ""), 60, "the status to say so", 0.2)
    assert program.running() and load.wait() == 0

    def came():
        return [key_of(span) for span in receiver.spans()]

    wait_until(lambda: len(set(came())) == RATE * SECONDS, 30, "all spans of the other")
    # what a reader had handed over when it ended is read again
    wait_until(lambda: len(came()) - RATE * SECONDS <= node.ledger().again, 10, "what came twice to be counted")
    node.ledger().check()


def test_sessions_of_others(node, receiver, agent):
    """Of somebody who may trace: with all events, and rings of their own. Ours goes on, over a restart of the agent, too."""
    before = rss_of_all(agent)
    load = start_as(node, GOOD, "spanload", "-n", 10**8, "-r", RATE)
    for number in range(60):
        name = f"theirs-{number}"
        node.lttng("create", name, "--no-output")
        node.lttng("enable-channel", "-u", "-s", name, "--subbuf-size=4096", "--num-subbuf=2", "all")
        node.lttng("enable-event", "-u", "-s", name, "-c", "all", "*")
        node.lttng("start", name)
    assert load.running() and node.collecting() and not findings(node)
    assert rss_of_all(agent) - before < allowance(GROWTH)
    assert agent.stop() == 0
    node.start_agent_again()
    recorded = end_load(load)
    total = sum(recorded.values()) + 1
    ledger = node.wait_ledger(lambda ledger: ledger.sent == total and ledger.idle(), 30, "all spans")
    assert (ledger.lost, ledger.packets_lost, ledger.sessions) == (0, 0, 1)
    receiver.wait_for(total)
    check_recorded([span for span in receiver.spans() if key_of(span)[0] == 0], recorded)
