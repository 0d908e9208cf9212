# SPDX-License-Identifier: BSD-2-Clause
"""Options of `blkin` that are wrong: each is named, with what is wrong with it."""

import os
import subprocess

import pytest
from rig.node import build_dir

BLKIN = os.path.join(build_dir(), "cli/blkin")


@pytest.mark.parametrize(
    "words, said",
    [
        (["--josn"], "unknown option --josn; did you mean --json?"),
        (["--json=x"], "--json=x: this option takes no value"),
        (["--help=x"], "--help=x: this option takes no value"),
        (["--json", "-xy"], "unknown option -x; "),
        (["--count=5", "-ny"], "unknown option -n; "),
        (["-x"], "unknown option -x; "),
        (["--count"], "--count needs a value"),
        (["spans"], "unexpected argument spans"),
    ],
)
def test_wrong_option(words, said):
    done = subprocess.run([BLKIN, "tail", *words], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (64, "")
    assert done.stderr.startswith(f"blkin tail: {said}"), done.stderr
