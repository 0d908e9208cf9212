# SPDX-License-Identifier: BSD-2-Clause
"""`blkin import`: traces that were recorded to disk, through the agent's line, to the collector."""

import glob
import json
import os
import shutil
import subprocess
import time

import pytest
from expect import check_load, tags_of
from rig.load import LOAD


def record(node, *programs):
    """A folder with a trace of the programs, without an agent."""
    folder = node.path("trace")
    node.lttng("create", "disk", "-o", folder)
    node.lttng("enable-channel", "-u", "--subbuf-size", "4M", "--num-subbuf", "8", "c")
    node.lttng("enable-event", "-u", "-a", "-c", "c")
    node.lttng("start")
    for program in programs:
        node.run(program)
    node.lttng("stop")
    node.lttng("destroy")
    return folder


@pytest.fixture
def recording(node):
    """20,000 spans."""
    return record(node, [LOAD, "-p", 2, "-n", 10000, "-r", 20000])


def run_import(node, *words, **environment):
    return subprocess.run(
        [node.built("cli/blkin"), "import", *words],
        env=dict(node.environment, **environment), capture_output=True, text=True, errors="replace", timeout=300,
    )


def test_every_span_arrives(node, receiver, recording):
    done = run_import(node, "--server", f"127.0.0.1:{receiver.port}", recording)
    assert done.returncode == 0, done.stderr
    assert "20000 in spans, 0 rejected" in done.stdout
    assert "20000 spans: 20000 sent, 0 refused, 0 too large, 0 not sent" in done.stdout
    receiver.wait_for(20000, 5)
    check_load(receiver.spans(), 2, 1, 10000)


def test_traces_are_merged_by_time(node, receiver):
    """Spans whose tags are in one trace and whose annotations are in another: each is put together as it was."""
    # the program waits until spans are recorded, of which it has none
    folders = {"times": "blkin:timestamp", "tags": "blkin:keyval_integer,blkin:span2"}
    for name, event in folders.items():
        node.lttng("create", name, "-o", node.path(name))
        node.lttng("enable-event", "-u", "-s", name, event)
        node.lttng("start", name)
    node.run(["tests/live/programs/classicload", 2000, 70, 4000])
    for name in folders:
        node.lttng("destroy", name)
    done = run_import(node, "--server", f"127.0.0.1:{receiver.port}", *map(node.path, folders))
    assert done.returncode == 0, done.stderr
    assert "14000 in spans, 0 rejected" in done.stdout and "2000 spans: 2000 sent" in done.stdout, done.stdout
    receiver.wait_for(2000, 5)
    for span in receiver.spans():
        notes = [note.value for note in sorted(span.annotations, key=lambda note: note.timestamp)]
        assert notes == ["cs", "step 1", "step 2", "step 3", "step 4", "cr"]
    assert sorted(int(tags_of(span)[0].value) for span in receiver.spans()) == list(range(2000))


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


def test_output_that_cannot_be_used(node, receiver, recording):
    """It says so, once, and fails."""
    tls = {"type": "http", "tls": "yes", "tls-ca": "/nonexistent"}
    done = run_import(node, "--config", node.write_config(receiver.port, output=tls), recording)
    assert done.returncode != 0 and done.stderr.count("/nonexistent") == 1


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
    sent = int(done.stdout.split(" sent,")[0].split()[-1]) if " sent," in done.stdout else 0
    receiver.wait_for(sent, 5)
    assert receiver.read() >= sent
    if done.returncode == 1:
        assert "read up to where it is damaged: " in done.stderr or "skipped, as babeltrace2 cannot read it" in done.stderr


def metadata_cut(size):
    return lambda folder: os.truncate(os.path.join(folder, "metadata"), size)


def metadata_of_text(folder):
    with open(os.path.join(folder, "metadata"), "w", encoding="utf-8") as file:
        file.write("nonsense")


def index_damaged(folder):
    """Where the first packets begin."""
    for path in glob.glob(os.path.join(folder, "index/*")):
        with open(path, "r+b") as file:
            file.seek(16)
            file.write(b"\xff" * 8)


def sequence_in_context(folder):
    """Of a stream without events."""
    for path in glob.glob(os.path.join(folder, "**"), recursive=True):
        if os.path.isfile(path):
            os.remove(path)
    with open(os.path.join(folder, "metadata"), "w", encoding="utf-8") as file:
        file.write(
            """/* CTF 1.8 */
            typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
            trace { major = 1; minor = 8; byte_order = le; };
            stream { event.context := struct { uint8_t __count; uint8_t _numbers[__count]; }; };"""
        )
    with open(os.path.join(folder, "stream"), "wb"):
        pass


def middle_overwritten(folder):
    """Of the longest stream: wherever an event is expected there, its id is of none, or it has the next one's."""
    path = max(glob.glob(os.path.join(folder, "c_*")), key=os.path.getsize)
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 8)  # packets have room at their ends
        file.write((15 * b"\xff" + b"\0") * 256)


@pytest.mark.parametrize(
    "damages",
    [
        pytest.param([metadata_cut(40), metadata_cut(4095), metadata_cut(5000)], id="metadata-cut"),
        pytest.param([metadata_of_text, index_damaged, sequence_in_context], id="unreadable"),
    ],
)
def test_bad_traces_are_left_out(node, receiver, recording, damages):
    """They are named, with the reason; the good one is read as if they were not there."""
    everything = node.path("everything")
    inside = os.path.relpath(os.path.dirname(glob.glob(f"{recording}/**/metadata", recursive=True)[0]), recording)
    for number, damage in enumerate(damages):
        shutil.copytree(recording, f"{everything}/bad-{number}")
        damage(f"{everything}/bad-{number}/{inside}")
    os.rename(recording, f"{everything}/good")
    started = time.monotonic()
    done = run_import(node, "--server", f"127.0.0.1:{receiver.port}", everything)
    assert done.returncode == 1
    print(f"{time.monotonic() - started:.1f} s\n{done.stderr}{done.stdout}")
    said = done.stderr.splitlines()
    for number in range(len(damages)):
        lines = [line for line in said if f"/bad-{number}/" in line]
        if damages[number] is sequence_in_context and not lines:
            continue  # from babeltrace2 2.1 on
        (line,) = lines
        name, reason = line.split(": skipped, as babeltrace2 cannot read it: ")
        assert name == f"blkin import: {everything}/bad-{number}/{inside}" and reason
        assert "Cannot create trace for" not in reason
    assert "20000 in spans, 0 rejected" in done.stdout
    assert "20000 spans: 20000 sent, 0 refused, 0 too large, 0 not sent" in done.stdout
    receiver.wait_for(20000, 5)
    check_load(receiver.spans(), 2, 1, 10000)


def test_damage_in_the_middle(node, receiver, recording):
    """What comes before it is sent, and what is in the other traces."""
    shutil.copytree(recording, f"{recording}-bad")
    middle_overwritten(os.path.dirname(glob.glob(f"{recording}-bad/**/metadata", recursive=True)[0]))
    # babeltrace2 leaks when it fails
    leaks = {"ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
    done = run_import(node, "--server", f"127.0.0.1:{receiver.port}", recording, f"{recording}-bad", **leaks)
    print(done.stderr, done.stdout)
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if f"{recording}-bad/" in line]
    assert line.split(": read up to where it is damaged: ")[1]
    sent = int(done.stdout.split(" sent,")[0].split()[-1])
    assert 20000 < sent <= 40000 and f"{sent} in spans, " in done.stdout
    assert f"{sent} spans: {sent} sent, 0 refused, 0 too large, 0 not sent" in done.stdout
    assert int(done.stdout.split(" rejected,")[0].split()[-1]) <= 1  # the one that what is overwritten begins in
    receiver.wait_for(sent, 5)
    assert len({span.id for span in receiver.spans()}) == 20000  # the bad one is a copy


def fifth_span_overwritten(folder):
    """Of the stream that has any: from within it on, nothing is an event."""
    (path,) = [path for path in glob.glob(os.path.join(folder, "c_*")) if b"/spanload" in open(path, "rb").read()]
    with open(path, "r+b") as file:
        at = -1
        for _ in range(5):
            file.seek(0)
            at = file.read().index(b"ordinal", at + 1)
        file.seek(at)
        file.write((15 * b"\xff" + b"\0") * 1024)


@pytest.mark.parametrize("damage", [fifth_span_overwritten])
def test_damage_at_the_beginning(node, receiver, damage):
    """What comes before it is read, though it comes with the first messages: printed, and sent."""
    folder = record(node, ["/usr/bin/taskset", "-c", "0", node.built(LOAD), "-n", 1000])
    damage(os.path.dirname(glob.glob(f"{folder}/**/metadata", recursive=True)[0]))
    done = run_import(node, "--print", "--json", folder, ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0")
    assert done.returncode == 1
    assert ": read up to where it is damaged: " in done.stderr, done.stderr
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(int(span["tags"]["ordinal"]) for span in printed) == [0, 1, 2, 3], done.stdout
    done = run_import(node, "--server", f"127.0.0.1:{receiver.port}", folder, ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0")
    assert done.returncode == 1 and "4 spans: 4 sent" in done.stdout, done.stdout + done.stderr
    assert ": read up to where it is damaged: " in done.stderr, done.stderr
    receiver.wait_for(4)


@pytest.mark.parametrize(
    "words, code, sentence",
    [
        (["/nonexistent"], 1, "/nonexistent: No such file or directory"),
        (["/proc/version"], 1, "/proc/version: not a folder"),
        (["/usr/share/doc/bash"], 1, "there is no CTF trace in it"),
        ([], 64, "name the traces"),
        (["--server", "nonsense", "/tmp"], 64, "--server takes HOST:PORT"),
        (["--config", "/nonexistent", "/tmp"], 78, "/nonexistent: cannot be read"),
    ],
)
def test_mistakes(bare_node, words, code, sentence):
    done = run_import(bare_node, *words)
    assert done.returncode == code
    assert sentence in done.stderr
