# SPDX-License-Identifier: BSD-2-Clause
"""
Programs that hand spans over as OpenTelemetry's SDKs do: by HTTP with Python's own client, and by gRPC with Debian's
python3-grpcio. Spans that are numbered are like spanload's, so an IdSink knows them: those of worker PROCESS.THREAD.
"""

import base64
import gzip
import http.client
import json
import random
import socket
import time

from .otlpsink import messages
from .persistent import Persistent

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
PROTOBUF, JSON = "application/x-protobuf", "application/json"


# Requests


def span_of(process, thread, ordinal):
    begin = time.time_ns()
    number = 1 + process << 40 | thread << 32 | ordinal
    span = messages().Span(
        trace_id=number.to_bytes(16, "big"),
        span_id=number.to_bytes(8, "big"),
        name="sent",
        kind=3,
        start_time_unix_nano=begin,
        end_time_unix_nano=begin + 100000,
    )
    for key, value in (("worker", f"{process}.{thread}"), ("ordinal", str(ordinal)), ("start", str(begin))):
        span.attributes.add(key=key).value.string_value = value
    return span


def request_of(spans, service="sender"):
    """An ExportTraceServiceRequest with these spans, of one process and scope."""
    request = messages().ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.add(key="service.name").value.string_value = service
    group.scope_spans.add(spans=spans).scope.name = "rig"
    return request


def numbered(process, thread, ordinals):
    return request_of([span_of(process, thread, n) for n in ordinals], f"sender{process}")


def to_json(request):
    """As OTLP has it: ids in hexadecimal, enums as numbers."""
    from google.protobuf.json_format import MessageToDict

    def mend(value):
        if isinstance(value, list):
            return [mend(each) for each in value]
        if not isinstance(value, dict):
            return value
        ids = ("traceId", "spanId", "parentSpanId")
        return {k: base64.b64decode(v).hex() if k in ids else mend(v) for k, v in value.items()}

    return json.dumps(mend(MessageToDict(request, use_integers_for_enums=True))).encode()


# HTTP


def body_of(request, kind=PROTOBUF, packed=False):
    body = to_json(request) if kind == JSON else request.SerializeToString()
    return gzip.compress(body, 1) if packed else body


def headers_of(kind=PROTOBUF, packed=False):
    return dict({"Content-Type": kind}, **({"Content-Encoding": "gzip"} if packed else {}))


def text_of(body, kind=PROTOBUF, packed=False, more="", version="1.1", length=True):
    """A request as bytes."""
    lines = [f"POST /v1/traces HTTP/{version}", "Host: agent"]
    lines += [f"{name}: {value}" for name, value in headers_of(kind, packed).items()]
    lines += [f"Content-Length: {len(body)}"] if length else []
    return ("\r\n".join(lines) + "\r\n" + more + "\r\n").encode() + body


def connect(port, seconds=20):
    """A port that is a text is a path. Nothing waits for more to be sent, as in the SDKs."""
    if isinstance(port, str):
        stream = socket.socket(socket.AF_UNIX)
        stream.settimeout(seconds)
        stream.connect(port)
        return stream
    stream = socket.create_connection(("127.0.0.1", port), seconds)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


class Http:
    """A connection that is kept."""

    def __init__(self, port, kind=PROTOBUF, packed=False, seconds=20):
        self.kind, self.packed = kind, packed
        self.connection = http.client.HTTPConnection("agent", timeout=seconds)
        self.connection.sock = connect(port, seconds)

    def post(self, body, path="/v1/traces", method="POST", **headers):
        """The status, the answer's headers, and its body."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request(method, path, body, dict(headers_of(self.kind, self.packed), **headers))
        answer = self.connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def hand(self, request):
        """Status, and seconds to wait."""
        status, headers, _ = self.post(body_of(request, self.kind, self.packed))
        return status, float(headers["Retry-After"] or 0)

    def close(self):
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# gRPC


class Refused(Exception):
    """An answer other than OK."""

    def __init__(self, error):
        super().__init__(str(error.details()))
        self.code = error.code().name
        self.retry_after = retry_info(dict(error.trailing_metadata() or ()).get("grpc-status-details-bin", b""))


def fields(data):
    """Those of a message of Protocol Buffers, none of which is longer than 16 KiB: (number, value)."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        head = varint()
        value = varint()
        if head & 7 == 2:
            value, at = data[at : at + value], at + value
        yield head >> 3, value


def retry_info(status):
    """The seconds that a google.rpc.Status says; None: it does not."""
    for details in (value for number, value in fields(status) if number == 3):
        entry = dict(fields(details))
        assert entry[1] == b"type.googleapis.com/google.rpc.RetryInfo"
        delay = dict(fields(dict(fields(entry[2]))[1]))
        return delay.get(1, 0) + delay.get(2, 0) / 1e9
    return None


class Grpc:
    """A channel; python3-grpcio connects it, again when it has to."""

    def __init__(self, port, packed=False, seconds=20):
        import grpc

        self.seconds = seconds
        self.compression = grpc.Compression.Gzip if packed else grpc.Compression.NoCompression
        address = f"unix:{port}" if isinstance(port, str) else f"127.0.0.1:{port}"
        options = [("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)]
        options += [("grpc.max_send_message_length", 64 << 20), ("grpc.initial_reconnect_backoff_ms", 100)]
        # the first of these is how long connecting may take
        options += [("grpc.min_reconnect_backoff_ms", 1000 * seconds), ("grpc.max_reconnect_backoff_ms", 300)]
        self.channel = grpc.insecure_channel(address, options, self.compression)

    def start(self, message, path=EXPORT):
        """A call, which goes on."""
        ask = self.channel.unary_unary(path, request_serializer=bytes, response_deserializer=bytes)
        return ask.future(message, timeout=self.seconds)

    def call(self, message, path=EXPORT):
        """The answer's message; Refused, if it is none."""
        import grpc

        try:
            return self.start(message, path).result()
        except grpc.RpcError as error:
            raise Refused(error) from None

    def hand(self, request):
        """As Http has it: what is to be sent again is 503."""
        try:
            self.call(request.SerializeToString())
            return 200, 0
        except Refused as refused:
            if refused.code == "RESOURCE_EXHAUSTED" and refused.retry_after:
                return 429, refused.retry_after
            if refused.code in ("UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"):
                raise ConnectionError(str(refused)) from None
            raise

    def close(self):
        self.channel.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class OtlpSender(Persistent):
    """By @start(), which gives a Http or Grpc. It waits as it is told, but not longer than @patience seconds."""

    BREAKS = (OSError, http.client.HTTPException)

    def __init__(self, start, process, thread=0, count=1000, batch=50, rate=0, patience=0.5):
        super().__init__(process, thread, count, batch, rate)
        self.connect, self.patience = start, patience
        self.doubtful = set()  # ordinals of calls that had no answer, or another one
        self.longest = 0  # seconds until an OK

    def request(self, ordinals):
        return numbered(self.process, self.number, ordinals)

    def hand(self, client, request):
        asked = time.monotonic()
        status, wait = client.hand(request)
        if status == 200:
            self.longest = max(self.longest, time.monotonic() - asked)
            return None
        assert status in (429, 503), status
        assert wait >= 1, f"{status} without a time to wait"
        return wait

    def failed(self, ordinals):
        self.doubtful.update(ordinals)

    def pause(self, wait):
        return min(wait, self.patience) * random.uniform(0.5, 1)
