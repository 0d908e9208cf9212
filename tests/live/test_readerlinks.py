# SPDX-License-Identifier: BSD-2-Clause
"""
The reader packs records, and knows no format of any output: what babeltrace2 is fed with costs its thread nothing more. The
agent's own process has neither babeltrace2 nor liblttng-ctl, which may fail or hang on what programs record.
"""

import subprocess

from rig.node import build_dir


def symbols(path):
    lines = subprocess.run(["nm", "--defined-only", path], check=True, capture_output=True, text=True).stdout.splitlines()
    return {words[2] for words in map(str.split, lines) if len(words) == 3 and words[1] == "T"}


def needs(path):
    """The names of its libraries, as the linker wrote them down."""
    lines = subprocess.run(["readelf", "--dynamic", path], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split("[")[1].split(".")[0] for line in lines if "(NEEDED)" in line}


def test_the_reader_alone_has_the_libraries():
    fragile = {"libbabeltrace2", "liblttng-ctl"}
    assert fragile <= needs(f"{build_dir()}/agent/blkin-reader")
    assert not fragile & needs(f"{build_dir()}/agent/blkin-agent")


def test_the_reader_has_no_encoder():
    encoders = symbols(f"{build_dir()}/agent/libagent-encode.a")
    assert {"zipkin_encode", "otlp_encode", "eventjson_put"} <= encoders
    assert not encoders & symbols(f"{build_dir()}/agent/blkin-reader")
    assert "otlp_encode" in symbols(f"{build_dir()}/agent/blkin-agent")
