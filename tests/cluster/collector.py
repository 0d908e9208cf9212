# SPDX-License-Identifier: BSD-2-Clause
"""
A collector of limited capacity, for many agents: it works off one call after the other, at so many spans a second, and refuses a
call when too much waits. To refuse a span costs a part of what it costs to take one, as it was read all the same. Each span's id
is kept, and when it came first. It speaks Scribe, or HTTP with Zipkin's JSON.
"""

import asyncio
import base64
import contextlib
import re
import struct
import time

OK = bytes.fromhex("80010002 00000003 4c6f67")
ID = re.compile(rb'"id":"([0-9a-f]{16})"')
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
FULL = 0.3  # seconds of work that may wait


class Collector:
    """@refusal: the cost of a refused span; @closes: when it is full, it ends the connection instead of an answer."""

    def __init__(self, capacity, refusal=0.5, closes=False, http=False):
        self.capacity, self.refusal, self.closes, self.http = capacity, refusal, closes, http
        self.port = None
        self.server = None
        self.peers = set()
        self.free = 0.0  # when all that waits is worked off
        self.asks = 0.0  # until then every call is put off,
        self.asks_for = 0  # and asked to come back after so many seconds
        self.ids = {}  # when each came
        self.again = 0  # how many of them came once more
        self.clear()

    def clear(self):
        self.taken = self.refused = self.calls = self.connects = 0
        self.connected = []  # when

    async def start(self):
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(lambda: Peer(self), "127.0.0.1", self.port or 0, backlog=1024)
        self.port = self.server.sockets[0].getsockname()[1]

    async def stop(self):
        """It is away: nothing listens, and all connections end."""
        self.server.close()
        for peer in list(self.peers):
            peer.transport.abort()
        self.free = 0.0

    def judge(self, count):
        """Whether the call is taken; its work waits behind that of the others, as does what it takes to refuse it."""
        now = time.monotonic()
        self.free = max(self.free, now)
        takes = self.free - now < FULL and now >= self.asks
        self.free += count * (1 if takes else self.refusal) / self.capacity
        self.calls += 1
        return takes

    def keep(self, ids):
        now = time.monotonic()
        for one in ids:
            self.again += one in self.ids
            self.ids.setdefault(one, now)
        self.taken += len(ids)


def scribe_ids(frame):
    """The call's number, and its spans' ids, which are their trace ids too: these come first in each message."""
    (length,) = struct.unpack_from("!I", frame, 4)
    at = 8 + length
    number, _, _, _, count = struct.unpack_from("!IBHBI", frame, at)
    at += 12
    ids = []
    for _ in range(count):
        at += 3
        at += 4 + int.from_bytes(frame[at : at + 4], "big") + 3
        size = int.from_bytes(frame[at : at + 4], "big")
        ids.append(int.from_bytes(base64.b64decode(frame[at + 4 : at + 20])[3:11], "big"))
        at += 4 + size + 1
    return number, ids


class Peer(asyncio.Protocol):
    def __init__(self, of):
        self.of = of
        self.data = bytearray()

    def connection_made(self, transport):
        self.transport = transport
        self.of.peers.add(self)
        self.of.connects += 1
        self.of.connected.append(time.monotonic())

    def connection_lost(self, exc):
        self.of.peers.discard(self)

    def data_received(self, data):
        self.data += data
        while self.take_post() if self.of.http else self.take_frame():
            pass

    def take_frame(self):
        if len(self.data) < 4:
            return False
        size = int.from_bytes(self.data[:4], "big")
        if len(self.data) < 4 + size:
            return False
        number, ids = scribe_ids(bytes(self.data[4 : 4 + size]))
        del self.data[: 4 + size]
        self.answer(ids, lambda takes: self.scribe_reply(number, takes))
        return True

    @staticmethod
    def scribe_reply(number, takes):
        body = OK + struct.pack("!IBHIB", number, 8, 0, 0 if takes else 1, 0)
        return struct.pack("!I", len(body)) + body

    def take_post(self):
        end = self.data.find(b"\r\n\r\n")
        if end < 0:
            return False
        size = int(LENGTH.search(self.data, 0, end)[1])
        if len(self.data) < end + 4 + size:
            return False
        ids = [int(one, 16) for one in ID.findall(self.data[end + 4 : end + 4 + size])]
        del self.data[: end + 4 + size]
        self.answer(ids, self.http_reply)
        return True

    def http_reply(self, takes):
        left = self.of.asks - time.monotonic()
        after = f"Retry-After: {self.of.asks_for}\r\n" if self.of.asks_for and left > 0 else ""
        status = "202 Accepted" if takes else "503 Service Unavailable"
        return f"HTTP/1.1 {status}\r\n{after}Content-Length: 0\r\n\r\n".encode()

    def answer(self, ids, reply):
        takes = self.of.judge(len(ids))
        if takes:
            self.of.keep(ids)
        else:
            self.of.refused += len(ids)
        if not takes and self.of.closes:
            self.of.peers.discard(self)
            self.transport.abort()
            return
        with contextlib.suppress(OSError):
            self.transport.write(reply(takes))
