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


PACED_CALLS, PACED_PAUSE_US = 10, 1000  # bursts of ten, 10,000 calls a second


def run_client(node, mode, threads, sizes, *words):
    """Rounds of (wall, CPU) by row; and by "events" how many were recorded in all."""
    rows = defaultdict(list)
    options = ["-t", threads, "-r", sizes.rounds, "-b", sizes.batches, "-n", sizes.calls]
    log = node.run(["tests/bench/client", *options, *words, mode], seconds=600)
    for line in log.splitlines():
        words = line.split()
        if len(words) == 4:
            rows[words[0]].append((float(words[2]), float(words[3])))
        elif words[:1] == ["events"]:
            rows["events"] = int(words[1])
    return rows


def table_on(rows, how):
    table = Table(
        f"Client, {how}: ns a call",
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
    table.add("empty call, on", median(empty["on"]), None)
    for row, name in OFF.items():
        cpu = [cpu for _, cpu in (off.get(row) or on[row])]
        floor = empty["off" if row in off else "on"]
        table.add(name, median(cpu), median(value - least for value, least in zip(cpu, floor)))
    return table


def run_paced(node, sizes):
    """Each row in a program of its own, as the others would keep the caches warm for it; in turns."""
    rows, sizes = defaultdict(list), type(sizes)(**dict(vars(sizes), batches=min(1000, sizes.batches * 20), calls=PACED_CALLS))
    one = type(sizes)(**dict(vars(sizes), rounds=1))
    for _ in range(sizes.rounds):
        for row in ON:
            rows[row] += run_client(node, "on", 1, one, "-p", PACED_PAUSE_US, "-o", row)[row]
    return rows


def measure(node, sizes):
    tables, on = [], {}
    with Session(node) as session:
        for threads in (1, 2, 4):
            on[threads] = run_client(node, "on", threads, sizes)
            tables.append(table_on(on[threads], f"{threads} thread{'s' * (threads > 1)}"))
        tables.append(table_on(run_paced(node, sizes), "paced at 10,000 a second"))
        session.stop()
    return tables + [table_off(run_client(node, "off", 1, sizes), on[1])]
