# SPDX-License-Identifier: BSD-2-Clause
"""A program runs, untraced, where LTTng or the provider is missing."""

import subprocess


def needed(program):
    return subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout


def test_without_the_provider_library(bare_node):
    program = bare_node.start(
        [bare_node.built("tests/live/programs/spanload"), "-n", 10, "-w", 0], LD_LIBRARY_PATH="", BLKIN_DEBUG="1"
    )
    assert program.wait() == 0
    assert "blkin: this program is not traced: libblkin-provider.so.1" in program.log()
    assert program.log().split()[-1] == "10"


def test_silent_by_default(bare_node):
    program = bare_node.start(
        [bare_node.built("tests/live/programs/spanload"), "-n", 10, "-w", 0], LD_LIBRARY_PATH=""
    )
    assert program.wait() == 0
    assert program.log() == "10\n"


def test_a_plugin_that_is_opened(bare_node):
    """It leaves no error where the program looks for one of its own."""
    words = [bare_node.built("tests/live/programs/edges"), "plugin", bare_node.built("tests/live/programs/libedges_plugin.so")]
    program = bare_node.start(words, LD_LIBRARY_PATH="")
    assert program.wait() == 0
    assert program.log() == "50\n"


def test_without_a_session_daemon(bare_node):
    assert bare_node.run(["tests/live/programs/spanload", "-n", 10, "-w", 0]).split()[-1] == "10"


def test_nothing_of_lttng_is_linked(bare_node):
    for program in ("tests/live/programs/spanload", "examples/gateway", "examples/classic_client"):
        assert "lttng" not in needed(bare_node.built(program))
