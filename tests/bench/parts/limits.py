# SPDX-License-Identifier: BSD-2-Clause
"""What the guard expects: the instructions of each row, by function, in guard.json; and what has grown since."""

import json
import os

from .instructions import FLOORS, OTHERS

FILE = os.path.realpath(os.path.join(os.path.dirname(__file__), "../guard.json"))
LIMIT = 1.2
# What is so little by itself may change by a few instructions with the compiler.
LITTLE = 60
SLACK = 8
# Rows that take less are none, and functions that take less are one in the file.
LEAST = 20
NAMED = 2
REST = "all others"


def codename():
    with open("/etc/os-release", encoding="utf-8") as file:
        return next((line.strip().partition("=")[2] for line in file if line.startswith("VERSION_CODENAME=")), "")


def as_json(row):
    functions = {name: round(cost) for name, cost in sorted(row.functions.items()) if round(cost) >= NAMED}
    functions[REST] = round(row.instructions) - sum(functions.values())
    return {"instructions": round(row.instructions), "functions": functions}


def load():
    """Those of this release of Debian, or the first ones."""
    if not os.path.exists(FILE):
        return {}
    with open(FILE, encoding="utf-8") as file:
        releases = json.load(file)
    return releases.get(codename()) or next(iter(releases.values()))


def save(rows):
    """Those of other releases stay."""
    releases = {}
    if os.path.exists(FILE):
        with open(FILE, encoding="utf-8") as file:
            releases = json.load(file)
    releases[codename()] = {name: as_json(row) for name, row in rows.items() if row.instructions >= LEAST}
    with open(FILE, "w", encoding="utf-8") as file:
        json.dump(releases, file, indent="\t")
        file.write("\n")


def readable(function):
    """`put_tag, agent/encode/zipkin.c`"""
    path, _, name = function.rpartition(":")
    return f"{name}, {path}" if path else name


def grown(row, expected):
    """The functions that make the most of what @row has grown, a line each."""
    before = expected["functions"]
    now = as_json(row)["functions"]
    more = sorted(((now[name] - before.get(name, 0), name) for name in now), reverse=True)
    least = max(1, (round(row.instructions) - expected["instructions"]) / 10)
    return [f"  {readable(name)}: {before.get(name, 0):,} → {now[name]:,}" for size, name in more[:3] if size >= least]


def check_row(name, row, rows, expected):
    """What is wrong with a row, in lines: none if it is good, or none of ours."""
    before, now, floor = expected[name]["instructions"], row.instructions, FLOORS.get(name)
    change = now / max(before, 1)
    if floor:
        change *= expected[floor]["instructions"] / rows[floor].instructions
    if name in OTHERS or change <= LIMIT or (before < LITTLE and now <= before + SLACK):
        return []
    against = f", against {floor}," if floor else ""
    head = f"{name}: {before:,} → {now:,.0f} instructions{against} are {change:.2f} times as many; {LIMIT} are allowed"
    return [head] + grown(row, expected[name])


def check(rows, expected):
    """What has grown since, in lines. A row so small that it was left out has no limit; `import: all` has it."""
    lines = []
    for name in expected:
        if name not in rows:
            lines.append(f"{name}: is not measured any more; tests/bench/guard --write takes it out of guard.json")
    for name, row in rows.items():
        if name in expected:
            lines += check_row(name, row, rows, expected)
        elif row.instructions >= LITTLE:
            lines.append(f"{name}: has no limit yet; tests/bench/guard --write sets it")
    return lines
