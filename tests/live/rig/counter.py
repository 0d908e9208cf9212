# SPDX-License-Identifier: BSD-2-Clause
"""A collector, by Scribe and by HTTP on one port, that counts, for loads that are too large to be kept.

It runs as a process of its own (python3 counter.py PORT FILE) and notes in FILE, for each span of programs/soakload.c that it
acknowledges, a byte: which of its annotations came by now. Spans of others are counted, and no more. Counter is the other
half, which starts that process and reads FILE.
"""

import base64
import contextlib
import gzip
import mmap
import os
import re
import signal
import socket
import struct
import sys
import threading

PARTS = [b"\0\0\0\x02sr", b"object", b"bytes", b"queued", b"committed", b"\0\0\0\x02ss"]
WHOLE = (1 << len(PARTS)) - 1
TOTALS = struct.Struct("=QQ")  # at the file's beginning: spans that came; of them, of soakload, those that were whole already
# How a span of soakload begins: its trace id, then its name.
SPAN = re.compile(rb"\x0a\x00\x01(.{8})\x0b\x00\x03\x00\x00\x00\x07request", re.S)
GOOD, LATER = "good later".split()


class Book:
    """What came, in a file that outlives this process."""

    def __init__(self, path):
        with open(path, "r+b") as file:
            self.seen = mmap.mmap(file.fileno(), 0)
        self.lock = threading.Lock()

    def take(self, count, spans):
        """@spans: the bytes of @count spans, one after the other, in one piece or more."""
        with self.lock:
            came, again = TOTALS.unpack_from(self.seen)
            for piece in spans:
                begins = list(SPAN.finditer(piece))
                ends = [begin.start() for begin in begins[1:]] + [len(piece)]
                again += sum(self._note(begin, piece[begin.end() : end]) for begin, end in zip(begins, ends))
            TOTALS.pack_into(self.seen, 0, came + count, again)

    def _note(self, begin, rest):
        """Returns whether it was whole already."""
        at = TOTALS.size + struct.unpack("!q", begin[1])[0]
        if self.seen[at] == WHOLE:
            return True
        for bit, part in enumerate(PARTS):
            if part in rest:
                self.seen[at] |= 1 << bit
        return False


def serve_call(file, book, mood):
    """One Log(): the count of entries is at byte 19, after version, name, sequence number and two headers. The answer."""
    (size,) = struct.unpack("!i", file.read(4))
    call = file.read(size)
    later = mood() == LATER
    if not later:
        (count,) = struct.unpack_from("!i", call, 19)
        spans, at = [], 23
        for _ in range(count):
            (size,) = struct.unpack_from("!i", call, at + 16)  # behind the category and the message's header
            spans.append(base64.b64decode(call[at + 20 : at + 20 + size], validate=True))
            at += 20 + size + 1
        book.take(count, spans)
    answer = b"\x80\x01\x00\x02\x00\x00\x00\x03Log" + call[11:15] + b"\x08\x00\x00\x00\x00\x00" + bytes([later]) + b"\x00"
    return struct.pack("!i", len(answer)) + answer


def serve_post(file, book, mood):
    """One POST /api/v1/spans, in Thrift: a list. The answer."""
    if not file.readline().startswith(b"POST /api/v1/spans "):
        raise ValueError("another request")
    head = dict(line.lower().strip().split(b": ", 1) for line in iter(file.readline, b"\r\n"))
    body = file.read(int(head[b"content-length"]))
    if mood() == LATER:
        return b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
    if head.get(b"content-encoding") == b"gzip":
        body = gzip.decompress(body)
    kind, count = struct.unpack_from("!Bi", body)
    if kind != 12:
        raise ValueError("no list of structs")
    book.take(count, [body])
    return b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"


def serve_stream(stream, book, mood):
    file = stream.makefile("rb")
    with contextlib.suppress(ConnectionError):
        while first := file.peek(1)[:1]:  # frames are smaller than 'P' would have it
            stream.sendall((serve_post if first == b"P" else serve_call)(file, book, mood))


def serve(port, path):
    book, now = Book(path), [GOOD]
    signal.signal(signal.SIGUSR1, lambda *_: now.__setitem__(0, LATER))
    signal.signal(signal.SIGHUP, lambda *_: now.__setitem__(0, GOOD))
    with socket.create_server(("127.0.0.1", port)) as listener:
        while True:
            stream = listener.accept()[0]
            threading.Thread(target=serve_stream, args=(stream, book, lambda: now[0]), daemon=True).start()


class Counter:
    """The server; start it and kill it as often as needed."""

    def __init__(self, node, port, spans):
        """@spans: the largest number that may come."""
        self.node, self.port = node, port
        self.path = node.path(f"counted-{port}")
        self.program = None
        with open(self.path, "wb") as file:
            file.truncate(TOTALS.size + spans + 1)

    def start(self):
        from .process import answers

        command = ["/usr/bin/python3", os.path.abspath(__file__), self.port, self.path]
        self.program = self.node.start(command, name="counter")
        self.program.wait_ready(lambda: answers(self.port))
        return self

    # Moods

    def kill(self):
        self.program.kill()

    def hang(self):
        """It goes on accepting connections, as the kernel does that, and does not answer."""
        self.program.suspend()

    def put_off(self):
        """Every call is answered TRY_LATER, or 503."""
        self.program.send(signal.SIGUSR1)

    def recover(self):
        """Takes spans again, whatever it was."""
        if self.program.running():
            self.program.send(signal.SIGHUP)
            self.program.send(signal.SIGCONT)
        else:
            self.start()

    # What came

    def totals(self):
        """How many spans came, whoever's; and how often one of soakload's did that was whole already."""
        with open(self.path, "rb") as file:
            return TOTALS.unpack(file.read(TOTALS.size))

    def result(self, first, spans):
        """How many of the spans @first to @first + @spans - 1 came whole, in part, not at all."""
        with open(self.path, "rb") as file:
            file.seek(TOTALS.size + first)
            mine = file.read(spans)
        whole, none = mine.count(WHOLE), mine.count(0)
        return whole, len(mine) - whole - none, none


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])
