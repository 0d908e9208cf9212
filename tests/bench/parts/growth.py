# SPDX-License-Identifier: BSD-2-Clause
"""Whether the agent's costs stay what they are: over more services and names of spans, and over time."""

from rig.process import free_port

from .agent import memory_mb
from .live import Agent
from .table import Table
from .trace import Sink

# What a name costs once, when it is new, is in an agent's first row alone.
TIMES = ("once", "twice", "three times")


def measure(node, sizes):
    table = Table(
        f"Growth: {sizes.growth_rate:,} spans/s", "CPU ns/span", "/ the first", "agent's own memory, MB"
    )  # fmt: skip
    first = None

    def deliver(agent, label, *names):
        nonlocal first
        used, _ = agent.deliver("span", sizes.growth_events, sizes.growth_rate, *names)
        used = used / sizes.growth_events * 1e9
        first = first or used
        table.add(label, used, used / first, memory_mb(agent.program)[1])

    for services, names in sizes.growth:
        sink = Sink(node, free_port())
        agent = Agent(node, sink.port)
        label = f"services: {services:,}, names: {names:,}"
        deliver(agent, label, services, names)
        for again in TIMES[: 3 if (services, names) == sizes.growth[0] else 1]:
            deliver(agent, f"{label}, {again} as many spans later", services, names)
        agent.stop()
        sink.stop()
    return [table]
