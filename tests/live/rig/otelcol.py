# SPDX-License-Identifier: BSD-2-Clause
"""A real OpenTelemetry Collector ($OTELCOL, which ./check --otel builds), with a file of what it took."""

import json
import os
import subprocess

from .process import Trouble, answers, free_port, wait_until

CONFIG = """
receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:{port}{tls}
exporters:
  file:
    path: {path}
    append: true
    flush_interval: 200ms
service:
  telemetry:
    metrics:
      level: none
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [file]
"""
TLS = """
        tls:
          cert_file: {path}.pem
          key_file: {path}.key"""


def value(any_value):
    ((kind, found),) = any_value.items()
    return {"stringValue": str, "intValue": int, "doubleValue": float, "boolValue": bool}[kind](found)


def attributes(pairs):
    found = {pair["key"]: value(pair["value"]) for pair in pairs}
    assert len(found) == len(pairs), pairs
    return found


def whole(line):
    """Without what a Collector that was killed had begun to write."""
    return line[line.rindex('{"resourceSpans"') :]


class Otelcol:
    def __init__(self, node, tls=None):
        """@tls: its certificate is TLS.pem, with the key TLS.key."""
        self.node = node
        self.port = free_port()
        self.path = node.path("otel.json")
        self.config = node.path("otel.yaml")
        self.program = None
        self.binary = os.environ.get("OTELCOL", "")
        if not os.path.exists(self.binary):
            raise Trouble("no Collector here: OTELCOL must be its path (./check --otel sees to that)")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(port=self.port, path=self.path, tls=TLS.format(path=tls) if tls else ""))

    def start(self):
        self.program = self.node.start([self.binary, "--config", self.config], name="otelcol")
        self.program.wait_ready(lambda: answers(self.port), 60)
        return self

    def reads(self, paths):
        """Has the Collector's code read lines of JSON, and write them again; returns them."""
        done = subprocess.run([self.binary, "reads", *paths], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Trouble(f"the Collector's code cannot read it: {done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def count(self):
        """Spans in the file, roughly: a name is one."""
        try:
            with open(self.path, "rb") as file:
                return sum(line.count(b'"spanId":') for line in file)
        except FileNotFoundError:
            return 0

    def wait_for(self, count, seconds=60):
        wait_until(lambda: self.count() >= count, seconds, f"{count} spans at the Collector", step=0.5)

    def spans(self):
        """(resource, scope, span, attributes) of each."""
        found = []
        with open(self.path, encoding="utf-8") as file:
            for line in file:
                for group in json.loads(whole(line))["resourceSpans"]:
                    resource = attributes(group["resource"]["attributes"])
                    for scope in group["scopeSpans"]:
                        found += [
                            (resource, scope["scope"], span, attributes(span.get("attributes", [])))
                            for span in scope["spans"]
                        ]
        return found
