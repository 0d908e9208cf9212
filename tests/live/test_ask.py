# SPDX-License-Identifier: BSD-2-Clause
"""`keep-traces` in a tree of agents: the one in the middle tells each node which traces the others keep, and these deliver their part."""

import collections
import contextlib
import time

import pytest
from rig.jsonsink import JsonSink
from rig.node import Node
from rig.othernode import OtherNode
from rig.process import exactly
from test_input import start_agent
from test_keep import is_kept

LOAD = "tests/live/programs/sharedload"
TRACES = 1000
# as good as none by their share; and for longer than the test
KEEP = {"keep": "1/1000000", "keep_errors": "yes", "keep_slower": "10ms", "keep_traces": "10min"}
# of each trace, as sharedload makes them
PARTS = [("front", "CLIENT"), ("front", None), ("back", "SERVER"), ("back", None)]


@pytest.fixture
def sink():
    with JsonSink() as server:
        yield server


@pytest.fixture
def tree():
    """Two nodes with programs, and the one that they send to."""
    with contextlib.ExitStack() as stack:
        front = stack.enter_context(Node()).start_lttng()
        back = stack.enter_context(OtherNode()).start_lttng()
        yield front, back, stack.enter_context(OtherNode())


def start_middle(node, sink, **output):
    web = {"type": "http", "format": "json2", "server": f"127.0.0.1:{sink.port}"}
    return start_agent(node, sink.port, wait=False, session={"keep": "yes"}, output=dict(web, **output))


def trace_id(number):
    return f"{number * 0x9E3779B97F4A7C15 % 2**64:016x}"


def failed():
    return {number for number in range(1, TRACES + 1) if number % 10 == 0}


def slow():
    return {number for number in range(1, TRACES + 1) if number % 7 == 0}


def shared(one_in=1000000):
    return {number for number in range(1, TRACES + 1) if is_kept(trace_id(number), one_in)}


def came(sink):
    return collections.Counter(
        (int(span["tags"]["trace"]), span["localEndpoint"]["serviceName"], span.get("kind")) for span in list(sink.spans)
    )


def check_whole(sink, numbers):
    exactly(
        came(sink) == collections.Counter((number, *part) for number in numbers for part in PARTS), "traces that are whole, each once"
    )


def asked(node):
    return int(node.metrics()["blkin_agent_spans_asked_total"])


def untold(node):
    return int(node.metrics()["blkin_agent_traces_not_told_total"])


def load(node, service):
    assert node.start([node.built(LOAD), service, TRACES]).wait(60) == 0


def wait_made(node, waiting=0):
    return node.wait_ledger(
        lambda ledger: ledger.made == 2 * TRACES and ledger.queued == 0 and ledger.undecided >= waiting, 60, "all to be chosen"
    )


def test_what_two_nodes_have(tree, sink):
    front, back, middle = tree
    port = start_middle(middle, sink)
    for node in (front, back):
        node.start_agent(port, output=KEEP)
    # the node that is idle by then has most of it, and no error
    load(back, "back")
    wait_made(back)
    assert asked(back) == 0
    load(front, "front")
    began = time.monotonic()
    numbers = failed() | slow() | shared()
    sink.wait_for(4 * len(numbers), 30)
    print(f"all was there {time.monotonic() - began:.2f} s after the last program's end")
    for node, own, other in ((front, failed(), slow()), (back, slow(), failed())):
        ledger = wait_made(node)
        ledger.check()
        exactly(ledger.undecided == 2 * (TRACES - len(numbers)) and ledger.sent == 2 * len(numbers), str(ledger))
        exactly(asked(node) == 2 * len(other - own - shared()), f"{asked(node)} spans were asked for")
    check_whole(sink, numbers)
    for node in (front, back, middle):
        exactly(untold(node) == 0, "all was told")
        assert node.agent.stop() == 0
    check_whole(sink, numbers)
