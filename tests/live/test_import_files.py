# SPDX-License-Identifier: BSD-2-Clause
"""`blkin import` of files that an output of `type = file` wrote, and into such files."""

import json
import os
import subprocess

import pytest
from expect import check_load
from rig.load import LOAD
from rig.process import free_port
from rig.scribe import Receiver
from rig.spanfiles import SpanFiles, identities, ordinals
from test_files import NONE, files, quick, start_agent, wait_sent  # noqa: F401
from test_import import recording, run_import  # noqa: F401
from test_json2 import by_id, converted, hexadecimal
from test_keep import is_kept
from test_user import User


@pytest.fixture
def written(node, files):  # noqa: F811
    """Files of 20,000 spans."""
    start_agent(node, files, **{"rotate-size": "2M"})
    node.run([LOAD, "-p", 2, "-n", 10000])
    wait_sent(node, 20000)
    assert node.agent.stop() == 0
    assert len(files.finished()) > 1
    return files


def test_files_come_back(node, receiver, written):
    """A folder of them: each span is what it was."""
    done = run_import(node, "--server", f"127.0.0.1:{receiver.port}", written.directory)
    assert done.returncode == 0, done.stderr
    assert "20000 lines read: 20000 spans, 0 that are not spans" in done.stdout
    assert "20000 spans: 20000 sent, 0 refused, 0 too large, 0 not sent" in done.stdout
    assert "events read" not in done.stdout
    receiver.wait_for(20000, 5)
    check_load(receiver.spans(), 2, 1, 10000)
    assert by_id(map(converted, receiver.spans())) == by_id(written.spans())


def test_an_output_keeps_its_share(node, receiver, written):
    """Of lines, too: each trace whole, or not at all."""
    config = node.write_config(receiver.port, output={"keep": "1/3"})
    done = run_import(node, "--config", config, written.directory)
    assert done.returncode == 0, done.stderr
    kept = {span["id"] for span in written.spans() if is_kept(span["traceId"], 3)}
    assert f"20000 spans: {len(kept)} sent, {20000 - len(kept)} sampled out, 0 refused" in done.stdout
    receiver.wait_for(len(kept), 5)
    assert {hexadecimal(span.id) for span in receiver.spans()} == kept


def test_lines_that_are_no_spans(node, receiver, written):
    """They are named by file and line, and counted; the others are sent. The end of the file may be missing."""
    first, *others = written.finished()
    with open(first, "rb") as file:
        lines = file.read().splitlines(keepends=True)
    garbage = [b"nonsense\n", b"\xff\x00{}\n", b"[1, 2]\n", b'{"traceId":"1"}\n', b"\n"]
    with open(first, "wb") as file:
        file.write(b"".join(lines[:10] + garbage + lines[10:-1]) + lines[-1][:20])
    done = run_import(node, "--server", f"127.0.0.1:{receiver.port}", first, *others, others[0])
    assert done.returncode == 1
    for number in (11, 12, 13, 14, len(lines) + len(garbage)):
        assert f"blkin import: {first}:{number}: skipped, as it is not a span in Zipkin's JSON of version 2 or in OTLP's\n" in done.stderr
    assert done.stderr.count("skipped, as") == 5
    assert "20004 lines read: 19999 spans, 5 that are not spans" in done.stdout
    assert "19999 spans: 19999 sent" in done.stdout
    receiver.wait_for(19999, 5)


LINE = '{"traceId": "%016x", "id": "%016x", "name": "n", "timestamp": 1700000000000000, "localEndpoint": {"serviceName": "s"}}\n'


def test_files_in_subfolders_and_for_a_user(bare_node):
    """Files below the named folder are found, hidden folders are not; --user takes the user's own configuration."""
    user = User(bare_node)
    collector = Receiver(bare_node, free_port()).start()
    user.configure(f"[output]\nserver = 127.0.0.1:{collector.port}\n")
    folder = bare_node.path("spans")
    for number, name in enumerate(("top.jsonl", "east/a.jsonl", "east/deep/b.jsonl", ".hidden/c.jsonl"), 1):
        os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.write(LINE % (number, number))
    os.chmod(bare_node.folder, 0o755)
    os.makedirs(f"{folder}/none")
    done = user.start("cli/blkin", "import", "--user", folder)
    assert done.wait(60) == 0 and "3 lines read: 3 spans" in done.log(), done.log()
    collector.wait_for(3)
    assert {span.trace_id for span in collector.spans()} == {1, 2, 3}
    done = user.start("cli/blkin", "import", "--user", f"{folder}/none")
    assert done.wait(60) == 1 and "no file *.jsonl" in done.log()


def test_part_of_a_request(node, receiver):
    """Of a line of OTLP's, the spans beside one that is none are sent, and that is said."""
    good = {"traceId": "%032x" % 7, "spanId": "%016x" % 8, "name": "n", "startTimeUnixNano": "1700000000000000000",
            "endTimeUnixNano": "1700000000001000000"}  # fmt: skip
    with open(node.path("part.jsonl"), "w", encoding="utf-8") as file:
        json.dump({"resourceSpans": [{"scopeSpans": [{"spans": [good, {"name": "no ids"}, {**good, "spanId": "%016x" % 9}]}]}]}, file)
    done = run_import(node, "--server", f"127.0.0.1:{receiver.port}", node.path("part.jsonl"))
    assert done.returncode == 1
    assert "part.jsonl:1: 2 of this line's spans taken, the rest skipped, as it is not OTLP's" in done.stderr
    receiver.wait_for(2)
    assert {span.id for span in receiver.spans()} == {8, 9}


NOBODY_ELSE = 64321


def test_no_thread_can_be_made(node, receiver):
    """It says so, and fails: the command and its child are all that this user may have."""
    os.chmod(node.folder, 0o755)
    # setpriv is the last, as only its own exec reaches into a folder that is root's alone
    become = ["prlimit", "--nproc=2", "setpriv", f"--reuid={NOBODY_ELSE}", f"--regid={NOBODY_ELSE}", "--clear-groups"]
    with open(node.path("one.jsonl"), "w", encoding="utf-8") as file:
        file.write(LINE % (1, 1))
    command = [node.built("cli/blkin"), "import", "--server", f"127.0.0.1:{receiver.port}", node.path("one.jsonl")]
    done = subprocess.run([*become, *command], env=node.environment, capture_output=True, text=True, timeout=60, check=False)
    assert "nothing can be read, as no thread can be made" in done.stderr, done.stderr
    assert done.returncode == 1 and receiver.spans() == []


def test_much_garbage_is_named_in_part(node, receiver):
    with open(node.path("garbage.jsonl"), "wb") as file:
        file.write(b"garbage\n" * 1000)
    done = run_import(node, "--server", f"127.0.0.1:{receiver.port}", node.path("garbage.jsonl"))
    assert done.returncode == 1
    assert done.stderr.count("skipped, as it is not a span") == 10
    assert "garbage.jsonl: skipped: 990 more lines that are not spans" in done.stderr
    assert "1000 lines read: 0 spans, 1000 that are not spans" in done.stdout
    # a line without an end is not read into memory
    with open(node.path("endless.jsonl"), "wb") as file:
        file.write(b"\n")
        file.truncate(1 << 32)
    done = run_import(node, "--server", f"127.0.0.1:{receiver.port}", node.path("endless.jsonl"))
    assert done.returncode == 1
    assert "endless.jsonl:2: this line is longer than 16 MiB, so it is not a span: it and the rest of the file are skipped" in done.stderr


def test_traces_and_files_into_files(node, recording, written):  # noqa: F811
    """Both at once, and a file that somebody else is writing stays as it is."""
    into = SpanFiles(node.path("into"))
    os.mkdir(into.directory)
    config = node.write_config(free_port(), output=NONE, **{"output files": quick(into)})
    part = f"{into.directory}/.zipkin-20200101T000000Z-1.jsonl.part"
    with open(part, "wb") as file:
        file.write(b'{"half')
    done = run_import(node, "--config", config, recording, written.directory)
    assert done.returncode == 0, done.stderr
    assert "events read: 20000 in spans" in done.stdout and "20000 lines read" in done.stdout
    assert "40000 spans: 40000 sent" in done.stdout
    assert into.parts() == [os.path.basename(part)] and os.path.getsize(part) == 6
    assert ordinals(into.spans()).total() == 40000
    assert set(identities(into.spans()).values()) == {1}


def test_files_are_finished_after_a_failure(node, written):
    """Of files one of which cannot be read, what was sent is in whole files."""
    into = SpanFiles(node.path("into"))
    os.mkdir(into.directory)
    config = node.write_config(free_port(), output=NONE, **{"output files": quick(into)})
    os.mkfifo(f"{written.directory}/zipkin-20990101T000000Z-1.jsonl")
    done = run_import(node, "--config", config, written.directory)
    assert done.returncode == 1
    assert "zipkin-20990101T000000Z-1.jsonl: cannot be read" in done.stderr
    assert "20000 spans: 20000 sent" in done.stdout
    assert not into.parts()
    assert ordinals(into.spans()).total() == 20000


def test_not_into_its_own_folder(node, written):
    """What is read is not removed, nor written again."""
    link = node.path("link")
    os.symlink(written.directory, link)
    keys = dict(quick(written), directory=link, **{"rotate-size": "1M", "total-size": "1M"})
    config = node.write_config(free_port(), output=NONE, **{"output files": keys})
    before = written.finished()
    done = run_import(node, "--config", config, written.directory)
    assert done.returncode == 1
    assert f"{before[0]}: [output files] writes into this folder: name a collector with --server" in done.stderr
    assert written.finished() == before and not written.parts()
