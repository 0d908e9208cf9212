# SPDX-License-Identifier: BSD-2-Clause
"""What programs record wrongly: others do not notice, it is counted under its own reason, and the status says whose it is."""

import os
import shutil

import pytest
from expect import key_of, place, tags_of
from rig.load import KEEP
from rig.process import wait_until
from rig.users import start_as
from test_hostile import GOOD, HOSTILE

COUNT = 10
UNREADABLE, OVERWRITTEN = [f'blkin_agent_packets_lost_total{{reason="{reason}"}}' for reason in ("unreadable", "overwritten")]


def findings(node):
    return {finding["code"]: finding for finding in node.status()["findings"]}


def finding(node, code):
    wait_until(lambda: code in findings(node), 15, f"the finding {code}")
    return findings(node)[code]


def start_agent(node, receiver):
    """babeltrace2 leaks when it fails."""
    node.write_config(receiver.port, session=KEEP)
    node.start_agent_again(ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0")


@pytest.mark.as_root("only root may run programs as another user")
def test_records_without_an_end(node, receiver):
    """Of another user, whose packets cannot be read behind them."""
    start_agent(node, receiver)
    load = start_as(node, GOOD, "spanload", "-n", 2000, "-r", 100)
    program = start_as(node, HOSTILE, "unended")
    assert f"user {HOSTILE} " in finding(node, "left-out")["what"]
    assert load.wait() == 0
    program.kill()

    def arrived():
        return {key_of(span) for span in receiver.spans() if place(span)[2] == "load-0"}

    wait_until(lambda: len(arrived()) == 2000, 30, "all the other user's spans")
    metrics = node.metrics()
    assert metrics[UNREADABLE] > 0 and metrics[OVERWRITTEN] == 0
    assert node.status()["events"]["lost"]["unreadable"] >= metrics[UNREADABLE]
    node.ledger().check()


@pytest.mark.as_root("only root may run programs as another user")
@pytest.mark.parametrize(
    "clock, ahead",
    [("ahead", "315360000000000000"), ("ahead", "18400000000000000000"), ("still", "")],
    ids=["ten years", "all it takes", "stands still"],
)
def test_clock_of_its_own(node, receiver, clock, ahead):
    """
    Of another user's programs, which the consumer daemon does not have: he is named. The largest may end readers. One that
    stands still ends live reading: all are read from files for a while.
    """
    start_agent(node, receiver)
    load = start_as(node, GOOD, "spanload", "-n", 1000, "-r", 100)
    plugin = shutil.copy(node.built(f"tests/live/programs/lib{clock}clock.so"), node.path("shared"))
    start_as(node, HOSTILE, "spanload", "-P", 1, "-n", 10**6, "-r", 100, LTTNG_UST_CLOCK_PLUGIN=plugin, AHEAD=ahead)
    assert f"user {HOSTILE} " in finding(node, "program-clock")["what"]
    assert load.wait() == 0

    def others():
        return [key_of(span) for span in receiver.spans() if place(span)[2] == "load-0"]

    wait_until(lambda: len(set(others())) == 1000, 30, "the other's spans")
    # what a reader had handed over when babeltrace2 ended it is read again
    wait_until(lambda: len(others()) - 1000 <= node.ledger().again, 10, "what came twice to be counted")


@pytest.fixture
def distorted(node, receiver):
    """A function that has a program record COUNT spans of a kind, and returns the ledger once COUNT of them are @read."""
    node.start_agent(receiver.port)

    def record(kind):
        node.run(["tests/live/programs/distorted", kind])
        return node.wait_ledger(lambda ledger: ledger.read >= COUNT and ledger.idle(), 20, "the spans")

    return record


def names_it(found, service=" of service `distorted`"):
    return f"user {os.getuid()}, last of span `request`{service}" in found["what"]


def test_finish_in_an_hour(node, receiver, distorted):
    ledger = distorted("later")
    assert (ledger.read, ledger.rejected_for("time"), ledger.in_spans) == (COUNT, COUNT, 0)
    found = finding(node, "events-time")
    assert "distorted" not in node.http_get("/status.json")[1], "that is for who may see names"
    assert names_it(found) and "finishes at a time 3600.000 s after it was recorded" in found["what"]
    assert receiver.spans() == []


def test_id_0(node, distorted):
    assert distorted("nameless").rejected_for("id") == COUNT
    assert names_it(finding(node, "events-id"), "")


def test_other_fields(node, receiver):
    node.start_agent(receiver.port)
    node.run(["tests/live/programs/wrong_types_blkin"])
    assert f"user {os.getuid()}:" in finding(node, "events-malformed")["what"]


def test_tag_larger_than_a_sub_buffer(node, receiver, distorted):
    ledger = distorted("large")
    assert (ledger.read, ledger.lost, ledger.in_spans, ledger.sent) == (COUNT, COUNT, COUNT, COUNT)
    for span in receiver.spans():
        tags = {tag.key: tag.value for tag in tags_of(span)}
        assert tags == {"short": b"value", "blkin.truncated": b"1 of 1 annotations and tags"}
    assert node.metrics()["blkin_agent_spans_truncated_total"] == COUNT
    found = finding(node, "spans-truncated")
    assert names_it(found) and "below 512 KiB" in found["fix"]


def test_tag_with_an_event_of_its_own(node, receiver, distorted):
    """Nothing is missing."""
    ledger = distorted("broken")
    assert (ledger.lost, ledger.sent) == (0, COUNT)
    for span in receiver.spans():
        assert {tag.key: tag.value for tag in tags_of(span)} == {"short": b"value", "broken": b"two\nlines"}
    assert node.metrics()["blkin_agent_spans_truncated_total"] == 0
    assert "spans-truncated" not in findings(node)
