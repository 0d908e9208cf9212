# SPDX-License-Identifier: BSD-2-Clause
"""
The first of four services that a request goes through: Flask and OpenTelemetry's SDK for Python, which hands its spans to the
agent's input otlp, as that is where it looks for a collector: at $OTEL_EXPORTER_OTLP_ENDPOINT, or localhost:4318.

    front.py PORT NEXT
"""

import signal
import sys

import requests
from flask import Flask
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.flask import FlaskInstrumentor
from opentelemetry.instrumentation.requests import RequestsInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

app = Flask("front")


@app.get("/photos/<int:number>")
def photo(number):
    trace.get_current_span().set_attribute("user", "ada")
    answer = requests.get(f"http://127.0.0.1:{sys.argv[2]}/photos/{number}", timeout=10)
    return answer.text, answer.status_code


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: front.py PORT NEXT")
    provider = TracerProvider(resource=Resource.create({"service.name": "front"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    FlaskInstrumentor().instrument_app(app)
    RequestsInstrumentor().instrument()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # the SDK hands over what it still has
    app.run(port=int(sys.argv[1]))


main()
