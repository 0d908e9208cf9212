# SPDX-License-Identifier: BSD-2-Clause
"""The rate that holds: two programs, faster and faster, until something is lost; and what was lost first."""

from rig.process import free_port

from .live import Agent
from .processes import of_node, seconds
from .table import Table
from .trace import Sink

PROGRAMS = 2


def broke(ledger):
    """In the order in which spans pass them."""
    rows = {
        "LTTng's buffers": ledger.lost,
        "LTTng's relay": ledger.packets_lost,
        "the agent": ledger.rejected,
        "the output's queue": ledger.dropped,
    }
    return next((f"{name}: {count:,}" for name, count in rows.items() if count), "nothing")


def run(node, rate, sizes):
    """What of @rate arrived, the ledger, and the CPU seconds of the node."""
    sink = Sink(node, free_port())
    agent = Agent(node, sink.port)
    pids = of_node(node, agent.program)
    before = seconds(pids)
    words = [node.built("tests/bench/generate"), "span", rate * sizes.rate_seconds // PROGRAMS, rate // PROGRAMS]
    programs = [node.start(words) for _ in range(PROGRAMS)]
    for program in programs:
        program.wait(600)
    events = sum(int(program.log().split()[0]) for program in programs)
    ledger = node.wait_ledger(
        lambda ledger: ledger.read + ledger.lost >= events or ledger.packets_lost, 120, f"{events} events read"
    )
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 120, "all to be sent")
    after = seconds(pids)
    agent.stop()
    sink.stop()
    return ledger, sum(after.values()) - sum(before.values())


def measure(node, sizes):
    table = Table(
        f"Rate: spans a second of {PROGRAMS} programs, for {sizes.rate_seconds} s each",
        "sent", "lost first", "node's CPU µs a span",
    )  # fmt: skip
    for rate in sizes.rates:
        ledger, used = run(node, rate, sizes)
        table.add(f"{rate:,}", ledger.sent, broke(ledger), used / max(ledger.sent, 1) * 1e6)
        if broke(ledger) != "nothing":
            break
    return [table]
