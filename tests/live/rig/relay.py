# SPDX-License-Identifier: BSD-2-Clause
"""What lttng-relayd lists to viewers, session by session: babeltrace2 puts those of one name together."""

import contextlib
import socket
import struct

COMMAND = struct.Struct("!QII")
CONNECT = struct.Struct("!QIII")
SESSION = struct.Struct("!QIII64s255s")


def receive(connection, size):
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        assert more, "lttng-relayd ended the connection"
        data += more
    return data


def listed(port):
    """The (host, session) of each live session; the same one twice if there are two."""
    with contextlib.closing(socket.create_connection(("127.0.0.1", port), timeout=10)) as connection:
        connection.sendall(COMMAND.pack(CONNECT.size, 1, 0) + CONNECT.pack(2**64 - 1, 2, 4, 1))
        receive(connection, CONNECT.size)
        connection.sendall(COMMAND.pack(0, 2, 0))
        (count,) = struct.unpack("!I", receive(connection, 4))
        sessions = [SESSION.unpack(receive(connection, SESSION.size)) for _ in range(count)]
    return [tuple(name.rstrip(b"\0").decode() for name in session[4:]) for session in sessions]
