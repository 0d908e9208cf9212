# SPDX-License-Identifier: BSD-2-Clause
"""Scribe and HTTP servers in threads of the test, that answer each call as the test says: well, late, badly or not at all."""

import base64
import contextlib
import socket
import ssl
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .process import free_port, wait_until
from .scribe import decode, generated
from .unpack import unpack

FRAME = struct.Struct("!I")
OK, LATER, EXCEPTION, SILENT, CLOSE, HALF, GARBAGE = "ok later exception silent close half garbage".split()


class Moody:
    """
    @mood(messages) is asked about every call, which brings these messages, for one of the words above. What is answered
    OK counts as taken. Use it with `with`.
    """

    def __init__(self, node, mood=lambda messages: OK, tls=None):
        """@tls: an ssl.SSLContext of the server's side."""
        generated()
        self.mood = mood
        self.delay = 0  # seconds before each answer
        self.strict = True  # the header's form
        self.tls = tls
        self.address, self.port = "127.0.0.1", free_port()
        self.calls = self.connections = 0
        self.taken = []
        self.lock = threading.Lock()
        self.streams = []
        self.socket = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def start(self):
        self.socket = socket.create_server((self.address, self.port))
        threading.Thread(target=self._accept, args=(self.socket,), daemon=True).start()
        return self

    def stop(self):
        """Closes the port and all connections."""
        if self.socket:
            self.socket.shutdown(socket.SHUT_RDWR)
            self.socket.close()
            self.socket = None
        with self.lock:
            streams, self.streams = self.streams, []
        for stream in streams:
            with contextlib.suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)
            stream.close()

    def _accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                stream, _ = listener.accept()
                with self.lock:
                    self.connections += 1
                    self.streams.append(stream)
                threading.Thread(target=self._serve, args=(stream,), daemon=True).start()

    def _serve(self, stream):
        with contextlib.suppress(OSError, EOFError, ssl.SSLError, ValueError):
            if self.tls:
                stream = self.tls.wrap_socket(stream, server_side=True)
                with self.lock:
                    self.streams.append(stream)
            while self._answer(stream, self._frame(stream)):
                pass
            stream.close()

    @staticmethod
    def _read(stream, size):
        data = bytearray()
        while len(data) < size:
            more = stream.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return bytes(data)

    def _frame(self, stream):
        return self._read(stream, FRAME.unpack(self._read(stream, FRAME.size))[0])

    def _answer(self, stream, frame):
        """Returns whether to go on with this connection."""
        from scribe import Scribe
        from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
        from thrift.transport.TTransport import TMemoryBuffer

        call = TBinaryProtocolAccelerated(TMemoryBuffer(frame))
        _, _, number = call.readMessageBegin()
        args = Scribe.Log_args()
        args.read(call)
        messages = [entry.message.encode() for entry in args.messages]
        word = self.mood(messages)
        time.sleep(self.delay)
        reply = self._reply(word, number)
        with self.lock:
            self.calls += 1
            if word == OK:
                self.taken += messages
        stream.sendall(reply)
        if word == SILENT:
            while stream.recv(65536):
                pass
        return word in (OK, LATER, EXCEPTION)

    def _reply(self, word, number):
        from scribe import Scribe
        from thrift.protocol.TBinaryProtocol import TBinaryProtocol
        from thrift.Thrift import TApplicationException, TMessageType
        from thrift.transport.TTransport import TMemoryBuffer

        memory = TMemoryBuffer()
        out = TBinaryProtocol(memory, strictWrite=self.strict)
        if word == EXCEPTION:
            out.writeMessageBegin("Log", TMessageType.EXCEPTION, number)
            TApplicationException(TApplicationException.INTERNAL_ERROR, "a span is bad").write(out)
        else:
            out.writeMessageBegin("Log", TMessageType.REPLY, number)
            Scribe.Log_result(1 if word == LATER else 0).write(out)
        body = memory.getvalue()
        frame = FRAME.pack(len(body)) + body
        return {
            SILENT: b"",
            CLOSE: b"",
            HALF: frame[: len(frame) // 2],
            GARBAGE: b"\0\0\0\x08" + bytes(range(200, 208)),
        }.get(word, frame)

    def spans(self):
        """What was taken, decoded."""
        with self.lock:
            return [decode(message) for message in self.taken]

    def wait_for(self, count, seconds=60):
        wait_until(lambda: len(self.taken) >= count, seconds, f"{count} spans, of which {len(self.taken)} came")


def read_list(body):
    """The messages, as Scribe has them, in the body of a POST."""
    from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
    from thrift.transport.TTransport import TMemoryBuffer
    from zipkincore.ttypes import Span

    memory = TMemoryBuffer(body)
    reader = TBinaryProtocolAccelerated(memory)
    messages = []
    _, count = reader.readListBegin()
    for _ in range(count):
        begin = memory.cstringio_buf.tell()
        Span().read(reader)
        messages.append(base64.b64encode(body[begin : memory.cstringio_buf.tell()]))
    return messages


class MoodyWeb:
    """The same that speaks HTTP: @status(messages) is the status of each answer, 202 for those that it takes."""

    def __init__(self, node, status=lambda messages: 202):
        generated()
        self.taken = taken = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                messages = read_list(unpack(body, self.headers["Content-Encoding"]))
                code = status(messages)
                if code == 202:
                    taken.extend(messages)
                self.send_response(code)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def spans(self):
        return [decode(message) for message in list(self.taken)]
