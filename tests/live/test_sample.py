# SPDX-License-Identifier: BSD-2-Clause
"""The span API over two processes and services: the examples gateway and store."""

from expect import BOOL, STRING, address, host, place


def one(spans, **wanted):
    found = [span for span in spans if all(getattr(span, key) == value for key, value in wanted.items())]
    assert len(found) == 1, wanted
    return found[0]


def tags(span):
    return {tag.key: (tag.value, tag.annotation_type) for tag in span.binary_annotations}


def check_trace(spans, port):
    """The five spans of a request; the client's and the server's halves of "write" share an id."""
    gateway = (address("10.0.0.1"), 8080, "gateway", None)
    store = (address("127.0.0.1"), port, "store", None)
    root = one(spans, name="put object")
    client, server = sorted((span for span in spans if span.name == "write"), key=lambda span: span.annotations[0].value)
    journal, disk = one(spans, name="journal"), one(spans, name="disk write")

    assert root.parent_id is None and root.trace_id == root.id
    assert client.id == server.id and client.parent_id == server.parent_id == root.id
    assert journal.parent_id == disk.parent_id == server.id
    assert [note.value for note in root.annotations] == ["placed on store"]
    assert [note.value for note in client.annotations] == ["cs", "cr"]
    assert [note.value for note in server.annotations] == ["sr", "ss"]
    # the half that does not own the span's id has no timestamp and duration of its own
    assert (server.timestamp, server.duration) == (None, None)
    assert client.timestamp == client.annotations[0].timestamp
    assert client.duration == client.annotations[1].timestamp - client.timestamp

    number = int(tags(root)["object"][0].split(b"-")[1])
    size = 4096 * (number + 1)
    assert tags(root)["bytes"] == (b"%d" % size, STRING)
    assert tags(disk) == {"device": (b"sda", STRING), "blocks": (b"%d" % (size // 512), STRING)}
    assert tags(server) == {"object": (b"object-%d" % number, STRING)}
    assert tags(client) == {"sa": (b"\x01", BOOL)}
    assert host(client.binary_annotations[0].host) == store
    assert place(root) == place(client) == gateway
    assert place(server) == place(journal) == place(disk) == store

    times = [root.timestamp, client.timestamp, server.annotations[0].timestamp, journal.timestamp, disk.timestamp]
    assert times == sorted(times)
    assert 500 <= journal.duration <= server.annotations[1].timestamp - server.annotations[0].timestamp
    assert 1000 <= disk.duration <= client.duration <= root.duration


def test_spans_join_across_processes(node, receiver, run_sample):
    node.start_agent(receiver.port)
    port = run_sample(node, 4)
    receiver.wait_for(20)
    traces = {}
    for span in receiver.spans():
        traces.setdefault(span.trace_id, []).append(span)
    assert len(traces) == 4 and all(len(spans) == 5 for spans in traces.values())
    for spans in traces.values():
        check_trace(spans, port)
