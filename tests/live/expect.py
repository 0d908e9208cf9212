# SPDX-License-Identifier: BSD-2-Clause
"""What a span of programs/spanload.c must look like, every field of it, once it was delivered."""

import socket
import struct

from rig.process import exactly

TRACE_SPANS = 5
NAMES = ["read", "Write", "list objects", "delete", "stat", "sync-all", "größe"]
LOCAL, CLIENT, SERVER, PRODUCER, CONSUMER = range(5)
CORE = {LOCAL: (None, None), CLIENT: ("cs", "cr"), SERVER: ("sr", "ss"), PRODUCER: ("ms", None), CONSUMER: ("mr", None)}
STRING, BOOL = 6, 0


def address(text):
    return struct.unpack("!i", socket.inet_aton(text))[0]


def host(endpoint):
    return (endpoint.ipv4, endpoint.port, endpoint.service_name, endpoint.ipv6)


def place(span):
    """The host of a span: told by its core annotations or else by its last tag, and by nothing else."""
    core = [note for note in span.annotations if note.value in ("cs", "cr", "sr", "ss", "ms", "mr")]
    tags = [tag for tag in span.binary_annotations if tag.annotation_type == STRING]
    tellers = core or tags[-1:]
    assert all((item.host is not None) == any(item is teller for teller in tellers) for item in span.annotations + tags)
    (found,) = {host(item.host) for item in tellers}
    return found


def tags_of(span):
    """Its tags, without the empty one that is there for its host only."""
    return [tag for tag in span.binary_annotations if (tag.key, tag.value) != ("lc", b"")]


def key_of(span):
    """(process, thread, ordinal): which span of the load this is."""
    tags = {tag.key: tag.value for tag in span.binary_annotations}
    process, thread = tags["worker"].decode().split(".")
    return int(process), int(thread), int(tags["ordinal"])


def check_span(span, key):
    """Compares all that does not depend on other spans; returns what the clocks differ by, in ns."""
    process, thread, n = key
    here = (address(f"10.1.{process}.{thread}"), 7000 + thread, f"load-{process}", None)
    tags = [(tag.key, tag.value, tag.annotation_type) for tag in span.binary_annotations]
    start = int(tags[-1][1])
    kind = n % TRACE_SPANS
    expected_tags = [
        ("worker", b"%d.%d" % (process, thread), STRING),
        ("ordinal", b"%d" % n, STRING),
        ("score", b"%d" % (-n * n * 31), STRING),
        ("start", b"%d" % start, STRING),
    ]
    if kind == CLIENT:
        expected_tags.insert(0, ("sa", b"\x01", BOOL))
        assert host(span.binary_annotations[0].host) == (address("10.9.8.7"), 6789, "peer", None)
    assert tags == expected_tags
    assert span.name == NAMES[n % len(NAMES)]
    assert span.duration == 100 + n % 1000
    begin, end = CORE[kind]
    at = span.timestamp
    expected = [(at, begin)] if begin else []
    expected.append((at + 1 + n % 50, f"step {n % 100} of a request"))
    expected.append((at + 60 + n % 7, "done" if n % 3 else "erledigt ✓"))
    if end:
        expected.append((at + span.duration, end))
    assert [(note.timestamp, note.value) for note in span.annotations] == expected
    assert place(span) == here
    assert not span.debug and not span.trace_id_high
    return at * 1000 - start


def end_load(load):
    """Ends a load, which goes on until then; returns how many spans each worker, (process, thread), recorded."""
    assert load.running(), "the load ended too early"
    assert load.stop() == 0
    lines = [line.split() for line in load.log().splitlines()]
    return {tuple(map(int, worker.split("."))): int(count) for worker, count in lines}


def keys_of(recorded):
    """The keys of all spans of a load, by what its workers recorded."""
    return {(process, thread, n) for (process, thread), count in recorded.items() for n in range(count)}


def check_load(spans, processes, threads, count):
    """check_recorded, of a load whose workers all recorded @count spans."""
    check_recorded(spans, {(p, t): count for p in range(processes) for t in range(threads)})


def check_recorded(spans, recorded, apart=1000):
    """
    Compares every span of a load, of which none may be missing or come twice: fields, ids, who is whose parent, and that clocks
    are less than so many ns @apart.
    """
    by_key = {}
    clocks = []
    for span in spans:
        key = key_of(span)
        exactly(key not in by_key, f"{key} came twice")
        by_key[key] = span
        clocks.append(check_span(span, key))
    wanted = keys_of(recorded)
    exactly(by_key.keys() == wanted, f"{len(wanted - by_key.keys())} are missing, {len(by_key.keys() - wanted)} are of nobody")
    exactly(len({span.id for span in spans}) == len(spans), "two spans have the same id")
    for (process, thread, n), span in by_key.items():
        root = by_key[process, thread, n - n % TRACE_SPANS]
        assert span.trace_id == root.id
        assert span.parent_id == (None if span is root else root.id)
    check_clocks(clocks, apart)


def check_clocks(clocks, apart=1000):
    """Every timestamp is the program's clock plus the same amount, cut to microseconds."""
    assert max(clocks) - min(clocks) < apart
