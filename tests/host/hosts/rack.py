# SPDX-License-Identifier: BSD-2-Clause
"""What hosts stand in: what was prepared for them, a network, and memory for their disks."""

import contextlib
import glob
import os
import shutil
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
        self._installed = None

    def __enter__(self):
        if not os.path.exists(os.path.join(self.prepared, "root")):
            raise Trouble(f"nothing is prepared in {self.prepared}: run tests/host/prepare {self.prepared}")
        if self._links() != ["lo"]:
            raise Trouble("this is the machine's own network: run the host tests within tests/isolate --network")
        self.disks = tempfile.mkdtemp(prefix="blkin-hosts-", dir="/dev/shm")
        self._keep_nspawn_to_itself()
        for words in (["add", self.BRIDGE, "type", "bridge"], ["set", self.BRIDGE, "up"]):
            subprocess.run(["ip", "link"] + words, check=True)
        return self

    def __exit__(self, kind, error, trace):
        for host in reversed(self.hosts):
            host.remove()
        subprocess.run(["ip", "link", "delete", self.BRIDGE], check=True)
        shutil.rmtree(self.disks)

    @staticmethod
    def _links():
        shown = subprocess.run(["ip", "-o", "link"], check=True, capture_output=True, text=True).stdout
        return [line.split(": ")[1] for line in shown.splitlines()]

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

    def changes(self):
        """The path of the build's list of packages."""
        (path,) = glob.glob(os.path.join(self.prepared, "*.changes"))
        return path

    def program(self, name):
        """The path of a sample or test program."""
        return os.path.join(self.prepared, "programs", name)

    def prometheus(self, name):
        """The path of a program of Prometheus's package, which is not installed anywhere."""
        return os.path.join(self.prepared, "prometheus/usr/bin", name)

    def host(self, name, layers=()):
        """
        A host, not running yet; it ends with the rack at the latest. @layers are folders of files that it has beyond a
        fresh Debian's.
        """
        lower = [*layers, os.path.join(self.prepared, "layer"), os.path.realpath(os.path.join(self.prepared, "root"))]
        host = Host(self, name, self.NAMES[name], lower)
        self.hosts.append(host)
        return host

    def installed_host(self, name, server=None):
        """A host, running, on which the agent was installed; @server is its collector."""
        if not self._installed:
            self._installed = self._install_once()
        host = self.host(name, [self._installed])
        if server:
            host.write("/etc/blkin/agent.conf.d/server.conf", f"[output]\nserver = {server}\n")
        return host.boot()

    def _install_once(self):
        """The files that an installation adds to a host's."""
        host = self.host("alpha").boot()
        host.install(self.package("blkin-agent"), self.package("libblkin-provider"), recommends=False)
        host.power_off()
        layer = os.path.join(self.disks, "installed")
        os.rename(os.path.join(host.folder, "upper"), layer)
        os.mkdir(os.path.join(host.folder, "upper"))
        self.remove(host)
        return layer

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
