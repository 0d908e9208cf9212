# SPDX-License-Identifier: BSD-2-Clause
"""Who sends messages of a category: any bytes, and until each has its OK."""

import hashlib
import socket
import struct

from .messages import CALL, put_call
from .persistent import Persistent


def payload(name, number, ordinal, more=24):
    """Any bytes, by these numbers: a NUL, an end of line, and no UTF-8 among them."""
    head = f"{name}.{number}.{ordinal} ".encode()
    noise = hashlib.sha256(head).digest()
    return head + b"\0\n\xff" + (noise * (more // len(noise) + 1))[:more]


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


class MessageSender(Persistent):
    """Hands over @count messages of a category, @batch at a time, until each of them has its OK."""

    def __init__(self, port, name, number=0, count=1000, batch=50, category=b"app", rate=0, more=24):
        super().__init__(0, number, count, batch, rate)
        self.port, self.name_, self.category, self.more = port, name, category, more

    def wanted(self):
        return {payload(self.name_, self.number, n, self.more) for n in range(self.count)}

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), 20)

    def request(self, ordinals):
        return [(self.category, payload(self.name_, self.number, n, self.more)) for n in ordinals]

    def hand(self, stream, entries):
        return None if call(stream, entries) == 0 else self.PAUSE
