# SPDX-License-Identifier: BSD-2-Clause
"""The guard against slowdowns: what is measured stays within guard.json, and the guard notices what does not."""

import os
import sys
from collections import Counter

import pytest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../live")]

from parts import callgrind, instructions, limits, setup  # noqa: E402
from rig.node import Node  # noqa: E402

FLOOR = instructions.FLOOR
SPAN = "client: span of 3 + 3"


@pytest.fixture(scope="module")
def node():
    os.environ.pop("BLKIN_BUILD", None)
    setup.build(instructions.TARGETS)
    with Node() as node:
        node.start_sessiond()
        yield node


def test_nothing_has_grown(node):
    rows = instructions.count(node)
    print(instructions.table_of(rows))
    lines = limits.check(rows, limits.load())
    assert not lines, "\n".join(lines)


def test_slow_programs_are_noticed(node):
    rows = instructions.count(node, slow=True, agent=False)
    lines = limits.check(rows, {name: row for name, row in limits.load().items() if name in rows})
    heads = {line.partition(": ")[0] + ": " + line.split(": ")[1] for line in lines if not line.startswith(" ")}
    # slower functions are inlined elsewhere, which a row of thirty instructions may notice
    assert heads - {"client: span of 3 + 3, off"} == {SPAN, "client: empty span", "format: zipkin"}
    at = next(index for index, line in enumerate(lines) if line.startswith("format: zipkin"))
    assert any(line.startswith("  copy_some, agent/base/copy.h: ") for line in lines[at + 1 : at + 3])
    assert any("blkin_put_number_, libclient/blkin/text.h: " in line for line in lines[:at])


def row(**functions):
    return instructions.Row({f"agent/a.c:{name}": cost for name, cost in functions.items()}, 1)


def expect(**rows):
    return {name: limits.as_json(row) for name, row in rows.items()}


def test_limit_and_names():
    expected = expect(stage=row(one=800, two=200))
    assert limits.check({"stage": row(one=990, two=200)}, expected) == []
    assert limits.check({"stage": row(one=1010, two=200)}, expected) == [
        "stage: 1,000 → 1,210 instructions are 1.21 times as many; 1.2 are allowed",
        "  one, agent/a.c: 800 → 1,010",
    ]


def test_a_new_function_is_named():
    lines = limits.check({"stage": row(one=800, two=200, three=400)}, expect(stage=row(one=800, two=200)))
    assert lines[1:] == ["  three, agent/a.c: 0 → 400"]


def test_a_floor_that_grew_as_well():
    """Another LTTng is no slowdown of ours; but what has a floor may not grow by more than that has."""
    expected = {FLOOR: limits.as_json(row(one=1000)), SPAN: limits.as_json(row(two=1000))}
    assert limits.check({FLOOR: row(one=1300), SPAN: row(two=1300)}, expected) == []
    assert limits.check({FLOOR: row(one=1300), SPAN: row(two=1600)}, expected)[0].startswith(SPAN)
    assert limits.check({FLOOR: row(one=800), SPAN: row(two=1000)}, expected)[0].startswith(SPAN)


def test_little_may_change_a_little():
    expected = expect(off=row(one=20))
    assert limits.check({"off": row(one=28)}, expected) == []
    assert limits.check({"off": row(one=29)}, expected)


def test_rows_that_come_and_go():
    assert "old: is not measured any more" in limits.check({}, expect(old=row(one=100)))[0]
    assert "new: has no limit yet" in limits.check({"new": row(one=100)}, {})[0]


PROFILE = """\
desc: Trigger: Client Request: a row
ob=(1) /tmp/program
fl=(1) agent/encode/zipkin.c
fn=(1) zipkin_encode
{put_tag} 10
+1 5
fi=(2) agent/base/copy.h
{copy} 7
fe=(1)
cob=(2) /lib/libc.so.6
cfi=(3) ???
cfn=(2) memcpy
calls=3 0
* 1000
ob=(2)
fl=(3)
fn=(2)
0 90
* 9
"""


def line_of(path, head):
    """The first line of a function's body."""
    with open(os.path.join(callgrind.TOP, path), encoding="utf-8") as file:
        lines = file.read().split("\n")
    return next(number for number, line in enumerate(lines, 1) if head in line) + 2


def test_costs_go_to_the_function_of_their_line(tmp_path):
    """And not those of calls, which are counted where they are made."""
    tag = line_of("agent/encode/zipkin.c", " *put_tag(")
    copy = line_of("agent/base/copy.h", "copy_some(")
    path = tmp_path / "profile"
    path.write_text(PROFILE.replace("{put_tag}", str(tag)).replace("{copy}", str(copy)))
    reading = callgrind.Reading(path, callgrind.TOP)
    assert reading.title == "a row"
    assert reading.costs == Counter(
        {"agent/encode/zipkin.c:put_tag": 15, "agent/base/copy.h:copy_some": 7, "libc.so.6": 99}
    )
