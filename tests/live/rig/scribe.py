# SPDX-License-Identifier: BSD-2-Clause
"""An independent Scribe server: Debian's python3-thrift with code generated from proto/*.thrift.

It runs as a process of its own (python3 scribe.py GENERATED PORT FILE), so that it may be killed, and writes every
message to FILE before it acknowledges it. Receiver is the other half: it starts that process, and reads FILE.
"""

import atexit
import base64
import functools
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
PROTO = os.path.join(HERE, "../../../proto")
RECORD = struct.Struct("!II")  # sizes of category and message, which follow


def serve(generated, port, path):
    sys.path.insert(0, generated)
    from scribe import Scribe
    from scribe.ttypes import ResultCode
    from thrift.protocol.TBinaryProtocol import TBinaryProtocolAcceleratedFactory
    from thrift.server.TServer import TThreadedServer
    from thrift.transport.TSocket import TServerSocket
    from thrift.transport.TTransport import TFramedTransportFactory

    class Handler:
        def __init__(self):
            self.lock = threading.Lock()
            self.file = open(path, "ab", buffering=0)

        def Log(self, messages):
            records = []
            for entry in messages:
                category, message = entry.category.encode(), entry.message.encode()
                records += [RECORD.pack(len(category), len(message)), category, message]
            with self.lock:
                self.file.write(b"".join(records))
            return ResultCode.OK

    TThreadedServer(
        Scribe.Processor(Handler()),
        TServerSocket("127.0.0.1", port),
        TFramedTransportFactory(),
        TBinaryProtocolAcceleratedFactory(),
        daemon=True,
    ).serve()


@functools.cache
def generated():
    """The folder with the Python code of proto/*.thrift, which can be imported then; it goes with this process."""
    folder = tempfile.mkdtemp(prefix="blkin-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for idl in ("scribe.thrift", "zipkinCore.thrift"):
        subprocess.run(["thrift", "-gen", "py", "-out", folder, os.path.join(PROTO, idl)], check=True)
    sys.path.insert(0, folder)
    return folder


def decode(message):
    """The span (generated class) in a Scribe message."""
    from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
    from thrift.transport.TTransport import TMemoryBuffer
    from zipkincore.ttypes import Span

    buffer = TMemoryBuffer(base64.b64decode(message, validate=True))
    span = Span()
    span.read(TBinaryProtocolAccelerated(buffer))
    if buffer.cstringio_buf.read(1):
        raise ValueError("bytes behind the span")
    return span


class Receiver:
    """Starts the server, and knows what it received; start and stop it as often as needed."""

    def __init__(self, node, port):
        self.node = node
        self.port = port
        self.path = os.path.join(node.folder, f"received-{port}")
        self.program = None
        self._offset = 0
        self._rest = b""
        self.messages = []  # (category, message) as received
        self._decoded = []  # of the first ones, as tests ask again and again
        open(self.path, "ab").close()
        generated()

    def start(self):
        from .process import answers

        self._cut()
        self.program = self.node.start(
            ["/usr/bin/python3", os.path.join(HERE, "scribe.py"), generated(), self.port, self.path],
            name="scribe",
        )
        self.program.wait_ready(lambda: answers(self.port))
        return self

    def _cut(self):
        """One that was killed may have left a part of a record, which it has not acknowledged."""
        self.read()
        self._offset -= len(self._rest)
        self._rest = b""
        os.truncate(self.path, self._offset)

    def read(self):
        """Reads what came since; returns how many messages there are in all."""
        with open(self.path, "rb") as file:
            file.seek(self._offset)
            data = self._rest + file.read()
            self._offset = file.tell()
        at = 0
        while at + RECORD.size <= len(data):
            category, message = RECORD.unpack_from(data, at)
            end = at + RECORD.size + category + message
            if end > len(data):
                break
            middle = at + RECORD.size + category
            self.messages.append((data[at + RECORD.size : middle], data[middle:end]))
            at = end
        self._rest = data[at:]
        return len(self.messages)

    def wait_for(self, count, seconds=60):
        """Waits for @count messages in all."""
        from .process import Trouble, wait_until

        try:
            wait_until(lambda: self.read() >= count, seconds, f"{count} spans")
        except Trouble as trouble:
            raise Trouble(f"{trouble}: {len(self.messages)} came") from None

    def spans(self):
        """Everything that came, decoded."""
        self.read()
        self._decoded += [decode(message) for _, message in self.messages[len(self._decoded) :]]
        return list(self._decoded)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), sys.argv[3])
