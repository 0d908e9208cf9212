# SPDX-License-Identifier: BSD-2-Clause
"""
A real program under lttng-ust's libc wrapper: each of its calls of malloc and free as JSON, compared completely with what
babeltrace2's own Python bindings read. BLKIN_EVENTS=1000000 is the whole of it, and takes some minutes.
"""

import glob
import json
import os
import subprocess
import sys

import pytest

from rig import bt2json
from test_events_traces import printed
from test_import import run_import

EVENTS = int(os.environ.get("BLKIN_EVENTS", 20000))
CONTEXTS = ["vpid", "vtid", "procname", "pthread_id", "ip", "cpu_id"]
# allocates as programs do: the interpreter, its standard library, JSON
PROGRAM = """
import json, sys
left = int(sys.argv[1])
while left > 0:
    part = min(left, 5000)
    json.dumps(json.loads(json.dumps([{str(n): "x" * (600 + n % 700)} for n in range(part)])))
    left -= part
"""


def wrapper():
    found = glob.glob("/usr/lib/*/liblttng-ust-libc-wrapper.so*")
    assert found, "liblttng-ust-dev has it"
    return sorted(found)[0]


@pytest.fixture
def recording(node):
    folder = node.path("trace")
    node.lttng("create", "disk", "-o", folder)
    node.lttng("enable-channel", "-u", "--subbuf-size", "8M", "--num-subbuf", "8", "c")
    node.lttng("enable-event", "-u", "lttng_ust_libc:*", "-c", "c")
    for context in CONTEXTS:
        if context != "cpu_id":
            node.lttng("add-context", "-u", "-c", "c", "-t", context)
    node.lttng("start")
    subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM, str(EVENTS // 48 + 1000)], check=True, timeout=600,
        env={**node.environment, "LD_PRELOAD": wrapper(), "PYTHONMALLOC": "malloc", "LTTNG_UST_REGISTER_TIMEOUT": "-1"})
    node.lttng("stop")
    node.lttng("destroy")
    return folder


def key(event):
    """Streams of several CPUs may have events of one moment."""
    return event["timestamp"], event["cpu"], event["process"]["tid"], event["event"], sorted(event["payload"].items())


def test_every_event(node, recording):
    got, said = printed(node, "--events", recording)
    assert f"{len(got)} events read: 0 in spans, {len(got)} as JSON, 0 rejected, 0 others ignored" in said
    count = len(got)
    assert count >= EVENTS
    assert {event["event"] for event in got} >= {"lttng_ust_libc:malloc", "lttng_ust_libc:free"}
    expected = list(bt2json.read(recording))
    assert len(expected) == count
    for one, other in zip(sorted(expected, key=key), sorted(got, key=key)):
        assert list(bt2json.differences(one, other)) == []
    assert all(set(event["context"]) == set(CONTEXTS) - {"cpu_id"} and "cpu" in event for event in got)
    assert {event["process"]["name"] for event in got} == {"python3"}


def test_part_of_it(node, recording):
    """Every one is either printed or ignored, and the lines are whole where the reader goes away."""
    events, said = printed(node, "--events=*:malloc,*:calloc", recording)
    read = int(said.split(" events read")[0].split()[-1])
    ignored = int(said.split(" rejected, ")[1].split()[0])
    assert {event["event"] for event in events} <= {"lttng_ust_libc:malloc", "lttng_ust_libc:calloc"}
    assert len(events) + ignored == read
    program = subprocess.Popen(
        [node.built("cli/blkin"), "import", "--print", "--events", recording], env=node.environment,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert json.loads(program.stdout.readline())["event"].startswith("lttng_ust_libc:")
    program.stdout.close()
    assert program.wait(60) == 0


def test_full_disk(node, recording):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [node.built("cli/blkin"), "import", "--print", "--events", recording], env=node.environment, stdout=full,
            stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1
    assert "cannot write to standard output: No space left on device" in done.stderr
    assert run_import(node, "--print", "--events=none", recording).returncode == 0
