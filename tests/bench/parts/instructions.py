# SPDX-License-Identifier: BSD-2-Clause
"""Instructions a call and a span, by function: of the client's calls, of the formats, and of `blkin import` by stage."""

import subprocess
from collections import Counter

from rig.process import Trouble, free_port

from . import callgrind
from .files import record, trace_of
from .table import Table
from .trace import Session, Sink, babeltrace2_words

TARGETS = ("guard-programs", "cli/blkin")
CALLS, WARM_UP = 400, 20  # as in count.c
EVENTS = 11  # of a call of each row
FEW, MANY = 1500, 3500  # the first thousand messages are read twice: to see whether the trace is good
CLIENT = {
    "tracepoint": "client: bare tracepoint",
    "record": "client: blkin_record",
    "span-six": "client: span of 3 + 3",
    "span-bare": "client: empty span",
    "unsampled": "client: span, not sampled",
    "off-span-six": "client: span of 3 + 3, off",
    "off-record": "client: blkin_record, off",
}
FORMATS = ("record", "record, opened", "zipkin", "scribe entry", "json2", "otlp")
FLOOR, READ = "client: bare tracepoint", "import: babeltrace2 into its dummy sink"
BARE = "http: no compression"
FLOORS = {
    "client: blkin_record": FLOOR,
    "client: span of 3 + 3": FLOOR,
    "client: empty span": FLOOR,
    "import: all": READ,
    BARE: READ,
    "http: gzip": BARE,
}
OTHERS = (FLOOR, READ)  # LTTng's and babeltrace2's, by themselves


class Row:
    """What a call or a span takes: all of it, and each function by itself."""

    def __init__(self, functions, times):
        self.functions = {name: cost / times for name, cost in functions.items()}
        self.instructions = sum(self.functions.values())


def check_recorded(session):
    """What a session that is not yet begun refuses costs a tenth, and LTTng counts it nowhere."""
    words = ["babeltrace2", session.folder]
    events = subprocess.run(words, capture_output=True, check=True).stdout.count(b"\n")
    wanted = (CALLS + WARM_UP) * EVENTS
    if events != wanted:
        raise Trouble(f"{events} events were recorded of {wanted}: not a measurement")


def count_client(node, slow):
    program = node.built(f"tests/bench/count{slow}")
    found = callgrind.run(node, [program, CALLS, "off"])
    with Session(node) as session:
        # until LTTng is done with a program, its events are enabled, and are not recorded yet
        found |= callgrind.run(node, [program, CALLS, "on"], LTTNG_UST_REGISTER_TIMEOUT="-1")
        session.stop()
        check_recorded(session)
    return {name: Row(found[title], CALLS) for title, name in CLIENT.items()}


def count_formats(node, slow):
    found = callgrind.run(node, [node.built(f"tests/bench/encode{slow}"), CALLS])
    return {f"format: {title}": Row(found[title], CALLS) for title in FORMATS}


def differ(few, many, spans):
    """What the spans took, without what the program took to start."""
    return Row({name: cost - few[name] for name, cost in many.items() if cost > few[name]}, spans)


def count_import(node, few, many, spans, **output):
    def read(folder):
        sink = Sink(node, free_port())
        config = node.write_config(sink.port, output=output)
        found = callgrind.run(node, [node.built("cli/blkin"), "import", "--config", config, folder])
        sink.stop()
        return sum(found.values(), Counter())

    return differ(read(few), read(many), spans)


def count_floor(node, few, many, spans):
    def read(folder):
        words = babeltrace2_words("fs", trace_of(folder), muxer=True)
        return sum(callgrind.run(node, words).values(), Counter())

    return differ(read(few), read(many), spans)


def split(row):
    """By stage: the room of the agent that a function is in."""
    stages = {}
    for name, cost in row.functions.items():
        words = name.split("/")
        if words[0] == "agent" and len(words) > 2:
            stages.setdefault(f"import: {'/'.join(words[1:-1])}/", {})[name] = cost
    return {stage: Row(stages[stage], 1) for stage in sorted(stages) if sum(stages[stage].values()) >= 1}


def count_agent(node):
    (few, _, _), (many, _, spans) = record(node, "span", FEW, 0), record(node, "span", MANY, 0)
    spans -= FEW
    rows = {READ: count_floor(node, few, many, spans), "import: all": count_import(node, few, many, spans)}
    rows |= split(rows["import: all"])
    bare = count_import(node, few, many, spans, type="http", compression="none")
    rows[BARE] = bare
    rows["http: gzip"] = count_import(node, few, many, spans, type="http", compression="gzip")
    return rows


def count(node, slow=False, agent=True):
    """All rows, by name; with @slow of the programs that are slower than they should be."""
    slow = "-slow" if slow else ""
    rows = count_client(node, slow) | count_formats(node, slow)
    return rows | count_agent(node) if agent else rows


def table_of(rows):
    table = Table("Instructions a call, a span", "instructions", "/ floor")
    for name, row in rows.items():
        floor = FLOORS.get(name)
        table.add(name, round(row.instructions), row.instructions / rows[floor].instructions if floor else None)
    return table


def measure(node, _):
    return [table_of(count(node))]
