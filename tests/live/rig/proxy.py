# SPDX-License-Identifier: BSD-2-Clause
"""A way to a server of this node that a test can break, as a network does."""

import contextlib
import socket
import threading

from .process import free_port


class Proxy:
    """Passes each connection to @port on to a server; they can all be broken at once."""

    def __init__(self, server):
        self.server = server
        self.port = free_port()
        self.lock = threading.Lock()
        self.pairs = []
        self.halves = set()  # ends whose other end is to live on
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            near, _ = self.listener.accept()
            try:
                far = socket.create_connection(("127.0.0.1", self.server))
            except OSError:
                near.close()
                continue
            with self.lock:
                self.pairs.append((near, far))
            for one, other in (near, far), (far, near):
                threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one, other):
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                self.forward(data, one, other)
        if one not in self.halves:
            with contextlib.suppress(OSError):
                other.shutdown(socket.SHUT_RDWR)

    def forward(self, data, one, other):
        """What @one has sent, to @other: for others to do something else."""
        other.sendall(data)

    def break_all(self, near_only=False):
        """Ends all connections, or only their near ends: the server knows nothing then. Returns how many there were."""
        with self.lock:
            broken, self.pairs = self.pairs, []
        self.halves.update(near for near, _ in broken if near_only)
        for near, far in broken:
            for end in (near,) if near_only else (near, far):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
        return len(broken)
