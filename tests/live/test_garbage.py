# SPDX-License-Identifier: BSD-2-Clause
"""Programs that write garbage: each event is delivered as well as it can be, or rejected and counted; others go on."""

from collections import defaultdict

from expect import check_load, key_of, place, tags_of
from rig.load import LOAD

LONG = "x" * 64 * 1024
BAD = "\ufffd"


def by_service(spans):
    services = defaultdict(list)
    for span in spans:
        services[place(span)[2]].append(span)
    return services


def content(span):
    notes = [note.value for note in span.annotations]
    return span.name, notes, [(tag.key, tag.value.decode()) for tag in tags_of(span)]


def test_garbage_by_way_of_the_header(node, receiver):
    node.start_agent(receiver.port)
    node.run(["tests/live/programs/badspans"])
    node.run([LOAD, "-n", 100])
    ledger = node.wait_ledger(lambda ledger: ledger.idle() and ledger.read >= 137, 30, "137 events")
    assert node.agent.stop() == 0
    spans = by_service(receiver.spans())
    check_load(spans.pop("load-0"), 1, 1, 100)
    seen = {service: [content(span) for span in found] for service, found in spans.items()}
    assert seen["invalid utf-8"] == [
        (f"na{BAD}me", [f"{BAD * 3} {BAD * 5}"], [(f"k{BAD * 2}", f"k{BAD * 2}")]),
    ]
    assert seen["empty"] == [("", [""], [("", "")])]
    assert seen[""] == [("no service", ["note"], [("key", "key")])]
    assert seen["long"] == [("long", [LONG], [(LONG, LONG)])]
    assert seen["negative port"] == [("port", ["note"], [("key", "key")])]
    assert place(spans["negative port"][0])[1] == -1  # 65535, as Thrift has no unsigned types
    assert seen["line breaks"] == [("a\nb", ["e\nf\n"], [("c\nd", "c\nd")])]
    assert seen["odd tags"] == [("odd", ["="], [("=+-@", "=+-@")])]
    assert seen["long name"] == [(LONG, ["note"], [("key", "key")])]
    assert seen["service of two lines"] == [("service", ["note"], [("!key", "!key")])]
    assert seen["invalid utf-8, classic"] == [(f"na{BAD}me", [f"k{BAD * 2}"], [(f"k{BAD * 2}", f"k{BAD * 2}")])]
    assert seen["empty, classic"] == [("", [""], [("", "")])]
    assert seen["long, classic"] == [("long", [LONG], [(LONG, LONG)])]
    assert seen["negative port, classic"] == [("port", ["key"], [("key", "key")])]
    assert place(spans["negative port, classic"][0])[3] == b"\0" * 15 + b"\1"
    # of the records that no correct program writes, the first is good, and so, but for a promise, is the last
    assert [span.id for span in spans["raw"]] == [201, 202]
    assert (ledger.rejected_for("id"), ledger.rejected_for("time"), ledger.rejected_for("malformed")) == (4, 1, 7)
    assert ledger.lost == ledger.dropped == 0
    assert ledger.repaired > 0
    assert "id 0, classic" not in seen


def test_events_named_as_ours_with_other_fields(node, receiver):
    node.start_agent(receiver.port)
    for provider in ("blkin", "zipkin"):
        node.run([f"tests/live/programs/wrong_types_{provider}"])
    node.run([LOAD, "-n", 100])
    node.run(["tests/live/programs/layout2014"])
    ledger = node.wait_ledger(lambda ledger: ledger.idle() and ledger.read >= 164, 30, "164 events")
    assert (ledger.read, ledger.rejected_for("malformed"), ledger.in_spans) == (164, 60, 104)
    assert ledger.ignored == 0  # blkin:span_loud: there is no such level, and it is not recorded
    receiver.wait_for(101)
    check_load([span for span in receiver.spans() if span.trace_id != 77], 1, 1, 100)


def test_two_users_of_one_message(node, receiver):
    """The agent's view of things agrees in both forms."""
    node.start_agent(receiver.port)
    node.run([LOAD, "-n", 50])
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 50, 20, "50 spans")
    status = node.status()
    assert status["events"]["read"] == ledger.read
    assert status["spans"]["sent"] == ledger.sent
    assert status["collecting"] and status["delivering"]
    assert key_of(receiver.spans()[0]) == (0, 0, 0)
