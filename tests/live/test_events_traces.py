# SPDX-License-Identifier: BSD-2-Clause
"""
Any event as JSON, by `blkin import --print --events`: traces of every kind, in both byte orders, value by value what
babeltrace2's own Python bindings read.
"""

import base64
import json
import subprocess
import sys

import pytest

from rig import bt2json, bt2writer, ctfcases
from test_import import run_import


def printed(node, *words):
    """What it prints, and what it says of the whole."""
    done = run_import(node, "--print", *words)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.split("\n") if line], done.stderr


def compare(node, folder, expected):
    got, said = printed(node, "--events", folder)
    assert list(bt2json.differences(expected, got)) == []
    assert f"{len(expected)} events read: 0 in spans, {len(expected)} as JSON, 0 rejected, 0 others ignored" in said
    assert f"{len(expected)} events printed\n" in said
    return got


@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize("name", sorted(ctfcases.CASES))
def test_by_hand(node, name, order):
    folder = node.path("trace")
    ctfcases.CASES[name](order).write(folder)
    expected = list(bt2json.read(folder))
    assert expected
    compare(node, folder, expected)


@pytest.mark.parametrize("name", sorted(bt2writer.CASES))
def test_by_babeltrace2(node, name):
    """Written by its own sink.ctf.fs."""
    folder = node.path("trace")
    # apart, as it may abort
    subprocess.run([sys.executable, "-B", bt2writer.__file__, folder, name], check=True, timeout=60)
    expected = list(bt2json.read(folder))
    assert len(expected) == bt2writer.EVENTS
    compare(node, folder, expected)


@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize("name", sorted(ctfcases.HARD))
def test_hard(node, name, order):
    """Where babeltrace2 cannot read a trace, or aborts, that is said, and what is beside it is read."""
    hard, good = node.path("hard"), node.path("good")
    ctfcases.HARD[name](order).write(hard)
    ctfcases.CASES["strings"](order).write(good)
    beside = list(bt2json.read(good))
    # apart, as it may abort
    read = subprocess.run([sys.executable, "-B", bt2json.__file__, hard], stdout=subprocess.PIPE, timeout=60)
    done = run_import(node, "--print", "--events", hard, good)
    got = [json.loads(line) for line in done.stdout.split("\n") if line]
    if read.returncode == 0:
        assert done.returncode == 0, done.stderr
        beside += [json.loads(line) for line in read.stdout.splitlines()]
    else:
        assert done.returncode == 1
        assert f"{hard}: skipped, as babeltrace2 cannot read it: " in done.stderr
    assert sorted(map(json.dumps, got)) == sorted(map(json.dumps, beside))


def test_both_orders_are_the_same(node):
    """The bytes differ, and nothing else."""
    for name in sorted(ctfcases.CASES):
        of = []
        for order in "le", "be":
            ctfcases.CASES[name](order).write(node.path(name + order))
            of.append(list(bt2json.read(node.path(name + order))))
        assert list(bt2json.differences(*of)) == [], name


def test_bytes_that_are_not_utf8_survive(node):
    """As they were: where the text was repaired, they are beside it."""
    folder = node.path("trace")
    ctfcases.CASES["strings_that_are_not_utf8"]("le").write(folder)
    events, _ = printed(node, "--events", folder)
    for event, text in zip(events, ctfcases.BROKEN, strict=True):
        for place in "/payload/broken", "/payload/in/0/s", "/payload/many/1", "/payload/many/2":
            assert base64.b64decode(event["bytes"].pop(place)) == text
        assert event["bytes"] == {}
        assert event["payload"]["broken"] == event["payload"]["many"][2] != text.decode(errors="ignore")


def test_too_large(node):
    """An event that is larger than 1 MiB as JSON is left out, and counted; its neighbours are there."""
    trace = ctfcases.simple("le", "uint32_t n; uint64_t a[n];", *(
        lambda out, n=n: (out.number("I", n), out.number(f"{n}Q", *[2**64 - 1] * n)) for n in (10, 60000, 11)))
    trace.write(node.path("trace"))
    done = run_import(node, "--print", "--events", node.path("trace"))
    assert done.returncode == 1
    assert [json.loads(line)["payload"]["n"] for line in done.stdout.splitlines()] == [10, 11]
    assert "3 events read: 0 in spans, 3 as JSON" in done.stderr
    assert "2 events printed, 1 larger than 1 MiB left out" in done.stderr


def test_some_by_name(node):
    ctfcases.CASES["names"]("le").write(node.path("trace"))
    names = lambda *words: [event["event"] for event in printed(node, *words, node.path("trace"))[0]]  # noqa: E731
    assert len(names("--events")) == 9
    assert names("--events=plain") == ["plain"]
    assert names("--events=a:*,p[kl]*n,none") == ["plain", "a:b:c"]
    events, said = printed(node, "--events=none", node.path("trace"))
    assert events == [] and "9 events read: 0 in spans, 0 as JSON, 0 rejected, 9 others ignored" in said


def test_nobody_takes_events(node):
    ctfcases.CASES["names"]("le").write(node.path("trace"))
    done = run_import(node, "--events", node.path("trace"))
    assert done.returncode == 78 and "no output takes events" in done.stderr
