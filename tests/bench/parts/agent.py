# SPDX-License-Identifier: BSD-2-Clause
"""The agent by itself: time to delivery, memory, and what it costs when nothing happens."""

import re
import time

from rig.process import free_port

from .live import STREAMS, Agent
from .table import Table
from .trace import Sink, cpu, generate

BUCKET = re.compile(r'blkin_agent_delivery_seconds_bucket\{le="(.+)"\}')


def quantile(metrics, share):
    """From the agent's histogram, as Prometheus does it: evenly within a bucket."""
    buckets = sorted((float(match[1]), count) for key, count in metrics.items() if (match := BUCKET.match(key)))
    wanted = share * buckets[-1][1]
    low = below = 0
    for bound, count in buckets:
        if count >= wanted:
            return low if bound == float("inf") else low + (bound - low) * (wanted - below) / (count - below)
        low, below = bound, count
    raise AssertionError("the histogram has no end")


def memory_mb(program):
    """The most that was resident, files and shared memory too; and what the process has of its own now."""
    with open(f"/proc/{program.pid}/status", encoding="ascii", errors="replace") as file:
        sizes = dict(re.findall(r"^(\w+):\s+(\d+) kB", file.read(), re.M))
    return int(sizes["VmHWM"]) / 1024, int(sizes["RssAnon"]) / 1024


def measure_latency(node, sizes):
    table = Table("Agent: event to acknowledgement, ms", "p50", "p99")
    for stream, name in STREAMS.items():
        for rate in sizes.latency_rates:
            sink = Sink(node, free_port())
            agent = Agent(node, sink.port)
            _, ledger = agent.deliver(stream, rate * sizes.latency_seconds // 6 * 6, rate)
            label = f"{name}: {rate:,} events/s"
            table.add(label, *(quantile(ledger.metrics, share) * 1000 for share in (0.5, 0.99)))
            agent.stop()
            sink.stop()
    return table


def measure_memory(node, sizes):
    table = Table(
        f"Agent: memory, MB, spans at {sizes.memory_rate:,} events/s",
        "highest", "of it its own at the end", "events", "lost", "spans dropped",
    )  # fmt: skip
    for up in (True, False):
        sink = Sink(node, free_port()) if up else None
        agent = Agent(node, sink.port if up else free_port())
        if up:
            table.add("idle", *memory_mb(agent.program), None, None, None)
        events, _ = generate(node, "span", sizes.memory_events, sizes.memory_rate)
        ledger = node.wait_ledger(lambda ledger: ledger.read + ledger.lost >= events, 120, f"{events} events read")
        if up:
            ledger = node.wait_ledger(lambda ledger: ledger.queued == 0, 120, "all spans to be sent")
        table.add(
            f"collector {'up' if up else 'down'}",
            *memory_mb(agent.program), ledger.read, ledger.lost, ledger.dropped,
        )  # fmt: skip
        if sink:
            agent.stop()
            sink.stop()
        else:
            agent.program.kill()
    return table


def measure_idle(node, sizes):
    table = Table(f"Agent: nothing happens, for {sizes.idle_seconds} s", "% of a core")
    sink = Sink(node, free_port())
    agent = Agent(node, sink.port)
    before = cpu(agent.program)
    time.sleep(sizes.idle_seconds)
    table.add("blkin-agent", (cpu(agent.program) - before) / sizes.idle_seconds * 100)
    agent.stop()
    sink.stop()
    return table


def measure(node, sizes):
    # the last one leaves a spool behind, which the next agent would send
    return [measure_latency(node, sizes), measure_idle(node, sizes), measure_memory(node, sizes)]
