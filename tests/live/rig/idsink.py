# SPDX-License-Identifier: BSD-2-Clause
"""programs/idsink.c: a collector that keeps up with any load, and knows which of spanload's spans came, and when."""

import os
import struct
import time

from .process import answers, wait_until

RECORD = struct.Struct("<HHIq")


class IdSink:
    """Start and kill it as often as needed."""

    def __init__(self, node, port):
        self.node, self.port = node, port
        self.path = node.path("ids")
        self.program = None
        open(self.path, "ab").close()

    def start(self):
        self.program = self.node.start(
            [self.node.built("tests/live/programs/idsink"), self.port, self.path], name="idsink"
        )
        self.program.wait_ready(lambda: answers(self.port))
        return self

    def count(self):
        """How many spans came."""
        return os.path.getsize(self.path) // RECORD.size

    def wait_for(self, count, seconds):
        wait_until(lambda: self.count() >= count, seconds, f"{count} spans")

    def records(self):
        """(process, thread, ordinal, seconds since the epoch) of each span that came, in that order."""
        with open(self.path, "rb") as file:
            data = file.read()
        data = data[: len(data) // RECORD.size * RECORD.size]
        return [(process, thread, n, at / 1e9) for process, thread, n, at in RECORD.iter_unpack(data)]

    def check(self, processes, threads, spans):
        """Every span of the load came; returns how many came more than once."""
        records = self.records()
        seen = {record[:3] for record in records}
        wanted = {(p, t, n) for p in range(processes) for t in range(threads) for n in range(spans)}
        assert seen == wanted, f"{len(wanted - seen)} spans are missing, {len(seen - wanted)} are of nobody"
        return len(records) - len(seen)

    def rate(self, start, seconds):
        """Spans a second that came from @start on, of the wall clock."""
        came = sum(1 for record in self.records() if start <= record[3] < start + seconds)
        return came / seconds


def now():
    return time.time()
