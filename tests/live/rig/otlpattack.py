# SPDX-License-Identifier: BSD-2-Clause
"""
Senders of OTLP who do what comes to their mind: requests, and what is none, in any order, cut off, changed, in pieces, by
HTTP/1 and HTTP/2. What they do follows from a seed, but for when.
"""

import contextlib
import gzip
import random
import socket
import struct
import threading
import time

from .crowd import FIELDS, PREFACE, h2frame
from .otlpsender import JSON, PROTOBUF, body_of, connect, numbered, text_of

PROCESS = 90  # of their spans


def chunks(dice, body):
    out = b""
    while body:
        size = dice.randrange(1, 1 + len(body))
        out += b"%x\r\n%s\r\n" % (size, body[:size])
        body = body[size:]
    return out + dice.choice([b"0\r\n\r\n", b"0\r\nX: y\r\n\r\n", b"0\r\n", b"ffffffff\r\n"])


def request(dice):
    kind = dice.choice([PROTOBUF, JSON])
    packed = dice.random() < 0.3
    begin = dice.randrange(1 << 20)
    return body_of(numbered(PROCESS, dice.randrange(100), range(begin, begin + dice.choice([0, 1, 3, 50]))), kind, packed), kind, packed


def http_piece(dice):
    body, kind, packed = request(dice)
    what = dice.randrange(10)
    if what == 0:
        return text_of(b"", kind, packed, "Transfer-Encoding: chunked\r\n", length=False) + chunks(dice, body)
    if what == 1:
        return text_of(body, kind, packed, "Expect: 100-continue\r\n")
    if what == 2:
        return text_of(body, kind, packed, dice.choice(["Connection: close\r\n", "Connection: keep-alive\r\n"]), dice.choice(["1.0", "1.1"]))
    if what == 3:
        return dice.choice([b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\r\n", b"POST /v1/logs HTTP/1.1\r\nHost: x\r\n\r\n", PREFACE])
    if what == 4:
        return dice.randrange(2, 100) * text_of(body[:200], kind)
    if what == 5:
        return text_of(gzip.compress(bytes(dice.randrange(17 << 20)), 1), kind, True)
    return text_of(body, kind, packed)


def http_text(dice):
    return b"".join(http_piece(dice) for _ in range(dice.randrange(1, 6)))


def data_frames(dice, stream, message):
    """In pieces, some with padding."""
    out = b""
    while message:
        size = dice.randrange(1, 1 + min(len(message), 16000))
        piece, message = message[:size], message[size:]
        end = 0 if message or dice.random() < 0.1 else 1
        pad = dice.randrange(100) if dice.random() < 0.2 else 0
        out += h2frame(0, 8 | end, stream, bytes([pad]) + piece + bytes(pad)) if pad else h2frame(0, end, stream, piece)
    return out


def grpc_piece(dice, stream):
    body, _, packed = request(dice)
    fields = FIELDS + (b"\x00\x0dgrpc-encoding\x04gzip" if packed else b"")
    call = h2frame(1, 4, stream, fields)
    call += data_frames(dice, stream, bytes([packed]) + struct.pack("!I", len(body)) + body)
    more = [
        h2frame(3, 0, stream, struct.pack("!I", dice.randrange(14))),
        h2frame(6, 0, 0, bytes(8)),
        h2frame(8, 0, dice.choice([0, stream]), struct.pack("!I", dice.choice([0, 1, 65535, 2**31 - 1]))),
        h2frame(4, 0, 0, struct.pack("!HI", 4, dice.choice([0, 1, 65535, 2**31 - 1]))),
        h2frame(4, 0, 0, struct.pack("!HI", 1, dice.choice([0, 4096]))),
        h2frame(7, 0, 0, struct.pack("!II", dice.choice([0, stream]), 0)),
        h2frame(2, 0, stream, struct.pack("!IB", 0, 1)),
        h2frame(1, 5, stream, FIELDS),
        h2frame(9, 4, stream, FIELDS),
        h2frame(dice.randrange(20), dice.randrange(256), stream, dice.randbytes(dice.randrange(30))),
    ]
    what = dice.randrange(8)
    if what == 0:
        return call[: dice.randrange(len(call))] + dice.choice(more)
    if what in (1, 2):
        return call + dice.choice(more)
    if what == 3:
        return dice.choice(more)
    return call


def grpc_text(dice):
    return PREFACE + b"".join(grpc_piece(dice, 2 * n + 1) for n in range(dice.randrange(1, 90)))


def change(dice, text):
    """A few bytes become others, or go, or come."""
    text = bytearray(text)
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(len(text))
        what = dice.randrange(3)
        if what == 0:
            text[at] = dice.randrange(256)
        elif what == 1:
            del text[at : at + dice.randrange(1, 20)]
        else:
            text[at:at] = dice.randbytes(dice.randrange(1, 20))
        if not text:
            break
    return bytes(text)


class Attacker(threading.Thread):
    """Goes on until `over` is set. @ports: of HTTP and gRPC."""

    def __init__(self, ports, seed, over):
        super().__init__(daemon=True)
        self.ports, self.dice, self.over = ports, random.Random(seed), over
        self.rounds = 0

    def run(self):
        while not self.over.is_set():
            way = self.dice.randrange(2)
            text = (http_text, grpc_text)[way](self.dice)
            if self.dice.random() < 0.3:
                text = change(self.dice, text)
            with contextlib.suppress(OSError), connect(self.ports[way], 3) as stream:
                self._speak(stream, text)
            self.rounds += 1

    def _speak(self, stream, text):
        dice = self.dice
        reads = dice.random() < 0.7
        if dice.random() < 0.2:
            text = text[: dice.randrange(1 + len(text))]
        while text:
            size = dice.choice([1, 9, 100, 4096, len(text), len(text)])
            stream.sendall(text[:size])
            text = text[size:] if dice.random() < 0.999 else b""
            if reads and dice.random() < 0.3:
                stream.settimeout(0.01)
                with contextlib.suppress(TimeoutError):
                    stream.recv(65536)
                stream.settimeout(3)
        end = dice.randrange(4)
        if end == 0:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif end == 1:
            stream.shutdown(socket.SHUT_WR)
        if reads and end > 0:
            stream.settimeout(dice.choice([0.01, 0.2]))
            with contextlib.suppress(TimeoutError):
                while stream.recv(65536):
                    pass
        else:
            time.sleep(dice.choice([0, 0.001, 0.1]))
