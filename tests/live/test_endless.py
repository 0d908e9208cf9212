# SPDX-License-Identifier: BSD-2-Clause
"""
HTTP servers whose answers do not end, though they stay connected. What they say first is their answer after a moment, each
span is delivered once, quickly, and the status says what is wrong with them.
"""

import contextlib
import re
import socket
import threading

import pytest
from rig.load import LOAD
from rig.moody import read_list
from rig.process import wait_until
from rig.scribe import decode, generated
from rig.unpack import unpack
from test_doctor import expect, findings, start_load
from expect import key_of

CHUNKED = b"HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n"
ANSWERS = {
    "old": (b"HTTP/1.0 200 OK\r\n\r\n", b""),
    "closes": (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b""),
    "unsaid": (b"HTTP/1.1 200 OK\r\n\r\n", b""),
    "cut": (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", b""),
    "chunk": (CHUNKED + b"5\r\nab", b""),
    "chunks": (CHUNKED, b"5\r\nabcde\r\n"),
}
ENDS = b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"


class Endless:
    """Answers each call with @answer, and then sends @more again and again. Nothing ends before its peer does."""

    def __init__(self, node, answer, more):
        generated()
        self.answer, self.more = answer, more
        self.taken, self.connections = [], 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.over = threading.Event()

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                stream, _ = self.listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(stream,), daemon=True).start()

    def _serve(self, stream):
        file = stream.makefile("rb")
        with contextlib.suppress(OSError), stream:
            while self._take(file):
                stream.sendall(self.answer)
                while self.more and not self.over.wait(0.1):
                    stream.sendall(self.more)

    def _take(self, file):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = file.readline()
            if not line:
                return False
            head += line
        length = int(re.search(rb"Content-Length: *(\d+)", head)[1])
        encoding = re.search(rb"Content-Encoding: (\w+)", head)
        self.taken += read_list(unpack(file.read(length), encoding and encoding[1].decode()))
        return True


@pytest.mark.parametrize("how", ANSWERS)
def test_answers_without_an_end(node, how):
    """10,000 spans in batches of 100: none of them waits for an end that does not come."""
    total = 10000
    with Endless(node, *ANSWERS[how]) as server:
        node.start_agent(server.port, output={"type": "http", "batch_spans": 100})
        node.run([LOAD, "-n", total, "-r", 2000])
        ledger = node.wait_ledger(lambda ledger: ledger.sent == total, 30, "all spans to be sent")
        assert (ledger.dropped, ledger.sent_again) == (0, 0)
        assert sorted(key_of(decode(message))[2] for message in server.taken) == list(range(total))
        start_load(node)
        what = f"the collector at 127.0.0.1:{server.port} does not end its answers"
        expect(node, "output-endless", what, "Content-Length")
        server.answer, server.more = ENDS, b""
        wait_until(lambda: findings(node) == {}, 15, "the doctor to be content")
        node.agent.stop()
