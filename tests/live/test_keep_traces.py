# SPDX-License-Identifier: BSD-2-Clause
"""`keep-traces`: an agent to which two nodes send keeps whole traces of theirs, for the sake of one span with an error, or slow."""

import collections
import contextlib
import os
import signal

import pytest
from rig.jsonsink import JsonSink
from rig.node import Node
from rig.othernode import OtherNode
from rig.process import exactly, wait_until
from test_input import start_agent
from test_keep import is_kept

LOAD = "tests/live/programs/sharedload"
TRACES = 1000
# longer than the test, so that how fast it is does not matter
KEEP = {"type": "http", "format": "json2", "keep": "1/10", "keep_errors": "yes", "keep_slower": "10ms", "keep_traces": "10min"}
# of each trace, as sharedload makes them
PARTS = [("front", "CLIENT"), ("front", None), ("back", "SERVER"), ("back", None)]


@pytest.fixture
def sink():
    with JsonSink() as server:
        yield server


@pytest.fixture
def nodes():
    """Two with programs, and the one that they send to."""
    with contextlib.ExitStack() as stack:
        front = stack.enter_context(Node()).start_lttng()
        back = stack.enter_context(OtherNode()).start_lttng()
        yield front, back, stack.enter_context(OtherNode())


def wanted():
    """The numbers of the traces that are kept: by their share, as one span is slow, or has an error."""
    ids = {number: f"{number * 0x9E3779B97F4A7C15 % 2**64:016x}" for number in range(1, TRACES + 1)}
    return {number for number in ids if number % 10 == 0 or number % 7 == 0 or is_kept(ids[number], 10)}


def run_loads(front, back):
    loads = [front.start([front.built(LOAD), "front", TRACES]), back.start([back.built(LOAD), "back", TRACES])]
    assert [load.wait(60) for load in loads] == [0, 0]


def check_whole(sink, numbers):
    came = collections.Counter(
        (int(span["tags"]["trace"]), span["localEndpoint"]["serviceName"], span.get("kind")) for span in sink.spans
    )
    exactly(came == collections.Counter((number, *part) for number in numbers for part in PARTS), "traces that are whole, each once")


def start_all(nodes, sink):
    front, back, middle = nodes
    port = start_agent(middle, sink.port, wait=False, session={"keep": "yes"}, output=dict(KEEP, server=f"127.0.0.1:{sink.port}"))
    for node in (front, back):
        node.start_agent(port)


def test_of_two_nodes(nodes, sink):
    front, back, middle = nodes
    start_all(nodes, sink)
    run_loads(front, back)
    kept, total = 4 * len(wanted()), 4 * TRACES
    sink.wait_for(kept, 60)
    ledger = middle.wait_ledger(lambda ledger: ledger.received == total and ledger.sent == kept, 60, "all to be there")
    ledger.check()
    exactly((ledger.undecided, ledger.sampled_out) == (total - kept, 0), str(ledger))
    check_whole(sink, wanted())
    # a reload decides
    os.kill(middle.agent.pid, signal.SIGHUP)
    ledger = middle.wait_ledger(lambda ledger: ledger.undecided == 0, 20, "the rest to be left out")
    ledger.check()
    exactly((ledger.sent, ledger.sampled_out) == (kept, total - kept), str(ledger))
    assert middle.agent.stop() == 0
    assert f"{kept} of {kept} spans delivered, {total - kept} sampled out" in middle.agent.log()
    check_whole(sink, wanted())


def test_too_little_memory(node, sink):
    """The oldest are left out early, and status says why; what comes meanwhile is kept or counted all the same."""
    web = dict(KEEP, server=f"127.0.0.1:{sink.port}", keep_traces_size="64K")
    node.start_agent(sink.port, output=web)
    node.run([LOAD, "back", TRACES])
    ledger = node.wait_ledger(lambda ledger: ledger.made == 2 * TRACES and ledger.queued == 0, 60, "all to be chosen")
    early = int(node.metrics()["blkin_agent_spans_left_early_total"])
    exactly(0 < early == ledger.sampled_out, str(ledger))
    (finding,) = [finding for finding in node.status()["findings"] if finding["code"] == "keep-traces-full"]
    assert finding["fix"] == "raise `keep-traces-size`, or lower `keep-traces`, in [output]"
    assert f"left out early: {early}" in finding["what"]
    exactly(ledger.sent + ledger.undecided + ledger.sampled_out == 2 * TRACES, str(ledger))
    slow = {number for number in range(1, TRACES + 1) if number % 7 == 0}
    came = {int(span["tags"]["trace"]) for span in sink.spans if span["duration"] >= 10000}
    exactly(came == slow, f"each slow span, and not {sorted(came ^ slow)[:9]}")


def test_killed_while_they_wait(nodes, sink):
    """What waited is left out, and counted so; nothing else is harmed."""
    front, back, middle = nodes
    start_all(nodes, sink)
    front.run([LOAD, "front", TRACES])
    middle.wait_ledger(lambda ledger: ledger.received == 2 * TRACES and ledger.undecided, 60, "half of it")
    # what is acknowledged has been written down
    wait_until(lambda: front.ledger().sent == 2 * TRACES, 20, "the first node to have its OK")
    middle.agent.kill()
    middle.agent.wait()
    middle.start_agent_again(wait=False)
    middle.agent.wait_ready(lambda: middle.http_get("/healthz")[0] == 200)
    back.run([LOAD, "back", TRACES])
    ledger = middle.wait_ledger(lambda ledger: ledger.received >= 4 * TRACES and not ledger.queued + ledger.held + ledger.entrusted, 60, "it")
    ledger.check()
    assert ledger.sampled_out > 0 and ledger.undecided > 0
    came = {(int(span["tags"]["trace"]), span["localEndpoint"]["serviceName"], span.get("kind")) for span in sink.spans}
    slow = {number for number in range(1, TRACES + 1) if number % 7 == 0}
    exactly(all((number, *part) in came for number in slow for part in PARTS[2:]), "of each slow one, what came after the kill")


def test_killed_after_they_were_kept(node, sink):
    """What waited is in memory alone once it is kept, and lost with that: this is counted. The slow spans themselves are read again."""
    slow = {number for number in range(1, TRACES + 1) if number % 7 == 0}
    sink.code = 503
    keys = dict(KEEP, keep="1/1000000", keep_errors="no", server=f"127.0.0.1:{sink.port}", spool_size="0")
    node.start_agent(sink.port, session={"keep": "yes"}, output=keys)
    node.run([LOAD, "front", TRACES])
    node.wait_ledger(lambda ledger: ledger.undecided == ledger.made == 2 * TRACES, 60, "all to wait")
    node.wait_quiet("state", 1)  # what is read again comes after these
    node.run([LOAD, "back", TRACES])
    rest = 4 * (TRACES - len(slow))
    before = node.wait_ledger(lambda ledger: (ledger.made, ledger.undecided) == (4 * TRACES, rest), 60, "the slow ones to be known")
    before.check()
    exactly(2 * len(slow) <= before.entrusted <= 3 * len(slow) and before.entrusted + before.queued == 4 * len(slow), str(before))
    node.wait_quiet("state", 1)
    node.agent.kill()
    node.agent.wait()
    sink.code = 202
    node.start_agent_again()
    ledger = node.wait_ledger(lambda ledger: ledger.sent >= len(slow) and ledger.pending == ledger.queued == 0, 60, "what is read again")
    ledger.check()
    exactly((ledger.dropped_for("shutdown"), ledger.dropped) == (before.entrusted, before.entrusted), f"{before}, then {ledger}")
    exactly(ledger.made == ledger.taken, str(ledger))
    came = collections.Counter((int(span["tags"]["trace"]), span["localEndpoint"]["serviceName"], span.get("kind")) for span in sink.spans)
    all_of_them = {(number, *part) for number in slow for part in PARTS[2:]}
    exactly(set(came) <= all_of_them and all(came[number, *PARTS[3]] == 1 for number in slow), "each slow one, once")
    exactly(sum(came.values()) == len(came) == ledger.sent, str(ledger))
