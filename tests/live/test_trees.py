# SPDX-License-Identifier: BSD-2-Clause
"""Agents that deliver to agents: node, rack, site. The ledger adds up at every level, whoever is killed."""

import time

import pytest
from rig.idsink import IdSink
from rig.node import paced
from rig.othernode import OtherNode
from rig.process import answers, exactly, free_port, wait_until
from rig.sender import Client, Sender, message
from test_input import TIMID, check_came, start_agent, wait_senders

LOAD = "tests/live/programs/spanload"
PROCESSES, THREADS = 2, 2
KEPT = {"keep": "yes"}


@pytest.fixture
def levels(bare_node):
    """The node, the rack's and the site's; LTTng is at the first alone, as the others read nothing."""
    with OtherNode() as rack, OtherNode() as site:
        yield bare_node.start_lttng(), rack, site


def start_tree(node, rack, site, sink):
    """The site delivers to the sink, the rack to the site, the node to the rack; returns their ports."""
    keys = {"session": KEPT, "output": TIMID}
    ports = [0, 0, 0]
    ports[2] = start_agent(site, sink.port, wait=False, **keys)
    ports[1] = start_agent(rack, ports[2], wait=False, **keys)
    ports[0] = start_agent(node, ports[1], **keys)
    return ports


def check_levels(ledgers, senders):
    """
    Each level's rows add up, and between levels: all that one sent was received by the next one. What that received
    beyond was handed over again, by whoever got no OK, on the way to the level or to one below: a level that is killed
    has sent what it knows nothing of any more, but it has not said OK to it.
    """
    repeated = 0
    for level, ledger in enumerate(ledgers):
        own = [s for s in senders if s.process == 40 + level]
        repeated += sum((s.broken + s.put_off) * s.batch for s in own)
        came = sum(s.count for s in own)
        if level:
            repeated += ledgers[level - 1].sent_again
            came += ledgers[level - 1].sent
        exactly(ledger.dropped == 0 and ledger.refused == 0, str(ledger))
        exactly(ledger.taken == ledger.made + ledger.received, str(ledger))
        exactly(ledger.taken + ledger.recovered == ledger.sent + ledger.given_back, str(ledger))
        assert came <= ledger.received <= came + repeated, f"level {level}: {came}, {repeated} again: {ledger}"


def wait_idle(node, seconds=60):
    node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
    return node.wait_ledger(lambda ledger: ledger.idle(), seconds, "all to be settled")


def test_three_levels(levels):
    """Live programs at the node and python senders at each level; the middle one is killed again and again."""
    node, rack, site = levels
    sink = IdSink(node, free_port()).start()
    ports = start_tree(node, rack, site, sink)
    rate, seconds = paced(4000, 1500), 12
    spans = rate * seconds // (PROCESSES * THREADS)
    load = node.start(
        [node.built(LOAD), "-p", PROCESSES, "-t", THREADS, "-n", spans, "-r", rate // (PROCESSES * THREADS)]
    )
    senders = [Sender(ports[level], 40 + level, t, 2000, 25, t % 2 == 0, rate=200) for level in range(3) for t in range(2)]
    for sender in senders:
        sender.start()
    kills = 0
    while load.running():
        time.sleep(0.7)
        rack.agent.kill()
        time.sleep(0.2 * (kills % 3))
        rack.start_agent_again(wait=False)
        kills += 1
    assert load.wait(60) == 0
    wait_senders(senders, 120)
    total = spans * PROCESSES * THREADS
    first = node.wait_ledger(lambda ledger: ledger.made >= total and ledger.idle(), 60, "the node to be done")
    ledgers = [first, wait_idle(rack), wait_idle(site)]
    print(f"{kills} kills of the middle one, {total} + {sum(s.count for s in senders)} spans")
    for ledger in ledgers:
        print(ledger)
    exactly(first.made == total and first.lost == 0, str(first))
    again = check_came(sink, senders)
    seen = sink.ids()
    wanted = {(p, t, n) for p in range(PROCESSES) for t in range(THREADS) for n in range(spans)}
    exactly(not wanted - seen.keys(), f"{len(wanted - seen.keys())} are missing")
    exactly(len(seen) == total + sum(s.count for s in senders), "spans of nobody")
    print(f"came again: {again} of the senders', {sum(seen[one] - 1 for one in wanted)} of the programs'")
    check_levels(ledgers, senders)
    exactly(sum(seen.values()) == ledgers[2].sent, str(ledgers[2]))


def test_circle_is_noticed(levels):
    """Two agents that deliver to each other: the spans wait, and both say so; undone, they arrive, each once."""
    node, rack, site = levels
    sink = IdSink(node, free_port()).start()
    port = free_port()
    first = start_agent(rack, port, wait=False, output=TIMID)
    site.start_agent(first, wait=False, output=TIMID, input={"scribe": f"127.0.0.1:{port}"})
    wait_until(lambda: answers(port), 10, "the second one to listen")
    with Client(first) as client:
        assert client.log([message(50, 0, n) for n in range(10)]) in (0, 1)

    def codes(one):
        return [finding["code"] for finding in one.status()["findings"]]

    wait_until(lambda: "input-loop" in codes(rack) or "input-loop" in codes(site), 20, "the circle to be noticed")
    time.sleep(2)
    counts = [one.ledger() for one in (rack, site)]
    print(*counts, sep="\n")
    assert all(ledger.received <= 40 for ledger in counts), "the spans go round"
    assert "go in a circle" in rack.agent.log() + site.agent.log()
    with open(site.path("agent.conf"), encoding="utf-8") as file:
        text = file.read().replace(f"server = 127.0.0.1:{first}", f"server = 127.0.0.1:{sink.port}")
    with open(site.path("agent.conf"), "w", encoding="utf-8") as file:
        file.write(text)
    site.agent.send(1)
    wait_until(lambda: len(sink.ids()) == 10, 90, "the spans to arrive")
    for one in (rack, site):
        ledger = wait_idle(one, 90)
        exactly(ledger.dropped == 0, str(ledger))


def test_own_input(node):
    """An agent that by a name of its own delivers to itself: nothing goes round."""
    port = free_port()
    node.start_agent(1, output=dict(TIMID, server=f"127.9.9.9:{port}"), input={"scribe": f"0.0.0.0:{port}"}, wait=False)
    assert node.agent.wait(20) == 78 or not node.agent.running()
    assert "its spans would come back for ever in [output]" in node.agent.log()
