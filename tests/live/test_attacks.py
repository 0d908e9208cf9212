# SPDX-License-Identifier: BSD-2-Clause
"""
Three users record at a steady rate, and somebody sends spans to `[input]`, while a fourth user attacks at random
(rig/attacks.py). The status names what is wrong within ten seconds, never says that all is well while spans stay away, and all
are live again within fifteen seconds; nothing comes twice that is not counted. Of the three nothing is lost, whatever the
fourth loses, but with a session that ends (row 1): of that the status says the time in which it was recorded. So it is when the
session daemon dies by itself, at any time: it is started again, as systemd does.

BLKIN_ATTACKS is its length in seconds, BLKIN_ATTACKS_ONLY the numbers of the attacks (1,2,3,3b,4,5,6,7,8,s; a few by default),
BLKIN_SEED repeats a run.
"""

import collections
import json
import os
import random
import statistics
import subprocess
import time

import pytest
from rig.attacks import ATTACKS, Tap, start_agent
from rig.bystanders import Bystander, FileTally, SinkTally
from rig.idsink import IdSink
from rig.process import SLOW, exactly, free_port
from rig.scribe import generated
from rig.sender import Sender
from rig.unit import Unit

SECONDS = int(os.environ.get("BLKIN_ATTACKS", "30"))
ONLY = os.environ.get("BLKIN_ATTACKS_ONLY", "3,4,5").split(",")
GOOD, ATTACKER = (4321, 4322, 4323), 4666
RATE = int(os.environ.get("BLKIN_ATTACKS_RATE", "200"))  # spans a second, of each user
SENDER, SENT = 60, 20  # the number of the one at [input], and its spans a second

NAMED = 10 + 2  # s, and the time that it takes to ask
LIVE = 15  # s
OVER = 60  # s until there is nothing to do, or what is left is noted
ASK = 0.5
SHM_SIZE = "512M"

pytestmark = pytest.mark.as_root("becomes other users")

Counted = collections.namedtuple("Counted", "events packets sessions seconds again")


def count(ledger):
    return Counted(ledger.lost, ledger.packets_lost, ledger.sessions_lost, ledger.lost_seconds, ledger.again)


class Defence:
    """All that takes part, and what was seen."""

    def __init__(self, node, rng, unit):
        self.node, self.rng, self.unit = node, rng, unit
        generated()
        os.mkdir(node.path("spans"))
        subprocess.run(["mount", "-o", f"remount,size={SHM_SIZE}", "/dev/shm"], check=True)
        sink = IdSink(node, free_port()).start()
        tap, port = Tap(sink.port), free_port()
        self.intake = port, tap
        quick = {"batch-delay": "50ms", "retry-min": "50ms", "retry-max": "500ms"}
        files = dict(quick, type="file", directory=node.path("spans"), **{"rotate-time": "1s"})
        node.write_config(
            tap.port,
            session={"keep": "yes", "memory": "16M", "disk": "1G"},
            output=quick,
            input={"scribe": f"127.0.0.1:{port}"},
            **{"output files": files},
        )
        start_agent(node)
        node.agent.wait_ready(node.collecting)
        self.users = [Bystander(node, user, number, RATE) for number, user in enumerate(GOOD)]
        self.sender = Sender(port, SENDER, count=1 << 30, batch=SENT // 2, rate=SENT)
        self.sender.start()
        self.tallies = {"sink": SinkTally(self.users, sink), "files": FileTally(self.users, node.path("spans"))}
        self.sink = sink
        self.next_ask, self.codes, self.watched = 0.0, set(), False
        self.silences, self.rows = [], []
        self.spared = 0.0  # until then they may be on their way
        self.delivered = 0, 0.0  # by the sender, and when that grew

    # What is seen

    def look(self):
        for tally in self.tallies.values():
            tally.look()
        if self.sender.done > self.delivered[0]:
            self.delivered = self.sender.done, time.monotonic()

    def step(self):
        self.look()
        if time.monotonic() >= self.next_ask:
            self.ask()
            self.next_ask = time.monotonic() + ASK
        time.sleep(0.05)

    def ask(self):
        """What is there to do? With nothing, nobody's spans stay away."""
        silent = self.silent_since(time.monotonic() - NAMED)
        command = [self.node.built("cli/blkin"), "status", "--json", "--socket", self.node.socket]
        done = subprocess.run(command, env=self.node.environment, capture_output=True, text=True, check=False)
        self.codes = {"no agent"}
        if done.returncode == 0:
            self.codes = {one["code"] for one in json.loads(done.stdout)["findings"]}
        self.look()
        watched = self.watched and time.monotonic() > max(self.spared, self.unit.died + LIVE * SLOW)
        if silent and not self.codes and watched and self.silent_since(time.monotonic() - NAMED):
            self.silences.append(f"{time.monotonic() - self.began:.0f} s: {', '.join(silent)}")

    def silent_since(self, moment):
        """Who has recorded nothing after that moment that came."""
        found = [
            f"user {user.user} at {name}"
            for name, tally in self.tallies.items()
            for user in self.users
            if tally.newest[user.number] < moment
        ]
        return found + (["the sender"] if self.delivered[1] < moment else [])

    def wait(self, holds, seconds):
        """Until it holds; after how many seconds it did, or None."""
        began = time.monotonic()
        while not holds():
            if time.monotonic() - began > seconds * SLOW:
                return None
            self.step()
        return time.monotonic() - began

    def counted(self):
        return count(self.node.ledger())

    # What is done

    def attack(self, number):
        attack = ATTACKS[number](self.node, ATTACKER, self.rng, self.intake, self.unit)
        before, began, left = self.counted(), time.monotonic(), self.codes
        attack.begin()
        end = time.monotonic() + attack.lasts

        def is_named():
            return not attack.says or bool(self.codes & set(attack.says)) or attack.is_healed() or self.unit.died > began

        named = self.wait(is_named, 2 * NAMED)
        if named is not None and attack.says:
            named = time.monotonic() - began
        codes = sorted(self.codes - left)
        self.wait(lambda: time.monotonic() >= end, attack.lasts + 1)
        mended = time.monotonic()
        self.spared = mended + LIVE * SLOW
        attack.mend()
        row = {
            "attack": f"{number} {type(attack).__name__}",
            "at": began - self.began,
            "began": began,
            "named": named,
            "codes": codes or (["healed"] if attack.is_healed() else []),
            "mended": mended,
            "live": 0.0,
            "before": before,
        }
        self.recover(row)
        self.rows.append(row)
        print(self.line(row), flush=True)

    def recover(self, row):
        """Until all are live again, and there is nothing to do; if the session daemon has died, by the one that came after it."""

        def since():
            return max(row["mended"], self.unit.died)

        def is_live():
            return self.unit.is_up() and not self.silent_since(max(since(), self.unit.started))

        live = self.wait(is_live, 4 * LIVE)
        self.spared = 0.0
        row["recovered"] = time.monotonic()
        row["live"] = None if None in (live, row["live"]) else max(row["live"], row["recovered"] - since())
        row["over"] = self.wait(lambda: not self.codes, OVER)
        row["left"] = sorted(self.codes)
        row["died"] = [how for when, how in self.unit.deaths if when >= row["began"]]
        row["load"] = os.getloadavg()[0]

    def pause(self, row):
        """Before the next attack. What died by itself meanwhile has to be counted by then."""
        end = time.monotonic() + self.rng.uniform(1, 4)
        self.wait(lambda: time.monotonic() >= end, 5)
        while not self.unit.is_up() or self.unit.died > row["recovered"]:
            self.recover(row)
            print(f"       and again: {self.line(row)}", flush=True)

    @staticmethod
    def line(row):
        def time_of(value):
            return "never" if value is None else f"{value:.1f} s"

        return (
            f"{row['at']:6.0f} s  {row['attack']:20} said after {time_of(row['named'])} ({', '.join(row['codes'])}), live again "
            f"{time_of(row['live'])} after it was mended, nothing to do after {time_of(row['over'])} {row['left'] or ''}"
            f" (load {row['load']:.1f})" + "".join(f"; lttng-sessiond died: {how}" for how in row["died"])
        )

    def run(self):
        self.began = time.monotonic()
        assert self.wait(lambda: not self.silent_since(self.began) and not self.codes, 30) is not None
        self.watched = True
        deck = []
        while time.monotonic() - self.began < SECONDS:
            deck = deck or self.rng.sample(ONLY, len(ONLY))
            self.attack(deck.pop())
            self.pause(self.rows[-1])

    def settle(self):
        """Ends the loads, and waits until all that they recorded is delivered or counted, in the ledger that is returned."""
        self.watched = False
        for user in self.users:
            user.end()
        self.sender.count = 0
        self.sender.join(30)
        assert not self.sender.is_alive(), "the sender does not come to an end"
        self.wait(lambda: not any(t.missing(user) for t in self.tallies.values() for user in self.users), 15)
        for output in ("default", "files"):
            self.node.wait_ledger(lambda ledger: ledger.idle(), 60, f"all to be settled at {output}", output)
        ledger = self.node.ledger()
        assert self.node.agent.stop(60) == 0
        for tally in self.tallies.values():
            tally.look()
        return ledger

    # What came of it

    def lost_between(self, began, end):
        """Of each output, how many were recorded then, and did not come."""
        return {
            name: sum(began <= user.when(n) < end for user in self.users for n in tally.missing(user))
            for name, tally in self.tallies.items()
        }

    def table(self, last):
        """Each attack with what was lost and what was counted until the next; @last: the counters at the end."""
        lines = []
        for row, following in zip(self.rows, self.rows[1:] + [None]):
            after = following["before"] if following else last
            end = following["began"] if following else float("inf")
            row["lost"] = self.lost_between(row["began"] - 1, end - 1)
            row["counted"] = Counted(*(b - a for a, b in zip(row["before"], after)))
            lines.append(f"{self.line(row)}; lost {row['lost']}, {row['counted']}")
        return "\n".join(lines)

    def summary(self):
        """By attack: how often, and the middle and longest times. By user: what was recorded, and came."""

        def times(values):
            known = [value for value in values if value is not None]
            most = "never" if len(known) < len(values) else f"{max(known):.1f}"
            return f"{statistics.median(known) if known else 0:.1f}/{most} s"

        lines = []
        for name in sorted({row["attack"] for row in self.rows}):
            rows = [row for row in self.rows if row["attack"] == name]
            took = ", ".join(f"{key} {times([row[key] for row in rows])}" for key in ("named", "live", "over"))
            lost = {output: sum(row["lost"][output] for row in rows) for output in self.tallies}
            counted = Counted(*map(sum, zip(*(row["counted"] for row in rows))))
            lines.append(f"{name:20} {len(rows)} times, median and most: {took}; lost {lost}, {counted}")
        for user in self.users:
            came = ", ".join(f"{user.recorded - len(tally.missing(user))} in {name}" for name, tally in self.tallies.items())
            lines.append(f"user {user.user}: {user.recorded} recorded, {came}")
        return "\n".join(lines + [f"lttng-sessiond died by itself {len(self.unit.deaths)} times"])

    def check(self, ledger):
        assert not self.silences, "all was well, while nothing came: " + "; ".join(self.silences[:9])
        for row in self.rows:
            line = self.line(row)
            assert row["named"] is not None and row["named"] <= NAMED * SLOW, f"not named in time: {line}"
            assert row["live"] is not None and row["live"] <= LIVE * SLOW, f"not live in time: {line}"
            exactly(max(row["lost"].values()) <= self.counted_of(row), f"lost, and not counted: {line}; {row['lost']}, {row['counted']}")
        self.check_twice(ledger)
        mine = [self.sink_ids[(SENDER, 0, n)] for n in range(self.sender.done)]
        exactly(all(mine), f"{mine.count(0)} of the sender's spans are missing")

    def counted_of(self, row):
        """How many spans of the three are lost at most, by what the status counts."""
        counted = row["counted"]
        return counted.events + counted.seconds * RATE * len(self.users)

    def check_twice(self, ledger):
        twice = {name: sum(map(tally.twice, self.users)) for name, tally in self.tallies.items()}
        print(f"came twice: {twice}; {ledger.again} were read again")
        exactly(twice["files"] == 0, f"{twice['files']} came twice in files")
        exactly(twice["sink"] <= ledger.again, f"{twice['sink']} came twice, and {ledger.again} are counted")

    @property
    def sink_ids(self):
        if not hasattr(self, "_ids"):
            self._ids = self.sink.ids()
        return self._ids


def test_attacks(node):
    seed = int(os.environ.get("BLKIN_SEED", random.randrange(1 << 32)))
    print(f"BLKIN_SEED={seed}")
    with Unit(node) as unit:
        defence = Defence(node, random.Random(seed), unit)
        defence.run()
        ledger = defence.settle()
    recorded = sum(user.recorded for user in defence.users)
    print(defence.table(count(ledger)), defence.summary(), sep="\n")
    print(f"{recorded} spans recorded, {defence.sender.done} sent")
    defence.check(ledger)
