#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""
A blkin-reader that tells lies, or none: Fake puts this file in the real one's place, beside a copy of the agent.

The file `mode` beside it says what it does. Frames are as in agent/handover/frames.c, the page as in handover/page.h.
"""

import mmap
import os
import shutil
import socket
import struct
import sys
import time

NAME = "blkin-reader"
SOCKET, PAGE = 3, 4
HELLO, HAND, PLACE, SAVE, STATE, OMITS, BUFFERS, LEFT_OUT, MISUSE, WELL, ENDED, FINISHED = range(1, 13)
COLLECTS, IN_PART = 1, 2
# agent/core/rows.h
ROWS = 48
READ, IN_SPANS, MADE, PENDING = 0, 5, 20, 21
# where in the page
WRITTEN, TAKEN, WANTED, BYTES, SIZE = 64, 128, 136, 192, 1024 * 1024
NOBODY = bytes(16) + b"\x80\0\0\0" + bytes(16)  # what was reached: nothing of any stream
# what number 0 means, of a service and name, and of a program, before the first span
WORDS = bytes(4) + b"\0" + bytes(4) + bytes(8) + bytes(4) + b"\1" + bytes(4) + bytes(4 + 8)
CONTROL = "\x1b[31m\n<3>forged: \x1b]0;x\x07 \u009b end"


def text(string):
    return struct.pack(">I", len(string.encode())) + string.encode()


def hand(change, spans=(), event=0):
    rows = struct.pack(f">{ROWS}q", *(change.get(row, 0) for row in range(ROWS)))
    words = WORDS if spans else b""
    counted = struct.pack(">III", len(spans), len(words), 0)  # no events
    counted += bytes(8 * len(spans))  # names, which are number 0
    counted += words
    sizes = struct.pack(f"={len(spans)}I", *map(len, spans)) + struct.pack("=q", event) * len(spans)
    return b"\1" + rows + struct.pack(">I", len(NOBODY)) + NOBODY + counted + sizes + b"".join(spans)


def record(trace_id, name):
    """A span as agent/core/record.h has it: a local one, of no service."""
    head = struct.pack("<BBHI7Q", 1, 0, 0, 0, 0, trace_id, trace_id, 0, 1, 1, 1)
    return head + bytes(2) + bytes([len(name)]) + name.encode() + bytes(4)


def state(kind, session, problem="", reason=0):
    return struct.pack(">BBB", kind, 0, reason) + text(session) + text(problem)


def ring_is_full(reader):
    """Whether the reader has much to say that the agent does not take."""
    with open(f"/proc/{reader}/fd/{PAGE}", "rb") as file:
        page = file.read(BYTES)
    return struct.unpack_from("=Q", page, WRITTEN)[0] - struct.unpack_from("=Q", page, TAKEN)[0] == SIZE


class Talk:
    def __init__(self):
        self.socket = socket.socket(fileno=SOCKET)
        self.page = mmap.mmap(PAGE, 0)
        self.written = 0

    def put(self, data):
        """Into the ring; the agent is woken if it sleeps."""
        data = memoryview(data)
        while data:
            (taken,) = struct.unpack_from("=Q", self.page, TAKEN)
            at = self.written % SIZE
            size = min(len(data), SIZE - (self.written - taken), SIZE - at)
            self.page[BYTES + at : BYTES + at + size] = data[:size]
            self.written, data = self.written + size, data[size:]
            struct.pack_into("=Q", self.page, WRITTEN, self.written)
            if any(self.page[WANTED : WANTED + 4]):
                self.page[WANTED : WANTED + 4] = bytes(4)
                self.socket.send(b"\0")
            if not size:
                time.sleep(0.001)

    def send(self, kind, body=b""):
        self.put(struct.pack("=II", kind, len(body)) + body)

    def greet(self, version):
        """The first frame; the agent's orders are not looked at."""
        self.send(HELLO, text(version))
        self.socket.recv(1 << 20)

    def listen(self):
        """Until the agent is gone."""
        while self.socket.recv(65536):
            pass


def truncate(_):
    try:
        os.ftruncate(PAGE, 0)
    except PermissionError:
        pass


def finished(talk):
    talk.send(FINISHED, b"\1")
    time.sleep(0.3)
    sys.exit(0)


def savestorm(talk):
    talk.send(HAND, hand({}))
    talk.send(PLACE, struct.pack(">Q", 1) + bytes(16 * 1024 * 1024))
    time.sleep(1)  # until it holds
    while True:
        talk.put(struct.pack("=II", SAVE, 0) * 10000)


def control(talk):
    talk.send(STATE, state(IN_PART, "session" + CONTROL, "bad" + CONTROL, 1))
    talk.send(LEFT_OUT, struct.pack(">QQ", 77, 1) + text("evil" + CONTROL))


def ledger(*changes):
    """Rows that cannot be, and they are to be kept."""

    def tell(talk):
        for change in changes:
            talk.send(HAND, hand(change))
        talk.send(SAVE)

    return tell


MODES = {
    "truncate": truncate,
    "ended": lambda talk: talk.send(ENDED),
    "finished": finished,
    "hugeledger": ledger({READ: 2**62, IN_SPANS: 2**62}, {READ: 2**62, IN_SPANS: 2**62}),
    "badledger": ledger({READ: 2**30, MADE: 2**30}),
    "negledger": ledger({READ: -5, IN_SPANS: -5, MADE: -7, PENDING: -100}),
    "placemax": lambda talk: talk.send(PLACE, struct.pack(">Q", 2**64 - 1) + bytes(16)),
    "savestorm": savestorm,
    "control": control,
    "eventmin": lambda talk: talk.send(HAND, hand({READ: 1, IN_SPANS: 1, MADE: 1}, [record(1, "odd")], -(2**63))),
    "norecord": lambda talk: talk.send(HAND, hand({READ: 3, IN_SPANS: 3, MADE: 3}, [b"\0", record(1, "good"), record(2, "cut")[:-2]])),
}


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "mode"), encoding="ascii") as file:
        mode, version = file.read().split()
    while mode == "late" and not os.path.exists(os.path.join(folder, "go")):
        time.sleep(0.01)
    if mode in ("real", "late"):
        os.execv(os.path.join(folder, "real", NAME), [NAME])
    talk = Talk()
    talk.greet(version)
    if mode == "dies":
        sys.exit(1)
    talk.send(STATE, state(COLLECTS, "blkin"))
    time.sleep(0.3)
    MODES[mode](talk)
    talk.listen()


class Fake:
    """An agent of a node, beside which this file is its reader."""

    def __init__(self, node, version):
        self.node, self.version = node, version
        self.folder = node.path("fake")
        self.reader = os.path.join(self.folder, NAME)
        os.makedirs(os.path.join(self.folder, "real"))
        shutil.copy(node.built("agent/blkin-agent"), self.folder)
        shutil.copy(node.built("agent/" + NAME), os.path.join(self.folder, "real"))
        shutil.copy(os.path.abspath(__file__), self.reader)
        os.chmod(self.reader, 0o755)

    def mode(self, mode):
        """What the next one is to do; `real`: it is the real one; `late`: it is, once there is a file `go`."""
        with open(os.path.join(self.folder, "mode"), "w", encoding="ascii") as file:
            file.write(f"{mode} {self.version}")

    def start(self, mode, server, **sections):
        self.mode(mode)
        node = self.node
        node.write_config(server, **sections)
        command = [os.path.join(self.folder, "blkin-agent"), "-c", node.path("agent.conf")]
        node.agent = node.start(command, **node.leak_environment)
        node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
        return node.agent


if __name__ == "__main__":
    main()
