# SPDX-License-Identifier: BSD-2-Clause
"""What lttng-relayd lists to viewers, session by session: babeltrace2 puts those of one name together."""

import contextlib
import socket
import struct

COMMAND = struct.Struct("!QII")
CONNECT = struct.Struct("!QIII")
SESSION = struct.Struct("!QIII64s255s")
# From this version on two sizes and the format of the trace come first, and then the names. Who speaks an older one is told only
# of traces in CTF 1.8, which is no longer what LTTng makes by itself then.
LATER, SESSION_LATER = 15, struct.Struct("!QIIIIII")


def receive(connection, size):
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        assert more, "lttng-relayd ended the connection"
        data += more
    return data


def names_of_session(connection, minor):
    if minor < LATER:
        return SESSION.unpack(receive(connection, SESSION.size))[4:]
    *_, host, name, _ = SESSION_LATER.unpack(receive(connection, SESSION_LATER.size))
    return receive(connection, host), receive(connection, name)


def listed(port):
    """The (host, session) of each live session; the same one twice if there are two."""
    with contextlib.closing(socket.create_connection(("127.0.0.1", port), timeout=10)) as connection:
        connection.sendall(COMMAND.pack(CONNECT.size, 1, 0) + CONNECT.pack(2**64 - 1, 2, LATER, 1))
        minor = CONNECT.unpack(receive(connection, CONNECT.size))[2]  # the relay's, which may be newer
        connection.sendall(COMMAND.pack(0, 2, 0))
        (count,) = struct.unpack("!I", receive(connection, 4))
        sessions = [names_of_session(connection, minor) for _ in range(count)]
    return [tuple(name.rstrip(b"\0").decode() for name in session) for session in sessions]
