# SPDX-License-Identifier: BSD-2-Clause
"""One agent before a collector that takes little more than it has to send: an outage of seconds is over soon, and nothing is lost."""

import json
import os
import subprocess
import sys

from rig.node import TOP, build_dir

RUN = os.path.join(TOP, "tests/cluster/run")
BLIP = "--agents 1 --rate 300 --spare 1.25 --warm 4 --seconds 2 --limit 5 --json blip5".split()


def test_recovers(tmp_path):
    """What came while it rested was sent at once, before, was refused for that, and so on for ever."""
    done = subprocess.run(
        [sys.executable, "-B", RUN, "--build", build_dir(), "--folder", tmp_path, *BLIP],
        stdout=subprocess.PIPE, text=True, check=True, timeout=120,
    )  # fmt: skip
    result = json.loads(done.stdout)
    assert result["backlog"] > 400, result
    assert result["drained"] is not None and result["times ideal"] <= 3, result
    assert result["refused"] <= 0.1, result
    assert result["ids"] > 2000 and result["lost"] == 0 and result["twice"] == 0, result
