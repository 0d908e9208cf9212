# SPDX-License-Identifier: BSD-2-Clause
"""
programs/idsink.c: a collector, by Scribe and by HTTP, that keeps up with any load, and knows which of spanload's spans
came, and when. SinkPair is two of them with an output of the agent each.
"""

import collections
import os
import signal
import struct

from .process import answers, exactly, free_port, wait_until

RECORD = struct.Struct("<HHIqq")


class IdSink:
    """Start and kill it as often as needed."""

    def __init__(self, node, port, address="127.0.0.1"):
        self.node, self.port, self.address = node, port, address
        self.path = node.path(f"ids-{address}-{port}")
        self.program = None
        open(self.path, "ab").close()

    def start(self):
        # one that was killed may have left a part of a record, which it has not acknowledged
        os.truncate(self.path, self.count() * RECORD.size)
        self.program = self.node.start(
            [self.node.built("tests/live/programs/idsink"), self.port, self.path, self.address], name="idsink"
        )
        self.program.wait_ready(lambda: answers((self.address, self.port)))
        return self

    # Moods

    def hang(self):
        """It goes on accepting connections, as the kernel does that, and does not answer."""
        self.program.suspend()

    def put_off(self):
        """Every call is answered TRY_LATER, or 503."""
        self.program.send(signal.SIGUSR1)

    def refuse(self):
        """Every call is answered with an exception, or 400."""
        self.program.send(signal.SIGUSR2)

    def kill(self):
        self.program.kill()

    def recover(self):
        """Takes spans again, whatever it was."""
        if self.program.running():
            self.program.send(signal.SIGHUP)
            self.program.send(signal.SIGCONT)
        else:
            self.start()

    # What came

    def count(self):
        """How many spans came."""
        return os.path.getsize(self.path) // RECORD.size

    def wait_for(self, count, seconds):
        wait_until(lambda: self.count() >= count, seconds, f"{count} spans")

    def _unpacked(self):
        with open(self.path, "rb") as file:
            data = file.read()
        return RECORD.iter_unpack(data[: len(data) // RECORD.size * RECORD.size])

    def records(self):
        """(process, thread, ordinal, seconds since the epoch) of each span that came, in that order."""
        return [(process, thread, n, at / 1e9) for process, thread, n, at, _ in self._unpacked()]

    def ids(self):
        """How often each span of the load came."""
        return collections.Counter(record[:3] for record in self._unpacked())

    def batch_sizes(self):
        """How many spans each call had."""
        return list(collections.Counter(at for *_, at, _ in self._unpacked()).values())

    def delays(self, start, end):
        """Seconds from the beginning to the arrival of the spans that began in this time of the wall clock."""
        ages = [(at - age, age) for *_, at, age in self._unpacked()]
        return sorted(age / 1e9 for began, age in ages if start <= began / 1e9 < end)

    def check(self, processes, threads, spans):
        """Every span of the load came; returns how many came more than once."""
        seen = self.ids()
        wanted = wanted_ids(processes, threads, spans)
        missing = wanted - seen.keys()
        exactly(not missing, f"{len(missing)} spans are missing: {sorted(missing)[:10]}")
        exactly(len(seen) == len(wanted), f"{len(seen.keys() - wanted)} are of nobody")
        return sum(seen.values()) - len(seen)

    def rate(self, start, seconds):
        """Spans a second that came from @start on, of the wall clock."""
        came = sum(1 for record in self.records() if start <= record[3] < start + seconds)
        return came / seconds


def wanted_ids(processes, threads, spans):
    return {(p, t, n) for p in range(processes) for t in range(threads) for n in range(spans)}


QUICK = {"batch-delay": "50ms", "retry-min": "50ms", "retry-max": "500ms"}


class SinkPair:
    """`default`, a sink by Scribe, and `west`, one by HTTP."""

    names = ("default", "west")

    def __init__(self, node):
        self.node = node
        self.sinks = {name: IdSink(node, free_port()).start() for name in self.names}

    def __getitem__(self, name):
        return self.sinks[name]

    def start_agent(self, default=None, west=None, **sections):
        """Starts the agent; @default and @west are further keys of the outputs."""
        west = dict(QUICK, type="http", server=f"127.0.0.1:{self['west'].port}", **(west or {}))
        return self.node.start_agent(
            self["default"].port, output=default or {}, **{"output west": west}, **sections
        )

    def wait_idle(self, total, seconds=60):
        """Waits until the load is read, and all of it settled at both; returns their ledgers."""
        return {
            name: self.node.wait_ledger(
                lambda ledger: ledger.read + ledger.lost - ledger.again >= total and ledger.idle(),
                seconds,
                f"all to be settled at {name}",
                output=name,
            )
            for name in self.names
        }
