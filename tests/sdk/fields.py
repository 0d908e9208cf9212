# SPDX-License-Identifier: BSD-2-Clause
"""
fields.py PROGRAM...: what each program's SDK says of its spans goes to a Collector, and by way of the agent to another one, and
both say the same. The SDKs' requests are kept as they came, and handed over to both. See run.
"""

import concurrent.futures
import gzip
import http.server
import json
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))

from kill import cases_of  # noqa: E402
from rig.node import Node  # noqa: E402
from rig.otelcol import Otelcol, whole  # noqa: E402
from rig.otlpsender import EXPORT, Grpc, Http  # noqa: E402
from rig.process import exactly, free_port, wait_until  # noqa: E402


class Kept:
    """Takes requests by HTTP and gRPC, and keeps them."""

    def __init__(self):
        import grpc

        self.requests = []
        keep = self.requests.append

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.read()
                keep(gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body)
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def read(self):
                if self.headers["Transfer-Encoding"] != "chunked":
                    return self.rfile.read(int(self.headers["Content-Length"]))
                body = b""
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
                return body

            def log_message(self, *_):
                pass

        def call(request, _):
            keep(request)
            return b""

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.grpc = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
        service, _, method = EXPORT[1:].partition("/")
        handler = grpc.unary_unary_rpc_method_handler(call)
        self.grpc.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, {method: handler})])
        self.ports = {"http": self.http.server_address[1], "grpc": self.grpc.add_insecure_port("127.0.0.1:0")}
        self.grpc.start()

    def stop(self):
        self.grpc.stop(0)
        self.http.shutdown()


def sorted_attributes(value):
    """JSON in which the order of attributes does not matter."""
    if isinstance(value, dict):
        return {key: sorted_attributes(each) for key, each in value.items()}
    if isinstance(value, list):
        each = [sorted_attributes(one) for one in value]
        return sorted(each, key=lambda one: one["key"]) if all(isinstance(one, dict) and "key" in one for one in each) else each
    return value


def spans_of(path):
    """{span's id: all that is said of it}."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            for group in json.loads(whole(line))["resourceSpans"]:
                for scope in group["scopeSpans"]:
                    for span in scope["spans"]:
                        assert span["spanId"] not in found, "it came twice"
                        shared = {key: value for key, value in group.items() if key != "scopeSpans"}
                        its = {key: value for key, value in scope.items() if key != "spans"}
                        found[span["spanId"]] = sorted_attributes([shared, its, span])
    return found


def collector(node, name):
    found = Otelcol(node)
    found.path, found.config = node.path(f"{name}.json"), node.path(f"{name}.yaml")
    with open(node.path("otel.yaml"), encoding="utf-8") as file:
        text = file.read().replace(node.path("otel.json"), found.path)
    with open(found.config, "w", encoding="utf-8") as file:
        file.write(text)
    return found.start()


def run(node, programs):
    direct, behind = collector(node, "direct"), collector(node, "behind")
    ports = {"http": free_port(), "grpc": free_port()}
    keys = {"otlp": f"127.0.0.1:{ports['http']}", "otlp-grpc": f"127.0.0.1:{ports['grpc']}"}
    node.start_agent(free_port(), input=keys, output={"type": "otlp", "server": f"127.0.0.1:{behind.port}"})
    said = 0
    for words, way in cases_of(programs):
        kept = Kept()
        program = node.start([*words, way, kept.ports[way], 7, "fields"])
        exactly(program.wait(60) == 0, program.log())
        kept.stop()
        exactly(kept.requests, f"{words} by {way}: nothing came\n{program.log()}")
        for request in kept.requests:
            with Http(direct.port) as client:
                exactly(client.post(request)[0] == 200, "the Collector takes it")
            if way == "http":
                with Http(ports["http"]) as client:
                    exactly(client.post(request)[0] == 200, "the agent takes it")
            else:
                with Grpc(ports["grpc"]) as client:
                    client.call(request)
        wait_until(lambda before=said: direct.count() > before, 20, "it to arrive")
        said = direct.count()
        wait_until(lambda: behind.count() >= direct.count(), 20, "it to arrive behind the agent")
        wanted, came = spans_of(direct.path), spans_of(behind.path)
        exactly(wanted.keys() == came.keys(), f"{wanted.keys()} {came.keys()}")
        for key, value in wanted.items():
            exactly(came[key] == value, f"{words} by {way}:\n{json.dumps(value)}\n{json.dumps(came[key])}")
        print(f"{os.path.basename(words[-1])} by {way}: the Collector has the same of {len(wanted)} spans behind the agent")


if __name__ == "__main__":
    with Node() as test_node:
        run(test_node.start_lttng(), sys.argv[1:])
