# SPDX-License-Identifier: BSD-2-Clause
"""A Scribe server that counts, for loads that are too large to be kept.

It runs as a process of its own (python3 counter.py PORT FILE SPANS) and notes in FILE, for each span that it
acknowledges, a byte: which of the annotations that programs/soakload.c records came with it, by now. Counter is the
other half, which starts that process and reads FILE.
"""

import base64
import mmap
import os
import socket
import struct
import sys
import threading

PARTS = [b"\0\0\0\x02sr", b"object", b"bytes", b"queued", b"committed", b"\0\0\0\x02ss"]
WHOLE = (1 << len(PARTS)) - 1
AGAIN = struct.Struct("=Q")  # at the file's beginning: spans that came when they were whole already


def note(seen, message):
    span = base64.b64decode(message, validate=True)
    number = struct.unpack_from("!q", span, 3)[0]  # field 1, the trace id
    at = AGAIN.size + number
    if seen[at] == WHOLE:
        seen[: AGAIN.size] = AGAIN.pack(AGAIN.unpack(seen[: AGAIN.size])[0] + 1)
        return
    for bit, part in enumerate(PARTS):
        if part in span:
            seen[at] |= 1 << bit


def take(seen, call):
    """One Log(): the count of entries is at byte 19, after version, name, sequence number and two headers."""
    at = 23
    for _ in range(struct.unpack_from("!i", call, 19)[0]):
        size = struct.unpack_from("!i", call, at + 16)[0]  # behind the category and the message's header
        note(seen, call[at + 20 : at + 20 + size])
        at += 20 + size + 1
    return call[11:15]


def serve_stream(stream, seen, lock):
    file = stream.makefile("rb")
    while True:
        head = file.read(4)
        call = file.read(struct.unpack("!i", head)[0]) if len(head) == 4 else b""
        if not call:
            return
        with lock:
            seqid = take(seen, call)
        answer = b"\x80\x01\x00\x02\x00\x00\x00\x03Log" + seqid + b"\x08\x00\x00\x00\x00\x00\x00\x00"
        stream.sendall(struct.pack("!i", len(answer)) + answer)


def serve(port, path):
    with open(path, "r+b") as file:
        seen = mmap.mmap(file.fileno(), 0)
    lock = threading.Lock()
    with socket.create_server(("127.0.0.1", port)) as listener:
        while True:
            stream = listener.accept()[0]
            threading.Thread(target=serve_stream, args=(stream, seen, lock), daemon=True).start()


class Counter:
    """The server; start it and kill it as often as needed."""

    def __init__(self, node, port, spans):
        """@spans: as many as may come."""
        self.node, self.port = node, port
        self.path = node.path("counted")
        self.program = None
        with open(self.path, "wb") as file:
            file.truncate(AGAIN.size + spans + 1)

    def start(self):
        from .process import answers

        self.program = self.node.start(["/usr/bin/python3", os.path.abspath(__file__), self.port, self.path], name="counter")
        self.program.wait_ready(lambda: answers(self.port))
        return self

    def result(self, spans):
        """How many of the spans 1 to @spans came whole, in part, not at all; and how often one came again."""
        with open(self.path, "rb") as file:
            data = file.read()
        mine = data[AGAIN.size + 1 : AGAIN.size + 1 + spans]
        assert not any(data[AGAIN.size + 1 + spans :]), "a span came that was not logged"
        whole, none = mine.count(WHOLE), mine.count(0)
        return whole, spans - whole - none, none, AGAIN.unpack(data[: AGAIN.size])[0]


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])
