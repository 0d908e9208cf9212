# SPDX-License-Identifier: BSD-2-Clause
"""`keep` on two nodes at once, whose services have their parts in the same traces."""

import collections
import contextlib

import pytest
from rig.jsonsink import JsonSink
from rig.node import Node
from rig.othernode import OtherNode
from rig.process import exactly
from test_keep import is_kept

LOAD = "tests/live/programs/sharedload"
TRACES = 2000
KEEP = {"keep": "1/10", "keep_errors": "yes", "keep_slower": "10ms"}


@pytest.fixture
def sink():
    with JsonSink() as server:
        yield server


@pytest.fixture
def nodes():
    """By the service that each runs."""
    with contextlib.ExitStack() as stack:
        yield {
            "front": stack.enter_context(Node()).start_lttng(),
            "back": stack.enter_context(OtherNode()).start_lttng(),
        }


def wanted(service, numbers):
    """The spans that a node is to keep, by their trace's number and kind: as sharedload makes them."""
    kinds = ("CLIENT" if service == "front" else "SERVER", None)
    found = {(number, kind) for number in numbers for kind in kinds}
    every = range(1, TRACES + 1)
    if service == "front":
        return found | {(number, "CLIENT") for number in every if number % 10 == 0}
    return found | {(number, None) for number in every if number % 7 == 0}


def test_two_nodes_keep_the_same_traces(nodes, sink):
    """Each of them whole, from both; errors and slow spans of the others too; and each node's ledger has all the rest."""
    web = dict(KEEP, type="http", format="json2", server=f"127.0.0.1:{sink.port}")
    for node in nodes.values():
        node.start_agent(sink.port, output=web)
    loads = [node.start([node.built(LOAD), service, TRACES]) for service, node in nodes.items()]
    assert [load.wait(60) for load in loads] == [0, 0]
    ledgers = {
        service: node.wait_ledger(lambda ledger: ledger.made == 2 * TRACES and ledger.idle(), 60, "delivery")
        for service, node in nodes.items()
    }
    kept = [number for number in range(1, TRACES + 1) if is_kept(f"{number * 0x9E3779B97F4A7C15 % 2**64:016x}", 10)]
    assert TRACES // 20 < len(kept) < TRACES // 5
    came = collections.defaultdict(collections.Counter)
    for span in sink.spans:
        came[span["localEndpoint"]["serviceName"]][int(span["tags"]["trace"]), span.get("kind")] += 1
    for service, ledger in ledgers.items():
        exactly(came[service] == collections.Counter(wanted(service, kept)), f"what {service} kept, each once")
        exactly(ledger.sent == came[service].total(), f"all that {service} kept was sent")
        exactly(ledger.sent + ledger.sampled_out == ledger.taken == 2 * TRACES, f"{service}'s ledger: {ledger}")
        exactly((ledger.dropped, ledger.lost, ledger.packets_lost) == (0, 0, 0), f"{service}'s ledger: {ledger}")
