# SPDX-License-Identifier: BSD-2-Clause
"""A collector that takes Zipkin's version 2 in JSON over HTTP, and keeps what it got; it can be told to refuse."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .process import wait_until
from .unpack import unpack


class JsonSink:
    def __init__(self):
        self.spans = []  # as decoded
        self.requests = []  # (path, content type, content encoding)
        self.code = 202  # what calls are answered with; spans are kept of those with 202
        self.encodings = None  # which it takes; None: all
        self.refusal = (415, {}, b"")  # status, headers and body for the others
        self.refused = 0
        self.lock = threading.Lock()
        sink = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                code, headers, words = sink.answer(self, body)
                self.send_response(code)
                for name, value in {**headers, "Content-Length": str(len(words))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(words)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request, body):
        """Status, headers and body."""
        if self.encodings is not None and request.headers["Content-Encoding"] not in self.encodings:
            self.refused += 1
            return self.refusal
        self.take(request, body)
        return self.code, {}, b""

    def take(self, request, body):
        encoding = request.headers["Content-Encoding"]
        spans = json.loads(unpack(body, encoding), object_pairs_hook=without_doubles)
        with self.lock:
            self.requests.append((request.path, request.headers["Content-Type"], encoding))
            if self.code == 202:
                self.spans += spans

    def wait_for(self, count, seconds=20):
        wait_until(lambda: len(self.spans) >= count, seconds, f"{count} spans in JSON")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def without_doubles(pairs):
    """An object none of whose members comes twice."""
    assert len({key for key, _ in pairs}) == len(pairs), pairs
    return dict(pairs)
