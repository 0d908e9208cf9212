# SPDX-License-Identifier: BSD-2-Clause
"""`blkin import --print`: what is on disk, without a collector."""

import json
import os
import subprocess

import pytest
from rig.kerneltrace import KernelTrace, SpanTrace
from rig.load import LOAD
from rig.process import NO_OVERRIDE
from test_files import NONE, files, quick, start_agent, wait_sent  # noqa: F401
from test_import import record, recording, run_import  # noqa: F401

ERRORS = "tests/live/programs/errorload"


def lines(text):
    return sorted(json.dumps(json.loads(line), sort_keys=True) for line in text.splitlines())


def collected(node, count, *words):
    """The same import to a `blkin collect --json`: its lines."""
    collector = node.start([node.built("cli/blkin"), "collect", "--listen", "127.0.0.1:0", "--json", "--count", count])
    marker = "listening on "
    collector.wait_ready(lambda: marker in collector.log())
    address = collector.log().split(marker)[1].split()[0]
    assert run_import(node, "--server", address, *words).returncode == 0
    assert collector.wait(30) == 0
    return lines("\n".join(line for line in collector.log().splitlines() if line.startswith("{")))


def test_lines_are_those_of_a_collector(node, recording):  # noqa: F811
    done = run_import(node, "--print", "--json", recording)
    assert done.returncode == 0, done.stderr
    assert " events read: 20000 in spans, 0 rejected" in done.stderr and "20000 spans printed" in done.stderr
    assert lines(done.stdout) == collected(node, 20000, recording)


def test_no_tag_is_added(node):
    """What is printed is what the program recorded; Zipkin's version 1 has another tag for an error."""
    folder = record(node, [ERRORS, 50])
    done = run_import(node, "--print", "--json", folder)
    assert done.returncode == 0, done.stderr
    tags = [json.loads(line)["tags"] for line in done.stdout.splitlines()]
    assert [sorted(each) for each in tags].count(["error", "ordinal"]) == 5
    assert [sorted(each) for each in tags].count(["ordinal"]) == 45


def test_files_of_spans(node, files):  # noqa: F811
    start_agent(node, files)
    node.run([LOAD, "-n", 1000])
    wait_sent(node, 1000)
    assert node.agent.stop() == 0
    done = run_import(node, "--print", "--json", files.directory)
    assert done.returncode == 0, done.stderr
    assert "1000 lines read: 1000 spans, 0 that are not spans" in done.stderr
    assert lines(done.stdout) == collected(node, 1000, files.directory)


def test_trees(node, run_sample):
    """A trace is one tree, though two programs recorded it."""
    folder = node.path("trace")
    node.lttng("create", "disk", "-o", folder)
    node.lttng("enable-event", "-u", "-a")
    node.lttng("start")
    run_sample(node, 3)
    node.lttng("stop")
    node.lttng("destroy")
    done = run_import(node, "--print", folder, LC_ALL="C.UTF-8")
    assert done.returncode == 0, done.stderr
    heads = [line for line in done.stdout.splitlines() if line.startswith("trace ")]
    assert len(heads) == 3 and all("gateway, store" in head for head in heads)
    assert done.stdout.count("└─ put object") == 3
    assert "15 spans printed" in done.stderr


def test_damage_is_named_and_the_rest_printed(node, recording):  # noqa: F811
    empty = node.path("empty")
    os.mkdir(empty)
    open(os.path.join(empty, "metadata"), "wb").close()
    done = run_import(node, "--print", "--json", empty, recording)
    assert done.returncode == 1
    assert f"{empty}: skipped, as babeltrace2 cannot read it" in done.stderr
    assert len(lines(done.stdout)) == 20000


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o100])
@pytest.mark.parametrize("words", [["--print", "--json"], ["--around", "a", "--json"]])
def test_folders_that_are_closed(bare_node, words, mode):
    """What cannot be looked into is said, and what else there is, is printed; a failure all the same."""
    folder = bare_node.path("all")
    for name in "open", "session/closed":
        trace = SpanTrace(KernelTrace(1_700_000_000_000_000_000))
        trace.span((7, 7, 7, 7, "made"), 0xA, 0xB if name == "open" else 0xC, 10**9, 2 * 10**9)
        trace.write(f"{folder}/{name}")
    os.chmod(f"{folder}/session", mode)
    for paths, count in ([folder], 1), ([f"{folder}/session"], 0), ([f"{folder}/open", f"{folder}/session"], 1):
        done = subprocess.run(
            [*NO_OVERRIDE, bare_node.built("cli/blkin"), "import", *words, *paths],
            env=bare_node.environment, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and f"Permission denied: {folder}/session\n" in done.stderr
        assert len(done.stdout.splitlines()) == count and "no CTF trace" not in done.stderr


def test_a_file_that_cannot_be_reached(bare_node):
    """A link to nowhere is named, as any file that cannot be read."""
    folder = bare_node.path("spans")
    os.mkdir(folder)
    with open(f"{folder}/a.jsonl", "w", encoding="utf-8") as file:
        file.write('{"traceId": "000000000000000a", "id": "000000000000000b", "name": "x"}\n')
    os.symlink("/nonexistent", f"{folder}/b.jsonl")
    done = run_import(bare_node, "--print", "--json", folder)
    assert done.returncode == 1 and f"{folder}/b.jsonl: cannot be read: No such file" in done.stderr
    assert len(done.stdout.splitlines()) == 1


def test_who_reads_may_have_seen_enough(node, recording):  # noqa: F811
    program = subprocess.Popen(
        [node.built("cli/blkin"), "import", "--print", "--json", recording],
        env=node.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    assert json.loads(program.stdout.readline())["traceId"]
    program.stdout.close()
    said = program.stderr.read().decode()
    assert program.wait(30) == 0, said
    assert "cannot write" not in said


def test_a_full_disk_is_an_error(node, recording):  # noqa: F811
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [node.built("cli/blkin"), "import", "--print", recording],
            env=node.environment, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False,
        )
    assert done.returncode == 1
    assert b"cannot write to standard output: No space left on device" in done.stderr


def test_options_that_do_not_go_together(node):
    wrong = {("--json",): "--json needs --print, or --around", ("--print", "--server", "a:1"): "--print does not go with --server"}
    for words, told in wrong.items():
        done = run_import(node, *words, "/nonexistent")
        assert done.returncode == 64 and told in done.stderr
