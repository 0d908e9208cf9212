# SPDX-License-Identifier: BSD-2-Clause
"""What a span costs the traced program, against a bare tracepoint and, with tracing off, against an empty call."""

from collections import defaultdict

from .table import Table, median, ratio
from .trace import Session

FLOOR = "tracepoint"
ON = {
    FLOOR: "bare tracepoint, 4 strings and 4 integers",
    "record": "blkin_record of the same",
    "six-records": "six annotations and tags by blkin_record",
    "span-six": "span of 3 annotations and 3 tags",
    "span-bare": "span with nothing in it",
    "span-event": "only the event of a span of 3 + 3",
}
OFF = {
    "off-tracepoint": "bare tracepoint, off",
    "off-span": "span, off",
    "off-span-six": "span of 3 + 3, off",
    "off-record": "blkin_record, off",
    "unsampled": "span, on, its trace not sampled",
}


def run_client(node, mode, threads, sizes):
    """Rounds of (wall, CPU) by row."""
    rows = defaultdict(list)
    log = node.run(
        ["tests/bench/client", "-t", threads, "-r", sizes.rounds, "-b", sizes.batches, "-n", sizes.calls, mode],
        seconds=600,
    )
    for line in log.splitlines():
        words = line.split()
        if len(words) == 4:
            rows[words[0]].append((float(words[2]), float(words[3])))
    return rows


def table_on(rows, threads):
    table = Table(
        f"Client, {threads} thread{'s' * (threads > 1)}: ns a call",
        "wall", "CPU", "wall / floor", "CPU / floor",
    )  # fmt: skip
    floor_wall, floor_cpu = zip(*rows[FLOOR])
    for row, name in ON.items():
        wall, cpu = zip(*rows[row])
        table.add(name, median(wall), median(cpu), ratio(wall, floor_wall), ratio(cpu, floor_cpu))
    return table


def table_off(off, on):
    table = Table("Client, nothing recorded: ns a call", "CPU", "above an empty call")
    empty = {"off": [cpu for _, cpu in off["off-nothing"]], "on": [cpu for _, cpu in on["nothing"]]}
    table.add("empty call", median(empty["off"]), None)
    for row, name in OFF.items():
        cpu = [cpu for _, cpu in (off.get(row) or on[row])]
        floor = empty["off" if row in off else "on"]
        table.add(name, median(cpu), median(value - least for value, least in zip(cpu, floor)))
    return table


def measure(node, sizes):
    on = {}
    with Session(node) as session:
        for threads in (1, 2):
            on[threads] = run_client(node, "on", threads, sizes)
        session.stop()
    off = run_client(node, "off", 1, sizes)
    return [table_on(on[1], 1), table_on(on[2], 2), table_off(off, on[1])]
