# SPDX-License-Identifier: BSD-2-Clause
"""A name server in a thread of the test, for programs that are started with a resolver's configuration of their own."""

import contextlib
import os
import socket
import struct
import threading

IPV4 = 1
NO_SUCH_NAME = 3


class Names:
    """
    Knows the IPv4 @addresses, by name; they may change at any time, and it may fall @silent. Use it with `with`.
    """

    def __init__(self, node, address="127.0.0.53"):
        self.addresses = {}
        self.questions = 0
        self.silent = False
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, 53))
        self.socket.settimeout(0.1)
        self.ended = False
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.address = address
        self.folder = node.path("etc")
        os.mkdir(self.folder)
        self.ask(address)
        self.write("hosts", "127.0.0.1 localhost\n")
        self.write("nsswitch.conf", "hosts: files dns\n")

    def write(self, name, text):
        """A file of the programs' /etc: in place, as it may be mounted there."""
        with open(os.path.join(self.folder, name), "w", encoding="ascii") as file:
            file.write(text)

    def ask(self, *addresses):
        """The name servers that programs ask from here on."""
        self.write("resolv.conf", "".join(f"nameserver {address}\n" for address in addresses))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended = True
        self.thread.join()
        self.socket.close()

    def _serve(self):
        while not self.ended:
            with contextlib.suppress(TimeoutError):
                question, asker = self.socket.recvfrom(4096)
                self.questions += 1
                if not self.silent:
                    self.socket.sendto(self._answer(question), asker)

    def _answer(self, question):
        number, end, labels = question[:2], 12, []
        while question[end]:
            labels.append(question[end + 1 : end + 1 + question[end]].decode().lower())
            end += 1 + question[end]
        (kind,) = struct.unpack_from("!H", question, end + 1)
        address = self.addresses.get(".".join(labels))
        found = address and kind == IPV4
        code = 0 if address else NO_SUCH_NAME
        head = number + struct.pack("!HHHHH", 0x8180 | code, 1, 1 if found else 0, 0, 0)
        record = struct.pack("!HHHIH", 0xC00C, IPV4, 1, 60, 4) + socket.inet_aton(address) if found else b""
        return head + question[12 : end + 5] + record

    def command(self, *words):
        """A command that runs these words with this name server, in mounts of its own."""
        mount = 'for file in "$0"/*; do mount --bind "$file" "/etc/${file##*/}" || exit; done; exec "$@"'
        return ["unshare", "-m", "sh", "-c", mount, self.folder, *words]
