# SPDX-License-Identifier: BSD-2-Clause
"""
By what rules an agent sends, for tests/cluster/simulate: agent/output/uplink/backoff.c, agent/output/server/sendpace.c, evenpace.c and courtesy.c, agent/output/spool/pace.c, and for
tests/cluster/budget agent/output/budget.c, line by line, with times in seconds. Their constants are read from these files, so that the simulation is of what the agent does
today; tests/live/test_simulate.py sees that the lines are the same, too.
"""

import os
import random
import re

AGENT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../agent"))
SOURCES = ("output/uplink/backoff.c", "output/server/sendpace.c", "output/server/evenpace.c", "output/server/courtesy.c", "output/spool/pace.c", "output/spool/due.c", "output/spool/spooler.c", "output/budget.h", "output/budget.c", "queue/quota.c")
KEYS = ("window", "timeout", "retry-min", "retry-max", "batch-spans", "queue-size", "replay-share", "replay-floor")
DEFINE = re.compile(r"^#define (\w+) +([\d. *()/]+|[(].*NS_PER_\w+[)])$", re.M)
KEY = re.compile(r'"([a-z-]+)", (?:NUMBER|SIZE|DURATION), .*?\.number = ([^,]+)[,)]')
UNITS = {"NS_PER_SECOND": 1.0, "NS_PER_MS": 0.001, "SECOND": 1.0, "MS": 0.001, "MIB": 1 << 20}
MOST = 2**32 - 1  # UINT32_MAX


def number(text):
    """What `(50 * NS_PER_MS)` is."""
    return eval(text, {"__builtins__": {}}, UNITS)  # of our own sources


def read(path):
    with open(os.path.join(AGENT, path), encoding="utf-8") as file:
        return file.read()


def constants(changes):
    """{"sendpace.GROW_USUAL": 0.05, …, "retry-max": 1.5}; @changes: what is to be tried instead."""
    found = {}
    for path in SOURCES:
        name = os.path.basename(path)[:-2]
        found.update({f"{name}.{key}": number(value) for key, value in DEFINE.findall(read(path))})
    keys = {key: value for key, value in KEY.findall(read("config/keys.c")) if key in KEYS}
    found.update({key: number(value) for key, value in keys.items()})
    wrong = sorted(set(changes) - set(found)) + sorted(set(KEYS) - set(found))
    if wrong:
        raise SystemExit(f"tests/cluster/simulate: the agent has no constant or key {wrong[0]}; see tests/cluster/rules.py")
    found.update(changes)
    return found


class Backoff:
    """agent/output/uplink/backoff.c"""

    def __init__(self, is_, chance=random.random):
        self.min, self.max, self.random = is_["retry-min"], is_["retry-max"], chance
        self.asked_max, self.spread = is_["backoff.ASKED_MAX_NS"], is_["backoff.ASKED_SPREAD"]
        self.part, self.good_for, self.good_calls = (is_["backoff." + name] for name in ("AWAY_PART", "GOOD_NS", "GOOD_CALLS"))
        self.away_max, self.busy_max = is_["backoff.AWAY_MAX_NS"], is_["backoff.BUSY_MAX_NS"]
        self.since = self.wait = 0.0  # good; the latest
        self.calls = 0  # that were good since then
        self.reset()

    def most(self, now):
        away = min((now - self.away) / self.part, self.away_max) if self.away else 0
        busy = min((now - self.busy) / self.part, self.busy_max) if self.busy else 0
        return max(self.max, away, busy)

    def next(self, asked, now):
        if self.since and (self.calls >= self.good_calls or now - self.since >= min(self.good_for, self.wait)):
            self.reset()
        self.since, self.calls = 0.0, 0
        wait = self.min + self.random() * max(self.bound - self.min, 0)
        asked = min(asked, self.asked_max) * (1 + (self.spread - 1) * self.random())
        if not self.away:
            self.away = now
        if not self.busy:
            self.busy = now
        self.bound = min(2 * self.bound, self.most(now))
        self.wait = max(wait, asked)
        return self.wait

    def good(self, now):
        if not self.since:
            self.since = now
        self.calls += 1
        self.away = 0.0
        self.bound = min(self.bound, max(self.most(now), self.min))

    def connected(self):
        self.away = self.busy = 0.0
        self.bound = min(self.bound, max(self.max, self.min))

    def reset(self):
        self.bound = min(2 * self.min, self.max)
        self.away = self.busy = 0.0


class FixedBackoff(Backoff):
    """Before: one good answer made waits short, the outage did not make them longer, and all came back when they were asked to."""

    def next(self, asked, now):
        wait = self.min + self.random() * max(self.bound - self.min, 0)
        self.bound = min(2 * self.bound, self.max)
        return max(wait, min(asked, self.asked_max))

    def good(self, now):
        self.reset()


class SendPace:
    """agent/output/server/sendpace.c"""

    def __init__(self, is_, chance=random.random):
        self.random = chance
        names = """BEGIN_USUAL BEGIN_FLOOR GROW_USUAL GROW_FLOOR GROW_RATE FALL FALL_NS RATE_MIN LEAST_USUAL REST_MIN_NS
                   GROW_FLOOR_MAX REST_MAX_NS RETURN_NS BURST DEBT USUAL_NS LOOK_NS"""
        (self.begin_usual, self.begin_floor, self.grow_usual, self.grow_floor, self.grow_rate, self.fall, self.fall_for,
         self.rate_min, self.least_usual, self.rest_min, self.grow_floor_max, self.rest_max, self.return_for, self.burst,
         self.debt, self.usual_for, self.look_for) = (is_["sendpace." + name] for name in names.split())  # fmt: skip
        self.usual = self.floor = self.rate = self.credit = 0.0
        self.begun = False
        self.fresh = 0
        self.now = self.looked = self.until = self.busy_at = self.limited_at = 0.0

    def begin_rate(self):
        return max(self.begin_usual * self.usual, self.begin_floor * self.floor, self.rate_min)

    def look(self, now, fresh, floor):
        self.floor = floor
        passed = now - self.looked
        if not self.looked:
            self.looked, self.fresh = now, fresh
        elif passed >= self.look_for:
            self.usual += ((fresh - self.fresh) / passed - self.usual) * min(passed / self.usual_for, 1)
            self.looked, self.fresh = now, fresh
        if not self.begun:
            self.rate = self.begin_rate()

    def restart(self, now):
        self.rate = self.begin_rate()
        self.credit = 0.0
        self.limited_at = 0.0
        self.until = now + self.random() * self.return_for

    def reckon(self, now):
        passed = now - self.now if self.now else 0.0
        self.credit = min(max(self.credit + self.rate * passed, -self.rate * self.debt), self.rate * self.burst)
        self.now = now

    def wait(self, now):
        self.reckon(now)
        if now < self.until:
            return self.until - now
        if self.credit > 0:
            return 0.0
        self.limited_at = self.limited_at or now
        return min(max(-self.credit / self.rate, 0.001), 1.0)

    def spend(self, spans):
        self.credit -= spans
        self.begun = True

    def forgive(self):
        self.credit = max(self.credit, 0)
        self.until = 0.0

    def grant(self, spans):
        self.rate = min(self.rate, max(spans, self.rate_min))

    def good(self, now):
        since = max(self.limited_at, self.busy_at + self.fall_for)
        if not self.limited_at or now <= since:
            return
        itself = min(max(self.grow_rate * self.rate, self.grow_floor * self.floor), self.grow_floor_max * self.floor)
        self.rate += min(max(self.grow_usual * self.usual, itself) * (now - since), self.rate)
        self.limited_at = 0.0

    def busy(self, now):
        self.begun = True
        self.reckon(now)
        self.credit = min(self.credit, 0)
        self.until = now + self.rest_min + self.random() * (self.rest_max - self.rest_min)
        if self.busy_at and now - self.busy_at < self.fall_for:
            return
        self.rate = max(self.rate * self.fall, min(self.rate, max(self.least_usual * self.usual, self.rate_min)))
        self.busy_at = now


class EvenPace:
    """agent/output/server/evenpace.c"""

    def __init__(self, is_):
        self.on_for, self.empty, self.call, self.burst, self.few = (is_["evenpace." + name] for name in "ON_NS EMPTY CALL BURST FEW".split())
        self.rate = self.credit = self.now = self.busy_at = 0.0
        self.over = False

    def busy(self, now):
        self.busy_at = now
        self.credit = 0.0

    def is_on(self, now):
        return not self.over and self.busy_at and now - self.busy_at < self.on_for

    def wait(self, come, waiting, now):
        seconds, self.now = now - self.now, now
        if not self.is_on(now):
            self.rate = self.credit = 0.0
            return 0.0
        self.rate = max(come + waiting / self.empty, self.few)
        self.credit = min(self.credit + self.rate * seconds, self.rate * self.burst)
        return 0.0 if self.credit > 0 else min(max(-self.credit / self.rate, 0.001), 1.0)

    def most(self):
        return int(min(max(self.rate * self.call, self.few), 1e9)) if self.rate else MOST

    def spend(self, spans):
        self.credit -= spans

    def end(self):
        self.over = True


class Courtesy:
    """agent/output/server/courtesy.c, for a server that says that it is busy, or ends connections."""

    def __init__(self, is_, chance=random.random):
        names = "SERVES_NS WIDEN_NS SMALL_NS PUT_OFF_PART GROW_PART LEAST_PART FAILURES"
        (self.serves_for, self.widen_for, self.small_for, self.put_off_part, self.grow_part, self.least_part,
         self.failures) = (is_["courtesy." + name] for name in names.split())  # fmt: skip
        self.pace = SendPace(is_, chance)
        self.all = EvenPace(is_)
        self.window = self.window_max = is_["window"]
        self.most = MOST
        self.good_at = 0.0
        self.busy = False

    def least(self):
        return int(min(max(self.pace.usual * self.least_part, 1), 1e6))

    def good(self, now):
        self.good_at = now
        self.busy = False
        if now - self.pace.busy_at > self.small_for:
            self.most = MOST
        elif self.most < MOST // 2:
            self.most += max(int(self.most * self.grow_part), self.least())
        if self.window < self.window_max and now - self.pace.busy_at > self.widen_for:
            self.window += 1

    def put_off(self, items):
        self.most = max(int(min(self.most, items) * self.put_off_part), self.least())

    def too_fast(self, now):
        self.window = 1
        self.pace.busy(now)

    def failed(self, answered, failures, now):
        """@answered: it asked for time, or ended the connection; otherwise it is away."""
        self.good_at = 0.0
        self.window = 1
        self.busy = answered
        if failures >= self.failures:
            self.pace.forgive()
        elif answered:
            self.pace.busy(now)
        else:
            self.pace.restart(now)
        if answered and self.pace.usual > 0:
            self.all.busy(now)

    def wait(self, waiting, now):
        return self.all.wait(self.pace.usual + self.pace.rate, waiting, now)

    def next_most(self):
        """courtesy_most()"""
        return min(self.most, self.all.most())

    def spend(self, items, replayed):
        if replayed:
            self.pace.spend(items)
        self.all.spend(items)

    def serves(self, now):
        return self.good_at and now - self.good_at < self.serves_for


class Share:
    """agent/output/spool/pace.c: how fast the disk is read."""

    def __init__(self, is_, chance=random.random):
        share = is_["replay-share"]
        self.ratio, self.floor, self.random = -1 if share >= 100 else share / (100 - share), is_["replay-floor"], chance
        self.begin_for, self.jitter_min, self.jitter_max = is_["pace.BEGIN_NS"], is_["pace.JITTER_MIN"], is_["pace.JITTER_MAX"]
        self.burst = is_["pace.BURST"]
        self.jitter, self.fresh_rate, self.credit, self.fresh, self.now, self.begin = 1.0, 0.0, 0.0, 0, 0.0, 0.0

    def restart(self, now, fresh):
        self.jitter = self.jitter_min + self.random() * (self.jitter_max - self.jitter_min)
        self.begin = now + self.random() * self.begin_for
        self.now, self.fresh = now, fresh
        self.fresh_rate = self.credit = 0.0

    def rate(self):
        return max(self.floor, self.ratio * self.fresh_rate) * self.jitter

    def step(self, now, fresh):
        passed = now - self.now
        if passed > 0:
            self.fresh_rate += ((fresh - self.fresh) / passed - self.fresh_rate) * min(passed, 1)
            self.fresh, self.now = fresh, now
        if now < self.begin:
            return False
        if self.ratio < 0:
            return True
        rate = self.rate()
        self.credit = min(self.credit + rate * max(passed, 0), rate * self.burst)
        return self.credit > 0

    def spend(self, spans):
        self.credit -= spans

    def next(self, now):
        """When a step may allow more."""
        return max(self.begin, now - self.credit / self.rate() if self.ratio >= 0 else now)


class Budget:
    """agent/output/budget.c"""

    def __init__(self, is_):
        self.mean_of, self.peak_of = is_["budget.BUDGET_MEAN"], is_["budget.BUDGET_PEAK"]
        self.most, self.least_step, self.known_after = (is_["budget." + name] for name in ("MOST", "STEP", "KNOWN"))
        self.part = 1.0
        self.latest, self.means = [], []  # (spans, seconds) and spans a second, the newest last
        self.known = 0

    def whole(self, came, kept, told, before):
        all_ = came - told + before
        if not told or not came or all_ <= came:
            return came
        return kept / min(self.part, came / all_)

    def step(self, rate, seconds, came, kept, told, before):
        self.latest = [*self.latest, (self.whole(came, kept, told, before), seconds)][-self.mean_of :]
        mean = sum(spans for spans, _ in self.latest) / max(sum(took for _, took in self.latest), 1e-9)
        self.means = [*self.means, mean][-self.peak_of :]
        peak = max(self.means)
        self.known = min(self.known + 1, self.known_after) if peak > 0 else 0
        if self.part * mean > self.most * rate:
            self.part = rate / mean
        elif rate > self.least_step * self.part * peak:
            self.part = rate / peak if peak > rate else 1.0

    def knows(self):
        return self.known >= self.known_after
