# SPDX-License-Identifier: BSD-2-Clause
"""Senders of OTLP who mean harm, or are many: the agent's memory has bounds, nobody is held up, and no span is lost."""

import contextlib
import gzip
import random
import signal
import threading
import time

import pytest
from rig.crowd import FIELDS, PREFACE, h2frame
from rig.idsink import IdSink
from rig.node import sanitized
from rig.otlpsender import (
    JSON,
    PROTOBUF,
    Grpc,
    Http,
    OtlpSender,
    Refused,
    connect,
    numbered,
    request_of,
    span_of,
    text_of,
)
from rig.otlpsink import messages
from rig.process import exactly, free_port, wait_until
from test_crowd import PLACES, STRANGER, Crowd, finding, memory_of
from test_input import TIMID, wait_received, wait_senders
from test_otlp_input import (
    KEYS,
    Whole,
    at_end,
    change,
    check_once,
    client_of,
    one,
    otlp,
    read_answer,
    start,
    start_agent,
)

MIB = 1 << 20
# What freed memory a build with AddressSanitizer keeps is not what is measured.
LITTLE = {"ASAN_OPTIONS": "verify_asan_link_order=0:quarantine_size_mb=1:thread_local_quarantine_size_kb=16"}


@pytest.fixture
def sink():
    with Whole() as server:
        yield server


def start_measured(node, server, **sections):
    """As start_agent; returns the ports, and the memory of the agent when nothing has come."""
    node.leak_environment = dict(node.leak_environment, **LITTLE)
    ports = start_agent(node, server, **sections)
    return ports, memory_of(node)


def states(node):
    return node.status()["inputs"]


def wait_nobody(node, seconds=20):
    def gone():
        return all(one["connections"] == one["bytes"] == one["waiting_calls"] == 0 for one in states(node).values())

    wait_until(gone, seconds, "all senders, and their memory, to be gone")


@pytest.mark.parametrize("way", KEYS)
@pytest.mark.parametrize("mode", ["slow", "half", "head", "mute", "deaf"])
def test_places_are_held_without_use(node, way, mode):
    """Whoever delivers finds room, and who has delivered stays; status names who holds the places."""
    sink = IdSink(node, free_port()).start()
    ports = start_agent(node, sink.port, input={"connections": PLACES})
    port = ports[list(KEYS).index(way)]
    with contextlib.ExitStack() as stack:
        settled = [stack.enter_context(client_of(ports, way)) for _ in range(10)]
        for n, client in enumerate(settled):
            exactly(client.hand(numbered(50, n, [0]))[0] == 200, "it is taken")
        with Crowd(port, 2 * PLACES, f"{way}-{mode}", STRANGER):
            for n in range(20):
                with client_of(ports, way) as client:
                    exactly(client.hand(numbered(51, n, range(3)))[0] == 200, "a user who has less than a share finds room")
            for n, client in enumerate(settled):
                exactly(client.hand(numbered(50, n, [1]))[0] == 200, "who has delivered stays")
            said = finding(node, "input-crowded")
            assert said and f"by user {STRANGER}" in said["what"], str(node.status()["findings"])
        closed = node.status()["input"]
        assert sum(closed["closed"].values()) + closed["turned_away"] >= PLACES, str(closed)
    ledger = wait_received(node, 80)
    exactly(ledger.received == ledger.sent == 80, str(ledger))
    exactly(max(sink.ids().values()) == 1, "each came once")


@pytest.mark.parametrize("way", KEYS)
def test_slow_calls_end(node, sink, way):
    """Also where there is room, a byte now and then is no progress, and silence amid a call has its end."""
    ports = start(node, sink, input={"timeout": "3s"})
    port = ports[list(KEYS).index(way)]
    with Crowd(port, 20, f"{way}-slow"):
        wait_until(lambda: node.status()["input"]["closed"]["slow"] >= 20, 20, "the slow calls to end")
    with Crowd(port, 20, f"{way}-head"):
        wait_until(lambda: node.status()["input"]["closed"]["silent"] >= 20, 20, "the silent ones to end")
    wait_nobody(node)


@pytest.mark.no_threads("ThreadSanitizer keeps several times the memory that is measured")
def test_many_bad_senders(node):
    """A thousand of them, of each kind, take little memory and processor time, and nobody else's room."""
    sink = IdSink(node, free_port()).start()
    ports, before = start_measured(node, sink.port, output=TIMID)
    good = [OtlpSender(lambda way=way: client_of(ports, way), 57, t, 1500, 30, rate=150) for t, way in enumerate(KEYS)]
    for sender in good:
        sender.start()
    crowds = [
        Crowd(port, 125, f"{way}-{mode}", STRANGER + n)
        for way, port in zip(KEYS, ports)
        for n, mode in enumerate(("slow", "half", "head", "deaf"))
    ]
    wait_senders(good, 90)
    after = memory_of(node)
    print(f"{before >> 10} KiB, then {after >> 10} KiB; {states(node)}")
    assert after - before < 64 * MIB
    for crowd in crowds:
        crowd.__exit__()
    wait_nobody(node)
    ledger = wait_received(node, 3000)
    exactly(ledger.received == ledger.sent == 3000, str(ledger))
    exactly(check_once(sink, good) == 0, "each came once")
    assert sum(s.broken + s.put_off for s in good) == 0, "nobody who delivers has to go"


@pytest.mark.no_threads("ThreadSanitizer keeps several times the memory that is measured")
@pytest.mark.parametrize("way", KEYS)
def test_much_of_a_head(node, way):
    """A thousand have as much of a request as may come before its body, and no more: what that takes is bounded, too."""
    sink = IdSink(node, free_port()).start()
    ports, before = start_measured(node, sink.port, output=TIMID)
    with Crowd(ports[list(KEYS).index(way)], 1000, f"{way}-fat", STRANGER):
        with client_of(ports, way) as client:
            exactly(client.hand(numbered(59, 0, range(10)))[0] == 200, "others are served")
        after = memory_of(node)
        print(f"{before >> 10} KiB, then {after >> 10} KiB; {states(node)}")
        assert sanitized() or after - before < 50 * MIB
    wait_nobody(node)


@pytest.mark.parametrize("way", KEYS)
def test_answers_are_not_read(node, way):
    """Two hundred who hand over spans and read no answer: what they hand over arrives, and they have to go."""
    sink = IdSink(node, free_port()).start()
    ports = start_agent(node, sink.port, input={"timeout": "2s"})
    port = ports[list(KEYS).index(way)]
    with Crowd(port, 200, f"{way}-deaf"):
        with client_of(ports, way) as client:
            exactly(client.hand(numbered(58, 0, range(10)))[0] == 200, "others are served")
        wait_until(
            lambda: sum(node.status()["input"]["closed"].values()) >= 200, 30, "those who do not read to have to go"
        )
        with client_of(ports, way) as client:
            exactly(client.hand(numbered(58, 1, range(10)))[0] == 200, "others are served")
    wait_nobody(node)
    ledger = wait_received(node, 20)
    exactly(ledger.received == ledger.sent == 20, str(ledger))


def test_memory_of_those_who_do_not_read(node, sink):
    """What is begun counts also at a connection whose answers wait to be read: such senders go, and nobody else does."""
    _, port = start(node, sink, input={"memory": "64M", "timeout": "60s"})
    many = 12
    texts = [PREFACE + grpc_text(numbered(59, n, range(50)).SerializeToString()) for n in range(3)]
    with Crowd(port, many, "grpc-hoard", STRANGER), contextlib.ExitStack() as stack:
        wait_until(lambda: node.status()["input"]["closed"]["crowded"] >= many - 2, 20, "those with more than their part to go")
        begun = [stack.enter_context(connect(port)) for _ in texts]
        for stream, text in zip(begun, texts):
            stream.sendall(text[:-100])
        with Grpc(port) as other:
            exactly(other.hand(numbered(59, 9, [0]))[0] == 200, "others are served")
        assert states(node)["otlp-grpc"]["bytes"] <= 48 * MIB, str(states(node))
        for stream, text in zip(begun, texts):
            stream.sendall(text[-100:])
        sink.wait_ids(151)
        exactly(node.status()["input"]["closed"]["crowded"] <= many, "nobody else had to go")
    ledger = wait_received(node, 151)
    exactly(ledger.received == ledger.sent == 151, str(ledger))
    wait_nobody(node)


# Requests that are more than they seem


def varint(number):
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number, body):
    return varint(number << 3 | 2) + varint(len(body)) + body


def request_around(span):
    return field(1, field(2, field(2, span)))


IDS = field(1, bytes(range(16))) + field(2, bytes(range(8)))
BOMBS = {
    "empty processes": b"\x0a\x00" * (8 * MIB - 8),
    "empty scopes": field(1, b"\x12\x00" * (8 * MIB - 8)),
    "empty spans": field(1, field(2, b"\x12\x00" * (8 * MIB - 16))),
    "empty attributes": request_around(IDS + b"\x4a\x00" * (8 * MIB - 64)),
    "empty events": request_around(IDS + b"\x5a\x00" * (8 * MIB - 64)),
    "empty links": request_around(IDS + b"\x6a\x00" * (8 * MIB - 64)),
    "links of many spans": field(1, field(2, 500 * field(2, IDS + b"\x6a\x00" * 15000))),
    "attributes of a process": field(1, field(1, b"\x0a\x00" * (7 * MIB)) + field(2, field(2, IDS))),
    "a list": request_around(IDS + field(9, field(1, b"x") + field(2, field(5, b"\x0a\x02\x18\x00" * (4 * MIB - 64))))),
    "a process of many spans": field(
        1, field(1, field(1, field(1, b"x") + field(2, field(1, b"y" * 60000)))) + field(2, 100000 * field(2, IDS))
    ),
    "a scope of many spans": field(1, field(2, field(1, field(1, b"y" * 60000)) + 100000 * field(2, IDS))),
}


@pytest.mark.no_threads("ThreadSanitizer keeps several times the memory that is measured")
@pytest.mark.parametrize("way", KEYS)
def test_few_bytes_that_stand_for_many(node, sink, way):
    """What would be far more in memory than it is as a request is refused for good, and others go on."""
    ports, before = start_measured(node, None, output=otlp(sink.port))
    refused = 0
    with client_of(ports, way, packed=True) as client, client_of(ports, "http") as other:
        for name, request in BOMBS.items():
            assert len(request) <= 16 * MIB, name
            began = time.monotonic()
            if way == "http":
                status, _, body = client.post(gzip.compress(request, 1))
                said = messages().RpcStatus.FromString(body).message
                assert status == 413 and ("each with its resource" in said or "larger than 8 MiB" in said), f"{name}: {status} {body}"
            else:
                with pytest.raises(Refused) as told:
                    client.call(request)
                assert told.value.code == "RESOURCE_EXHAUSTED" and told.value.retry_after is None, f"{name}: {told.value}"
            refused += 1
            print(f"{name}: {time.monotonic() - began:.2f} s, {memory_of(node) - before >> 20} MiB more")
            exactly(other.hand(numbered(70, 0, [refused]))[0] == 200, "others are served")
        if way == "http":
            status, _, _ = client.post(gzip.compress(bytes(16 * MIB + 1), 9))
            assert status == 413
            status, _, _ = client.post(gzip.compress(bytes(16 * MIB), 9) * 60)
            assert status == 413
        else:
            with pytest.raises(Refused) as told:
                client.call(bytes(16 * MIB + 1))
            assert told.value.code == "RESOURCE_EXHAUSTED"
    wait_until(lambda: memory_of(node) - before < 64 * MIB, 20, "the memory to be given back")
    ledger = wait_received(node, refused)
    exactly(ledger.refused_for("oversize") == ledger.refused == refused, str(ledger))
    exactly(len(sink.found) == refused, "each good one came")
    wait_nobody(node)


@pytest.mark.parametrize("batch", ["512K", "8M"])
def test_many_attributes(node, sink, batch):
    """A hundred thousand of them: a span that is too large for an output is refused by its name, and else comes whole."""
    ports = start(node, sink, output={"batch_size": batch})
    span = span_of(71, 0, 0)
    for n in range(100000):
        span.attributes.add(key=f"key {n}").value.string_value = "x" * (n % 7)
    for n, (way, kind) in enumerate((("http", PROTOBUF), ("http", JSON), ("grpc", PROTOBUF))):
        span.span_id = random.randbytes(8)
        with client_of(ports, way, kind) as client:
            exactly(client.hand(request_of([span, span_of(71, 1, n)]))[0] == 200, "it is taken")
    count = 6 if batch == "8M" else 3
    sink.wait_ids(count)
    ledger = wait_received(node, count)
    exactly((ledger.received, ledger.refused_for("oversize")) == (count, 6 - count), str(ledger))
    if batch == "8M":
        exactly(sink.found[span.span_id.hex()][0][2] == span, "it is as it was")


def nested(depth):
    value = b"\x08\x01"
    for _ in range(depth):
        value = field(5, field(1, value))
    return value


def test_deep_values(node, sink):
    """Values within values, ten thousand deep: in Protocol Buffers the span comes without what is too deep; JSON is damaged."""
    ports = start(node, sink)
    deep = request_around(IDS + field(9, field(1, b"deep") + field(2, nested(3000))))
    deeper = request_around(IDS + field(9, field(1, b"deep") + field(2, nested(10000))))
    lists = b'{"arrayValue":{"values":[' * 10000 + b'{"boolValue":true}' + b"]}}" * 10000
    text = b'{"resourceSpans":[{"resource":{"attributes":[{"key":"deep","value":' + lists + b"}]}}]}"
    with Http(ports[0]) as client, Grpc(ports[1]) as channel:
        for request in (deep, deeper):
            assert client.post(request)[0] == 200
            channel.call(request)
        for body in (text, text[: len(text) // 2], b"[" * 100000, b'{"a":' * 100000, b'{"resourceSpans":' + b"[" * 1000000):
            assert client.post(body, Content_Type=JSON)[0] == 400
        exactly(client.hand(numbered(72, 0, [1]))[0] == 200, "others go on")
    sink.wait_ids(2)
    ledger = wait_received(node, 5)
    exactly((ledger.received, ledger.refused_for("malformed")) == (5, 5), str(ledger))


def test_texts_that_are_not_utf8(node, sink):
    ports = start(node, sink)
    bad = request_around(IDS + field(5, b"\xff\xfe"))
    with Http(ports[0]) as client, Grpc(ports[1]) as channel:
        status, _, body = client.post(bad)
        assert status == 400 and "UTF-8" in messages().RpcStatus.FromString(body).message
        with pytest.raises(Refused, match="UTF-8"):
            channel.call(bad)
    wait_nobody(node)


# Ends


def grpc_text(message, stream=1, end=True):
    """Frames of a call."""
    data = b"\x00" + len(message).to_bytes(4, "big") + message
    return h2frame(1, 4, stream, FIELDS) + h2frame(0, 1 if end else 0, stream, data)


def test_killed_in_the_middle(node, sink):
    """Senders who end amid a request, anywhere in it: nothing of it is taken, and nothing of it stays."""
    ports = start(node, sink)
    texts = [text_of(one(0)), PREFACE + grpc_text(one(0))]
    for port, text in zip(ports, texts):
        for at in range(1, len(text), 3):
            connect(port).close()
            with connect(port) as stream:
                stream.sendall(text[:at])
                if at % 2:
                    stream.setsockopt(1, 13, b"\x01\0\0\0\0\0\0\0")  # SO_LINGER: the end is a reset
    wait_nobody(node)
    ledger = node.ledger()
    ledger.check()
    exactly((ledger.messages, ledger.received) == (0, 0), str(ledger))


def hang(node, **keys):
    """An agent whose output takes no answer; and that output."""
    sink = IdSink(node, free_port()).start()
    ports = start_agent(node, sink.port, output=dict(TIMID, spool_size="0", timeout="300s", **keys))
    with Http(ports[0]) as client:
        wait_until(lambda: client.hand(numbered(80, 0, [0]))[0] == 200, 20, "the output to be there")
    sink.hang()
    return sink, ports


def waiting(node, way):
    return states(node)[KEYS[way]]["waiting_calls"]


@pytest.mark.parametrize("way", KEYS)
def test_sender_goes_while_its_calls_wait(node, way):
    """Its spans were taken, and come; it gets no answer, and nobody else has its."""
    sink, ports = hang(node)
    port = ports[list(KEYS).index(way)]
    with client_of(ports, way) as client:
        for turn in range(10):
            with connect(port) as stream:
                many = range(3 * turn, 3 * turn + 3)
                if way == "http":
                    stream.sendall(b"".join(text_of(one(n)) for n in many))
                else:
                    stream.sendall(PREFACE + b"".join(grpc_text(one(n), 2 * i + 1) for i, n in enumerate(many)))
                wait_until(lambda: waiting(node, way) == 3, 10, "them to wait")
            wait_until(lambda: waiting(node, way) == 0, 10, "them to be gone")
        sink.recover()
        exactly(client.hand(numbered(81, 0, [0]))[0] == 200, "others are served")
    ledger = wait_received(node, 32)
    exactly((ledger.received, ledger.sent) == (32, 32), str(ledger))
    exactly(all(sink.ids()[60, 0, n] == 1 for n in range(30)), str(sink.ids()))
    wait_nobody(node)


def test_streams_are_reset_while_they_wait(node):
    """More calls of gRPC than may be open at a time are given up by their client; the connection goes on."""
    sink, ports = hang(node)
    with connect(ports[1]) as stream:
        stream.sendall(PREFACE)
        for n in range(100):
            stream.sendall(grpc_text(one(n), 2 * n + 1) + h2frame(3, 0, 2 * n + 1, b"\0\0\0\x08"))
        wait_until(lambda: waiting(node, "grpc") == 64, 10, "as many to wait as may")
        sink.recover()
        wait_until(lambda: waiting(node, "grpc") == 0, 20, "all to be settled")
        number = 2 * 100 + 1
        stream.sendall(grpc_text(one(100), number))
        stream.settimeout(20)
        came = b""
        while h2frame(1, 5, number, b"")[3:] not in came:  # its end
            more = stream.recv(4096)
            assert more, "it is closed"
            came += more
    ledger = wait_received(node, 1 + 64 + 1)
    ids = sink.ids()
    exactly(ids[60, 0, 100] == 1 and max(ids.values()) == 1, str(ids))
    exactly(ledger.received == ledger.sent == len(ids), str(ledger))
    wait_nobody(node)


def test_stop_with_open_calls(node):
    """Who waits is told that the agent stops, or loses the connection, and the agent ends."""
    _, ports = hang(node)
    clients = [client_of(ports, "http") for _ in range(10)]
    told = []

    def ask(n, client):
        with contextlib.suppress(OSError):
            told.append(client.hand(numbered(82, n, [0])))

    threads = [threading.Thread(target=ask, args=pair, daemon=True) for pair in enumerate(clients)]
    for thread in threads:
        thread.start()
    with Grpc(ports[1]) as channel:
        calls = [channel.start(numbered(83, n, [0]).SerializeToString()) for n in range(10)]
        idle = connect(ports[0])
        wait_until(lambda: waiting(node, "http") == waiting(node, "grpc") == 10, 10, "them to wait")
        node.agent.send(signal.SIGTERM)
        exactly(node.agent.wait(30) == 0, "it ends")
        for call in calls:
            assert call.exception(20).code().name == "UNAVAILABLE", call.exception()
        assert idle.recv(1) == b""
        idle.close()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    print(told)
    assert all(status == 503 and wait >= 1 for status, wait in told) and told, str(told)


def test_reload_with_open_calls(node):
    """An address goes: so does who waits there, and what was taken still comes."""
    sink, ports = hang(node)
    streams = [connect(port) for port in ports]
    streams[0].sendall(b"".join(text_of(one(n)) for n in range(10)))
    streams[1].sendall(PREFACE + b"".join(grpc_text(one(n), 2 * n + 1) for n in range(10, 20)))
    wait_until(lambda: waiting(node, "http") == waiting(node, "grpc") == 10, 10, "them to wait")
    change(node, *[(f"{KEYS[way]} = 127.0.0.1:{port}", f"{KEYS[way]} =") for way, port in zip(KEYS, ports)])
    for stream in streams:
        stream.settimeout(10)
        with contextlib.suppress(ConnectionResetError):
            while stream.recv(1000):
                pass
        stream.close()
    sink.recover()
    ledger = wait_received(node, 21)
    exactly(ledger.received == ledger.sent == 21, str(ledger))
    exactly(all(sink.ids()[60, 0, n] == 1 for n in range(20)), str(sink.ids()))
    wait_nobody(node)


@pytest.mark.parametrize("way", KEYS)
def test_guests(node, sink, way):
    """Beyond its share, a sender is told to come again, and its connection does not last."""
    ports = start(node, sink, input={"connections": 8})
    with contextlib.ExitStack() as stack:
        settled = [stack.enter_context(client_of(ports, way)) for _ in range(8)]
        for n, client in enumerate(settled):
            exactly(client.hand(numbered(84, n, [0]))[0] == 200, "it is taken")
        with client_of(ports, way) as guest:
            status, wait = guest.hand(numbered(84, 10, [0]))
            assert status == 429 and wait >= 1, f"{status} {wait}"
            settled[0].close()
            wait_until(lambda: states(node)[KEYS[way]]["connections"] == 7, 10, "one to go")
            exactly(guest.hand(numbered(84, 10, [0]))[0] == 200, "then there is room")
        for n, client in enumerate(settled[1:]):
            exactly(client.hand(numbered(84, n, [1]))[0] == 200, "who has delivered stays")
    sink.wait_ids(16)
    ledger = wait_received(node, 16)
    exactly((ledger.received, ledger.put_off) == (16, 1), str(ledger))


def test_nothing_is_taken_behind_the_last(node):
    """While earlier requests wait, what follows the last one, or what is none, is thrown away, and counts once."""
    sink, ports = hang(node)
    with connect(ports[0]) as last, connect(ports[0]) as bad:
        last.sendall(text_of(one(0)) + text_of(one(1), more="Connection: close\r\n") + text_of(one(2)))
        bad.sendall(text_of(one(3)) + b"NONSENSE\r\n\r\n")
        wait_until(lambda: waiting(node, "http") == 4, 10, "them to wait")
        for _ in range(20):
            last.sendall(text_of(one(4)))
            bad.sendall(text_of(one(4)))
        # not asked more often: within 8 s each call has an answer, whatever the output does
        exactly([waiting(node, "http") for _ in range(2)] == [4, 4], "nothing more does")
        sink.recover()
        exactly([read_answer(last)[0] for _ in range(2)] == [200, 200] and at_end(last), "two are answered")
        exactly([read_answer(bad)[0] for _ in range(2)] == [200, 400] and at_end(bad), "and these two")
    ledger = wait_received(node, 4)
    exactly((ledger.received, node.status()["input"]["closed"]["garbage"]) == (4, 1), str(ledger))


def test_rules_of_http2_are_broken(node, sink):
    """The connection ends, and counts as garbage, whatever it is that is wrong."""
    _, port = start(node, sink)
    cases = [
        PREFACE + h2frame(0, 0, 0, b"x"),  # data without a stream
        PREFACE + h2frame(1, 4, 2, FIELDS),  # a stream of ours
        PREFACE + h2frame(1, 4, 1, b"\x82\xff\xff\xff\xff\xff"),
        PREFACE + h2frame(4, 0, 0, b"abc"),
        PREFACE + 3000 * h2frame(6, 0, 0, bytes(8)),
        PREFACE + h2frame(1, 0, 1, FIELDS) + 10 * h2frame(9, 0, 1, b""),
        PREFACE + b"".join(h2frame(1, 4, 2 * n + 1, FIELDS) + h2frame(3, 0, 2 * n + 1, bytes(4)) for n in range(1000)),
        b"\xff" * 100,
    ]
    for text in cases:
        with connect(port) as stream:
            with contextlib.suppress(OSError):
                stream.sendall(text)
                while stream.recv(10000):
                    pass
    wait_until(lambda: node.status()["input"]["closed"]["garbage"] == len(cases), 10, "all to be counted")
    with Grpc(port) as client:
        exactly(client.hand(numbered(85, 0, [1]))[0] == 200, "others are served")
    wait_nobody(node)
