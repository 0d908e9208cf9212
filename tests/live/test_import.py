# SPDX-License-Identifier: BSD-2-Clause
"""`blkin import`: traces that were recorded to disk, through the agent's line, to the collector."""

import os
import subprocess

import pytest
from expect import check_load

LOAD = "tests/live/programs/spanload"


@pytest.fixture
def recording(node):
    """A folder of a trace of 20,000 spans, recorded without an agent."""
    folder = node.path("trace")
    node.lttng("create", "disk", "-o", folder)
    node.lttng("enable-channel", "-u", "--subbuf-size", "4M", "--num-subbuf", "8", "c")
    node.lttng("enable-event", "-u", "-a", "-c", "c")
    node.lttng("start")
    node.run([LOAD, "-p", 2, "-n", 10000, "-r", 20000])
    node.lttng("stop")
    node.lttng("destroy")
    return folder


def run_import(node, *words):
    return subprocess.run(
        [node.built("cli/blkin"), "import", *words], env=node.environment, capture_output=True, text=True, errors="replace", timeout=120
    )


def test_every_span_arrives(node, receiver, recording):
    done = run_import(node, "--server", f"127.0.0.1:{receiver.port}", recording)
    assert done.returncode == 0, done.stderr
    assert "20000 in spans, 0 rejected" in done.stdout
    assert "20000 spans: 20000 sent, 0 refused, 0 too large, 0 not sent" in done.stdout
    receiver.wait_for(20000, 5)
    check_load(receiver.spans(), 2, 1, 10000)


def test_named_twice_and_by_odd_names(node, receiver, recording):
    # names that are taken within babeltrace2's graph
    odd = [node.path("spans"), node.path("muxer")]
    os.rename(recording, odd[0])
    os.symlink(odd[0], odd[1])
    words = [*odd, odd[0], os.path.join(odd[0], "ust")]
    done = run_import(node, "--server", f"127.0.0.1:{receiver.port}", *words)
    assert done.returncode == 0, done.stderr
    assert "20000 spans: 20000 sent" in done.stdout
    receiver.wait_for(20000, 5)
    check_load(receiver.spans(), 2, 1, 10000)


def test_waits_for_the_collector(node, receiver, recording):
    receiver.program.stop()
    program = node.start(
        [node.built("cli/blkin"), "import", "--config", node.write_config(receiver.port, output={"queue_size": "2M"}), recording]
    )
    with pytest.raises(Exception):
        program.wait(2)
    receiver.start()
    assert program.wait(60) == 0
    receiver.wait_for(20000, 5)
    check_load(receiver.spans(), 2, 1, 10000)


def cut(path):
    os.truncate(path, os.path.getsize(path) // 2)


def garble(path):
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 2)
        file.write(os.urandom(64))


@pytest.mark.parametrize("spoil", [cut, garble])
def test_spoilt_trace_ends_with_a_sentence(node, receiver, recording, spoil):
    for folder, _, files in os.walk(recording):
        for name in files:
            if name.startswith("c_"):
                spoil(os.path.join(folder, name))
    done = run_import(node, "--server", f"127.0.0.1:{receiver.port}", recording)
    # babeltrace2 may refuse the trace as a whole; else what could be read arrived, and is counted. Random bytes may also
    # make a trace of other values.
    assert done.returncode in (0, 1), done.stderr
    if not done.stdout:
        assert done.stderr.startswith("blkin import: ") and done.stderr.count("\n") == 1
        return
    sent = int(done.stdout.split(" sent,")[0].split()[-1])
    receiver.wait_for(sent, 5)
    assert receiver.read() == sent
    if done.returncode == 1:
        assert "a trace could not be read to its end: " in done.stderr


@pytest.mark.parametrize(
    "words, code, sentence",
    [
        (["/nonexistent"], 1, "/nonexistent: No such file or directory"),
        (["/proc/version"], 1, "/proc/version: not a folder"),
        (["/usr/share/doc/bash"], 1, "there is no CTF trace in it"),
        ([], 64, "name the traces"),
        (["--server", "nonsense", "/tmp"], 64, "nonsense: not HOST:PORT"),
        (["--config", "/nonexistent", "/tmp"], 78, "/nonexistent: cannot be read"),
    ],
)
def test_mistakes(bare_node, words, code, sentence):
    done = run_import(bare_node, *words)
    assert done.returncode == code
    assert sentence in done.stderr
