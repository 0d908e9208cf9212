# SPDX-License-Identifier: BSD-2-Clause
"""
Scribe's messages of any category, byte by byte: who sends them, and a server that keeps them. Python's Thrift takes text
only, so both speak it by themselves.

The server runs as a process of its own (python3 messages.py PORT FILE), so that it may be killed, and writes what a call
has to FILE before it answers. MessageSink is the other half.
"""

import collections
import hashlib
import os
import socket
import struct
import sys
import threading
import time

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


def payload(name, number, ordinal, more=24):
    """Any bytes, by these numbers: a NUL, an end of line, and no UTF-8 among them."""
    head = f"{name}.{number}.{ordinal} ".encode()
    noise = hashlib.sha256(head).digest()
    return head + b"\0\n\xff" + (noise * (more // len(noise) + 1))[:more]


class MessageSender(threading.Thread):
    """Hands over @count messages of a category, @batch at a time, until each of them has its OK."""

    def __init__(self, port, name, number=0, count=1000, batch=50, category=b"app", rate=0, more=24):
        super().__init__(daemon=True)
        self.port, self.name_, self.number = port, name, number
        self.count, self.batch, self.category, self.rate, self.more = count, batch, category, rate, more
        self.put_off = self.broken = self.done = 0
        self.error = None
        self.stopped = False

    def wanted(self):
        return {payload(self.name_, self.number, n, self.more) for n in range(self.count)}

    def run(self):
        try:
            self._run()
        except Exception as error:  # noqa: BLE001
            self.error = error
            raise

    def _run(self):
        stream, began = None, time.monotonic()
        while self.done < self.count and not self.stopped:
            end = min(self.done + self.batch, self.count)
            entries = [(self.category, payload(self.name_, self.number, n, self.more)) for n in range(self.done, end)]
            try:
                stream = stream or socket.create_connection(("127.0.0.1", self.port), 20)
                code = call(stream, entries)
            except OSError:
                self.broken += 1
                if stream:
                    stream.close()
                stream = None
                time.sleep(0.1)
                continue
            if code == 0:
                self.done = end
            else:
                self.put_off += 1
                time.sleep(0.1)
            if self.rate:
                time.sleep(max(0, began + self.done / self.rate - time.monotonic()))
        if stream:
            stream.close()


def read(stream, size):
    data = b""
    while len(data) < size:
        more = stream.recv(size - len(data))
        if not more:
            raise ConnectionResetError("the agent closed")
        data += more
    return data


class Refused(Exception):
    pass


def call(stream, entries):
    """The answer to one Log(): 0 (OK) or 1 (TRY_LATER); Refused, with its words."""
    stream.sendall(put_call(entries))
    answer = read(stream, struct.unpack("!I", read(stream, 4))[0])
    if answer[3] == 3:
        raise Refused(answer[22:].decode(errors="replace"))
    return struct.unpack_from("!I", answer, len(CALL) + 4 + 3)[0]


if __name__ == "__main__":
    serve(int(sys.argv[1]), os.path.realpath(sys.argv[2]))
