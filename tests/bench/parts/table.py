# SPDX-License-Identifier: BSD-2-Clause
"""Tables of medians and ratios."""

from statistics import median


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
        rows = {name: dict(zip(self.columns, values)) for name, values in self.rows}
        return {"title": self.title, "rows": rows, "note": self.note}

    def __str__(self):
        cells = [("",) + self.columns] + [(name, *map(text, values)) for name, values in self.rows]
        widths = [max(map(len, column)) for column in zip(*cells)]
        lines = [
            "  " + row[0].ljust(widths[0]) + "".join("  " + cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))
            for row in cells
        ]
        return "\n".join([self.title] + lines + (["  " + self.note] if self.note else []))


def text(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else value


def ratio(values, floors):
    """The median of the rounds' ratios: what slows the machine down in one round slows both."""
    return median(value / floor for value, floor in zip(values, floors))


__all__ = ["Table", "median", "ratio"]
