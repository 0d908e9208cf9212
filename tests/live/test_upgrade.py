# SPDX-License-Identifier: BSD-2-Clause
"""What agents of before left on disk is taken over: README in tests/fixtures/state-0.1 and state-0.2 says what that is."""

import os
import shutil

import pytest
from expect import check_load
from rig.jsonsink import JsonSink
from rig.load import KEEP
from rig.node import TOP
from rig.otlpsink import OtlpSink
from rig.process import free_port
from rig.scribe import Receiver

LOAD, WHOLE, OPEN = 60, 6, 25  # spans of spanload; classic ones that had ended, and that had not
READ = 191  # events
STEPS = ["cs", "step 1", "step 2", "step 3", "step 4", "cr"]


def take_over(node, port, version="0.1", **sections):
    """Starts today's agent on what the earlier one left."""
    fixture = os.path.join(TOP, f"tests/fixtures/state-{version}")
    shutil.copytree(fixture, node.path("state"), ignore=shutil.ignore_patterns("README", "make.py"))
    return node.start_agent(port, session=KEEP, **sections)


def ordinal_of(span):
    return next(int(tag.value) for tag in span.binary_annotations if tag.key == "ordinal")


def check_spans(spans):
    """Every span came once, with all that the programs had recorded of it."""
    load = [span for span in spans if any(tag.key == "worker" for tag in span.binary_annotations)]
    check_load(load, 1, 1, LOAD)
    classic = {ordinal_of(span): [note.value for note in span.annotations] for span in spans if span not in load}
    assert len(spans) == LOAD + len(classic)
    assert set(classic) == set(range(WHOLE + OPEN))
    for ordinal, notes in classic.items():
        assert notes == STEPS[: len(notes)]
        assert (len(notes) == len(STEPS)) == (ordinal < WHOLE)
    # of each event a span has an annotation, but of one, which is a tag
    assert sum(map(len, classic.values())) == READ - LOAD - len(classic)


def check_nothing_is_wrong(node):
    """But that the session is gone, which the log says once; nothing was set aside."""
    known = {f"{name}.{number}" for name in ("checkpoint", "reached") for number in (0, 1)}
    known |= {"page-token", "spool.db", "spool.db-shm", "spool.db-wal", "spool.tally"}
    assert set(os.listdir(node.path("state"))) <= known
    said = node.agent.log().splitlines()
    gone = [line for line in said if "has ended: " in line]
    assert len(gone) == 1
    assert gone[0].startswith("blkin-agent: LTTng session `blkin` has ended: lttng-sessiond no longer knows it; ")
    bounds = [line for line in said if line.endswith(", was lost with the LTTng session: LTTng does not tell how many events")]
    assert len(bounds) == 1
    for word in ("checkpoint", "damaged", "cannot", "lost", "wall clock"):
        assert not [line for line in said if word in line and line not in gone + bounds], word


def test_spool_and_spans_in_assembly(node):
    """The collector is away at first: the counters go on from where they stood, then every span arrives once."""
    receiver = Receiver(node, free_port())
    take_over(node, receiver.port)
    ledger = node.wait_ledger(lambda ledger: ledger.spooled == LOAD + WHOLE + OPEN, 30, "all to be in the spool")
    assert (ledger.read, ledger.again, ledger.spans, ledger.recovered) == (READ, 0, LOAD + WHOLE + OPEN, 0)
    assert (ledger.sessions, ledger.sessions_lost) == (2, 1)
    receiver.start()
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 30, "all to be delivered")
    assert (ledger.sent, ledger.sent_again, ledger.dropped) == (LOAD + WHOLE + OPEN, 0, 0)
    receiver.wait_for(LOAD + WHOLE + OPEN)
    check_spans(receiver.spans())
    check_nothing_is_wrong(node)


def ids_of(sink):
    """Sorted, and the tags `worker`, which are the program's own, and `site`, which the output's."""
    if isinstance(sink, OtlpSink):
        spans = [(span.trace_id.hex(), span.span_id.hex(), tags["worker"], {**tags, **resource}.get("site")) for resource, span, tags in sink.spans]
    else:
        spans = [(span["traceId"], span["id"], span["tags"]["worker"], span["tags"].get("site")) for span in sink.spans]
    return sorted((trace[-16:], span, str(worker), site) for trace, span, worker, site in spans)


@pytest.mark.parametrize("turned", [False, True], ids=["as it was stored", "in another format"])
def test_spools_of_each_format(node, turned):
    """Spans that were encoded before they were stored: each arrives once, with the tags of then, in whatever format is asked for today."""
    receiver, sinks = Receiver(node, free_port()), [JsonSink(), OtlpSink()]
    away = {"tags": "site=a1"}
    json = dict(away, type="http", format="json2", server=f"127.0.0.1:{sinks[0].port}")
    otlp = dict(away, type="otlp", server=f"127.0.0.1:{sinks[1].port}")
    receiver.start()
    take_over(node, receiver.port, "0.2", **{"output json": otlp if turned else json, "output otlp": json if turned else otlp})
    receiver.wait_for(LOAD)
    for sink in sinks:
        sink.wait_for(LOAD)
    node.wait_ledger(lambda ledger: ledger.idle(), 30, "all to be counted")
    check_load(receiver.spans(), 1, 1, LOAD)
    stored = ids_of(sinks[0])
    assert len(stored) == LOAD and len(set(stored)) == LOAD and ids_of(sinks[1]) == stored
    assert {site for _, _, _, site in stored} == {"a1"}


def test_what_was_stored_for_scribe_goes_by_otlp(node):
    """Every id, and every field that both can say."""
    sink = OtlpSink()
    take_over(node, sink.port, "0.2", output={"type": "otlp", "tags": "site=b2"})
    node.wait_ledger(lambda ledger: ledger.sent == LOAD and ledger.spooled == 0, 30, "all to be delivered")
    spans = [span for _, span, _ in sink.spans]
    assert len(spans) == len({span.span_id for span in spans}) == LOAD
    for resource, span, tags in sink.spans:
        assert resource["service.name"] == "load-0" and resource["site"] == "b2"
        assert span.name and span.start_time_unix_nano < span.end_time_unix_nano and "worker" in tags
