# SPDX-License-Identifier: BSD-2-Clause
"""Tables of medians, with their spread, and of ratios."""

import statistics


class Spread(float):
    """The median of several rounds, which remembers them all."""

    def __new__(cls, values):
        values = sorted(map(float, values))
        spread = super().__new__(cls, statistics.median(values))
        spread.values = values
        return spread

    def as_json(self):
        return {"median": float(self), "low": self.values[0], "high": self.values[-1], "rounds": len(self.values)}


def median(values):
    return Spread(values)


class Table:
    """A title, column names, and rows: a name, then numbers or texts."""

    def __init__(self, title, *columns, note=None):
        self.title = title
        self.columns = columns
        self.rows = []
        self.note = note

    def add(self, name, *values):
        assert len(values) == len(self.columns)
        self.rows.append((name, values))

    def as_json(self):
        rows = {name: dict(zip(self.columns, map(plain, values))) for name, values in self.rows}
        return {"title": self.title, "rows": rows, "note": self.note}

    def __str__(self):
        cells = [("",) + self.columns] + [(name, *map(text, values)) for name, values in self.rows]
        widths = [max(map(len, column)) for column in zip(*cells)]
        lines = [
            "  " + row[0].ljust(widths[0]) + "".join("  " + cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))
            for row in cells
        ]
        return "\n".join([self.title] + lines + (["  " + self.note] if self.note else []))


def plain(value):
    return value.as_json() if isinstance(value, Spread) else value


def text(value):
    """Of several rounds also the least and the most."""
    if value is None:
        return ""
    if isinstance(value, Spread) and len(value.values) > 1:
        return f"{text(float(value))} ({text(value.values[0])}–{text(value.values[-1])})"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else value


def ratio(values, floors):
    """The median of the rounds' ratios: what slows the machine down in one round slows both."""
    return median(value / floor for value, floor in zip(values, floors))


__all__ = ["Spread", "Table", "median", "ratio"]
