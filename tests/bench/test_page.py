# SPDX-License-Identifier: BSD-2-Clause
"""scripts/performance-page: figures as they are shown, and a chart that is well-formed and asks nobody for anything."""

import importlib.machinery
import importlib.util
import os
import sys
import xml.etree.ElementTree as tree

import pytest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../live")]

from parts.table import Table, median, ratio  # noqa: E402


@pytest.fixture(scope="module")
def page():
    path = os.path.join(HERE, "../../scripts/performance-page")
    loader = importlib.machinery.SourceFileLoader("page", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("page", loader))
    loader.exec_module(module)
    return module


def client():
    table = Table("Client, 1 thread: ns a call", "CPU", "CPU / floor", note="a note")
    table.add("bare tracepoint", median([100, 104, 110]), 1.0)
    table.add("span of 3 <&> 3", median([125, 126, 125]), ratio([125, 126, 125], [100, 104, 110]))
    return table


def test_medians_keep_their_spread():
    rows = client().as_json()["rows"]
    assert rows["bare tracepoint"]["CPU"] == {"median": 104, "low": 100, "high": 110, "rounds": 3}
    assert rows["span of 3 <&> 3"]["CPU / floor"]["median"] == 126 / 104
    assert "104 (100–110)" in str(client())


def test_cells(page):
    assert page.cell({"median": 104, "low": 100, "high": 110, "rounds": 3}) == "104 (100–110)"
    assert page.cell({"median": 1.25, "low": 1.249, "high": 1.251, "rounds": 3}) == "1.25"
    assert page.cell(None) == ""
    assert [page.short(value) for value in (0, 0.5, 12.34, 1234567, "nothing")] == ["0", "0.50", "12.3", "1,234,567", "nothing"]


def test_tables_go_to_their_places(page):
    result = {"machine": "a machine", "buildtype": "release", "quick": True, "tables": [client().as_json()]}
    text = (
        "x\n<!-- machine -->\nold\n<!-- end -->\n<!-- table: Client, 1 -->\nold\n<!-- end -->\n"
        "<!-- table: Other -->\nold\n<!-- end -->\ny\n"
    )
    made = page.make_page(text, result)
    assert "a machine; build type release. **A quick run" in made
    assert "| bare tracepoint | 104 (100–110) | 1.00 |\n" in made
    assert "\nA note.\n" in made
    assert "(not measured: Other)" in made
    assert "old" not in made and made.endswith("y\n")
    assert page.make_page(made, result) == made


def test_chart(page):
    rivals = Table("Rivals, in the program: ns", "process")
    rivals.add("fastrace, 100 <local>", 200)
    chart = page.make_chart({"tables": [client().as_json(), rivals.as_json()]})
    root = tree.fromstring(chart)
    bars = [float(bar.get("width")) for bar in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert len(bars) == 3
    assert bars[0] / bars[1] == pytest.approx(104 / 125, abs=0.001)
    assert "prefers-color-scheme: dark" in chart
    assert chart.count("http") == 1  # the namespace
