# SPDX-License-Identifier: BSD-2-Clause
"""What a node's whole tracing takes: the agent and LTTng's daemons, per span, and when nothing happens."""

import time

from rig.process import free_port

from .live import Agent
from .processes import of_node, seconds
from .table import Table, median
from .trace import Sink

IDLE_PROGRAMS = 10


def add_all(table, rounds):
    """A row for each process, and one for all of them."""
    for name in rounds[0]:
        table.add(name, median(used[name] for used in rounds))
    table.add("the node", median(sum(used.values()) for used in rounds))


def difference(after, before, scale):
    return {name: (after[name] - before[name]) * scale for name in after}


def measure_busy(node, sizes):
    table = Table(f"Node: CPU µs a span, {sizes.node_rate:,} spans/s, none lost", "µs")
    rounds = []
    for _ in range(sizes.node_rounds):
        sink = Sink(node, free_port())
        agent = Agent(node, sink.port)
        pids = of_node(node, agent.program)
        # with a user's first program LTTng makes the buffers, which costs as much as some 100,000 spans
        _, first = agent.deliver("span", sizes.node_rate, sizes.node_rate)
        before = seconds(pids)
        _, ledger = agent.deliver("span", sizes.node_events, sizes.node_rate)
        rounds.append(difference(seconds(pids), before, 1e6 / (ledger.sent - first.sent)))
        agent.stop()
        sink.stop()
    add_all(table, rounds)
    return table


def idle_round(node, sizes, canary):
    """% of a core, by process: programs that record nothing now, but will."""
    sink = Sink(node, free_port())
    agent = node.start_agent(sink.port, session={"live-timer": "200ms", "canary": canary})
    programs = [node.start([node.built("tests/bench/generate"), "span", 10_000, 0.1]) for _ in range(IDLE_PROGRAMS)]
    time.sleep(3)
    pids = of_node(node, agent)
    before = seconds(pids)
    time.sleep(sizes.idle_seconds)
    used = difference(seconds(pids), before, 100 / sizes.idle_seconds)
    for program in programs:
        program.kill()
    agent.stop()
    sink.stop()
    return used


def measure_idle(node, sizes):
    """As it is by default; and, in turns, with the canary."""
    table = Table(f"Node: {IDLE_PROGRAMS} programs that record next to nothing, for {sizes.idle_seconds} s", "% of a core")
    rounds, watched = [], []
    for _ in range(sizes.node_rounds):
        rounds.append(idle_round(node, sizes, "no"))
        watched.append(idle_round(node, sizes, "yes"))
    add_all(table, rounds)
    table.add("the node, with the canary", median(sum(used.values()) for used in watched))
    return table


def measure(node, sizes):
    return [measure_busy(node, sizes), measure_idle(node, sizes)]


