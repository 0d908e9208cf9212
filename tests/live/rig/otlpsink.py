# SPDX-License-Identifier: BSD-2-Clause
"""A collector that takes OTLP over HTTP, decoded by code that protoc generates from proto/otlp.proto."""

import os
import sys

from .jsonsink import JsonSink
from .unpack import unpack

BUILD = os.path.realpath(os.environ.get("BLKIN_BUILD", "build-check"))


def messages():
    """The generated module."""
    if os.path.join(BUILD, "proto") not in sys.path:
        sys.path.append(os.path.join(BUILD, "proto"))
    import otlp_pb2  # noqa: PLC0415 it is there only once the build is

    return otlp_pb2


def value(any_value):
    return getattr(any_value, any_value.WhichOneof("value"))


def attributes(pairs):
    """A dictionary, in which no key may come twice."""
    found = {pair.key: value(pair.value) for pair in pairs}
    assert len(found) == len(pairs), pairs
    return found


class OtlpSink(JsonSink):
    """Its spans are (resource, span, attributes): dictionaries of attributes, and the message."""

    def __init__(self):
        super().__init__()
        self.scopes = set()
        self.judge = None  # of a call's (headers, spans): (status, headers, message), or None: it is good

    def answer(self, request, body):
        encoding = request.headers["Content-Encoding"]
        call = messages().ExportTraceServiceRequest.FromString(unpack(body, encoding))
        spans = []
        for group in call.resource_spans:
            resource = attributes(group.resource.attributes)
            for scope in group.scope_spans:
                self.scopes.add((scope.scope.name, scope.scope.version))
                spans += [(resource, span, attributes(span.attributes)) for span in scope.spans]
        verdict = self.judge and self.judge(request.headers, spans)
        code, headers, message = verdict or (200, {}, messages().ExportTraceServiceResponse())
        with self.lock:
            self.requests.append((request.path, request.headers["Content-Type"], encoding))
            if code == 200:
                self.spans += spans
        return code, dict(headers, **{"Content-Type": "application/x-protobuf"}), message.SerializeToString()
