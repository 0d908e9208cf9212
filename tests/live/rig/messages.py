# SPDX-License-Identifier: BSD-2-Clause
"""
Scribe's messages of any category, byte by byte, and a server that keeps them (messagesender.py has who sends them). Python's
Thrift takes text only, so both speak it by themselves.

The server runs as a process of its own (python3 messages.py PORT FILE), so that it may be killed, and writes what a call
has to FILE before it answers. MessageSink is the other half.
"""

import collections
import os
import socket
import struct
import sys
import threading

RECORD = struct.Struct("!II")  # sizes of category and payload, which follow
CALL = b"\x80\x01\x00\x01\x00\x00\x00\x03Log"
STRING, STRUCT, LIST = 11, 12, 15


def text(data):
    return struct.pack("!I", len(data)) + data


def put_call(entries, number=1):
    """A frame with Log() of these (category, payload)."""
    body = b"".join(b"\x0b\x00\x01" + text(category) + b"\x0b\x00\x02" + text(payload) + b"\0" for category, payload in entries)
    body = b"\x0f\x00\x01\x0c" + struct.pack("!I", len(entries)) + body + b"\0"
    return text(CALL + struct.pack("!I", number) + body)


def get_call(call):
    """The number, and the (category, payload) of a Log()."""
    at = len(CALL)
    assert call[:at] == CALL, call[:40]
    (number,) = struct.unpack_from("!I", call, at)
    kind, field, element, count = struct.unpack_from("!BhBI", call, at + 4)
    assert (kind, field, element) == (LIST, 1, STRUCT)
    at += 12
    entries = []
    for _ in range(count):
        entry = {}
        while call[at]:
            kind, field, size = struct.unpack_from("!BhI", call, at)
            assert kind == STRING
            entry[field] = call[at + 7 : at + 7 + size]
            at += 7 + size
        at += 1
        entries.append((entry[1], entry[2]))
    return number, entries


def serve_stream(stream, file, lock):
    source = stream.makefile("rb")
    while head := source.read(4):
        number, entries = get_call(source.read(struct.unpack("!I", head)[0]))
        data = b"".join(RECORD.pack(len(c), len(p)) + c + p for c, p in entries)
        with lock:
            file.write(data)
        answer = b"\x80\x01\x00\x02\x00\x00\x00\x03Log" + struct.pack("!I", number) + b"\x08\x00\x00\x00\x00\x00\x00\x00"
        stream.sendall(text(answer))


def serve(port, path):
    lock = threading.Lock()
    with open(path, "ab", buffering=0) as file, socket.create_server(("127.0.0.1", port)) as listener:
        while True:
            stream = listener.accept()[0]
            threading.Thread(target=serve_stream, args=(stream, file, lock), daemon=True).start()


class MessageSink:
    """Start and kill it as often as needed."""

    def __init__(self, node, port):
        self.node, self.port = node, port
        self.path = node.path(f"messages-{port}")
        self.program = None
        open(self.path, "ab").close()

    def start(self):
        from .process import answers  # noqa: PLC0415 the server has no package

        self.program = self.node.start(["/usr/bin/python3", __file__, self.port, self.path], name="messagesink")
        self.program.wait_ready(lambda: answers(self.port))
        return self

    def kill(self):
        self.program.kill()

    def messages(self):
        """All (category, payload) that came, in that order."""
        with open(self.path, "rb") as file:
            data = file.read()
        found, at = [], 0
        while at + RECORD.size <= len(data):
            sizes = RECORD.unpack_from(data, at)
            at += RECORD.size
            middle, end = at + sizes[0], at + sum(sizes)
            if end > len(data):
                break
            found.append((data[at:middle], data[middle:end]))
            at = end
        return found

    def of(self, category):
        """How often each payload of the category came."""
        return collections.Counter(payload for name, payload in self.messages() if name == category)


if __name__ == "__main__":
    serve(int(sys.argv[1]), os.path.realpath(sys.argv[2]))
