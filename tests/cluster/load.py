# SPDX-License-Identifier: BSD-2-Clause
"""
Programs of many nodes that take part in the same traces: each has spans on four of the agents, of ten services, some of which have
much more to do than others. A process of its own makes all that and hands it over by Scribe.
"""

import asyncio
import base64
import random
import struct
import time

from feeder import put, text

PERIOD = 0.2  # seconds between two calls
NODES, PARTS = 4, 8  # of a trace: agents, and spans, one after the other on each
SERVICES = 10
ERRORS = 100  # one trace in so many has one, in its first span
RARE = 1 << 40  # traces from this number on are of rare services, with one span each
NAME = b"fed"


def table(agents):
    """The agents of a trace, by its number: some have much more than others."""
    chance = random.Random(1)
    weights = [1 / (1 + i) ** 0.5 for i in range(agents)]
    rows = []
    for _ in range(4096):
        row = []
        while len(row) < min(NODES, agents):
            (one,) = chance.choices(range(agents), weights)
            if one not in row:
                row.append(one)
        rows.append(row)
    return rows


def template(service, error):
    """What is before a span's trace id, between that and its id, and behind."""
    now = int(time.time() * 1e6)
    host = put(8, 1, struct.pack("!I", 0x7F000001)) + put(6, 2, struct.pack("!H", 7000)) + put(11, 3, text(service.encode())) + b"\0"
    note = put(10, 1, struct.pack("!Q", now)) + put(11, 2, text(b"sr")) + put(12, 3, host) + b"\0"
    tag = put(11, 1, text(b"error")) + put(11, 2, text(b"bad")) + put(8, 3, struct.pack("!I", 6)) + put(12, 4, host) + b"\0"
    behind = put(15, 6, struct.pack("!BI", 12, 1) + note) + (put(15, 8, struct.pack("!BI", 12, 1) + tag) if error else b"")
    behind += put(10, 10, struct.pack("!Q", now)) + put(10, 11, struct.pack("!Q", 100)) + b"\0"
    return b"\x0a\0\1", put(11, 3, text(NAME)) + b"\x0a\0\4", behind


class Load:
    """In a process of its own: @times of the load, until it is negative. Sends what it made: (when, the first trace's number)."""

    def __init__(self, inputs, load, times, made):
        self.inputs, self.load, self.times, self.made = inputs, load, times, made
        chance = random.Random(2)
        weights = [1 / (1 + i) for i in range(SERVICES)]
        self.services = [chance.choices(range(SERVICES), weights)[0] for _ in range(1024)]
        self.templates = [[template(f"service{i}", error) for error in (False, True)] for i in range(SERVICES)]
        self.rare = [template(f"rare{i}", False) for i in range(2)]
        self.rows = table(len(inputs))
        self.next, self.next_rare = 1, RARE
        self.waiting = [[] for _ in inputs]

    def add(self, agent, trace, part, parts):
        first, middle, behind = parts
        number = struct.pack("!Q", trace)
        body = b"".join((first, number, middle, struct.pack("!Q", trace << 4 | part), behind))
        body = base64.b64encode(body)
        self.waiting[agent].append(b"\x0b\0\1\0\0\0\6zipkin\x0b\0\2" + struct.pack("!I", len(body)) + body + b"\0")

    def make(self, spans):
        for trace in range(self.next, self.next + round(spans / PARTS)):
            row = self.rows[trace % 4096]
            for part in range(PARTS):
                error = part == 0 and trace % ERRORS == 0
                parts = self.templates[self.services[(trace * 7 + part) % 1024]][error]
                self.add(row[part % len(row)], trace, part, parts)
        self.next += round(spans / PARTS)

    def make_rare(self):
        for agent in range(len(self.inputs)):
            for parts in self.rare:
                self.add(agent, self.next_rare, 0, parts)
                self.next_rare += 1

    async def give(self, agent):
        """Until all has an OK."""
        stream = None
        while self.times.value >= 0 or self.waiting[agent]:
            entries, self.waiting[agent] = self.waiting[agent], []
            if not entries:
                await asyncio.sleep(PERIOD / 4)
                continue
            head = struct.pack("!II", 0x80010001, 3) + b"Log" + struct.pack("!IBHBI", 1, 15, 1, 12, len(entries))
            body = head + b"".join(entries) + b"\0"
            while True:
                try:
                    stream = stream or await asyncio.open_connection("127.0.0.1", self.inputs[agent])
                    stream[1].write(struct.pack("!I", len(body)) + body)
                    reply = await stream[0].readexactly(int.from_bytes(await stream[0].readexactly(4), "big"))
                    if reply[-2] == 0:
                        break
                except (OSError, asyncio.IncompleteReadError):
                    stream = None
                await asyncio.sleep(PERIOD)
        if stream:
            stream[1].close()

    async def run(self):
        tasks = [asyncio.ensure_future(self.give(agent)) for agent in range(len(self.inputs))]
        due, turn = time.monotonic(), 0
        while self.times.value >= 0:
            self.made.put((time.monotonic(), self.next, self.next_rare))
            self.make(self.load * PERIOD * self.times.value)
            if turn % round(2 / PERIOD) == 0:
                self.make_rare()
            turn += 1
            due += PERIOD
            await asyncio.sleep(max(due - time.monotonic(), 0))
        await asyncio.gather(*tasks)
        self.made.put(None)
