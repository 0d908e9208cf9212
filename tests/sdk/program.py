# SPDX-License-Identifier: BSD-2-Clause
"""
A program with OpenTelemetry's SDK: program.py http|grpc PORT PROCESS COUNT hands over so many spans, of worker PROCESS.0. It
prints which of them it gave up, and which it had to try more than once. With "fields" as the count, its spans have all that the
API can say.
"""

import json
import logging
import sys
import time

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

RATE = 2000  # spans a second


class Handler(logging.Handler):
    """What the exporters say: that they try again, or give up."""

    said = 0

    def emit(self, record):
        Handler.said += 1
        print(record.getMessage(), file=sys.stderr, flush=True)


class Watched(SpanExporter):
    """Exports by another one, from one thread."""

    def __init__(self, exporter):
        self.exporter = exporter
        self.given_up, self.doubtful = [], []

    def export(self, spans):
        said = Handler.said
        result = self.exporter.export(spans)
        ordinals = [int(span.attributes["ordinal"]) for span in spans if "ordinal" in span.attributes]
        if result is not SpanExportResult.SUCCESS:
            self.given_up += ordinals
        elif Handler.said != said:
            self.doubtful += ordinals
        return result

    def shutdown(self):
        self.exporter.shutdown()


def exporter_of(way, port):
    if way == "http":
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        return OTLPSpanExporter(endpoint=f"http://127.0.0.1:{port}/v1/traces", timeout=30)
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=f"http://127.0.0.1:{port}", insecure=True, timeout=30)


def fields(tracer):
    values = {"text": "文字 \"quoted\"\n", "int": -(2**63), "double": 0.1, "yes": True, "texts": ["one", ""], "ints": [1, -2]}
    values.update(doubles=[1e300, -0.5], bools=[True, False])
    with tracer.start_as_current_span("größer", kind=trace.SpanKind.SERVER, attributes=values) as root:
        root.add_event("there", {"n": 1})
        root.record_exception(ValueError("it broke"))
        links = [trace.Link(root.get_span_context(), {"why": "because"})]
        child = tracer.start_span("child", kind=trace.SpanKind.CLIENT, links=links)
        child.set_status(trace.StatusCode.ERROR, "no answer")
        child.end()
        root.set_status(trace.StatusCode.OK)


def load(tracer, process, count):
    began = time.monotonic()
    for ordinal in range(count):
        span = tracer.start_span("sent")
        span.set_attributes({"worker": f"{process}.0", "ordinal": str(ordinal), "start": str(time.time_ns())})
        span.end()
        time.sleep(max(0, began + ordinal / RATE - time.monotonic()))


def main():
    way, port, process, count = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
    logging.getLogger("opentelemetry").addHandler(Handler())
    watched = Watched(exporter_of(way, port))
    provider = TracerProvider(resource=Resource({"service.name": f"sdk{process}"}))
    processor = BatchSpanProcessor(watched, max_queue_size=1000000, schedule_delay_millis=100)
    provider.add_span_processor(processor)
    tracer = provider.get_tracer("sdk", "1.2")
    if count == "fields":
        fields(tracer)
    else:
        load(tracer, process, int(count))
    provider.force_flush(120000)
    provider.shutdown()
    print(json.dumps({"given_up": watched.given_up, "doubtful": watched.doubtful}))


main()
