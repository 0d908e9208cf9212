# SPDX-License-Identifier: BSD-2-Clause
"""Whether the agent's costs stay what they are: over more services and names of spans, and over time."""

from rig.process import free_port

from .agent import memory_mb
from .live import Agent
from .table import Table
from .trace import Sink


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
        deliver(agent, f"services: {services:,}, names: {names:,}", services, names)
        if (services, names) == sizes.growth[0]:
            for again in range(1, 4):
                deliver(agent, f"the same agent, {('once', 'twice', 'three times')[again - 1]} as many spans later", services, names)
        agent.stop()
        sink.stop()
    return [table]
