# SPDX-License-Identifier: BSD-2-Clause
"""Classic events of both field layouts become the same spans."""

from expect import STRING, address, host, place


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
