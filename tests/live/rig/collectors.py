# SPDX-License-Identifier: BSD-2-Clause
"""
A collector of each kind that can be put into each of the truth table's states, and back: what takes spans well, then is killed,
hangs, has no room, denies, or lies.
"""

import contextlib
import os
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .moody import EXCEPTION, GARBAGE, LATER, OK, SILENT, Moody
from .process import free_port

PAGE = b"<!DOCTYPE html>\n<title>Welcome</title>"
UNDER_WAY = {"batch-delay": "50ms", "retry-min": "50ms", "retry-max": "500ms", "timeout": "2s"}


class Scribe:
    """Scribe's Log()."""

    name = "scribe"
    moods = {"stopped": SILENT, "full": LATER, "denied": EXCEPTION, "lying": GARBAGE}
    findings = {
        "killed": "output-refused", "stopped": "output-timeout", "full": "output-busy", "denied": "output-refuses-all", "lying": "output-protocol"
    }

    def __init__(self, node):
        self.server = Moody(node).start()
        self.keys = dict(UNDER_WAY, server=f"127.0.0.1:{self.server.port}")

    def fall(self, state):
        if state == "killed":
            self.server.stop()
        else:
            self.server.mood = lambda messages, mood=self.moods[state]: mood

    def slow(self, seconds):
        self.server.delay = seconds

    def mend(self):
        self.server.mood = lambda messages: OK
        self.server.delay = 0
        if not self.server.socket:
            self.server.start()

    def close(self):
        self.server.stop()


class Web:
    """HTTP, whatever is posted: it takes it with @good."""

    codes = {"full": 503, "denied": 403, "lying": 200}
    findings = {
        "killed": "output-refused", "stopped": "output-timeout", "full": "output-busy", "denied": "output-permission", "lying": "output-path"
    }

    def __init__(self, good, **keys):
        self.good, self.state, self.delay = good, None, 0
        self.wake = threading.Event()
        self.port, self.server, self.streams = free_port(), None, set()
        self.keys = dict(UNDER_WAY, server=f"127.0.0.1:{self.port}", **keys)
        self.start()

    def start(self):
        collector = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                collector.streams.add(self.request)
                super().setup()

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                if collector.state == "stopped":
                    collector.wake.wait()
                if collector.delay:
                    collector.wake.wait(collector.delay)
                page = PAGE if collector.state == "lying" else b""
                self.send_response(collector.codes.get(collector.state, collector.good))
                self.send_header("Content-Length", str(len(page)))
                self.send_header("Content-Type", "text/html" if page else "application/x-protobuf")
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *_):
                pass

            def handle(self):
                with contextlib.suppress(OSError):
                    super().handle()

        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        self.server.block_on_close = False
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.wake.set()
        if not self.server:
            return
        self.server.shutdown()
        self.server.server_close()
        self.server = None
        for stream in self.streams:
            with contextlib.suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)
        self.streams.clear()

    def fall(self, state):
        self.state = state
        self.wake.clear()
        if state == "killed":
            self.close()

    def slow(self, seconds):
        self.wake.clear()
        self.delay = seconds

    def mend(self):
        self.state, self.delay = None, 0
        self.wake.set()
        if not self.server:
            self.start()


class Http(Web):
    name = "http"

    def __init__(self, _):
        super().__init__(202, type="http", format="json2")


class Otlp(Web):
    name = "otlp"

    def __init__(self, _):
        super().__init__(200, type="otlp")


class Kafka:
    """programs/mockbroker.c: librdkafka's mock cluster. What it says is in Kafka's numbers."""

    name = "kafka"
    orders = {"killed": "down", "full": "produce 19", "denied": "produce 29"}
    findings = {"killed": "output-refused", "stopped": "output-timeout", "full": "output-timeout", "denied": "output-permission"}

    def __init__(self, node):
        path = node.path("orders")
        os.mkfifo(path)
        self.input = os.open(path, os.O_RDWR)
        broker = node.built("tests/live/programs/mockbroker")
        self.program = node.start(["sh", "-c", f"exec {broker} zipkin <{path}"], name="mockbroker")
        self.program.wait_ready(lambda: ":" in self.program.log())
        self.brokers = self.program.log().strip()
        self.keys = dict(UNDER_WAY, type="kafka", brokers=self.brokers)

    def order(self, line):
        os.write(self.input, line.encode() + b"\n")

    def fall(self, state):
        if state == "stopped":
            self.program.send(19)  # SIGSTOP
        else:
            self.order(self.orders[state])

    def slow(self, seconds):
        self.order(f"rtt {int(1000 * seconds)}")

    def mend(self):
        self.program.send(18)  # SIGCONT
        for line in ("up", "rtt 0", "topic 0", "produce 0"):
            self.order(line)

    def close(self):
        os.close(self.input)


class Files:
    """A directory on a disk of its own."""

    name = "files"
    findings = {"killed": "output-directory", "full": "output-disk-full"}

    def __init__(self, node):
        self.disk, self.away = node.path("disk"), node.path("disk/away")
        self.directory = node.path("disk/files")
        os.mkdir(self.disk)
        node.mount(self.disk, "2M")
        os.mkdir(self.directory)
        self.keys = {"type": "file", "directory": self.directory, "rotate-size": "64K", "total-size": "256K", "retry-max": "500ms"}

    def fall(self, state):
        if state == "killed":
            os.rename(self.directory, self.away)
        else:
            with open(f"{self.disk}/filler", "wb", buffering=0) as filler, contextlib.suppress(OSError):
                while True:
                    filler.write(bytes(1024))

    def mend(self):
        with contextlib.suppress(FileNotFoundError):
            os.rename(self.away, self.directory)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{self.disk}/filler")

    def close(self):
        pass


KINDS = (Scribe, Http, Otlp, Kafka, Files)
