# SPDX-License-Identifier: BSD-2-Clause
"""Many agents after an outage, simulated: by the rules that the agent has, all is delivered soon; by those before, never."""

import json
import os
import random
import subprocess
import sys

import pytest
from rig.node import TOP, build_dir

CLUSTER = os.path.join(TOP, "tests/cluster")
sys.path.insert(0, CLUSTER)

from rules import MOST, Backoff, Budget, Courtesy, Share, constants  # noqa: E402


def simulate(*words):
    done = subprocess.run(
        [sys.executable, "-B", f"{CLUSTER}/simulate", "--json", *words], stdout=subprocess.PIPE, text=True, check=True, timeout=300
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_rules_before_collapse():
    """What eighty real agents did: 55 % refused, 3,080 of 5,000 spans/s taken, 106,000 spans behind after 101 s."""
    (result,) = simulate("blip", "--rules", "fixed", "--limit", "5.05")
    assert result["backlog"] == pytest.approx(20000, rel=0.05)
    assert result["drained"] is None
    assert result["left"] == pytest.approx(106000, rel=0.2)
    assert result["refused"] == pytest.approx(0.55, rel=0.2)
    assert result["taken/s"] == pytest.approx(3080, rel=0.2)


@pytest.mark.parametrize("scenario", ["blip", "blip30", "close", "herd", "quiet"])
def test_drains(scenario):
    (result,) = simulate(scenario, "--rules", "today", "--sample", "80", "--seconds", "10", "--limit", "2")
    assert result["drained"] is not None, result
    assert result["refused"] <= 0.05, result


@pytest.mark.parametrize("nodes", [1, 2, 5])
@pytest.mark.parametrize("refusal", ["0", "0.5", "1"])
def test_few_nodes_drain(nodes, refusal):
    """What one of them has to send after a rest is much for a collector that takes little more than they have."""
    (result,) = simulate("one", "--rules", "today", "--nodes", str(nodes), "--rate", str(600 / nodes), "--refusal", refusal, "--limit", "2")
    assert result["drained"] is not None and result["refused"] <= 0.05, result


@pytest.mark.parametrize("scenario, part", [("some", 0.95), ("once", 0.98)])
def test_who_puts_off_at_random_gets_all(scenario, part):
    """That does not depend on how much it is sent, so less helps nobody."""
    results = [simulate(scenario, "--rules", "today", "--seed", str(seed))[0] for seed in range(1, 4)]
    assert min(result["served"] for result in results) >= part, results


def test_a_stop_has_no_time():
    (result,) = simulate("stop", "--rules", "today")
    assert result["backlog"] == 5000 and result["left"] == 0, result


def test_who_is_away_long_is_tried_seldom():
    (result,) = simulate("away", "--rules", "today", "--limit", "0.01")
    assert 0 < result["tries/s"] <= 1000, result
    (result,) = simulate("away", "--rules", "fixed", "--limit", "0.01")
    assert result["tries/s"] == pytest.approx(11429, rel=0.05)


class Rules:
    """The simulation's, called as tests/cluster/rules.c calls the agent's."""

    def __init__(self):
        is_ = constants({})
        self.courtesy, self.backoff, self.share = Courtesy(is_, half), Backoff(is_, half), Share(is_, half)
        self.budget, self.told = Budget(is_), (0, 0)

    def second(self, came, kept):
        self.budget.step(100, 1, came, kept, *self.told)
        return self.budget.knows()

    def happens(self, now, what, a, b):
        courtesy, pace = self.courtesy, self.courtesy.pace
        if what == "told":
            self.told = (a, b)
            return None
        if what == "good":
            courtesy.good(now)
            self.backoff.good(now)
            return None
        return {
            "look": lambda: pace.look(now, a, 100),
            "wait": lambda: pace.wait(now),
            "held": lambda: courtesy.wait(a, now),
            "spend": lambda: courtesy.spend(a, b > 0),
            "taken": lambda: pace.good(now),
            "grant": lambda: pace.grant(a),
            "put_off": lambda: courtesy.put_off(a),
            "too_fast": lambda: courtesy.too_fast(now),
            "failed": lambda: courtesy.failed(a > 0, b, now),
            "serves": lambda: bool(courtesy.serves(now)),
            "next": lambda: self.backoff.next(a, now),
            "connected": self.backoff.connected,
            "restart": lambda: self.share.restart(now, a),
            "step": lambda: self.share.step(now, a),
            "read": lambda: self.share.spend(a),
            "second": lambda: self.second(a, b),
        }[what]()

    def state(self):
        pace, all_ = self.courtesy.pace, self.courtesy.all
        return (
            pace.rate, pace.credit, self.courtesy.window, self.courtesy.next_most(), self.backoff.bound, self.share.credit, self.budget.part,
            all_.rate, all_.credit,
        )  # fmt: skip


def half():
    return 0.5


def some_life(chance):
    """Lines for rules.c: times, and what happens."""
    now, fresh = 1000.0, 0
    kinds = ["look"] * 6 + ["wait"] * 6 + ["held"] * 6
    kinds += "spend spend spend taken grant good good put_off too_fast failed serves next connected step step read".split()
    yield now, "look", 0, 0
    yield now, "restart", 0, 0
    for _ in range(500):
        came = chance.randrange(300) if chance.random() < 0.8 else 0
        told = chance.randrange(came + 1) if chance.random() < 0.3 else 0
        yield now, "told", told, told * chance.randrange(1, 20)
        yield now, "second", came, chance.randrange(came + 1)
    for _ in range(5000):
        now += round(chance.expovariate(20 if chance.random() < 0.97 else 0.1), 6)
        fresh += chance.randrange(60)
        what = chance.choice(kinds)
        a = fresh if what in ("look", "step", "restart") else chance.randrange(2) if what == "failed" else chance.randrange(80)
        yield now, what, a if what != "next" else a * (a > 60), chance.randrange(4)


@pytest.mark.parametrize("seed", range(4))
def test_rules_are_the_agents(seed):
    life = list(some_life(random.Random(seed)))
    words = "".join(f"{now:.6f} {what} {a} {b}\n" for now, what, a, b in life)
    done = subprocess.run(
        [f"{build_dir()}/tests/cluster/cluster_rules"], input=words, stdout=subprocess.PIPE, text=True, check=True, timeout=60
    )
    rules, most = Rules(), 0
    for line, answer in zip(life, done.stdout.splitlines(), strict=True):
        result = rules.happens(*line)
        most = max(most, rules.state()[3] != MOST)
        ours = (float(result or 0), *map(float, rules.state()))
        assert [float(word) for word in answer.split()] == pytest.approx(ours, rel=1e-4, abs=1e-3), line
    assert most, "no call was small: this life shows nothing"
