# SPDX-License-Identifier: BSD-2-Clause
"""
What a container engine gives a program that runs as doc/operate.md says: a root of its own, which cannot be written to; process
1 of a process table of its own; the node's network and host name; a user without privileges; and of the node's files those
folders that are mounted. This machine's /usr stands for the image.
"""

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess

from rig.node import TOP, thread_options

UID, TRACING = 990, 991  # in the container; the group has the number that the node's daemon gives its socket
ETC = {
    "passwd": "root:x:0:0:root:/root:/bin/sh\nblkin:x:{uid}:{uid}::/var/lib/blkin:/usr/sbin/nologin\n",
    "group": "root:x:0:\nblkin:x:{uid}:\ntracing:x:{tracing}:blkin\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "hosts": "127.0.0.1 localhost\n",
}
# $1: the root; then, to --, each a folder of the node and where it is in the container; then the command.
ENTER = """
set -e
PATH=/usr/sbin:/usr/bin:/sbin:/bin
root=$1
shift
mount -t tmpfs -o mode=755 image "$root"
cd "$root"
mkdir -p usr etc proc sys dev tmp root run var
for link in bin sbin lib lib32 lib64 libx32; do [ ! -L /$link ] || ln -s "usr/$link" $link; done
ln -s ../run var/run
mount --rbind /usr usr
mount -o remount,bind,ro usr
mount -t tmpfs -o mode=755 dev dev
for file in null zero full random urandom; do : >dev/$file; mount --bind /dev/$file dev/$file; done
mkdir dev/shm
mount -t tmpfs -o mode=1777,size=64m shm dev/shm
mount -t tmpfs -o mode=1777 tmp tmp
cp -a /etc/ld.so.cache etc/
cp "$etc"/* etc/
while [ "$1" != -- ]; do mkdir -p "./$2"; mount --rbind "$1" "./$2"; shift 2; done
[ -z "$read_only" ] || mount -o remount,bind,ro "./$read_only"
shift
mount -t proc proc proc
mount -o remount,ro .
pivot_root . .
umount -l .
cd /
exec setpriv --reuid=$uid --regid=$uid --groups=$tracing --no-new-privs --bounding-set=-all --inh-caps=-all -- "$@"
"""


class Accounts:
    """The node's users and groups, for the test: the image's user, and the group tracing with this number; changed by set()."""

    def __init__(self, node):
        self.files = {}
        for name in ("passwd", "group"):
            with open(f"/etc/{name}", encoding="utf-8") as file:
                self.files[name] = [line for line in file if not re.match(rf"(blkin|tracing):|[^:]*:[^:]*:({UID}|{TRACING}):", line)]
            shutil.copy(f"/etc/{name}", node.path(name))
            subprocess.run(["mount", "--bind", node.path(name), f"/etc/{name}"], check=True)

    def set(self, tracing=TRACING, user=True):
        known = {"passwd": "", "group": f"tracing:x:{tracing}:\n"}
        if user:
            known = {name: ETC[name].format(uid=UID, tracing=tracing).partition("\n")[2] for name in known}
        for name, text in known.items():
            with open(f"/etc/{name}", "w", encoding="utf-8") as file:  # in place, as it is mounted
                file.write("".join(self.files[name]) + text)

    def __enter__(self):
        self.set()
        return self

    def __exit__(self, *_):
        for name in self.files:
            subprocess.run(["umount", f"/etc/{name}"], check=True)


class Container:
    """@mounts: where a folder of the node is in the container, by the folder's path; @read_only: the one that cannot be written to."""

    def __init__(self, node, mounts, tracing=TRACING, read_only=""):
        self.node, self.mounts, self.tracing, self.read_only = node, mounts, tracing, read_only
        self.etc, self.root = node.path("container-etc"), node.path("container")
        os.makedirs(self.etc, exist_ok=True)
        os.makedirs(self.root, exist_ok=True)
        for name, text in ETC.items():
            with open(os.path.join(self.etc, name), "w", encoding="utf-8") as file:
                file.write(text.format(uid=UID, tracing=tracing))
        shutil.copy(os.path.join(TOP, "tests/tsan.supp"), self.etc)
        self.program = None

    def start(self, *command, name="container", **environment):
        """Starts the command as the container's process 1; Program.pid is unshare's, `self.pid` the command's own."""
        mounts = [word for pair in self.mounts.items() for word in pair]
        self.program = self.node.start(
            ["unshare", "--mount", "--pid", "--ipc", "--fork", "--kill-child", "sh", "-c", ENTER, "enter", self.root]
            + [*mounts, "--", *command],
            name=name, etc=self.etc, read_only=self.read_only, uid=str(UID), tracing=str(self.tracing),
            **dict({"TSAN_OPTIONS": thread_options("/etc")}, **environment),
        )  # fmt: skip
        self.program.send = self.signal
        return self.program

    @property
    def pid(self):
        with open(f"/proc/{self.program.pid}/task/{self.program.pid}/children", encoding="ascii") as file:
            return int(file.read().split()[0])

    def signal(self, number):
        """To process 1, as an engine does: unshare itself heeds no TERM."""
        with contextlib.suppress(IndexError, OSError):
            os.kill(self.pid, number)

    def stop(self):
        """Returns its exit code."""
        self.signal(signal.SIGTERM)
        return self.program.wait(30)

    def inside(self, *command, **environment):
        """Runs a command in the container, as its user, as `podman exec` does; returns what it printed."""
        enter = ["nsenter", "--target", str(self.pid), "--mount", "--pid", "--root", f"--wd=/proc/{self.pid}/root"]
        become = ["setpriv", f"--reuid={UID}", f"--regid={UID}", f"--groups={self.tracing}", "--"]
        environment = dict({"TSAN_OPTIONS": thread_options("/etc")}, **environment)
        program = self.node.start([*enter, *become, *command], name="inside", **environment)
        code = program.wait(60)
        assert code == 0, f"{shlex.join(command)}: {code}\n{program.log()}"
        return program.log()
