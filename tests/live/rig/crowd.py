# SPDX-License-Identifier: BSD-2-Clause
"""
Senders who hold connections, as a program of its own, so that it can be another user's:

    python3 crowd.py PORT COUNT MODE

`slow` begins a call on each, and goes on by a byte every two seconds; `mute` says nothing; `half` sends half of a call and
stops; `deaf` asks, and never reads the answers; `good` hands over one span (given in base64) on each, and is silent then. A
connection that is closed is made again, unless it is a good one. With `http-` or `grpc-` before it, a mode (but not `good`) is
one of senders of OTLP, who have two more: `head`, for whom the headers do not end, and `fat`, the same with as many of them as
there may be. `grpc-hoard` sends all but the last byte of the largest call there may be, and asks then, on the same connection,
until it would have to read the answers. It prints the number of those that it has made, once all
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


def h2frame(kind, flags, stream, payload):
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload


POST = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\n"
EXPORT = b"/opentelemetry.proto.collector.trace.v1.TraceService/Export"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + h2frame(4, 0, 0, b"")
FIELDS = b"\x83\x86\x01\x01x\x04" + bytes([len(EXPORT)]) + EXPORT + b"\x0f\x10\x10application/grpc\x00\x02te\x08trailers"
# a header of 65000 bytes begins, by Huffman's code: of five bits a character
FAT = FIELDS + b"\x00\x01x\xff\xe9\xfa\x03" + int("00011" * 8, 2).to_bytes(5, "big") * 5000
HTTP = {
    "begin": POST + b"Content-Type: application/x-protobuf\r\nContent-Length: 1048576\r\n\r\n",
    "head": POST,
    "fat": POST + 15 * (b"X: " + 1000 * b"x" + b"\r\n"),
    "ask": 100 * b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "byte": b"\x00",
}
LARGEST = 16 << 20
WHOLE = b"\x00" + struct.pack("!I", LARGEST) + bytes(LARGEST - 1)  # but for a byte
DAMAGED = b"\x00" + struct.pack("!I", 1200) + b"\xff" * 1200  # so few of them are read at a time that all may be begun
GRPC = {
    "begin": PREFACE + h2frame(1, 4, 1, FIELDS) + h2frame(0, 0, 1, b"\x00\x00\x10\x00\x00"),
    "head": PREFACE + h2frame(1, 0, 1, FIELDS),
    "fat": PREFACE + h2frame(1, 0, 1, FAT[:16384]) + h2frame(9, 0, 1, FAT[16384:24000])[:-1],
    "ask": h2frame(6, 0, 0, bytes(8)),
    "byte": h2frame(0, 0, 1, b"\x00"),
}
HOARDED = 4000
SCRIBE = {"begin": CALL, "ask": QUESTION, "byte": b"\x00"}
PROTOCOLS = {"http": HTTP, "grpc": GRPC, "scribe": SCRIBE}


def split(mode):
    """What a protocol's senders say, and what they do."""
    protocol, _, word = mode.rpartition("-")
    return PROTOCOLS[protocol or "scribe"], word


def text(data):
    return struct.pack("!I", len(data)) + data


def log(span):
    entry = b"\x0b\x00\x01" + text(b"zipkin") + b"\x0b\x00\x02" + text(span) + b"\x00"
    call = HEAD + b"\x0f\x00\x01\x0c" + struct.pack("!I", 1) + entry + b"\x00"
    return struct.pack("!I", len(call)) + call


def connect(port, mode):
    local = "/" in port
    stream = socket.socket(socket.AF_UNIX if local else socket.AF_INET)
    if mode.endswith(("deaf", "hoard")):  # what it does not read is not to fit into the kernel
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stream.connect(port if local else ("127.0.0.1", int(port)))
    return stream


def begin(port, mode, span):
    stream = connect(port, mode)
    try:
        speak(stream, mode, span)
    except OSError:  # it is closed, for want of room
        pass
    return stream


def speak(stream, mode, span):
    words, mode = split(mode)
    if mode == "slow":
        stream.sendall(words["begin"])
    elif mode == "half":
        stream.sendall(words["begin"] + 100 * words["byte"])
    elif mode in ("head", "fat"):
        stream.sendall(words[mode])
    elif mode == "good":
        stream.sendall(log(span))
        stream.settimeout(20)
        stream.recv(100)
    elif mode == "hoard":
        hoard(stream)
    elif mode == "deaf":
        stream.sendall(PREFACE if words is GRPC else b"")
        stream.setblocking(False)
        for _ in range(10000):
            stream.send(words["ask"])


def hoard(stream):
    """Answers of full length, as their table has no room; a thousand more than fit into the kernel and the agent."""
    stream.sendall(PREFACE + h2frame(4, 0, 0, struct.pack("!HI", 1, 0)) + h2frame(1, 4, 1, FIELDS))
    for at in range(0, len(WHOLE), 16384):
        stream.sendall(h2frame(0, 0, 1, WHOLE[at : at + 16384]))
    stream.settimeout(1)
    for number in range(3, 2 * HOARDED, 2):
        stream.sendall(h2frame(1, 4, number, FIELDS) + h2frame(0, 1, number, DAMAGED))


def main():
    port, count, mode = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    span = sys.argv[4].encode() if len(sys.argv) > 4 else b""
    words, action = split(mode)
    streams = [begin(port, mode, span) for _ in range(count)]
    print(len(streams), flush=True)
    moved = time.monotonic()
    while not select.select([sys.stdin], [], [], 0.2)[0]:
        for number, stream in enumerate(streams):
            try:
                stream.setblocking(False)
                if action in ("slow", "mute", "half", "head", "fat") and stream.recv(1000) == b"":
                    raise ConnectionError
            except BlockingIOError:
                pass
            except OSError:
                stream.close()
                streams[number] = begin(port, mode, span)
        if action == "slow" and time.monotonic() - moved > 2:
            moved = time.monotonic()
            for stream in streams:
                try:
                    stream.send(words["byte"])
                except OSError:
                    pass


if __name__ == "__main__":
    main()
