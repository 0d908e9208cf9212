# SPDX-License-Identifier: BSD-2-Clause
"""`format = json2`: Zipkin's version 2 says what version 1 says; and an output's format can be changed at any time."""

import collections
import ipaddress

import pytest
from expect import BOOL, CORE, place, tags_of
from rig.jsonsink import JsonSink
from rig.load import LOAD
from test_outputs_reload import Sections

KINDS = {words[0]: kind for kind, words in zip((None, "CLIENT", "SERVER", "PRODUCER", "CONSUMER"), CORE.values())}
ENDS = {"cs": "cr", "sr": "ss"}


@pytest.fixture
def sink():
    with JsonSink() as server:
        yield server


def endpoint(ipv4, port, service, ipv6):
    """Of Thrift's fields."""
    found = {"serviceName": service} if service else {}
    if ipv6:
        found["ipv6"] = str(ipaddress.IPv6Address(ipv6))
    elif ipv4:
        found["ipv4"] = str(ipaddress.IPv4Address(ipv4 & 0xFFFFFFFF))
    if port:
        found["port"] = port & 0xFFFF
    return found


def hexadecimal(number):
    return f"{number & 0xFFFFFFFFFFFFFFFF:016x}"


def converted(span):
    """A span of version 1, as Zipkin would convert it to version 2."""
    found = {"traceId": hexadecimal(span.trace_id), "id": hexadecimal(span.id), "localEndpoint": endpoint(*place(span))}
    notes = [(note.timestamp, note.value) for note in span.annotations]
    begin = next((value for _, value in notes if value in CORE_WORDS), None)
    if begin:
        begin = begin if begin in KINDS else next(word for word, end in ENDS.items() if end == begin)
        found["kind"] = KINDS[begin]
        edges = [(time, value) for time, value in notes if value in (begin, ENDS.get(begin))]
        notes = [note for note in notes if note not in edges]
    start, duration = span.timestamp, span.duration
    if start is None:  # the server's half of a shared span
        found["shared"] = True
        start = min(time for time, _ in edges)
        duration = max(time for time, _ in edges) - start
    found["timestamp"] = start
    if duration:
        found["duration"] = duration
    if span.trace_id_high:
        found["traceId"] = hexadecimal(span.trace_id_high) + found["traceId"]
    if span.parent_id:
        found["parentId"] = hexadecimal(span.parent_id)
    if span.name:
        found["name"] = span.name
    if span.debug:
        found["debug"] = True
    if notes:
        found["annotations"] = [{"timestamp": time, "value": value} for time, value in notes]
    add_tags(found, tags_of(span))
    return found


CORE_WORDS = {word for words in CORE.values() for word in words if word}


def add_tags(found, tags):
    for tag in tags:
        if tag.annotation_type == BOOL:
            host = tag.host
            found["remoteEndpoint"] = endpoint(host.ipv4, host.port, host.service_name, host.ipv6)
        elif tag.key != "otel.status_description":  # which says what `error` does
            found.setdefault("tags", {})[tag.key] = tag.value.decode()


def by_id(spans):
    found = collections.defaultdict(list)
    for span in spans:
        found[span["traceId"], span["id"], span.get("kind"), span["localEndpoint"].get("serviceName")].append(span)
    assert all(len(same) == 1 for same in found.values()), [same for same in found.values() if len(same) > 1][0]
    return {key: same[0] for key, same in found.items()}


@pytest.mark.parametrize("compression", ["gzip", "zstd", "none"])
def test_both_versions_say_the_same(node, receiver, run_classic, sink, compression):
    web = {"type": "http", "format": "json2", "server": f"127.0.0.1:{sink.port}", "compression": compression}
    node.start_agent(receiver.port, **{"output web": dict(web, batch_delay="50ms")})
    node.run([LOAD, "-p", 2, "-n", 1000])
    run_classic(node, 20)
    receiver.wait_for(2000 + 60)
    sink.wait_for(2000 + 60)
    old, new = by_id(map(converted, receiver.spans())), by_id(sink.spans)
    assert new.keys() == old.keys()
    for key, span in new.items():
        assert span == old[key]
    assert collections.Counter(span.get("kind") for span in sink.spans).keys() == set(KINDS.values())
    expected = ("/api/v2/spans", "application/json", None if compression == "none" else compression)
    assert set(sink.requests) == {expected}


def ordinals(spans):
    """Which spans of the load these are; sorted, so that one which came twice is seen."""
    return sorted((span["tags"]["worker"], int(span["tags"]["ordinal"])) for span in spans)


def all_ordinals(processes, spans):
    return sorted((f"{process}.0", ordinal) for process in range(processes) for ordinal in range(spans))


@pytest.mark.parametrize("spool", ["100M", "0"], ids=["on disk", "in memory"])
def test_what_waits_is_sent_in_the_new_format(node, receiver, sink, spool):
    """The collector of version 1 never comes back; the administrator moves to one of version 2."""
    receiver.program.stop()
    node.start_agent(receiver.port, output={"spool_size": spool})
    node.run([LOAD, "-p", 2, "-n", 3000])
    node.wait_ledger(lambda ledger: ledger.queued + ledger.spooled == 6000, 30, "6000 spans to wait")
    sections = Sections(node)
    sections.output("output", sink, type="http", format="json2")
    sections.keys["output"] += f"spool-size = {spool}\n"
    sections.hang_up()
    node.run([LOAD, "-p", 2, "-n", 3000])
    sink.wait_for(12000)
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 20, "delivery")
    assert (ledger.sent, ledger.lost, ledger.dropped) == (12000, 0, 0)
    assert ordinals(sink.spans) == sorted(2 * all_ordinals(2, 3000))


def test_format_changes_under_load(node, receiver, sink):
    """There and back, and each span is at one of the two: what had no answer at a change is sent again."""
    node.start_agent(receiver.port)
    load = node.start([node.built(LOAD), "-p", 2, "-n", 40000, "-r", 4000])
    sections = Sections(node)
    old = sections.keys["output"]
    for _ in range(3):
        sections.output("output", sink, type="http", format="json2")
        sections.hang_up()
        seen = len(sink.spans)
        sink.wait_for(seen + 500)
        sections.keys["output"] = old
        sections.hang_up()
        receiver.wait_for(len(receiver.messages) + 500)
    assert load.wait(60) == 0
    ledger = node.wait_ledger(lambda ledger: ledger.read + ledger.lost >= 80000 and ledger.idle(), 20, "delivery")
    assert (ledger.lost, ledger.dropped) == (0, 0)
    spans = sink.spans + [converted(span) for span in receiver.spans()]
    assert sorted(set(ordinals(spans))) == all_ordinals(2, 40000)
    assert len(spans) - 80000 <= ledger.sent_again
