# SPDX-License-Identifier: BSD-2-Clause
"""An HTTP proxy: tunnels (CONNECT), and requests that it passes on; as strict as real ones."""

import base64
import contextlib
import socket
import threading
import urllib.parse

from .process import free_port

REASONS = {403: "Forbidden", 407: "Proxy Authentication Required", 502: "Bad Gateway"}


class WebProxy:
    """
    @hosts: which port of loopback a HOST:PORT is; it alone knows these names, and passes nothing on to others. @login:
    USER:PASSWORD that it wants. Use it with `with`.
    """

    def __init__(self, hosts, login=None, connect_ports=(443,)):
        self.hosts, self.login, self.connect_ports = hosts, login, connect_ports
        self.port = free_port()
        self.requests = []  # "CONNECT host:port", "POST http://host:port/path"
        self.refused = []  # status
        self.keeps = True  # connections, for requests; or it ends them without saying so
        self.lock = threading.Lock()
        self.sockets = set()
        self.listener = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def start(self):
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()
        return self

    def stop(self):
        """Closes the port and all connections."""
        if self.listener:
            self.listener.shutdown(socket.SHUT_RDWR)
            self.listener.close()
            self.listener = None
        with self.lock:
            sockets, self.sockets = self.sockets, set()
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                near, _ = listener.accept()
                with self.lock:
                    self.sockets.add(near)
                threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near):
        with contextlib.suppress(OSError, EOFError):
            stream = near.makefile("rb")
            while self._answer(near, stream):
                pass
        with contextlib.suppress(OSError):
            near.shutdown(socket.SHUT_RDWR)

    @staticmethod
    def _head(stream):
        lines = []
        while (line := stream.readline()) not in (b"\r\n", b""):
            lines.append(line.decode().rstrip("\r\n"))
        if not lines:
            raise EOFError
        return lines[0], {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}

    def _refuse(self, near, status):
        page = b"<html>no</html>"
        extra = 'Proxy-Authenticate: Basic realm="test"\r\n' if status == 407 else ""
        head = f"HTTP/1.1 {status} {REASONS[status]}\r\n{extra}Content-Type: text/html\r\nContent-Length: {len(page)}\r\n\r\n"
        with self.lock:
            self.refused.append(status)
        near.sendall(head.encode() + page)
        return True

    def _answer(self, near, stream):
        """Returns whether the connection goes on."""
        line, headers = self._head(stream)
        method, target, _ = line.split(" ")
        body = stream.read(int(headers.get("content-length", 0)))
        with self.lock:
            self.requests.append(f"{method} {target}")
        wanted = self.login and "Basic " + base64.b64encode(self.login.encode()).decode()
        if wanted and headers.get("proxy-authorization") != wanted:
            return self._refuse(near, 407)
        url = urllib.parse.urlsplit(target)
        place = target if method == "CONNECT" else url.netloc
        assert method == "CONNECT" or (url.scheme == "http" and headers["host"] == place), line
        if method == "CONNECT" and int(place.rpartition(":")[2]) not in self.connect_ports:
            return self._refuse(near, 403)
        try:
            far = socket.create_connection(("127.0.0.1", self.hosts[place]))
        except (OSError, KeyError):
            return self._refuse(near, 502)
        with self.lock:
            self.sockets.add(far)
        if method == "CONNECT":
            near.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            threading.Thread(target=self._pass, args=(far, near), daemon=True).start()
            self._pass(near, far)
            return False
        kept = [f"{name}: {value}\r\n" for name, value in headers.items() if not name.startswith("proxy-")]
        far.sendall(f"{method} {url.path} HTTP/1.1\r\n{''.join(kept)}Connection: close\r\n\r\n".encode() + body)
        answer = b"".join(iter(lambda: far.recv(65536), b""))
        far.close()
        near.sendall(answer.replace(b"\r\n", b"\r\nConnection: keep-alive\r\n", 1) if self.keeps else answer)
        return self.keeps

    @staticmethod
    def _pass(one, other):
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)
        for end in one, other:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
