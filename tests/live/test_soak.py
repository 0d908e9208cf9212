# SPDX-License-Identifier: BSD-2-Clause
"""
A long load of three users, with two outputs, faults at random, and a fourth user who is hostile: every id is at both outputs,
the ledgers are exact, what is lost is the hostile user's, and memory and descriptors are flat.

BLKIN_SOAK is its length in seconds, BLKIN_SOAK_RATE the load in events a second, BLKIN_SEED repeats the faults.
"""

import os
import random
import re
import signal
import time

import pytest
from rig.counter import PARTS, Counter
from rig.hostile import Hostile
from rig.node import sanitized
from rig.process import SLOW, Trouble, exactly, free_port
from rig.proxy import Proxy
from rig.soakfaults import Faults
from rig.soakwatch import SoakWatch
from rig.users import start_as

SECONDS = int(os.environ.get("BLKIN_SOAK", "40"))
GOOD, HOSTILE = (4321, 4322, 4323), 4666
RATE = int(os.environ.get("BLKIN_SOAK_RATE", "9000")) // len(PARTS) // len(GOOD)  # spans of a user's
ROOM = RATE * (SECONDS + 600)  # for the numbers of a user's spans
LIMIT = 256 << 10  # KiB: MemoryMax of the agent's unit
FILES = 76  # descriptors of both processes; each input and output has one that wakes its loop
LONG = 600  # seconds from which on both halves of the time see as much
QUICK = {"batch-delay": "50ms", "retry-min": "50ms", "retry-max": "500ms", "timeout": "2s"}

pytestmark = pytest.mark.as_root("only root may run programs as other users")


class Load:
    """What a good user's programs record: spans whose numbers nobody else's have."""

    def __init__(self, node, number):
        self.user, self.first, self.spans = GOOD[number], 1 + number * ROOM, 0
        self.program = start_as(node, self.user, "soakload", RATE, self.first)

    def stop(self):
        assert self.program.running(), "the load ended by itself"
        self.program.send(signal.SIGTERM)
        assert self.program.wait() == 0
        self.spans = int(self.program.log())

    def result(self, counter):
        return counter.result(self.first, self.spans)


class Soak:
    """All that takes part."""

    def __init__(self, node, rng):
        self.node = node
        self.counters = {name: Counter(node, free_port(), len(GOOD) * ROOM).start() for name in ("default", "west")}
        proxy = Proxy(node.relay_ports[2])
        # babeltrace2 leaks when it fails
        environment = {"ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
        self.faults = Faults(node, rng, self.counters, proxy, environment)
        self.hostile = Hostile(node, HOSTILE, rng)
        west = dict(QUICK, type="http", server=f"127.0.0.1:{self.counters['west'].port}")
        node.write_config(
            self.counters["default"].port,
            session={"keep": "yes", "disk": "4G", "memory": "128M", "relay_live_port": proxy.port},
            output=QUICK,
            spool={"replay_share": "80", "max_size": "4G"},
            **{"output west": west},
        )
        node.start_agent_again(**environment)
        self.watch = SoakWatch(node)
        self.loads = [Load(node, number) for number in range(len(GOOD))]

    def run(self, rng):
        began = time.monotonic()
        due = began + 2
        with self.watch:
            while (now := time.monotonic()) < began + SECONDS:
                self.hostile.look(ruin=now > began + SECONDS * 0.8)
                self.faults.recover()
                if now >= due:
                    self.faults.next()
                    due = time.monotonic() + rng.uniform(0.5, 5)
                time.sleep(0.05)
        self.hostile.end()
        self.faults.recover(at_once=True)
        for load in self.loads:
            load.stop()

    def missing(self):
        """How many spans of the good users are not whole, at each output."""
        return {
            name: sum(load.spans - load.result(counter)[0] for load in self.loads)
            for name, counter in self.counters.items()
        }

    def settle(self, seconds):
        """Waits until all is delivered; returns the ledgers, by output."""
        end = time.monotonic() + seconds * SLOW
        self.faults.wait_ready()
        while True:
            ledgers = {name: self.node.ledger(name) for name in self.counters}
            for ledger in ledgers.values():
                ledger.check()
            missing = self.missing()
            if not any(missing.values()) and all(ledger.idle() for ledger in ledgers.values()):
                return ledgers
            if time.monotonic() > end:
                what = f"spans are missing: {missing}\n" + "\n".join(map(str, ledgers.values()))
                exactly(not all(ledger.idle() for ledger in ledgers.values()), what)
                raise Trouble(what)
            time.sleep(0.5)

    def agent_logs(self):
        return "".join(program.log() for program in self.node.programs if program.name == "blkin-agent")

    def table(self, ledgers):
        """What came of it, in a few lines."""
        good, watch = sum(load.spans for load in self.loads), self.watch
        ledger = ledgers["default"]
        rows = [
            ("time, load", f"{watch.ended - watch.began:.0f} s, {good * len(PARTS) / SECONDS:.0f} events/s of {len(GOOD)} users"),
            ("faults", ", ".join(f"{name} {count}" for name, count in sorted(self.faults.done.items()))),
            ("hostile turns", ", ".join(f"{name} {count}" for name, count in sorted(self.hostile.done.items()))),
            ("events", f"{good * len(PARTS)} good, {ledger.read - ledger.again} read, {ledger.again} again"),
        ]
        for name, ledger in ledgers.items():
            came, again = self.counters[name].totals()
            row = f"{good} good in, {good - self.missing()[name]} out, {again} again; {ledger.sent} sent, {came} came"
            rows.append((f"output {name}", f"{row}; {ledger.dropped} dropped"))
        rows.append(("lost of good users", str(sum(self.missing().values()))))
        rows.append((f"lost of user {HOSTILE}", f"{ledger.lost} events, {ledger.packets_lost} packets"))
        rows.append(("ready", f"{watch.share():.1%}"))
        for name in watch.used:
            (memory, files), (memory_then, files_then) = watch.halves(name)
            row = f"{memory / 1024:.1f} MiB, then {memory_then / 1024:.1f}; {files} descriptors, then {files_then}"
            rows.append((f"{name}, at most", row))
        return "\n".join(f"{name:22} {text}" for name, text in rows)

    def check(self, ledgers):
        for name, ledger in ledgers.items():
            came, _ = self.counters[name].totals()
            assert ledger.dropped == ledger.sessions_lost == 0, f"{name}: {ledger}"
            assert ledger.sent <= came, f"{name}: {ledger.sent} sent, of which {came} came"
        ledger = ledgers["default"]
        assert ledger.read - ledger.again >= len(PARTS) * sum(load.spans for load in self.loads)
        named = {int(user) for user in re.findall(r"(?:programs|packets) of user (\d+)", self.agent_logs())}
        assert named <= {HOSTILE}, named
        assert not ledger.packets_lost or HOSTILE in named
        self.check_flat()

    def check_flat(self):
        for name in self.watch.used:
            (memory, files), (memory_then, files_then) = self.watch.halves(name)
            grown = f"{name}: {memory} KiB and {files} descriptors, then {memory_then} and {files_then}"
            assert max(files, files_then) <= FILES, grown
            assert sanitized() or max(memory, memory_then) <= LIMIT, grown
            if SECONDS >= LONG:
                assert files_then <= files + 4 and (sanitized() or memory_then <= 1.1 * memory + 4096), grown


def test_soak(node):
    seed = int(os.environ.get("BLKIN_SEED", random.randrange(1 << 32)))
    print(f"BLKIN_SEED={seed}")
    rng = random.Random(seed)
    soak = Soak(node, rng)
    soak.run(rng)
    ledgers = soak.settle(60 + SECONDS / 2)
    print(soak.table(ledgers))
    soak.check(ledgers)
