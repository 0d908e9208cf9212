# SPDX-License-Identifier: BSD-2-Clause
"""Spans of OpenTelemetry's SDKs, by HTTP and gRPC: each comes out as it was, and once its SDK was told OK it is safe."""

import http.client
import json
import os
import random
import re
import signal
import socket
import stat
import time

import pytest
from rig.idsink import IdSink
from rig.jsonsink import JsonSink
from rig.otlpsender import (
    JSON,
    PROTOBUF,
    Grpc,
    Http,
    OtlpSender,
    Refused,
    body_of,
    connect,
    numbered,
    request_of,
    span_of,
    text_of,
    to_json,
)
from rig.otlpsink import OtlpSink, messages
from rig.process import answers, exactly, free_port, wait_until
from rig.scribe import Receiver
from rig.unpack import unpack
from test_crowd import finding
from test_input import TIMID, check_came, wait_received, wait_senders

LOAD = "tests/live/programs/sharedload"
KEYS = {"http": "otlp", "grpc": "otlp-grpc"}


def otlp(port, **keys):
    return dict({"type": "otlp", "server": f"127.0.0.1:{port}", "batch_delay": "50ms"}, **keys)


def start_agent(node, server=None, wait=True, **sections):
    """An agent that takes OTLP; returns the ports of HTTP and gRPC."""
    ports = free_port(), free_port()
    keys = {KEYS["http"]: f"127.0.0.1:{ports[0]}", KEYS["grpc"]: f"127.0.0.1:{ports[1]}"}
    sections["input"] = dict(keys, **sections.get("input", {}))
    node.start_agent(server or free_port(), wait=wait, **sections)
    wait_until(lambda: all(answers(port) for port in ports), 10, "it to listen")
    return ports


def start(node, sink, **sections):
    """The same, with an OtlpSink."""
    return start_agent(node, output=otlp(sink.port, **sections.pop("output", {})), **sections)


class Whole(OtlpSink):
    """What comes is kept with all that was said of it: (resource, scope, span) by the span's id."""

    def __init__(self):
        super().__init__()
        self.found = {}

    def answer(self, request, body):
        call = messages().ExportTraceServiceRequest.FromString(unpack(body, request.headers["Content-Encoding"]))
        with self.lock:
            for key, entry in parts(call):
                self.found.setdefault(key, []).append(entry)
        return 200, {"Content-Type": PROTOBUF}, b""

    def wait_ids(self, count):
        wait_until(lambda: len(self.found) >= count, 20, f"{count} spans")


def parts(request):
    """(id of the span, (what it shares with its process, with its scope, and it itself))."""
    for group in request.resource_spans:
        for scope in group.scope_spans:
            for span in scope.spans:
                yield (
                    span.span_id.hex(),
                    (
                        (group.resource.SerializeToString(deterministic=True), group.schema_url),
                        (scope.scope.SerializeToString(deterministic=True), scope.schema_url),
                        span,
                    ),
                )


@pytest.fixture
def sink():
    with Whole() as server:
        yield server


# What comes out


def put_values(attributes, dice):
    """Attributes of each type there is."""
    attributes.add(key="text").value.string_value = dice.choice(["", "word", "Wörter und 文字 \U0001f600", "a\nb\t\"c\""])
    attributes.add(key="yes").value.bool_value = dice.random() < 0.5
    attributes.add(key="int").value.int_value = dice.choice([0, -1, 2**63 - 1, -(2**63), 42])
    attributes.add(key="double").value.double_value = dice.choice([0.0, -1.5, 1e300, 0.1, float("inf")])
    attributes.add(key="bytes").value.bytes_value = dice.randbytes(dice.randrange(6))
    attributes.add(key="none").value.SetInParent()
    values = attributes.add(key="list").value.array_value
    values.values.add().string_value = "one"
    values.values.add().int_value = 2
    values.values.add().array_value.values.add().bool_value = True
    values.values.add().SetInParent()
    entries = attributes.add(key="map").value.kvlist_value
    entries.values.add(key="x").value.double_value = 2.5
    entries.values.add(key="y").value.kvlist_value.values.add(key="z").value.bytes_value = b"\x00\xff"
    attributes.add(key="empty list").value.array_value.SetInParent()
    attributes.add(key="empty map").value.kvlist_value.SetInParent()


def put_span(span, dice):
    span.trace_id, span.span_id = dice.randbytes(16), dice.randbytes(8)
    span.parent_span_id = dice.choice([b"", dice.randbytes(8)])
    span.trace_state = dice.choice(["", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"])
    span.flags = dice.choice([0, 1, 0x101, 0x301])
    span.name, span.kind = dice.choice(["", "GET /", "größer"]), dice.randrange(6)
    span.start_time_unix_nano = 1700000000123456789 + dice.randrange(10**9)
    span.end_time_unix_nano = span.start_time_unix_nano + dice.choice([0, 1, 999, 123456789])
    put_values(span.attributes, dice)
    span.dropped_attributes_count, span.dropped_events_count, span.dropped_links_count = 1, 2, 3
    for number in range(dice.randrange(3)):
        event = span.events.add(name=f"event {number}", time_unix_nano=span.start_time_unix_nano + number)
        event.dropped_attributes_count = number
        if number:
            put_values(event.attributes, dice)
    for number in range(dice.randrange(3)):
        link = span.links.add(trace_id=dice.randbytes(16), span_id=dice.randbytes(8), trace_state="a=b", flags=number)
        link.dropped_attributes_count = number
        if number:
            put_values(link.attributes, dice)
    if dice.random() < 0.7:
        span.status.code, span.status.message = dice.choice([(0, ""), (1, ""), (2, "it broke"), (2, "")])


def manifold(spans, seed):
    """A request of several processes and scopes, with everything that a span can have."""
    dice = random.Random(seed)
    request = messages().ExportTraceServiceRequest()
    for process in range(3):
        group = request.resource_spans.add(schema_url=f"https://example.org/{process}" if process else "")
        group.resource.attributes.add(key="service.name").value.string_value = f"service {process}"
        put_values(group.resource.attributes, dice)
        group.resource.dropped_attributes_count = process
        for number in range(2):
            scope = group.scope_spans.add(schema_url="https://example.org/scope" if number else "")
            scope.scope.name, scope.scope.version = f"library {number}", "1.2"[:number]
            scope.scope.dropped_attributes_count = number
            if number:
                put_values(scope.scope.attributes, dice)
            for _ in range(spans):
                put_span(scope.spans.add(), dice)
    return request


def normal(span):
    """As it is compared: a status that says nothing is none."""
    copy = messages().Span()
    copy.CopyFrom(span)
    if not copy.status.ByteSize():
        copy.ClearField("status")
    return copy


def check_same(sink, requests):
    wanted = {key: entry for request in requests for key, entry in parts(request)}
    sink.wait_ids(len(wanted))
    exactly(sink.found.keys() == wanted.keys(), "the spans are those that were handed over")
    for key, (resource, scope, span) in wanted.items():
        exactly(len(sink.found[key]) == 1, f"{key} came {len(sink.found[key])} times")
        came = sink.found[key][0]
        assert came[0] == resource and came[1] == scope, f"{came[:2]}\n{(resource, scope)}"
        assert normal(came[2]) == normal(span), f"{came[2]}\n{span}"


WAYS = [("http", PROTOBUF, False), ("http", PROTOBUF, True), ("http", JSON, False), ("http", JSON, True)]
WAYS += [("grpc", PROTOBUF, False), ("grpc", PROTOBUF, True)]


def client_of(ports, way, kind=PROTOBUF, packed=False):
    return Http(ports[0], kind, packed) if way == "http" else Grpc(ports[1], packed)


def test_all_that_a_span_has(node, sink):
    """Whatever way a request comes, an output of OTLP's sends it with all that it says, and only with that."""
    ports = start(node, sink)
    requests = []
    for seed, (way, kind, packed) in enumerate(WAYS):
        with client_of(ports, way, kind, packed) as client:
            for turn in range(3):
                requests.append(manifold(5, 10 * seed + turn))
                exactly(client.hand(requests[-1])[0] == 200, f"{way}, {kind}, {packed}")
    check_same(sink, requests)
    ledger = wait_received(node, len(requests) * 30)
    exactly((ledger.received, ledger.messages, ledger.sent) == 3 * (len(requests) * 30,), str(ledger))


def test_every_format(node):
    """The same spans for outputs that can carry less: each has the ids, times, names, kinds and attributes."""
    receiver = Receiver(node, free_port()).start()
    with JsonSink() as web:
        outputs = {
            "output web": {"type": "http", "format": "json2", "server": f"127.0.0.1:{web.port}", "batch-delay": "50ms"},
            "output lines": {"type": "file", "directory": node.path("lines"), "batch-delay": "50ms"},
            "output otlp": {"type": "file", "format": "otlp-json", "directory": node.path("otlp"), "batch-delay": "50ms"},
        }
        os.makedirs(node.path("lines"))
        os.makedirs(node.path("otlp"))
        ports = start_agent(node, receiver.port, **outputs)
        span = span_of(3, 4, 5)
        span.parent_span_id = bytes(7) + b"\x07"
        span.trace_id = bytes(range(1, 17))
        span.kind = 2
        put_values(span.attributes, random.Random(1))
        span.events.add(name="there", time_unix_nano=span.start_time_unix_nano + 1000)
        span.status.code, span.status.message = 2, "it broke"
        with Http(ports[0]) as client:
            exactly(client.hand(request_of([span], "shop"))[0] == 200, "it is taken")
        receiver.wait_for(1)
        web.wait_for(1)
        for name in ("default", "web", "lines", "otlp"):
            ledger = node.wait_ledger(lambda ledger: ledger.idle() and ledger.sent, 20, "it to be settled", output=name)
            exactly((ledger.taken, ledger.sent, ledger.dropped) == (1, 1, 0), f"{name}: {ledger}")
        (thrift,), (json2,) = receiver.spans(), web.spans
    assert thrift.id == int.from_bytes(span.span_id, "big") and thrift.parent_id == 7 and thrift.name == "sent"
    assert thrift.timestamp == span.start_time_unix_nano // 1000 and thrift.duration == 100
    assert {a.value for a in thrift.annotations} == {"sr", "ss", "there"}
    tags = {tag.key: tag.value for tag in thrift.binary_annotations}
    assert tags["worker"] == b"3.4" and tags["error"] == b"it broke", tags
    assert json2["traceId"] == span.trace_id.hex() and json2["id"] == span.span_id.hex()
    assert (json2["kind"], json2["name"], json2["localEndpoint"]) == ("SERVER", "sent", {"serviceName": "shop"})
    assert [one["value"] for one in json2["annotations"]] == ["there"]
    assert json2["tags"]["error"] == "it broke"
    for attribute in span.attributes:
        if attribute.value.WhichOneof("value") in ("string_value", "int_value"):
            value = getattr(attribute.value, attribute.value.WhichOneof("value"))
            exactly(json2["tags"][attribute.key] == str(value), f"{attribute.key}: {json2['tags']}")
    lines = open_lines(node.path("lines"))
    exactly(lines == [json2], f"{lines}\n{json2}")
    (whole,) = open_lines(node.path("otlp"))
    came = whole["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    sent = json.loads(to_json(request_of([span])))["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    exactly(came["attributes"] == sent["attributes"], f"{came}\n{sent}")
    assert (came["spanId"], came["startTimeUnixNano"]) == (sent["spanId"], sent["startTimeUnixNano"])


def open_lines(folder):
    return [json.loads(line) for name in sorted(os.listdir(folder)) for line in open(f"{folder}/{name}", encoding="utf-8")]


# Ways of HTTP


def read_answer(stream):
    """(status, headers as a text, body) of an answer with a length."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        more = stream.recv(1)
        assert more, f"the connection ended: {head}"
        head += more
    head = head.decode()
    length = re.search(r"^Content-Length: (\d+)\r$", head, re.MULTILINE)
    body = b""
    while length and len(body) < int(length[1]):
        body += stream.recv(int(length[1]) - len(body))
    return int(head.split()[1]), head, body


def at_end(stream):
    """Whether the peer has closed it, well."""
    return stream.recv(1) == b""


def chunked(body, size):
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x;some=thing\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\nTrailer: x\r\n\r\n"


def one(number):
    return body_of(numbered(60, 0, [number]))


def test_ways_of_http(node):
    sink = IdSink(node, free_port()).start()
    port, _ = start_agent(node, sink.port)
    with connect(port) as stream:  # kept, in pieces, with an empty line between
        for byte in text_of(one(0)):
            stream.sendall(bytes([byte]))
        exactly(read_answer(stream)[0] == 200, "a byte at a time")
        stream.sendall(b"\r\n" + text_of(b"", length=False, more="Transfer-Encoding: chunked\r\n") + chunked(one(1), 7))
        exactly(read_answer(stream)[0] == 200, "in chunks")
        stream.sendall(text_of(b"", more=f"Expect: 100-continue\r\nContent-Length: {len(one(2))}\r\n", length=False))
        exactly(read_answer(stream)[0] == 100, "it may go on")
        stream.sendall(one(2))
        exactly(read_answer(stream)[0] == 200, "what it went on with")
        stream.sendall(text_of(one(3), more="Connection: close\r\n"))
        status, head, _ = read_answer(stream)
        assert status == 200 and "Connection: close" in head and at_end(stream)
    with connect(port) as stream:
        stream.sendall(text_of(one(4), version="1.0", more="Connection: keep-alive\r\n") + text_of(one(5), version="1.0"))
        assert "Connection: keep-alive" in read_answer(stream)[1]
        status, head, _ = read_answer(stream)
        assert status == 200 and "Connection: close" in head and at_end(stream)
    with connect(port) as stream:
        stream.sendall(text_of(one(6)).replace(b"POST /v1/traces", b"POST http://agent:4318/v1/traces?a=b"))
        exactly(read_answer(stream)[0] == 200, "as by a proxy")
    ledger = wait_received(node, 7)
    exactly((ledger.received, ledger.sent) == (7, 7), str(ledger))
    exactly(sorted(sink.ids().elements()) == [(60, 0, n) for n in range(7)], str(sink.ids()))


def test_pipelined(node):
    """Many more requests than are taken at a time, all sent before an answer is read; answers come in their order."""
    sink = IdSink(node, free_port()).start()
    port, _ = start_agent(node, sink.port)
    with connect(port) as stream:
        stream.settimeout(60)
        good, wrong = text_of(one(0)), b"GET /v1/traces HTTP/1.1\r\nHost: x\r\n\r\n"
        stream.sendall(b"".join(text_of(one(n)) + (wrong if n % 10 == 9 else b"") for n in range(300)))
        stream.sendall(text_of(one(300), more="Connection: close\r\n") + 10 * good)
        found = [read_answer(stream)[0] for _ in range(331)]
        exactly(found == 30 * (10 * [200] + [405]) + [200], str(found))
        assert at_end(stream), "what is behind the last request is none"
    ledger = wait_received(node, 301)
    exactly((ledger.received, ledger.messages) == (301, 301), str(ledger))
    exactly(sorted(sink.ids().elements()) == [(60, 0, n) for n in range(301)], "each came once")


def test_sender_that_has_said_all(node):
    """It closes its half of the connection, as `nc -N` does; what it sent has its answers nevertheless."""
    sink = IdSink(node, free_port()).start()
    port, _ = start_agent(node, sink.port)
    with connect(port) as stream:
        stream.sendall(b"".join(text_of(one(n)) for n in range(200)) + b"POST /v1/traces HTTP/1.1\r\nHo")
        stream.shutdown(socket.SHUT_WR)
        exactly([read_answer(stream)[0] for _ in range(200)] == 200 * [200], "all are taken")
        assert at_end(stream)
    ledger = wait_received(node, 200)
    exactly((ledger.received, ledger.messages) == (200, 200), str(ledger))
    wait_until(lambda: node.status()["inputs"]["otlp"]["connections"] == 0, 10, "the connection to be gone")


# Refusals


def bad_span(kind):
    span = span_of(61, 0, kind)
    if kind == 0:
        span.trace_id = bytes(16)
    elif kind == 1:
        span.span_id = b""
    elif kind == 2:
        span.trace_id = b"short"
    elif kind == 3:
        span.parent_span_id = b"1234567"
    return span


@pytest.mark.parametrize("way, kind", [("http", PROTOBUF), ("http", JSON), ("grpc", PROTOBUF)], ids=["http", "json", "grpc"])
def test_partial_success(node, sink, way, kind):
    """Spans without ids are named in the answer; good ones beside them are taken, and an SDK sends none again."""
    ports = start(node, sink)
    with client_of(ports, way, kind) as client:

        def hand(spans):
            request = request_of(spans)
            if way == "grpc":
                return messages().ExportTraceServiceResponse.FromString(client.call(request.SerializeToString())).partial_success
            status, headers, body = client.post(body_of(request, kind))
            assert status == 200 and headers["Content-Type"] == kind, f"{status} {body}"
            if kind == PROTOBUF:
                return messages().ExportTraceServiceResponse.FromString(body).partial_success
            said = json.loads(body).get("partialSuccess", {})
            assert isinstance(said.get("rejectedSpans", ""), str)
            return messages().ExportTracePartialSuccess(
                rejected_spans=int(said.get("rejectedSpans", 0)), error_message=said.get("errorMessage", "")
            )

        said = hand([span_of(61, 0, 10), bad_span(0), bad_span(1), span_of(61, 0, 11), bad_span(2), bad_span(3)])
        exactly(said.rejected_spans == 4, str(said))
        assert "has no trace id" in said.error_message, str(said)
        said = hand([bad_span(1)])
        exactly(said.rejected_spans == 1 and "id" in said.error_message, str(said))
        said = hand([span_of(61, 0, 12)])
        exactly(said.rejected_spans == 0 and not said.error_message, str(said))
        exactly(hand([]).rejected_spans == 0, "a request without spans")
    sink.wait_ids(3)
    ledger = wait_received(node, 3)
    exactly((ledger.messages, ledger.received, ledger.refused) == (8, 3, 5), str(ledger))
    exactly(ledger.refused_for("id") == 5, str(ledger))
    assert "refused 4 of 6 messages: a span has no trace id" in node.agent.log()


def test_refused_requests(node):
    """Each has its status, and says why; the next one on the connection is taken."""
    sink = IdSink(node, free_port()).start()
    port, _ = start_agent(node, sink.port)
    good = one(0)
    json_type, gzipped = {"Content_Type": "Application/JSON; charset=utf-8"}, {"Content_Encoding": "gzip"}
    cases = [
        (404, "but no metrics", {"path": "/v1/metrics"}),
        (404, "no output of this agent takes messages", {"path": "/v1/logs"}),
        (404, "/v1/traces", {"path": "/"}),
        (404, "/v1/traces", {"path": "/v1/traces/"}),
        (405, "POST", {"method": "GET"}),
        (405, "POST", {"method": "PUT"}),
        (415, "Content-Type", {"Content_Type": "text/plain"}),
        (415, "Content-Encoding", {"Content_Encoding": "deflate"}),
        (400, "no ExportTraceServiceRequest", {"body": good[:-1]}),
        (400, "no ExportTraceServiceRequest", dict(json_type)),
        (400, "no ExportTraceServiceRequest", dict(json_type, body=b'{"resourceSpans":[}')),
        (400, "not what gzip makes", dict(gzipped)),
        (200, "", dict(json_type, body=b"{}")),
        (200, "", {"Content_Type": "application/x-protobuf; v=1", "Content_Encoding": "identity"}),
    ]
    with Http(port) as client:
        for status, words, how in cases:
            found, headers, body = client.post(how.pop("body", good), **how)
            assert found == status, f"{found} {body} for {how}"
            if status == 405:
                assert headers["Allow"] == "POST"
            if headers["Content-Type"] == JSON and status != 200:
                said = json.loads(body)
            elif status != 200:
                said = {"message": messages().RpcStatus.FromString(body).message}
            assert status == 200 or words in said["message"], f"{body} for {how}"
        with connect(port) as stream:
            stream.sendall(f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: {PROTOBUF}\r\n".encode())
            stream.sendall(b"Content-Length: 16777217\r\n\r\n")
            status, head, _ = read_answer(stream)
            assert status == 413 and "Connection: close" in head and at_end(stream)
        for status, text in (
            (400, b"POST /v1/traces HTTP/1.1\r\n\r\n"),
            (400, b"\x16\x03\x01\x02\x00"),
            (505, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
            (431, b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nX: " + bytes(20000).replace(b"\0", b"x")),
        ):
            with connect(port) as stream:
                stream.sendall(text)
                assert read_answer(stream)[0] == status and at_end(stream), text[:40]
        exactly(client.hand(numbered(60, 0, [1]))[0] == 200, "a good one on the same connection")
    ledger = wait_received(node, 2)
    exactly((ledger.received, ledger.refused, ledger.put_off) == (2, 3, 0), str(ledger))
    exactly(ledger.refused_for("malformed") == 3, str(ledger))
    assert node.status()["input"]["closed"]["garbage"] == 5
    log = node.agent.log()
    assert "POST /v1/metrics is not taken: this agent takes traces and logs, but no metrics" in log and "its body is too large" in log


def test_continue_is_not_waited_for_in_vain(node, sink):
    """A client that waits for 100 Continue learns what is wrong at once, and before its body comes if that is too large."""
    port, _ = start(node, sink)
    with connect(port, 5) as stream:
        head = f"POST /v1/logs HTTP/1.1\r\nHost: x\r\nContent-Type: {PROTOBUF}\r\nExpect: 100-continue\r\n"
        stream.sendall(f"{head}Content-Length: 5\r\n\r\n".encode())
        exactly(read_answer(stream)[0] == 100, "its body may come")
        stream.sendall(b"12345")
        exactly(read_answer(stream)[0] == 404, "and means nothing")
        stream.sendall(f"{head}Content-Length: 99999999\r\n\r\n".replace("logs", "traces").encode())
        exactly(read_answer(stream)[0] == 413, "that is told at once")


def test_continue_behind_others(node, sink):
    """100 Continue stands where its answer will: behind those to the requests before it."""
    port, _ = start(node, sink)
    with connect(port, 5) as stream:
        wait = text_of(b"", more=f"Expect: 100-continue\r\nContent-Length: {len(one(2))}\r\n", length=False)
        stream.sendall(text_of(one(0)) + text_of(one(1)) + wait)
        exactly([read_answer(stream)[0] for _ in range(3)] == [200, 200, 100], "its body may come, once they are answered")
        stream.sendall(one(2))
        exactly(read_answer(stream)[0] == 200, "it is taken")
    sink.wait_ids(3)


def test_idle_connections_have_no_memory(node, sink):
    port, _ = start(node, sink)
    clients = [Http(port) for _ in range(20)]
    for n, client in enumerate(clients):
        exactly(client.hand(numbered(60, 1, range(100 * n, 100 * n + 100)))[0] == 200, "it is taken")
    sink.wait_ids(2000)
    wait_until(lambda: node.status()["inputs"]["otlp"]["bytes"] <= 20 * 1024, 20, "their memory to be given back")
    for n, client in enumerate(clients):
        exactly(client.hand(numbered(60, 2, [n]))[0] == 200, "it goes on")
        client.close()
    sink.wait_ids(2020)


def test_answer_is_read_amid_a_body(node, sink):
    """Who sends a body that is too large gets to read that it is: the connection is not reset before."""
    port, _ = start(node, sink)
    for _ in range(10):
        with Http(port) as client:
            status, _, body = client.post(bytes(17 << 20))
            assert status == 413 and "too large" in messages().RpcStatus.FromString(body).message


def test_refused_calls_of_grpc(node, sink):
    _, port = start(node, sink)
    traces = "/opentelemetry.proto.collector.trace.v1.TraceService/"
    with Grpc(port) as client:
        for code, message, path in (
            ("INVALID_ARGUMENT", b"\x0a\x05ab", traces + "Export"),
            ("UNIMPLEMENTED", b"", traces + "Import"),
            ("UNIMPLEMENTED", b"", "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"),
            ("RESOURCE_EXHAUSTED", bytes((16 << 20) + 1), traces + "Export"),
        ):
            with pytest.raises(Refused) as refused:
                client.call(message, path)
            assert refused.value.code == code and refused.value.retry_after is None, refused.value
        exactly(client.hand(numbered(60, 0, [1])) == (200, 0), "a good one on the same connection")
    with connect(port) as stream:
        stream.sendall(b"POST /v1/traces HTTP/1.1\r\nHost: x\r\n\r\n")
        stream.settimeout(10)
        while stream.recv(1000):
            pass
    sink.wait_ids(1)
    wait_until(lambda: "for HTTP/1, OTLP has another port (4318)" in node.agent.log(), 10, "it to be said")
    assert node.status()["input"]["closed"]["garbage"] == 1


# Where it listens


def test_nothing_listens_unless_configured(node, sink):
    node.start_agent(free_port(), output=otlp(sink.port))
    for port in (4317, 4318):
        assert not answers(port)
    status = node.status()
    assert all(one["address"] == "" for one in status["inputs"].values()), status["inputs"]
    assert "taking in" not in node.run(["cli/blkin", "status", "--socket", node.socket])
    assert not any("input=" in name for name in node.metrics())


def test_socket_of_the_node(node, sink):
    """Paths instead of ports."""
    os.chmod(node.folder, 0o755)
    paths = {way: node.path(f"{way}.sock") for way in KEYS}
    node.start_agent(free_port(), output=otlp(sink.port), input={KEYS[way]: path for way, path in paths.items()})
    for n, (way, path) in enumerate(paths.items()):
        wait_until(lambda path=path: os.path.exists(path), 10, "the socket")
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o666
        with Http(path) if way == "http" else Grpc(path) as client:
            exactly(client.hand(numbered(62, 0, [n]))[0] == 200, way)
    sink.wait_ids(2)
    said = node.run(["cli/blkin", "status", "--socket", node.socket])
    assert f"taking in   yes, at {paths['http']} (otlp), from " in said, said
    node.agent.send(signal.SIGTERM)
    assert node.agent.wait(20) == 0
    assert not any(os.path.exists(path) for path in paths.values())


def change(node, *pairs):
    """Replaces texts in the configuration, and reloads it."""
    with open(node.path("agent.conf"), encoding="utf-8") as file:
        text = file.read()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    with open(node.path("agent.conf"), "w", encoding="utf-8") as file:
        file.write(text)
    node.agent.send(signal.SIGHUP)


def test_reload_moves_them(node, sink):
    """To other addresses, where who is connected stays; and away, where nobody does."""
    ports = start(node, sink)
    others = free_port(), free_port()
    lines = [f"{KEYS[way]} = 127.0.0.1:{{}}".format for way in ("http", "grpc")]
    with Http(ports[0]) as client, Grpc(ports[1]) as channel:
        exactly(client.hand(numbered(63, 0, [0]))[0] == channel.hand(numbered(63, 0, [1]))[0] == 200, "before")
        change(node, *[(line(old), line(new)) for line, old, new in zip(lines, ports, others)])
        wait_until(lambda: all(answers(port) for port in others) and not any(answers(port) for port in ports), 10, "the others")
        exactly(client.hand(numbered(63, 0, [2]))[0] == channel.hand(numbered(63, 0, [3]))[0] == 200, "who is connected stays")
        with Http(others[0]) as more, Grpc(others[1]) as channels:
            exactly(more.hand(numbered(63, 0, [4]))[0] == channels.hand(numbered(63, 0, [5]))[0] == 200, "others")
        change(node, *[(line(new), line(new).split("=")[0] + "=") for line, new in zip(lines, others)])
        wait_until(lambda: not any(answers(port) for port in others), 10, "both to be off")
        wait_until(lambda: all(one["connections"] == 0 for one in node.status()["inputs"].values()), 10, "all to be gone")
        with pytest.raises(OSError):
            client.post(one(9))
            client.post(one(9))
    ledger = wait_received(node, 6)
    exactly((ledger.received, len(sink.found)) == (6, 6), str(ledger))


def test_reload_swaps_them(node, sink):
    """Each moves to where the other one was; then one of them alone, to where the other one was that is off now."""
    ports = start(node, sink)
    lines = [f"{KEYS[way]} = 127.0.0.1:{port}" for way, port in zip(("http", "grpc"), ports)]
    swapped = [f"{KEYS[way]} = 127.0.0.1:{port}" for way, port in zip(("http", "grpc"), reversed(ports))]

    def takes(port, kind, number):
        with kind(port) as client:
            return client.hand(numbered(65, 0, [number]))[0] == 200

    change(node, *zip(lines, swapped))
    wait_until(lambda: node.agent.log().count("configuration reloaded") == 1, 10, "the reload")
    wait_until(lambda: takes(ports[1], Http, 0) and takes(ports[0], Grpc, 1), 10, "both, swapped")
    change(node, (swapped[0], f"{KEYS['http']} = 127.0.0.1:{ports[0]}"), (swapped[1], f"{KEYS['grpc']} ="))
    wait_until(lambda: node.agent.log().count("configuration reloaded") == 2, 10, "the next reload")
    wait_until(lambda: takes(ports[0], Http, 2) and not answers(ports[1]), 10, "one, where the other one was")
    assert not finding(node, "no-program")  # it has others' spans


def count_reloads(node):
    return node.agent.log().count("configuration reloaded")


def test_reload_swaps_one_and_the_page(node, sink):
    """The page has the address that was an input's, which has another one; they swap; and the page comes back to where an input was."""
    (port, _), other = start(node, sink), free_port()
    places = [(node.http, port), (port, other), (other, port), ("", other), (other, node.http)]
    texts = [f"http = 127.0.0.1:{page}\n" if page else "http =\n" for page, _ in places]
    for turn, ((_, now), (page, then)) in enumerate(zip(places, places[1:])):
        change(node, (texts[turn], texts[turn + 1]), (f"otlp = 127.0.0.1:{now}", f"otlp = 127.0.0.1:{then}"))
        wait_until(lambda turn=turn: count_reloads(node) == turn + 1, 10, "the reload")

        def takes():
            with Http(then) as client:
                return client.post(body_of(numbered(66, 0, [turn])))[0] == 200

        wait_until(takes, 10, "the input")
        wait_until(lambda page=page: not page or http_status(page) == 200, 10, "the page")


@pytest.mark.parametrize("way", KEYS)
def test_reload_after_a_call_that_was_refused(node, sink, way):
    """What is too large for the outputs of now is refused, also if it was not for those that a call of before met."""
    ports = start(node, sink, output={"batch_size": "512K"})
    large, larger = span_of(68, 0, 0), span_of(68, 0, 1)
    large.name, larger.name = "x" * 100000, "x" * 600000
    with client_of(ports, way) as client:
        exactly(client.hand(request_of([larger]))[0] == 200, "it is refused for good")
        change(node, ("batch-size = 512K", "batch-size = 16K"))
        wait_until(lambda: count_reloads(node) == 1, 10, "the reload")
        exactly(client.hand(request_of([large]))[0] == 200, "and this one, too")
        exactly(client.hand(numbered(68, 1, [0]))[0] == 200, "others are taken")
    ledger = wait_received(node, 1)
    exactly((ledger.received, ledger.refused_for("oversize"), ledger.dropped) == (1, 2, 0), str(ledger))


def http_status(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status
    except OSError:
        return 0  # it came to who leaves the port
    finally:
        connection.close()


def test_reload_to_a_path_that_another_one_leaves(node, sink):
    """Whatever their order; only to swap paths takes two reloads."""
    paths = [node.path(f"{n}.sock") for n in range(4)]
    keys = ("scribe", *KEYS.values())
    node.start_agent(free_port(), output=otlp(sink.port), input=dict(zip(keys, paths)))
    lines = [f"{key} = {path}" for key, path in zip(keys, paths)]
    moved = [f"{key} = {path}" for key, path in zip(keys, paths[1:])]
    change(node, *reversed(list(zip(lines, moved))))
    wait_until(lambda: count_reloads(node) == 1, 10, "the reload")
    with Http(paths[2]) as client, Grpc(paths[3]) as channel:
        exactly(client.hand(numbered(67, 0, [0]))[0] == channel.hand(numbered(67, 0, [1]))[0] == 200, "both have moved")
    assert not os.path.exists(paths[0])
    change(node, (moved[1], f"{keys[1]} = {paths[3]}"), (moved[2], f"{keys[2]} = {paths[2]}"))
    wait_until(lambda: "configuration not reloaded" in node.agent.log(), 10, "a swap to be refused")
    assert f"cannot listen on {paths[3]}: Address already in use (`otlp` in [input]" in node.agent.log()
    with Http(paths[2]) as client, Grpc(paths[3]) as channel:
        exactly(client.hand(numbered(67, 0, [2]))[0] == channel.hand(numbered(67, 0, [3]))[0] == 200, "nothing has changed")


@pytest.mark.parametrize("moved", [False, True])
def test_reload_to_where_one_stays(node, sink, moved):
    """
    What comes to an input that listens at every address stays its own: neither the page nor another input gets a part of it; also
    if it has moved itself, after which the kernel would let them; nor do two that move in the same reload.
    """
    before, port, scribe, third = (free_port() for _ in range(4))
    keys = {"otlp": f"0.0.0.0:{before if moved else port}", "scribe": f"127.0.0.1:{scribe}"}
    node.start_agent(free_port(), output=otlp(sink.port), input=keys)
    if moved:
        change(node, (f"otlp = 0.0.0.0:{before}", f"otlp = 0.0.0.0:{port}"))
        wait_until(lambda: count_reloads(node) == 1, 10, "the reload")
    page, other = ((f"{key} = 127.0.0.1:{at}\n", f"{key} = 127.0.0.1:{port}\n") for key, at in (("http", node.http), ("scribe", scribe)))
    both = [(page[0], f"http = 127.0.0.1:{third}\n"), (f"otlp = 0.0.0.0:{port}", f"otlp = 0.0.0.0:{third}")]
    for turn, pairs in enumerate(([page], [other], both)):
        change(node, *pairs)
        wait_until(lambda turn=turn: node.agent.log().count("configuration not reloaded") == turn + 1, 10, "it to be refused")
        with Http(port) as client:
            exactly(client.post(body_of(numbered(69, 0, [turn])))[0] == 200, "the input has what comes there")
        assert http_status(node.http) == 200
        change(node, *[(new, old) for old, new in pairs])
        wait_until(lambda turn=turn: count_reloads(node) == moved + turn + 1, 10, "it to be as it was")
    wait_received(node, 3)


@pytest.mark.parametrize("ways", [("http", "grpc"), ("grpc", "http")])
def test_reload_swaps_a_port_and_a_path(node, sink, ways):
    """Whichever of the two inputs has the port."""
    port, path = free_port(), node.path("other.sock")
    places, kinds = (f"127.0.0.1:{port}", path), {"http": Http, "grpc": Grpc}
    node.start_agent(free_port(), output=otlp(sink.port), input={KEYS[way]: at for way, at in zip(ways, places)})
    change(node, *[(f"{KEYS[way]} = {old}", f"{KEYS[way]} = {new}") for way, old, new in zip(ways, places, reversed(places))])
    wait_until(lambda: count_reloads(node) == 1, 10, "the reload")
    for number, (way, at) in enumerate(zip(ways, (path, port))):
        with kinds[way](at) as client:
            exactly(client.hand(numbered(70, 0, [number]))[0] == 200, way)
    wait_received(node, 2)


def test_address_is_taken(node, sink):
    """It is tried again, and status says so."""
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        node.start_agent(free_port(), output=otlp(sink.port), input={"otlp": f"127.0.0.1:{port}"})
        assert "Address already in use" in finding(node, "input-port")["what"]
        assert "taking in   NO, at " in node.run(["cli/blkin", "status", "--socket", node.socket])
        assert node.metrics()['blkin_agent_input_up{input="otlp"}'] == 0
    wait_until(lambda: not finding(node, "input-port"), 20, "it to be tried again")
    with Http(port) as client:
        exactly(client.hand(numbered(63, 0, [0]))[0] == 200, "it is taken")


def test_reload_that_fails_changes_nothing(node, sink):
    """One input moves, another cannot: the first is where it was, also if that cannot be had at the moment."""
    first, other, third = free_port(), free_port(), free_port()
    with socket.create_server(("127.0.0.1", third)):
        with socket.create_server(("127.0.0.1", first)):
            node.start_agent(free_port(), output=otlp(sink.port), input={"otlp": f"127.0.0.1:{first}"})
            with open(node.path("agent.conf"), encoding="utf-8") as file:
                text = file.read()
            with open(node.path("agent.conf"), "w", encoding="utf-8") as file:
                moved = text.replace(f"otlp = 127.0.0.1:{first}", f"otlp = 127.0.0.1:{other}\notlp-grpc = 127.0.0.1:{third}")
                file.write(moved)
            assert moved != text
            node.agent.send(signal.SIGHUP)
            wait_until(lambda: "configuration not reloaded" in node.agent.log(), 10, "the reload to fail")
            wait_until(lambda: not answers(other), 10, "it to leave the other port")
            assert finding(node, "input-port")["what"].count(f"127.0.0.1:{first}") == 1
        wait_until(lambda: not finding(node, "input-port"), 20, "it to be tried again")
        with Http(first) as client:
            exactly(client.hand(numbered(63, 0, [1]))[0] == 200, "it is taken")


# What the agent says of it


def test_status_and_metrics(node, sink):
    ports = start(node, sink)
    with Http(ports[0]) as client, Http(ports[0]) as other, Grpc(ports[1]) as channel:
        for n, each in enumerate((client, other, channel)):
            exactly(each.hand(numbered(64, 0, [n]))[0] == 200, "it is taken")
        wait_until(lambda: node.status()["inputs"]["otlp"]["connections"] == 2, 10, "both to be counted")
        status = node.status()
        for key, port, count in (("otlp", ports[0], 2), ("otlp-grpc", ports[1], 1)):
            said = status["inputs"][key]
            assert said["address"] == f"127.0.0.1:{port}" and said["error"] == "" and said["connections"] == count, said
            assert said["max_connections"] == 1024 and said["max_bytes"] == 64 << 20 and not said["putting_off"], said
        text = node.run(["cli/blkin", "status", "--socket", node.socket])
        assert f"taking in   yes, at 127.0.0.1:{ports[0]} (otlp), from 2 connections\n" in text, text
        assert f"taking in   yes, at 127.0.0.1:{ports[1]} (otlp-grpc), from 1 connection\n" in text, text
        metrics = node.metrics()
        assert metrics['blkin_agent_input_connections{input="otlp"}'] == 2
        assert metrics['blkin_agent_input_connections{input="otlp-grpc"}'] == 1
        assert metrics['blkin_agent_input_up{input="otlp"}'] == metrics['blkin_agent_input_up{input="otlp-grpc"}'] == 1
        assert "blkin_agent_input_connections" not in metrics, "Scribe's is off"
    wait_received(node, 3)


def validate(node, **sections):
    node.write_config(free_port(), **sections)
    program = node.start([node.built("cli/blkin"), "validate", node.path("agent.conf")], name="validate")
    return program.wait(20), program.log()


def test_validate(node):
    for key in KEYS.values():
        code, said = validate(node, input={key: "0.0.0.0:4318"})
        assert code == 0 and "takes spans at 0.0.0.0:4318 from whoever can connect there" in said, said
        code, said = validate(node, input={key: "127.0.0.1:4318"})
        assert code == 0 and "from whoever" not in said, said
        code, said = validate(node, input={key: "nonsense"})
        assert code != 0 and key in said, said
        code, said = validate(node, input={key: "127.0.0.1:4318"}, output={"type": "otlp", "server": "127.0.0.1:4318"})
        if key == "otlp":
            assert code != 0 and "is the agent's own `otlp` in [input], so its spans would come back for ever" in said, said
        else:
            assert code == 0 and "the agent's own intake, which speaks OTLP over gRPC only (`otlp-grpc` in [input])" in said, said
    code, said = validate(node, input={"otlp": "127.0.0.1:4318"}, output={"takes": "spans, messages"})
    assert code == 0 and "none come in" not in said, said


# No room


@pytest.mark.parametrize("way", KEYS)
def test_output_is_away_without_a_spool(node, way):
    """Nothing is taken, and who asks is told when to come again; once the output is there, it is."""
    sink = IdSink(node, free_port())
    ports = start_agent(node, sink.port, output=dict(TIMID, spool_size="0"))
    wait_until(lambda: any(one["code"].startswith("output-") for one in node.status()["findings"]), 20, "the output to be found away")
    with client_of(ports, way) as client:
        wait_until(lambda: client.hand(numbered(65, 0, [0]))[0] == 429, 20, "it to be put off", step=0)
        status, wait = client.hand(numbered(65, 0, [0]))
        assert status == 429 and 1 <= wait <= 4, f"{status} {wait}"
        ledger = node.ledger()
        ledger.check()
        exactly((ledger.received, ledger.dropped) == (0, 0) and ledger.put_off >= 2, str(ledger))
        said = node.status()
        assert said["inputs"][KEYS[way]]["putting_off"] and finding(node, "input-full"), str(said)
        sink.start()
        wait_until(lambda: client.hand(numbered(65, 0, [0]))[0] == 200, 20, "it to be taken")
        wait_until(lambda: not finding(node, "input-full"), 10, "that to be over")
    ledger = wait_received(node, 1)
    exactly((ledger.received, ledger.sent, ledger.dropped) == (1, 1, 0), str(ledger))
    exactly(list(sink.ids().elements()) == [(65, 0, 0)], str(sink.ids()))


@pytest.mark.parametrize("way", KEYS)
def test_queued_is_enough(node, way):
    """`ack = queued`: an OK says that it is in memory, and so is there also while no output has it, or could."""
    sink = IdSink(node, free_port())
    ports = start_agent(node, sink.port, input={"ack": "queued"}, output=dict(TIMID, spool_size="0"))
    wait_until(lambda: any(one["code"].startswith("output-") for one in node.status()["findings"]), 20, "the output to be found away")
    with client_of(ports, way) as client:
        for n in range(5):
            exactly(client.hand(numbered(65, 0, [n]))[0] == 200, "it is in memory")
        ledger = node.ledger()
        ledger.check()
        exactly((ledger.received, ledger.queued + ledger.entrusted, ledger.put_off, ledger.sent) == (5, 5, 0, 0), str(ledger))
        sink.start()
        ledger = wait_received(node, 5)
    exactly((ledger.received, ledger.sent, ledger.dropped) == (5, 5, 0), str(ledger))
    exactly(sorted(sink.ids().elements()) == [(65, 0, n) for n in range(5)], str(sink.ids()))


def test_queued_and_killed(node):
    """The same after a kill, also if the next agent's senders wait for more."""
    sink = IdSink(node, free_port())
    ports = start_agent(node, sink.port, session={"keep": "yes"}, input={"ack": "queued"}, output=dict(TIMID, spool_size="0"))
    with client_of(ports, "http") as client:
        for n in range(5):
            exactly(client.hand(numbered(68, 0, [n]))[0] == 200, "it is in memory")
    node.run([LOAD, "front", 1])  # what is recorded has all written down
    before = node.wait_ledger(lambda ledger: ledger.entrusted == 5 and ledger.queued > 0, 20, "them to be on record")
    node.wait_quiet("state", 1)
    node.agent.kill()
    node.agent.wait()
    sink.start()
    ports = start_agent(node, sink.port, session={"keep": "yes"}, output=dict(TIMID, spool_size="0"))
    ledger = node.wait_ledger(lambda ledger: ledger.sent == before.queued, 20, "this node's own")
    ledger.check()
    exactly((ledger.dropped_for("shutdown"), ledger.given_back) == (5, 0), str(ledger))


def test_queued_and_stopped(node):
    """Who was told OK does not send it again: what is in memory at a stop, and cannot be stored, is lost, and so it is told."""
    sink = IdSink(node, free_port())
    ports = start_agent(node, sink.port, session={"keep": "yes"}, input={"ack": "queued"}, output=dict(TIMID, spool_size="0"))
    with client_of(ports, "http") as client:
        for n in range(5):
            exactly(client.hand(numbered(67, 0, [n]))[0] == 200, "it is in memory")
    wait_until(lambda: node.ledger().entrusted == 5, 20, "them to be on record")
    exactly(node.agent.stop() == 0, "it ends")
    exactly("5 spans are not delivered" in node.agent.log(), node.agent.log())
    sink.start()
    node.start_agent_again()
    with client_of(ports, "http") as client:
        exactly(client.hand(numbered(67, 1, [0]))[0] == 200, "it goes on")
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 1, 20, "what comes now")
    exactly((ledger.dropped_for("shutdown"), ledger.given_back, ledger.received) == (5, 0, 6), str(ledger))
    exactly([loss for loss in node.status()["losses"] if "the agent ended" in str(loss)], str(node.status()["losses"]))
    exactly(sorted(sink.ids().elements()) == [(67, 1, 0)], str(sink.ids()))


def test_everything_is_full(node):
    """Senders are told to come again, and nothing that had its OK is lost."""
    sink = IdSink(node, free_port())
    small = {"queue_size": "256K", "batch_size": "64K", "batch_spans": 100}
    ports = start_agent(node, sink.port, output=dict(TIMID, **small), spool={"max_size": "2M"})
    senders = [OtlpSender(lambda way=way: client_of(ports, way), 66, t, 4000, 100) for t, way in enumerate(2 * list(KEYS))]
    for sender in senders:
        sender.start()
    wait_until(lambda: all(s.put_off > 3 for s in senders), 60, "all to be told to try later")
    ledger = node.ledger()
    ledger.check()
    assert ledger.dropped == 0 and ledger.spooled > 1000, str(ledger)
    sink.start()
    wait_senders(senders, 120)
    ledger = wait_received(node, 4 * 4000)
    exactly(ledger.dropped == 0, str(ledger))
    exactly(ledger.messages == ledger.received + ledger.put_off, str(ledger))
    again = check_once(sink, senders)
    print(f"{sum(s.put_off for s in senders)} calls were put off; {again} spans came again; {ledger}")


def check_once(sink, senders, leaving=0):
    """Each span came; twice only if its sender had to send it twice, or if it was among so many that were @leaving the spool as
    the agent was killed. Returns how many did."""
    again = check_came(sink, senders)
    seen = sink.ids()
    doubtful = {(s.process, s.number, n) for s in senders for n in s.doubtful}
    twice = {one for one, count in seen.items() if count > 1}
    known = twice - doubtful
    exactly(len(known) <= leaving, f"{len(known)} came again, though they had their OK at once: {sorted(known)[:10]}")
    return again


@pytest.mark.parametrize("kills", [3])
def test_killed_under_load(node, kills):
    """kill -9, while the output comes and goes: what had its OK is there, and the rest comes again by its SDK."""
    sink = IdSink(node, free_port()).start()
    ports = start_agent(node, sink.port, session={"keep": "yes"}, output=TIMID)
    senders = [
        OtlpSender(lambda way=way, kind=kind, packed=packed: client_of(ports, way, kind, packed), 67, t, 2000, 20, rate=250)
        for t, (way, kind, packed) in enumerate(WAYS)
    ]
    for sender in senders:
        sender.start()
    leaving = 0
    for turn in range(kills):
        wanted = (turn + 1) * 400
        wait_until(lambda wanted=wanted: all(s.done >= wanted for s in senders), 60, f"{wanted} of each")
        if turn % 2 == 0:
            sink.kill()
            wait_until(lambda: node.ledger().spooled > 0, 20, "some to be spooled")
        # what this agent found in its spool may be on its way, or just have come, and be there for the next one, too
        leaving += sum(map(int, re.findall(r"(\d+) spans are in the spool, and will be delivered", node.agent.log())))
        node.agent.kill()
        node.start_agent_again(wait=False)
        if turn % 2 == 0:
            sink.start()
    wait_senders(senders, 120)
    node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
    total = sum(s.count for s in senders)
    ledger = wait_received(node, total)
    again = check_once(sink, senders, leaving)
    print(f"{again} of {total} came again; {leaving} were leaving the spool; {sum(s.broken for s in senders)} calls were broken; {ledger}")
    exactly(ledger.dropped == 0, str(ledger))
    assert total <= ledger.received <= total + sum(20 * s.broken for s in senders), str(ledger)


def test_stopped_under_load(node):
    """SIGTERM: what is on its way is answered, or comes again."""
    sink = IdSink(node, free_port()).start()
    ports = start_agent(node, sink.port, session={"keep": "yes"}, output=TIMID)
    senders = [OtlpSender(lambda way=way: client_of(ports, way), 68, t, 2000, 20, rate=400) for t, way in enumerate(2 * list(KEYS))]
    for sender in senders:
        sender.start()
    for turn in range(3):
        wanted = (turn + 1) * 400
        wait_until(lambda wanted=wanted: all(s.done >= wanted for s in senders), 60, f"{wanted} of each")
        node.agent.send(signal.SIGTERM)
        assert node.agent.wait(20) == 0
        node.start_agent_again(wait=False)
    wait_senders(senders, 120)
    node.agent.wait_ready(node.collecting)
    ledger = wait_received(node, 8000)
    again = check_once(sink, senders)
    print(f"{again} came again; {ledger}")
    exactly(ledger.dropped == 0 and ledger.received == ledger.sent + ledger.given_back, str(ledger))


def test_many_ask_for_records(node):
    """Who is told OK once the books are written is told so soon, also while others keep asking for that."""
    sink = IdSink(node, free_port()).start()
    ports = start_agent(node, sink.port)
    senders = [OtlpSender(lambda way=way: client_of(ports, way), 69, t, 200, 1) for t, way in enumerate(8 * list(KEYS))]
    for sender in senders:
        sender.start()
    wait_senders(senders, 60)
    longest = max(s.longest for s in senders)
    print(f"the longest took {longest:.2f} s")
    assert longest < 5, "an answer is due once what was asked for is written, whoever asks for more"
    ledger = wait_received(node, 16 * 200)
    exactly(ledger.received == ledger.sent == 16 * 200, str(ledger))
    exactly(check_once(sink, senders) == 0, "each came once")
