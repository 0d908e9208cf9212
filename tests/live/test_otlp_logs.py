# SPDX-License-Identifier: BSD-2-Clause
"""Log records of OpenTelemetry's SDKs are messages: outputs that take these get them byte for byte, with what they came with."""

import collections
import gzip
import random
import signal
import threading
from http.client import HTTPException

import pytest
from rig.idsink import IdSink
from rig.messages import MessageSink
from rig.messagesender import call
from rig.othernode import OtherNode
from rig.otlpsender import JSON, PROTOBUF, Grpc, Http, Refused, numbered, to_json
from rig.otlpsink import OtlpSink, messages
from rig.process import answers, exactly, free_port, wait_until
from rig.sender import raw
from rig.unpack import unpack
from test_input import TIMID, wait_up
from test_messages import wait_settled
from test_otlp_input import WAYS, client_of, put_values, start_agent

LOGS = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
CATEGORY = b"otlp-logs"


class LogSink(OtlpSink):
    """Counts what comes: (resource, its schema, scope, its schema, record), each as bytes."""

    def __init__(self):
        super().__init__()
        self.found = collections.Counter()

    def answer(self, request, body):
        if request.path == "/v1/traces":
            return super().answer(request, body)
        call_ = messages().ExportLogsServiceRequest.FromString(unpack(body, request.headers["Content-Encoding"]))
        with self.lock:
            self.found.update(parts(call_))
        return 200, {"Content-Type": PROTOBUF}, b""


def parts(request):
    for group in request.resource_logs:
        for scope in group.scope_logs:
            for record in scope.log_records:
                yield (
                    group.resource.SerializeToString(deterministic=True),
                    group.schema_url,
                    scope.scope.SerializeToString(deterministic=True),
                    scope.schema_url,
                    record.SerializeToString(deterministic=True),
                )


def put_record(record, dice, number):
    record.time_unix_nano, record.observed_time_unix_nano = 1700000000123456789 + number, 1700000000123456790
    record.severity_number, record.severity_text = dice.randrange(25), dice.choice(["", "INFO", "größer"])
    kind = number % 4
    if kind == 0:
        record.body.string_value = f"line {number}\n文字"
    elif kind == 1:
        record.body.bytes_value = dice.randbytes(20)
    elif kind == 2:
        record.body.kvlist_value.values.add(key="a").value.array_value.values.add().int_value = -number
    put_values(record.attributes, dice)
    record.attributes.add(key="number").value.int_value = number
    record.dropped_attributes_count, record.flags = dice.randrange(3), dice.randrange(2)
    if dice.random() < 0.5:
        record.trace_id, record.span_id = dice.randbytes(16), dice.randbytes(8)
    record.event_name = dice.choice(["", "browser.page_view"])


def manifold(first, count):
    """A request of several processes and scopes, with so many records each, whose numbers begin with @first."""
    dice, number = random.Random(first), first
    request = messages().ExportLogsServiceRequest()
    for process in range(2):
        group = request.resource_logs.add(schema_url=f"https://example.org/{process}" if process else "")
        group.resource.attributes.add(key="service.name").value.string_value = f"service {process}"
        put_values(group.resource.attributes, dice)
        for scope_number in range(2):
            scope = group.scope_logs.add(schema_url="https://example.org/scope" if scope_number else "")
            scope.scope.name = f"library {scope_number}"
            for _ in range(count):
                put_record(scope.log_records.add(), dice, number)
                number += 1
    return request


def hand(client, request, way, kind=PROTOBUF):
    """The answer's rejected records, and why."""
    answer = messages().ExportLogsServiceResponse()
    if way == "grpc":
        answer.ParseFromString(client.call(request.SerializeToString(), LOGS))
    else:
        status, _, body = client.post(to_json(request) if kind == JSON else packed_of(client, request), "/v1/logs")
        exactly(status == 200, f"{status}: {body}")
        if kind == JSON:
            return body
        answer.ParseFromString(body)
    return answer.partial_success.rejected_log_records, answer.partial_success.error_message


def packed_of(client, request):
    data = request.SerializeToString()
    return gzip.compress(data, 1) if client.packed else data


def start(node, port, **keys):
    """An agent whose output "logs" takes messages."""
    spans = IdSink(node, free_port()).start()
    out = dict(TIMID, **{"type": "otlp", "server": f"127.0.0.1:{port}", "takes": "messages", **keys})
    return start_agent(node, spans.port, **{"output logs": out})


def reload_with(node, old, new):
    path = node.path("agent.conf")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert text.count(old) == 1, text
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))
    node.agent.send(signal.SIGHUP)


def wait_same(sink, requests):
    wanted = collections.Counter(one for request in requests for one in parts(request))
    wait_until(lambda: sum(sink.found.values()) >= sum(wanted.values()), 20, "all records")
    exactly(sink.found == wanted, f"{(wanted - sink.found).most_common(1)}\n{(sink.found - wanted).most_common(1)}")


def test_all_that_a_record_has(node):
    """Whatever way a request comes, an output of OTLP's sends each record as it was, below what it came with."""
    with LogSink() as sink:
        ports, requests = start(node, sink.port), []
        for number, (way, kind, packed) in enumerate(one for one in WAYS if one[1:] != (JSON, True)):
            requests.append(manifold(100 * number, 10))
            with client_of(ports, way, kind, packed) as client:
                answer = hand(client, requests[-1], way, kind)
                exactly(answer in ((0, ""), b"{}"), f"{way}: {answer}")
        wait_same(sink, requests)
        count = 40 * len(requests)
        lane = wait_settled(node, count, "logs")
        exactly((lane.taken, lane.sent, lane.dropped) == (count, count, 0), str(lane))
        ledger = node.ledger()
        ledger.check()
        exactly((ledger.messages, ledger.passed, ledger.received, ledger.refused) == (count, count, 0, 0), str(ledger))


def test_by_way_of_scribe(node):
    """A message is a request with one record; whoever hands it on gives it back to OTLP. Others of that category are others."""
    sink = MessageSink(node, free_port()).start()
    ports = start(node, sink.port, type="scribe")
    request = manifold(0, 3)
    with Grpc(ports[1]) as client:
        hand(client, request, "grpc")
    wait_settled(node, 12, "logs")
    came = sink.messages()
    exactly({category for category, _ in came} == {CATEGORY}, str(came))
    each = [messages().ExportLogsServiceRequest.FromString(payload) for _, payload in came]
    exactly(all(len(list(parts(one))) == 1 for one in each), "each has one record")
    wanted = collections.Counter(parts(request))
    exactly(collections.Counter(one for request in each for one in parts(request)) == wanted, "what came differs")
    node.agent.stop()
    with LogSink() as other:
        scribe = free_port()
        keys = dict(TIMID, type="otlp", server=f"127.0.0.1:{other.port}", takes="messages")
        node.start_agent(free_port(), input={"scribe": f"127.0.0.1:{scribe}"}, **{"output logs": keys})
        bad = [(CATEGORY, b""), (CATEGORY, b"words"), (CATEGORY, came[0][1][:-1]), (b"other", came[0][1])]
        bad += [(CATEGORY, request.SerializeToString()), (CATEGORY, came[0][1] + came[1][1])]
        with raw(scribe) as stream:
            exactly(call(stream, came + bad) == 0, "not OK")
        wait_until(lambda: sum(other.found.values()) >= 12 + len(bad), 20, "all of them")
        exactly(not wanted - other.found, "each record is there as it was")
        rest = [messages().LogRecord.FromString(one[4]) for one in (other.found - wanted).elements()]
        bodies = sorted(one.body.bytes_value or one.body.string_value.encode() for one in rest)
        exactly(bodies == sorted(payload for _, payload in bad), "all else is the body of a record")


def test_circle_is_noticed(node):
    """Two agents that deliver to each other by OTLP: what goes round waits, and they say so; undone, it arrives."""
    with OtherNode() as other, LogSink() as sink:
        ports, request = [free_port(), free_port()], manifold(0, 3)
        for one, (own, next_port) in ((node, ports), (other, ports[::-1])):
            keys = dict(TIMID, type="otlp", server=f"127.0.0.1:{next_port}", takes="spans, messages")
            one.start_agent(next_port, wait=False, input={"otlp": f"127.0.0.1:{own}"}, output=keys)
            wait_until(lambda own=own: answers(own), 10, "it to listen")
        wait_up(node, other)
        with Http(ports[0]) as client:
            exactly(client.hand(numbered(50, 0, range(10)))[0] in (200, 429), "it is taken, or put off")
            exactly(client.post(request.SerializeToString(), "/v1/logs")[0] in (200, 429), "the same")

        def looped():
            return [one.status()["input"]["looped"] for one in (node, other)]

        wait_until(lambda: sum(looped()) >= 2, 20, "the circle to be noticed, of both kinds")
        codes = [finding["code"] for one in (node, other) for finding in one.status()["findings"]]
        assert "input-loop" in codes, codes
        assert "go in a circle" in node.agent.log() + other.agent.log()
        went = [one.status()["input"]["messages"] for one in (node, other)]
        print(f"{looped()} calls were put off, {went} were taken")
        assert max(went) <= 150, "it goes round"
        reload_with(other, f"server = 127.0.0.1:{ports[0]}", f"server = 127.0.0.1:{sink.port}")
        wait_until(lambda: len({span.span_id for _, span, _ in sink.spans}) == 10, 60, "the spans to arrive")
        wait_until(lambda: sink.found.keys() == set(parts(request)), 60, "the records to arrive")


def test_nobody_takes_them(node):
    """That is told, and logged; once an output does, by a reload, they are taken."""
    with LogSink() as sink:
        ports = start(node, sink.port, takes="spans")
        request = manifold(0, 1)
        with Http(ports[0]) as http, Grpc(ports[1]) as grpc:
            for _ in range(3):
                status, _, body = http.post(request.SerializeToString(), "/v1/logs")
                said = messages().RpcStatus.FromString(body).message
                assert status == 404 and "no output of this agent takes messages" in said, said
                with pytest.raises(Refused, match="no output of this agent takes messages") as refused:
                    grpc.call(request.SerializeToString(), LOGS)
                exactly(refused.value.code == "UNIMPLEMENTED", refused.value.code)
            exactly(node.agent.log().count("logs are not taken") == 2, node.agent.log())  # one each input
            reload_with(node, "takes = spans", "takes = messages")
            wait_until(lambda: http.post(request.SerializeToString(), "/v1/logs")[0] == 200, 10, "them to be taken")
            exactly(hand(grpc, request, "grpc") == (0, ""), "gRPC's, too")
        wait_same(sink, [request, request])
        ledger = node.ledger()
        ledger.check()
        exactly((ledger.passed, ledger.refused) == (8, 0), str(ledger))


@pytest.mark.parametrize("mib", [1, 9])
def test_too_large_or_damaged(node, mib):
    """A record that an output would drop is named in the answer, and those beside it are taken; what is none is refused."""
    with LogSink() as sink:
        ports = start(node, sink.port)
        request = manifold(0, 1)
        large = messages().ExportLogsServiceRequest()
        large.CopyFrom(request)
        large.resource_logs[0].scope_logs[0].log_records.add().body.string_value = "x" * (mib << 20)
        with Http(ports[0]) as client:
            count, why = hand(client, large, "http")
            assert count == 1 and "larger than 1 MiB" in why, why
            client.kind = JSON
            said = hand(client, large, "http", JSON)
            assert b'"rejectedLogRecords":"1"' in said, said
            client.kind = PROTOBUF
            exactly(client.post(b"\x0a\x05ab", "/v1/logs")[0] == 400, "damaged")
            exactly(client.post(b"", "/v1/logs")[0] == 200, "nothing in it")
        with Grpc(ports[1]) as client:
            exactly(hand(client, large, "grpc")[0] == 1, "gRPC")
            with pytest.raises(Refused, match="no ExportLogsServiceRequest"):
                client.call(b"\x0a\x05ab", LOGS)
        wait_same(sink, [request] * 3)
        ledger = node.ledger()
        ledger.check()
        exactly((ledger.passed, ledger.refused_for("oversize"), ledger.refused_for("malformed")) == (12, 3, 2), str(ledger))


def test_killed_while_the_output_is_away(node):
    """What had its OK is delivered or on disk."""
    with LogSink() as sink:
        nowhere = free_port()
        ports = start(node, nowhere)
        told, stop = [], threading.Event()

        def send(way):
            number = 1000000 * (way == "grpc")
            while not stop.is_set():
                request = manifold(number, 5)
                number += 20
                try:
                    with client_of(ports, way) as client:
                        hand(client, request, way)
                    told.append(request)
                except (OSError, HTTPException, Refused):
                    stop.wait(0.05)

        senders = [threading.Thread(target=send, args=(way,)) for way in ("http", "grpc")]
        for sender in senders:
            sender.start()
        for turn in range(2):
            wait_until(lambda turn=turn: len(told) >= 4 * (turn + 1), 60, "some to be told OK")
            node.agent.kill()
            node.start_agent_again(wait=False)
        wait_until(lambda: len(told) >= 12, 60, "more to be told OK")
        stop.set()
        for sender in senders:
            sender.join()
        reload_with(node, f"127.0.0.1:{nowhere}", f"127.0.0.1:{sink.port}")
        wanted = {one for request in told for one in parts(request)}
        wait_until(lambda: not wanted - sink.found.keys(), 60, "each of them")
        lane = wait_settled(node, 1, "logs")
        exactly(lane.dropped == 0, str(lane))
        print(f"{len(wanted)} were told OK, {sum(sink.found.values())} came")
