# SPDX-License-Identifier: BSD-2-Clause
"""
Which alerts of conf/prometheus-rules.yml hold for an output's metrics at a moment, by no more of Prometheus's language than they
use. What a real Prometheus makes of them is test_prometheus.py's.
"""

import math
import os
import re

from .node import TOP

RULES = os.path.join(TOP, "conf/prometheus-rules.yml")
ALERT = re.compile(r"- alert: (\w+)\n +expr: (?:>-\n)?((?:.*\n)+?) +(?:for|labels):")
METRIC = re.compile(r"\b(blkin_\w+)(\{[^}]*\})?(\[\w+\])?")
LATENCY = ("BlkinDeliverySlow", "BlkinAgentDown")  # a quantile, and what Prometheus itself knows


class Sample(float):
    """A comparison leaves a sample or nothing, and nothing is false; 0 is a sample."""

    def _keep(self, true):
        return self if true else Sample("nan")

    def __gt__(self, other):
        return self._keep(float(self) > float(other))

    def __lt__(self, other):
        return self._keep(float(self) < float(other))

    def __eq__(self, other):
        return self._keep(float(self) == float(other))

    __hash__ = float.__hash__

    def __bool__(self):
        return not math.isnan(self)

    def __add__(self, other):
        return Sample(float(self) + float(other))

    def __mul__(self, other):
        return Sample(float(self) * float(other))

    __rmul__ = __mul__


def total(metrics, name, selector):
    """The sum of a metric's series; nothing if there is none."""
    without = dict(re.findall(r'(\w+)!="([^"]*)"', selector or ""))
    found = [
        value
        for key, value in metrics.items()
        if key.split("{")[0] == name and not any(f'{label}="{word}"' in key for label, word in without.items())
    ]
    return Sample(sum(found)) if found else Sample("nan")


def rules():
    with open(RULES, encoding="utf-8") as file:
        return {name: " ".join(text.split()) for name, text in ALERT.findall(file.read())}


def firing(before, now):
    """The names of those that hold, where counters had been as @before; both are Node.metrics()."""

    def look(match):
        name, selector, span = match.groups()
        values.append(total(now, name, selector))
        if span:
            old = total(before, name, selector)
            values[-1] = Sample(float(values[-1]) - (float(old) if old else 0))
        return f"values[{len(values) - 1}]"

    found = set()
    for name, text in rules().items():
        values = []
        text = METRIC.sub(look, re.sub(r"\b(sum|max|min) by \([^)]*\)|\bincrease\b", "", text))
        if name not in LATENCY and eval(text, {"values": values}):  # noqa: S307 it is ours
            found.add(name)
    return found
