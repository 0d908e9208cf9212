# SPDX-License-Identifier: BSD-2-Clause
"""What an event costs the agent, live, up to the acknowledgement; against babeltrace2's reader into sink.utils.dummy."""

import time
from collections import defaultdict

from rig.process import Trouble, free_port

from .table import Table, median, ratio
from .trace import AGENT, Session, Sink, babeltrace2, cpu, cpu_at_end, generate, settle

STREAMS = {"span": "spans of 3 annotations and 3 tags", "classic": "classic, 6 events a span"}
ENTRY_OVERHEAD = 21  # bytes of a log entry of category `zipkin` beside its message


def run_floor(node, stream, muxer, sizes):
    """CPU ns an event."""
    with Session(node, live=True) as session:
        reader = babeltrace2(node, "lttng-live", session.url(), muxer)
        settle(reader)
        before = cpu(reader)
        events, _ = generate(node, stream, sizes.live_events, sizes.live_rate)
        session.stop()
        session.destroy()
        return (cpu_at_end(reader) - before) / events * 1e9


class Agent:
    """An agent with the same session, at work; @server is a port."""

    def __init__(self, node, server, **sections):
        self.node = node
        self.server = server
        sections = {name: dict(AGENT.get(name, {}), **sections.get(name, {})) for name in AGENT | sections}
        self.program = node.start_agent(server, **sections)
        settle(self.program)

    def deliver(self, stream, events, rate, *names):
        """Has it deliver a stream; gives the CPU seconds that it took, and the ledger: nothing may be lost."""
        first = self.node.ledger()
        before = cpu(self.program)
        events, spans = generate(self.node, stream, events, rate, *names)
        events, spans = events + first.read, spans + first.sent

        def done(ledger):
            return ledger.read + ledger.lost >= events and ledger.sent >= spans

        # each question costs the agent something, the more the more names there are: usually one is enough
        time.sleep(1)
        used, ledger = cpu(self.program) - before, self.node.ledger()
        if not done(ledger):
            ledger = self.node.wait_ledger(done, 120, f"{spans} spans sent")
            used = cpu(self.program) - before
        if (ledger.read, ledger.sent, ledger.lost, ledger.packets_lost) != (events, spans, 0, 0):
            raise Trouble(f"of {events} events in {spans} spans, not all were delivered: not a measurement\n{ledger}")
        return used, ledger

    def stop(self):
        self.program.stop()


def run_agent(node, stream, sizes):
    """CPU ns an event, and bytes a span at the collector."""
    sink = Sink(node, free_port())
    agent = Agent(node, sink.port)
    used, ledger = agent.deliver(stream, sizes.live_events, sizes.live_rate)
    agent.stop()
    spans, size = sink.stop()
    if spans != ledger.sent:
        raise Trouble(f"the agent says {ledger.sent} spans were sent, the collector got {spans}")
    return used / ledger.read * 1e9, size / spans


def measure(node, sizes):
    tables = []
    wire = Table("Bytes a span at the collector", "log entry", "encoded span")
    for stream, name in STREAMS.items():
        rows = defaultdict(list)
        for _ in range(sizes.live_rounds):
            rows["floor"].append(run_floor(node, stream, False, sizes))
            agent, size = run_agent(node, stream, sizes)
            rows["agent"].append(agent)
            rows["muxer"].append(run_floor(node, stream, True, sizes))
        table = Table(
            f"Agent, live: {name}; {sizes.live_rate:,} events/s, none lost",
            "CPU ns/event", "/ floor", "/ with muxer",
        )  # fmt: skip
        for row, label in (
            ("floor", "babeltrace2 into sink.utils.dummy"),
            ("muxer", "the same through utils.muxer"),
            ("agent", "blkin-agent, to the acknowledgement"),
        ):
            table.add(label, median(rows[row]), ratio(rows[row], rows["floor"]), ratio(rows[row], rows["muxer"]))
        tables.append(table)
        wire.add(name, round(size), round((size - ENTRY_OVERHEAD) * 3 / 4))
    return tables + [wire]
