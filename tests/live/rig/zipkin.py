# SPDX-License-Identifier: BSD-2-Clause
"""A real Zipkin server, from its jar ($ZIPKIN_JAR), and its HTTP API.

Its Scribe port listens on every address, and no setting changes that: run it within tests/isolate --network.
"""

import json
import os
import urllib.parse

from .node import get
from .process import JAVA, Trouble, answers, free_port


class Zipkin:
    def __init__(self, node, heap="1g", properties=None, **environment):
        """@properties, of Java, and @environment: further settings of it."""
        self.node = node
        self.heap = heap
        self.properties = properties or {}
        self.environment = environment
        self.scribe_port = free_port()
        self.http_port = free_port()
        self.program = None
        self.jar = os.environ.get("ZIPKIN_JAR", "")
        if not os.path.exists(self.jar):
            raise Trouble("no Zipkin here: ZIPKIN_JAR must be the path of its jar (./check --zipkin sees to that)")

    def start(self):
        self.launch()
        return self.wait_ready()

    def launch(self):
        """Starts it, and does not wait until it is ready: several can become so at once."""
        self.program = self.node.start(
            [*JAVA, f"-Xmx{self.heap}", f"-Djava.io.tmpdir={self.node.folder}"]
            + [f"-D{name}={value}" for name, value in self.properties.items()]
            + ["-jar", self.jar],
            name="zipkin",
            COLLECTOR_SCRIBE_ENABLED="true",
            COLLECTOR_PORT=str(self.scribe_port),
            QUERY_PORT=str(self.http_port),
            ARMERIA_PORTS_0_IP="127.0.0.1",
            ARMERIA_PORTS_0_PORT=str(self.http_port),
            ARMERIA_PORTS_0_PROTOCOLS_0="http",
            STORAGE_TYPE="mem",
            MEM_MAX_SPANS="2000000",
            JAVA_TOOL_OPTIONS="",
            **self.environment,
        )

    def wait_ready(self):
        self.program.wait_ready(lambda: answers(self.scribe_port) and self.get("/health")[0] == 200, 240)
        return self

    def get(self, path, **query):
        text = urllib.parse.urlencode(query)
        return get(f"http://127.0.0.1:{self.http_port}{path}{'?' + text if text else ''}")

    def ask(self, path, **query):
        """The API's answer, decoded; None if there is no such thing."""
        code, body = self.get("/api/v2" + path, **query)
        if code == 404:
            return None
        if code != 200:
            raise Trouble(f"Zipkin answers {code} to {path}: {body[:300]}")
        return json.loads(body)

    def traces(self, service, limit=10000):
        return self.ask("/traces", serviceName=service, limit=limit, lookback=3600 * 1000)

    def span_count(self, service, limit=10000):
        """How many spans there are in the traces in which @service takes part."""
        return sum(len(trace) for trace in self.traces(service, limit))

    def collector_metrics(self, way="scribe"):
        """Zipkin's own counters of a collector of its."""
        code, body = self.get("/metrics")
        if code != 200:
            raise Trouble(f"Zipkin answers {code} to /metrics")
        return {
            key.removeprefix("counter.zipkin_collector.").removesuffix(f".{way}"): value
            for key, value in json.loads(body).items()
            if key.startswith("counter.zipkin_collector.") and key.endswith(f".{way}")
        }
