# SPDX-License-Identifier: BSD-2-Clause
"""The picture of tests/cluster/simulate: of each scenario the backlog and what is taken, over the time, by each set of rules."""

import html

WIDTH, HEIGHT, LEFT, TOP, GAP, FOOT = 940, 190, 62, 46, 84, 34
PLOT = (WIDTH - 2 * LEFT - GAP) / 2
STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #24292f; }
  .title { font-weight: 600; font-size: 13px; }
  .value { fill: #57606a; }
  path, line { fill: none; stroke-width: 1.8; }
  .today { stroke: #0969da; } .fixed { stroke: #bf8700; } .axis { stroke: #8c959f; stroke-width: 1; }
  text.today { stroke: none; fill: #0969da; } text.fixed { stroke: none; fill: #bf8700; }
  .mark { stroke: #8c959f; stroke-width: 1; stroke-dasharray: 4 3; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .value { fill: #9da7b1; }
    .today { stroke: #58a6ff; } .fixed { stroke: #d29922; } text.today { fill: #58a6ff; } text.fixed { fill: #d29922; }
  }"""
POINTS = 300  # of a line


def short(value):
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:.3g}{name}"
    return f"{value:.3g}"


def thin(series, column):
    """As many points as can be seen, each the mean of those that it is for."""
    step = max(len(series) // POINTS, 1)
    groups = (series[at : at + step] for at in range(0, len(series), step))
    return [(group[-1][0], sum(point[column] for point in group) / len(group)) for group in groups]


class Plot:
    def __init__(self, left, top, seconds, most):
        self.left, self.bottom, self.seconds, self.most = left, top + HEIGHT - FOOT, seconds, most or 1
        self.height = HEIGHT - TOP - FOOT

    def x(self, seconds):
        return f"{self.left + seconds / self.seconds * PLOT:.1f}"

    def y(self, value):
        return f"{self.bottom - min(value / self.most, 1) * self.height:.1f}"

    def axes(self, title):
        right = self.x(self.seconds)
        yield f'<text x="{self.left:.1f}" y="{self.bottom - self.height - 8:.1f}">{html.escape(title)}</text>'
        yield f'<path class="axis" d="M{self.left:.1f},{self.y(self.most)} V{self.bottom:.1f} H{right}"/>'
        for value in (0, self.most / 2, self.most):
            at = f'x="{self.left - 6:.1f}" y="{float(self.y(value)) + 4:.1f}"'
            yield f'<text class="value" {at} text-anchor="end">{short(value)}</text>'
        for part in (0, 0.5, 1):
            seconds = part * self.seconds
            at = f'x="{self.x(seconds)}" y="{self.bottom + 16:.1f}"'
            yield f'<text class="value" {at} text-anchor="middle">{seconds:,.0f} s</text>'

    def mark(self, value, words):
        yield f'<line class="mark" x1="{self.left:.1f}" y1="{self.y(value)}" x2="{self.x(self.seconds)}" y2="{self.y(value)}"/>'
        yield f'<text class="value" x="{float(self.x(self.seconds)) + 4:.1f}" y="{float(self.y(value)) + 4:.1f}">{words}</text>'

    def line(self, points, kind):
        return f'<path class="{kind}" d="M{" L".join(f"{self.x(at)},{self.y(value)}" for at, value in points)}"/>'


def draw_scenario(name, runs, top):
    """@runs: of the rules, one each."""
    seconds = max(run.series[-1][0] for run in runs)
    one = runs[0]
    load, capacity = one.nodes * one.rate, one.nodes * one.rate * one.spare
    title = f"{name}: {one.nodes:,} nodes of {one.rate:g} spans/s, {one.seconds:g} s, room for {one.spare:g} times of that"
    yield f'<text class="title" x="8" y="{top + 16}">{html.escape(title)}</text>'
    backlog = Plot(LEFT, top, seconds, max(point[1] for run in runs for point in run.series))
    taken = Plot(LEFT + PLOT + GAP, top, seconds, capacity * 1.1)
    yield from backlog.axes("what waits, spans")
    yield from taken.axes("taken, spans/s")
    yield from taken.mark(capacity, "capacity")
    yield from taken.mark(load, "load")
    for run in runs:
        yield backlog.line(thin(run.series, 1), run.rules)
        yield taken.line(thin(run.series, 2), run.rules)


def draw(runs):
    lines, top = [], 24
    lines += ['<text class="today" x="8" y="16">today</text>', '<text class="fixed" x="60" y="16">the rules before</text>']
    for name in dict.fromkeys(run.name for run in runs):
        lines += draw_scenario(name, [run for run in runs if run.name == name], top)
        top += HEIGHT
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}" role="img">'
    title = "<title>Many agents after an outage: what waits, and what is taken, by tests/cluster/simulate</title>"
    return "\n".join([head, title, f"<style>{STYLE}\n</style>", *lines, "</svg>", ""])
