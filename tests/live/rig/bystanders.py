# SPDX-License-Identifier: BSD-2-Clause
"""
Well-behaved users whose programs record numbered spans at a steady rate (programs/spanload.c), and what came of these at each
output: how often each of them, and how new the newest is. A tally is read as it grows, for loads that last for hours.
"""

import os
import re
import signal
import time

from .idsink import RECORD
from .spanfiles import SpanFiles
from .users import start_as

FOREVER = 10**9
WORKER = re.compile(rb'"worker":"(\d+)\.0"')
ORDINAL = re.compile(rb'"ordinal":"(\d+)"')
START = re.compile(rb'"start":"(\d+)"')


class Bystander:
    """@number: its process number in the spans; @rate: spans a second."""

    def __init__(self, node, user, number, rate):
        self.user, self.number, self.rate, self.recorded = user, number, rate, 0
        self.began = time.monotonic()
        self.program = start_as(node, user, "spanload", "-P", number, "-n", FOREVER, "-r", rate)

    def end(self):
        assert self.program.running(), "the load ended by itself"
        self.program.send(signal.SIGTERM)
        assert self.program.wait() == 0
        self.recorded = int(self.program.log().split()[1])

    def recorded_at(self, ordinal, start):
        """On a busy machine the program begins seconds after it was started."""
        self.began = start - ordinal / self.rate

    def when(self, ordinal):
        """When it was recorded, by time.monotonic()."""
        return self.began + ordinal / self.rate


class Tally:
    def __init__(self, bystanders):
        self.seen = {one.number: bytearray() for one in bystanders}  # how often each ordinal came
        self.newest = {one.number: 0.0 for one in bystanders}  # when it was recorded, by time.monotonic()
        self.unseen = {one.number: one for one in bystanders}  # nothing of these has come yet

    def note(self, number, ordinal, start):
        seen = self.seen.get(number)
        if seen is None:
            return
        if ordinal >= len(seen):
            seen.extend(bytes(ordinal + 4096 - len(seen)))
        seen[ordinal] = min(seen[ordinal] + 1, 255)
        self.newest[number] = max(self.newest[number], start)
        if number in self.unseen:
            self.unseen.pop(number).recorded_at(ordinal, start)

    def missing(self, bystander):
        """The ordinals of its spans that did not come."""
        seen = self.seen[bystander.number].ljust(bystander.recorded, b"\0")
        return [ordinal for ordinal in range(bystander.recorded) if not seen[ordinal]]

    def twice(self, bystander):
        """How many came again, each time counted."""
        return sum(count - 1 for count in self.seen[bystander.number] if count > 1)


class SinkTally(Tally):
    """At an IdSink."""

    def __init__(self, bystanders, sink):
        super().__init__(bystanders)
        self.sink, self.offset = sink, 0

    def look(self):
        ahead = time.time_ns() - time.monotonic_ns()
        with open(self.sink.path, "rb") as file:
            file.seek(self.offset)
            data = file.read()
        data = data[: len(data) // RECORD.size * RECORD.size]
        self.offset += len(data)
        for process, _, ordinal, at, age in RECORD.iter_unpack(data):
            self.note(process, ordinal, (at - age - ahead) / 1e9)


class FileTally(Tally):
    """In finished files, which are taken away, as who uses them does."""

    def __init__(self, bystanders, directory):
        super().__init__(bystanders)
        self.files = SpanFiles(directory)

    def look(self):
        for path in self.files.finished():
            with open(path, "rb") as file:
                for line in file:
                    self._note_line(line)
            os.unlink(path)

    def _note_line(self, line):
        worker = WORKER.search(line)
        if worker:
            self.note(int(worker[1]), int(ORDINAL.search(line)[1]), int(START.search(line)[1]) / 1e9)
