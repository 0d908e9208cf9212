# SPDX-License-Identifier: BSD-2-Clause
"""Events of all layouts, of spans and of classic annotations, become the same spans."""

import json
import os
import shutil
import subprocess

import pytest
from expect import STRING, address, check_load, host, place, tags_of
from rig.load import KEEP, LOAD
from rig.node import TOP
from rig.process import wait_until

OLD = os.path.join(TOP, "tests/fixtures/trace-0.1/trace")
NEW_EVENTS = ["span2" + level for level in ("_emerg", "_alert", "_crit", "_err", "_warning", "_notice", "", "_debug")]


def record(node, program, **environment):
    """A folder with a trace of the program, without an agent."""
    folder = node.path("trace")
    shutil.rmtree(folder, ignore_errors=True)
    node.lttng("create", "disk", "-o", folder)
    node.lttng("enable-event", "-u", "blkin:*")
    node.lttng("start")
    node.run(program, **environment)
    node.lttng("destroy")
    return folder


def spans_of(node, folder):
    """What is in it, in any order, without what is another one each time."""
    words = [node.built("cli/blkin"), "import", "--print", "--json", folder]
    done = subprocess.run(words, capture_output=True, text=True, env=node.environment, timeout=60, check=True)
    assert "28 events read: 28 in spans, 0 rejected, 0 others ignored" in done.stderr
    spans = [json.loads(line) for line in done.stdout.splitlines()]
    for span in spans:
        notes = [note["value"] for note in span.pop("annotations")]
        assert len(span.pop("traceId")) == (32 if span.get("debug") else 16)
        for key in ("id", "parentId", "timestamp", *([] if notes[0] == "before" else ["duration"])):
            span.pop(key, None)
        span["notes"] = notes
    return sorted(json.dumps(span, sort_keys=True) for span in spans)


def events_of(folder):
    """As babeltrace2 prints them."""
    return subprocess.run(["babeltrace2", folder], capture_output=True, text=True, errors="replace", check=True).stdout


def test_what_older_providers_recorded(node):
    """As what today's records of the same program: names, levels, kinds, pieces."""
    old, new = spans_of(node, OLD), spans_of(node, record(node, ["tests/live/programs/layouts"]))
    assert len(old) == 26
    assert old == new
    assert any('"name": "a\\nb"' in span for span in old)
    text = events_of(OLD)
    assert text.count(" blkin:span: ") == 19 and " blkin:span_err: " in text
    text = events_of(node.path("trace"))
    assert text.count(" blkin:span2: ") == 19 and " blkin:span2_err: " in text and "blkin:span:" not in text


def test_provider_of_another_release(node):
    """There, babeltrace2 reads a sequence of characters faster than a string, or the other way round."""
    program = ["tests/live/programs/layouts"]
    other = os.path.dirname(node.built("tests/live/programs/otherprovider/libblkin-provider.so.1"))
    ours = spans_of(node, record(node, program))
    lengths = events_of(node.path("trace")).count(" _text_length = ")
    assert spans_of(node, record(node, program, LD_LIBRARY_PATH=other)) == ours
    assert lengths + events_of(node.path("trace")).count(" _text_length = ") == 26
    assert lengths in (0, 26)


def test_both_layouts_in_one_session(node, receiver):
    node.start_agent(receiver.port)
    node.run([LOAD, "-n", 100])
    node.run(["tests/live/programs/sixfields", 50])
    node.run([LOAD, "-n", 100])
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 300, 20, "300 spans")
    assert (ledger.read, ledger.in_spans, ledger.rejected) == (300, 300, 0)
    six = {span.id: span for span in receiver.spans() if span.name == "six"}
    assert set(six) == {*range(1, 51), *range(1_000_001, 1_000_051)}
    for number, span in six.items():
        tags = {tag.key: tag.value for tag in tags_of(span)}
        assert tags == {"key": b"value"} | ({"level": b"err"} if number > 1_000_000 else {})
        assert [note.value for note in span.annotations] == ["note"]
        assert span.annotations[0].timestamp - span.timestamp <= 1
        assert place(span) == (address("10.6.0.1"), 7, "sixfields", None)


@pytest.mark.parametrize("longest", [5000, 1000])
def test_programs_with_an_older_header(node, receiver, longest):
    """Their spans are put into one piece by the provider, whole, unless there is no memory for that."""
    node.start_agent(receiver.port)
    node.run(["tests/live/programs/records", *(["short"] if longest < 5000 else [])])
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 5, 20, "5 spans")
    assert (ledger.read, ledger.in_spans, ledger.rejected) == (5, 5, 0)
    found = {span.id: span for span in receiver.spans()}
    assert {number: len(span.name) for number, span in found.items()} == {1: 0, 2: 4, 3: 12, 4: 300, 5: longest}
    for span in found.values():
        assert set(span.name) <= {"n"}
        assert [(tag.key, tag.value) for tag in tags_of(span)] == [("key", b"value")]
        assert place(span) == (address("10.7.0.1"), 8, "records", None)


def test_session_of_an_older_agent(node, receiver):
    """It is kept, and records what today's provider writes, too, from then on."""
    node.start_agent(receiver.port, session=KEEP)
    assert node.agent.stop() == 0
    for event in NEW_EVENTS:
        node.lttng("disable-event", "-u", "-s", "blkin", "-c", "spans", f"blkin:{event}")
    node.start_agent_again()
    wait_until(lambda: "it is of an older version" in node.agent.log(), 20, "the agent to see it")
    node.run([LOAD, "-n", 100])
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 100, 20, "100 spans")
    assert (ledger.sessions, ledger.sessions_lost, ledger.read) == (1, 0, 100)
    assert node.metrics()["blkin_agent_sessions_mended_total"] == 0
    check_load(receiver.spans(), 1, 1, 100)


def test_layout_of_2014(node, receiver):
    node.start_agent(receiver.port)
    node.run(["tests/live/programs/layout2014"])
    receiver.wait_for(1)
    ledger = node.wait_ledger(lambda ledger: ledger.idle() and ledger.read == 4, 10, "4 events")
    (span,) = receiver.spans()
    here = (address("10.4.0.1"), 5001, "old client", None)
    assert (span.name, span.trace_id, span.id, span.parent_id) == ("Read", 77, 78, 77)
    assert [note.value for note in span.annotations] == ["cs", "sent to the store", "cr"]
    assert [(tag.key, tag.value, tag.annotation_type) for tag in span.binary_annotations] == [
        ("object", b"motd", STRING)
    ]
    assert place(span) == here
    # from the first event of the span, its tag, to the last
    assert span.timestamp <= span.annotations[0].timestamp
    assert span.timestamp + span.duration == span.annotations[-1].timestamp
    assert (ledger.in_spans, ledger.sent, ledger.rejected) == (4, 1, 0)


def test_classic_layout_over_two_processes(node, receiver, run_classic):
    node.start_agent(receiver.port)
    port = run_classic(node, 3)
    receiver.wait_for(9)
    spans = receiver.spans()
    assert len(spans) == 9
    roots = {span.id: span for span in spans if span.name == "read"}
    assert len(roots) == 3
    assert sorted(int(root.binary_annotations[0].value) for root in roots.values()) == [0, 1, 2]
    for root in roots.values():
        assert root.parent_id is None and root.trace_id == root.id
        client, server = sorted(
            (span for span in spans if span.parent_id == root.id), key=lambda span: span.annotations[0].value
        )
        assert client.id == server.id and client.trace_id == server.trace_id == root.id
        assert [note.value for note in client.annotations] == ["cs", "cr"]
        assert [note.value for note in server.annotations] == ["sr", "ss"]
        assert host(client.annotations[0].host) == (address("10.0.0.2"), 5000, "classic client", None)
        assert host(server.annotations[0].host) == (address("127.0.0.1"), port, "classic server", None)
        (tag,) = server.binary_annotations
        assert (tag.key, tag.value, tag.annotation_type) == ("bytes", b"1234", STRING)
        assert client.timestamp <= server.timestamp
        assert client.annotations[1].timestamp >= server.annotations[1].timestamp
