# SPDX-License-Identifier: BSD-2-Clause
"""What tests/cluster says of its runs: what comes twice is counted, and what is not as it should be fails them."""

import argparse
import importlib.machinery
import importlib.util
import os
import subprocess
import sys

import pytest
from rig.node import TOP

CLUSTER = os.path.join(TOP, "tests/cluster")
sys.path.insert(0, CLUSTER)

from collector import Collector  # noqa: E402


def script(name):
    loader = importlib.machinery.SourceFileLoader(f"cluster_{name}", f"{CLUSTER}/{name}")
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def test_collector_counts_what_comes_twice():
    """Also within one call, and before its other counts begin anew."""
    collector = Collector(1000)
    collector.keep([1, 2, 1])
    assert (collector.again, collector.taken, sorted(collector.ids)) == (1, 3, [1, 2])
    collector.clear()
    collector.keep([2, 3])
    assert (collector.again, collector.taken, sorted(collector.ids)) == (2, 2, [1, 2, 3])


@pytest.mark.parametrize(
    "bad, result",
    [
        (False, {"scenario": "blip5", "lost": 0, "twice": 0, "drained": 5.0}),
        (True, {"scenario": "blip5", "lost": 1, "twice": 0, "drained": 5.0}),
        (True, {"scenario": "blip5", "lost": 0, "twice": 0.001, "drained": 5.0}),
        (True, {"scenario": "blip5", "lost": 0, "twice": 0, "drained": None}),
        (False, {"scenario": "two", "lost": 0, "twice": 0, "fair": True}),
        (True, {"scenario": "two", "lost": 0, "twice": 0, "fair": False}),
        (False, {"scenario": "tree", "lost": 0, "twice": 0.001, "drained": 5.0}),
        (True, {"scenario": "tree", "lost": 0, "twice": 0, "drained": None}),
        (False, {"scenario": "middle", "lost": 0, "twice": 0.001}),
        (True, {"scenario": "middle", "lost": 1, "twice": 0}),
    ],
)
def test_what_fails_a_run(bad, result):
    assert script("run").is_bad(result) == bad


@pytest.mark.parametrize(
    "way, changes, good",
    [
        ("tree", {}, True),
        ("tree", {"errors missing": 1}, False),
        ("tree", {"twice": 1}, False),
        ("tree", {"whole in calm": (99, 100)}, False),
        ("tree", {"whole in the burst": (99, 100)}, False),
        ("tree", {"near after": 10}, False),
        ("file", {"whole in the burst": (91, 100)}, True),
        ("file", {"whole in the burst": (89, 100)}, False),
        ("file", {"near after": 10}, False),
        ("prometheus", {"whole in the burst": (91, 100), "near after": 35}, True),
        ("prometheus", {"whole in the burst": (89, 100), "near after": 35}, False),
        ("prometheus", {"near after": 36}, False),
    ],
)
def test_what_fails_a_fleet(way, changes, good):
    result = {"way": way, "errors missing": 0, "twice": 0, "whole in calm": (100, 100), "whole in the burst": (100, 100), "near after": 7}
    assert script("fleet").is_good({**result, **changes}, argparse.Namespace(every=15)) == good


def test_the_file_of_the_simulation_is_that_of_publish_share(tmp_path):
    """Small changes leave it alone, and the same ones do."""
    file, share = script("budget").File(100, 0), tmp_path / "share"
    curl = tmp_path / "curl"
    curl.write_text('#!/bin/sh\necho "{\\"data\\": {\\"result\\": [{\\"value\\": [0, \\"$RATE\\"]}]}}"\n')
    curl.chmod(0o755)
    for now, rate in enumerate((50, 104, 109, 111, 102, 97, 96, 500, 549, 551, 480, 478, 450, 105, 91, 100, 1e4, 1.2e4)):
        environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "RATE": str(rate)}
        subprocess.run([f"{TOP}/conf/publish-share", "http://127.0.0.1:9", "100", str(share)], env=environment, check=True, timeout=60)
        file.publish(now, rate)
        part = file.told[-1][1]
        assert share.read_text() == f"1/{1 / part:.6g}\n", (rate, part)
    assert 5 < file.changes < 15
