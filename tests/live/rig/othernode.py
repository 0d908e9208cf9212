# SPDX-License-Identifier: BSD-2-Clause
"""Another node on the same machine: its LTTng meets no other, as it has a /run/lttng and a /dev/shm of its own."""

import subprocess

from .node import Node

ROOM = "mount -t tmpfs tmpfs /run/lttng && mount -t tmpfs -o mode=1777 tmpfs /dev/shm && echo ready && exec sleep infinity"


class OtherNode(Node):
    def __enter__(self):
        self.room = super().start(["unshare", "--mount", "sh", "-c", ROOM], name="room")
        self.room.wait_ready(lambda: "ready" in self.room.log())
        return super().__enter__()

    def enter(self, command):
        return ["nsenter", f"--mount=/proc/{self.room.pid}/ns/mnt", *map(str, command)]

    def start(self, command, name=None, **environment):
        name = name or str(command[0]).rpartition("/")[2]
        return super().start(self.enter(command), name, **environment)

    def lttng(self, *words):
        done = subprocess.run(
            self.enter(["lttng", "--no-sessiond", *words]), env=self.environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    def sessiond_file(self, name):
        return super().sessiond_file(name).replace("/var/run/", f"/proc/{self.room.pid}/root/run/")
