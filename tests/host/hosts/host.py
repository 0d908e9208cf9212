# SPDX-License-Identifier: BSD-2-Clause
"""A host: a Debian that boots with its own systemd, in a container of systemd-nspawn."""

import contextlib
import os
import shutil
import signal
import subprocess

from rig.booted import ASK, Booted
from rig.process import Program, Trouble

ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "DEBIAN_FRONTEND": "noninteractive",
    "SYSTEMD_PAGER": "",
}
# A shell joins the host's cgroups before it becomes systemd-nspawn, which makes its own below.
JOIN = 'for group in $1; do echo $$ >"$group/cgroup.procs" || exit 69; done; shift; exec "$@"'

# What installing and removing packages of any kind leaves behind.
TRACES_OF_APT = ("/var/cache/", "/var/lib/apt/", "/var/lib/dpkg/", "/var/log/", "/var/lib/systemd/", "/etc/ld.so.cache")


class Host(Booted):
    """
    Made by Rack.host(). Its files are @root, which is there from start to end; what runs is gone with power_off(),
    and back with boot().
    """

    def __init__(self, rack, name, address, lower):
        self.rack = rack
        self.name = name
        self.address = address
        self.folder = os.path.join(rack.disks, name)
        self.root = os.path.join(self.folder, "root")
        self.nspawn = self.leader = None
        for part in ("upper", "work", "root"):
            os.makedirs(os.path.join(self.folder, part))
        options = f"lowerdir={':'.join(lower)},upperdir={self.folder}/upper,workdir={self.folder}/work"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, self.root], check=True)
        self.write("/etc/machine-id", "")
        self.write("/etc/hostname", f"{name}\n")
        self.write("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n" + rack.names())

    # Power

    def boot(self):
        """Starts it; returns when all its services have started."""
        groups = self.rack.make_cgroups(self.name)
        self.nspawn = Program(
            ["bash", "-c", JOIN, "join", " ".join(groups)]
            + ["systemd-nspawn", "--quiet", "--boot", "--keep-unit", "--register=no", "--console=pipe"]
            + [f"--machine={self.name}", f"--directory={self.root}", f"--network-bridge={self.rack.BRIDGE}"]
            + ["--resolv-conf=off", "--timezone=off", "--link-journal=no", "--kill-signal=SIGRTMIN+3"],
            os.path.join(self.folder, "console.log"),
            dict(os.environ, SYSTEMD_LOG_LEVEL="warning"),
            f"host {self.name}",
        )
        self.nspawn.wait_ready(self._find_leader, 20)
        self.nspawn.wait_ready(lambda: self.run("systemctl", "is-system-running", code=None).strip() in ("running", "degraded"), 60)
        self.run("ip", "address", "add", f"{self.address}/24", "dev", "host0")
        self.run("ip", "link", "set", "host0", "up")
        subprocess.run(["ip", "link", "set", f"vb-{self.name}", "up"], check=True)
        return self

    def _find_leader(self):
        """Its process 1, as seen from here, once that is systemd."""
        # any of them may end while one looks
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            with open(f"/proc/{self.nspawn.pid}/task/{self.nspawn.pid}/children", encoding="ascii") as file:
                children = file.read().split()
            for child in children:
                with open(f"/proc/{child}/comm", encoding="ascii") as file:
                    if file.read() == "systemd\n":
                        self.leader = int(child)
                        return os.path.exists(f"/proc/{child}/root/run/systemd/private")
        return False

    def running(self):
        return self.nspawn is not None and self.nspawn.running()

    def power_off(self):
        """An orderly end."""
        self.nspawn.stop(60)
        self._gone()

    def pull_the_plug(self):
        """Every process ends at once, as with the power."""
        os.kill(self.leader, signal.SIGKILL)
        self.nspawn.wait(20)
        self._gone()

    def _gone(self):
        self.nspawn = self.leader = None
        self.rack.remove_cgroups(self.name)

    def reboot(self):
        self.power_off()
        return self.boot()

    def remove(self):
        """Its end, whatever state it is in."""
        if self.running():
            self.pull_the_plug()
        subprocess.run(["umount", self.root], check=True)
        shutil.rmtree(self.folder)

    # Commands

    def _words(self, words, user=None):
        inside = ["nsenter", "-t", str(self.leader), "-m", "-u", "-i", "-n", "-p", "-C", "-r", "-w", "--"]
        if user:
            inside += ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        return inside + [str(word) for word in words]

    def run(self, *words, code=0, seconds=120, user=None, text=None):
        """
        Runs a command and returns what it printed. It must end with @code, unless that is None; Trouble tells what it
        printed otherwise.
        """
        try:
            done = subprocess.run(
                self._words(words, user), env=ENVIRONMENT, timeout=seconds, input=text or "",
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False,
            )
        except subprocess.TimeoutExpired as late:
            raise Trouble(f"{self.name}: {' '.join(map(str, words))} did not end within {seconds} s: {late.stdout}") from None
        if code is not None and done.returncode != code:
            raise Trouble(f"{self.name}: {' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}")
        return done.stdout

    def code(self, *words, **how):
        """Runs a command and returns its exit code."""
        return subprocess.run(
            self._words(words, **how), env=ENVIRONMENT, timeout=120, stdin=subprocess.DEVNULL, capture_output=True, check=False
        ).returncode

    def start(self, *words, user=None, **environment):
        """Starts a command, as a Program of this machine's; it ends with the host at the latest."""
        log = os.path.join(self.folder, f"{os.path.basename(str(words[0]))}-{len(os.listdir(self.folder))}.log")
        return Program(self._words(words, user), log, dict(ENVIRONMENT, **environment), f"{words[0]} on {self.name}")

    # Files

    def path(self, path):
        """Where a file of the host's is, seen from here."""
        return self.root + path

    def write(self, path, text, mode=0o644):
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        with open(self.path(path), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(path), mode)

    def read(self, path):
        with open(self.path(path), encoding="utf-8", errors="replace") as file:
            return file.read()

    def put(self, source, path):
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        shutil.copy(source, self.path(path))

    def files(self):
        """All of its files, but for those that packages of any kind leave behind."""
        found = self.run("find", "/", "-xdev", "-not", "-path", "/var/tmp/*").splitlines()
        return {path for path in found if not path.startswith(TRACES_OF_APT)}

    # Debian

    def install(self, *packages, recommends=True):
        """
        apt-get install of .deb files of this machine's, and of packages of Debian's. What an administrator changed stays,
        as with unattended-upgrades.
        """
        words = []
        for package in packages:
            if os.path.isabs(package):
                self.put(package, f"/var/tmp/{os.path.basename(package)}")
                package = f"/var/tmp/{os.path.basename(package)}"
            words.append(package)
        options = [] if recommends else ["--no-install-recommends"]
        options += [f"-oDpkg::Options::=--force-{option}" for option in ("confdef", "confold")]
        return self.run("apt-get", "-q", "-y", *options, "install", *words, seconds=300)

    def last_words(self):
        """What its services said, for the report of a test that failed."""
        if not self.running():
            return self.nspawn.log() if self.nspawn else "it is off"
        return super().last_words()

    def page(self, path):
        """An HTTP page of the agent's: its code and text. The host needs no client of its own for it."""
        asked = subprocess.run(
            ["nsenter", "-t", str(self.leader), "-n", "--", "/usr/bin/python3", "-B", "-c", ASK, path],
            capture_output=True, text=True, timeout=30, check=True,
        )
        code, _, text = asked.stdout.partition("\n")
        return int(code), text
