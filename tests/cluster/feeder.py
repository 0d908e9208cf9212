# SPDX-License-Identifier: BSD-2-Clause
"""
Programs of many nodes: each hands its agent so many spans a second by Scribe, and keeps what has no OK. A span's id tells its
agent, its number, and when it was made.
"""

import asyncio
import base64
import struct
import time

PERIOD = 0.2  # seconds between two calls
CALL = 100  # spans of a call at most, or those of a second, so that what waits for an agent is not in its programs
TICKS = 10000  # of the time in an id, per second
NAME = b"fed"


def put(kind, number, value):
    return struct.pack("!BH", kind, number) + value


def text(value):
    return struct.pack("!I", len(value)) + value


def span(one):
    number = struct.pack("!Q", one)
    now = int(time.time() * 1e6)
    host = put(8, 1, struct.pack("!I", 0x7F000001)) + put(6, 2, struct.pack("!H", 7000)) + put(11, 3, text(b"feeder")) + b"\0"
    note = put(10, 1, struct.pack("!Q", now)) + put(11, 2, text(b"sr")) + put(12, 3, host) + b"\0"
    return (
        put(10, 1, number) + put(11, 3, text(NAME)) + put(10, 4, number)
        + put(15, 6, struct.pack("!BI", 12, 1) + note)
        + put(10, 10, struct.pack("!Q", now)) + put(10, 11, struct.pack("!Q", 100)) + b"\0"
    )  # fmt: skip


def call(number, ids):
    out = [struct.pack("!II", 0x80010001, 3) + b"Log" + struct.pack("!IBHBI", number, 15, 1, 12, len(ids))]
    for one in ids:
        out.append(put(11, 1, text(b"zipkin")) + put(11, 2, text(base64.b64encode(span(one)))) + b"\0")
    out.append(b"\0")
    body = b"".join(out)
    return struct.pack("!I", len(body)) + body


class Feeder:
    """Feeds the agents at @ports, each @rate spans a second, from run() to stop(); `given` are the ids that have an OK; `repeats` is how many spans
    were handed over once more for want of one."""

    def __init__(self, ports, rate):
        self.ports, self.rate = ports, rate
        self.begin = time.monotonic()
        self.given, self.repeats, self.made = set(), 0, 0
        self.over = False

    def made_at(self, one):
        """When the span was made, time.monotonic()."""
        return self.begin + (one & 0xFFFFFFFF) / TICKS

    def due(self):
        """How many spans there are by now, those included that a program has no time to make, as it waits for its agent."""
        passed = time.monotonic() - self.begin
        return int(sum(max(passed - self.first(agent), 0) * self.rate for agent in range(len(self.ports))))

    def first(self, agent):
        """Seconds until the first one."""
        return PERIOD * agent / len(self.ports)

    def make(self, agent, state):
        """The ids of the spans that the agent's programs have made since the last call."""
        now, ids = time.monotonic(), []
        while state["due"] <= now:
            state["ordinal"] += 1
            made = int((state["due"] - self.begin) * TICKS)
            ids.append((agent + 1) << 54 | (state["ordinal"] & 0x3FFFFF) << 32 | made)
            state["due"] += 1 / self.rate
        self.made += len(ids)
        return ids

    async def give(self, port, state, ids):
        """Until they have an OK."""
        while True:
            try:
                if not state["stream"]:
                    state["stream"] = await asyncio.open_connection("127.0.0.1", port)
                reader, writer = state["stream"]
                writer.write(call(1, ids))
                reply = await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
            except (OSError, asyncio.IncompleteReadError):
                state["stream"] = None
            else:
                if reply[-2] == 0:
                    self.given.update(ids)
                    return
            self.repeats += len(ids)
            await asyncio.sleep(PERIOD)

    async def feed(self, agent, port):
        state = {"due": self.begin + self.first(agent), "ordinal": 0, "stream": None}
        while not self.over:
            await asyncio.sleep(PERIOD)
            ids = self.make(agent, state)
            most = max(CALL, int(self.rate))
            for at in range(0, len(ids), most):
                await self.give(port, state, ids[at : at + most])
        if state["stream"]:
            state["stream"][1].close()

    async def run(self):
        await asyncio.gather(*(self.feed(agent, port) for agent, port in enumerate(self.ports)))

    def stop(self):
        self.over = True
