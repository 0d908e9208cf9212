# SPDX-License-Identifier: BSD-2-Clause
"""What hosts stand in: what was prepared for them, a network, and memory for their disks."""

import contextlib
import glob
import os
import subprocess
import tempfile

from rig.process import Trouble, wait_until

from .host import Host

CGROUPS = "/sys/fs/cgroup"


class Rack:
    """
    Use it with `with`, within tests/isolate --network: its network, mounts and processes are that namespace's, so that
    nothing is left when it ends, however it does.
    """

    BRIDGE = "hosts"
    NAMES = {"alpha": "10.77.0.1", "beta": "10.77.0.2", "collector": "10.77.0.9"}

    def __init__(self, prepared):
        """@prepared: the folder of tests/host/prepare."""
        self.prepared = prepared
        self.disks = None
        self.hosts = []

    def __enter__(self):
        if not os.path.exists(os.path.join(self.prepared, "root")):
            raise Trouble(f"nothing is prepared in {self.prepared}: run tests/host/prepare {self.prepared}")
        self.disks = tempfile.mkdtemp(prefix="blkin-hosts-")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "disks", self.disks], check=True)
        self._keep_nspawn_to_itself()
        for words in (["add", self.BRIDGE, "type", "bridge"], ["set", self.BRIDGE, "up"]):
            subprocess.run(["ip", "link"] + words, check=True)
        return self

    def __exit__(self, kind, error, trace):
        for host in reversed(self.hosts):
            host.remove()
        subprocess.run(["ip", "link", "delete", self.BRIDGE], check=True)
        subprocess.run(["umount", self.disks], check=True)
        os.rmdir(self.disks)

    @staticmethod
    def _keep_nspawn_to_itself():
        """systemd-nspawn leaves files in /run/systemd, which tests/isolate shares with the machine."""
        if os.path.islink("/run/systemd"):
            os.unlink("/run/systemd")
        os.makedirs("/run/systemd", exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "systemd", "/run/systemd"], check=True)

    def names(self):
        return "".join(f"{address} {name}\n" for name, address in self.NAMES.items())

    def package(self, name):
        """The path of one of our packages."""
        (path,) = glob.glob(os.path.join(self.prepared, f"{name}_*.deb"))
        return path

    def program(self, name):
        """The path of a sample or test program."""
        return os.path.join(self.prepared, "programs", name)

    def host(self, name, layers=()):
        """
        A host, not running yet; it ends with the rack at the latest. @layers are folders of files that it has beyond a
        fresh Debian's.
        """
        lower = [*layers, os.path.join(self.prepared, "layer"), os.path.realpath(os.path.join(self.prepared, "root"))]
        host = Host(self, name, self.NAMES[name], lower)
        self.hosts.append(host)
        return host

    def remove(self, host):
        self.hosts.remove(host)
        host.remove()

    # Each host has cgroups of its own, in each of the machine's hierarchies that systemd uses.

    def _cgroups(self, name):
        with open("/proc/self/cgroup", encoding="ascii") as file:
            lines = [line.rstrip("\n").split(":", 2) for line in file]
        for _, controllers, path in lines:
            where = {"": ("unified", ""), "name=systemd": ("systemd",)}.get(controllers, ())
            for folder in where:
                mine = os.path.join(CGROUPS, folder)
                if os.path.exists(os.path.join(mine, "cgroup.procs")):
                    yield os.path.join(mine, path.lstrip("/"), f"{os.path.basename(self.disks)}-{name}")
                    break

    def make_cgroups(self, name):
        groups = list(self._cgroups(name))
        for group in groups:
            os.makedirs(group, exist_ok=True)
        return groups

    def remove_cgroups(self, name):
        for group in self._cgroups(name):
            wait_until(lambda group=group: remove_tree(group), 10, f"{group} to be empty")


def remove_tree(group):
    """Removes a cgroup and those below it; false if a process is in one still."""
    for folder, _, _ in os.walk(group, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(folder)
    return not os.path.exists(group)
