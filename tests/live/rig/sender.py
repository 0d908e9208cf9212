# SPDX-License-Identifier: BSD-2-Clause
"""
A program that hands spans to Scribe with Debian's python3-thrift, and tries again what was not answered OK. Its spans
are like spanload's, so an IdSink knows them: those of worker PROCESS.THREAD.
"""

import base64
import socket
import struct
import time

from .persistent import Persistent
from .scribe import generated

FRAME = struct.Struct("!I")


def encode(process, thread, ordinal, more=0):
    """A span of spanload's kind, in Thrift; a tag of it has so many bytes more."""
    from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
    from thrift.transport.TTransport import TMemoryBuffer
    from zipkincore.ttypes import Annotation, AnnotationType, BinaryAnnotation, Endpoint, Span

    host = Endpoint(0x7F000001, 7000 + thread, f"sender{process}")
    begin = time.time_ns() // 1000
    tags = [("worker", f"{process}.{thread}"), ("ordinal", str(ordinal)), ("start", str(begin * 1000)), *[("more", more * "x")] * (more > 0)]
    span = Span(
        trace_id=1 + process << 40 | thread << 32 | ordinal,
        name="sent",
        id=1 + process << 40 | thread << 32 | ordinal,
        timestamp=begin,
        duration=100,
        annotations=[Annotation(begin, "cs", host), Annotation(begin + 100, "cr", host)],
        binary_annotations=[BinaryAnnotation(key, value, AnnotationType.STRING) for key, value in tags],
    )
    memory = TMemoryBuffer()
    span.write(TBinaryProtocolAccelerated(memory))
    return memory.getvalue()


def message(process, thread, ordinal, more=0):
    return base64.b64encode(encode(process, thread, ordinal, more)).decode()


class Client:
    """A connection by python3-thrift: framed as agents speak, or unframed and without a version as classic clients.
    A port that is a text is a path."""

    def __init__(self, port, framed=True, strict=True, timeout=20):
        from scribe import Scribe
        from thrift.protocol.TBinaryProtocol import TBinaryProtocol
        from thrift.transport.TSocket import TSocket
        from thrift.transport.TTransport import TBufferedTransport, TFramedTransport

        self.wire = wire = TSocket(unix_socket=port) if isinstance(port, str) else TSocket("127.0.0.1", port)
        wire.setTimeout(timeout * 1000)
        self.transport = TFramedTransport(wire) if framed else TBufferedTransport(wire)
        self.scribe = Scribe.Client(TBinaryProtocol(self.transport, strictRead=strict, strictWrite=strict))
        self.transport.open()

    def log(self, messages, category="zipkin"):
        from scribe.ttypes import LogEntry

        return self.scribe.Log([LogEntry(category, text) for text in messages])

    @staticmethod
    def entries(pairs):
        """Of (text, category)."""
        from scribe.ttypes import LogEntry

        return [LogEntry(category, text) for text, category in pairs]

    def log_at_once(self, calls):
        """They arrive in one piece; what each was answered."""
        self.wire.handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        for entries in calls:
            self.scribe.send_Log(entries)
        self.wire.handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
        return [self.scribe.recv_Log() for _ in calls]

    def close(self):
        self.transport.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Sender(Persistent):
    """By Scribe."""

    def __init__(self, port, process, thread=0, count=1000, batch=50, framed=True, strict=True, rate=0):
        from thrift.transport.TTransport import TTransportException

        super().__init__(process, thread, count, batch, rate)
        self.port, self.how = port, {"framed": framed, "strict": strict}
        self.BREAKS = (OSError, EOFError, TTransportException)

    def connect(self):
        return Client(self.port, **self.how)

    def request(self, ordinals):
        return [message(self.process, self.number, n) for n in ordinals]

    def hand(self, client, request):
        return None if client.log(request) == 0 else self.PAUSE


def raw(port, data=b"", timeout=10):
    """A bare connection that has sent @data."""
    stream = socket.create_connection(("127.0.0.1", port), timeout)
    stream.sendall(data)
    return stream


def frame(data):
    return FRAME.pack(len(data)) + data
