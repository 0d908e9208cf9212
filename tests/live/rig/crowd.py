# SPDX-License-Identifier: BSD-2-Clause
"""
Senders who hold connections, as a program of its own, so that it can be another user's:

    python3 crowd.py PORT COUNT MODE

`slow` begins a call on each, and goes on by a byte every two seconds; `mute` says nothing; `half` sends half of a call and
stops; `deaf` asks, and never reads the answers; `good` hands over one span (given in base64) on each, and is silent then. A
connection that is closed is made again, unless it is a good one. It prints the number of those that it has made, once all
were, and goes on until its input ends.
"""

import select
import socket
import struct
import sys
import time

HEAD = b"\x80\x01\x00\x01\x00\x00\x00\x03Log\x00\x00\x00\x01"
QUESTION = struct.pack("!I", 20) + b"\x80\x01\x00\x01\x00\x00\x00\x07getName\x00\x00\x00\x01\x00"
CALL = struct.pack("!I", 1 << 20) + HEAD + b"\x0f\x00\x01\x0c\x00\x00\x00\x01"


def text(data):
    return struct.pack("!I", len(data)) + data


def log(span):
    entry = b"\x0b\x00\x01" + text(b"zipkin") + b"\x0b\x00\x02" + text(span) + b"\x00"
    call = HEAD + b"\x0f\x00\x01\x0c" + struct.pack("!I", 1) + entry + b"\x00"
    return struct.pack("!I", len(call)) + call


def connect(port):
    if "/" in port:
        stream = socket.socket(socket.AF_UNIX)
        stream.connect(port)
    else:
        stream = socket.create_connection(("127.0.0.1", int(port)))
    return stream


def begin(port, mode, span):
    stream = connect(port)
    try:
        speak(stream, mode, span)
    except OSError:  # it is closed, for want of room
        pass
    return stream


def speak(stream, mode, span):
    if mode == "slow":
        stream.sendall(CALL)
    elif mode == "half":
        stream.sendall(CALL + bytes(100))
    elif mode == "good":
        stream.sendall(log(span))
        stream.settimeout(20)
        stream.recv(100)
    elif mode == "deaf":
        stream.setblocking(False)
        for _ in range(10000):
            stream.send(QUESTION)


def main():
    port, count, mode = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    span = sys.argv[4].encode() if len(sys.argv) > 4 else b""
    streams = [begin(port, mode, span) for _ in range(count)]
    print(len(streams), flush=True)
    moved = time.monotonic()
    while not select.select([sys.stdin], [], [], 0.2)[0]:
        for number, stream in enumerate(streams):
            try:
                stream.setblocking(False)
                if mode in ("slow", "mute", "half") and stream.recv(100) == b"":
                    raise ConnectionError
            except BlockingIOError:
                pass
            except OSError:
                stream.close()
                streams[number] = begin(port, mode, span)
        if mode == "slow" and time.monotonic() - moved > 2:
            moved = time.monotonic()
            for stream in streams:
                try:
                    stream.send(b"\x00")
                except OSError:
                    pass


if __name__ == "__main__":
    main()
