# SPDX-License-Identifier: BSD-2-Clause
"""A machine with a kernel of its own, which qemu emulates: what tests/kernel/prepare has made, booted."""

import os
import shlex
import signal
import subprocess

from rig.booted import ASK, Booted
from rig.process import Program, Trouble, free_port

# The clock that real machines have; an emulated one is taken for unreliable otherwise.
WORDS = ["root=/dev/vda", "rw", "console=ttyS0", "quiet", "panic=-1", "mitigations=off", "tsc=reliable", "clocksource=tsc"]
BOOT = 300  # seconds, at the most: every instruction is translated where the processor cannot help
COUNTED = ["-accel", "tcg,thread=single", "-icount", "shift=0", "-cpu", "max", "-smp", "1"]


class Machine(Booted):
    """
    Its disk is @prepared's, and whatever it writes is gone with its power. @folder is for what runs it. If it is @counted, each
    instruction takes it a nanosecond: its time is the number of instructions, but for that in which it has nothing to do.
    """

    name = "kernel"

    def __init__(self, prepared, folder, counted=False):
        self.prepared = prepared
        self.folder = folder
        self.processor = COUNTED if counted else [*accelerator(), "-smp", "2"]
        self.qemu = None
        self.port = free_port()
        if not os.path.exists(os.path.join(prepared, "disk")):
            raise Trouble(f"nothing is prepared in {prepared}: run tests/kernel/prepare {prepared}")

    # Power

    def boot(self, *words):
        """Starts it; @words are for the kernel. Returns when its services have started."""
        disk = os.path.join(self.prepared, "disk")
        self.qemu = Program(
            ["nice", "-n", "10", "qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
            + [*self.processor, "-machine", "q35", "-m", "1536"]
            + ["-kernel", os.path.join(self.prepared, "vmlinuz"), "-initrd", os.path.join(self.prepared, "initrd")]
            + ["-append", " ".join(WORDS + list(words))]
            + ["-drive", f"file={disk},format=raw,if=virtio,cache=unsafe,snapshot=on", "-device", "virtio-rng-pci"]
            + ["-nic", f"user,model=virtio-net-pci,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:22"]
            + ["-serial", "file:" + os.path.join(self.folder, "console.log")],
            os.path.join(self.folder, "qemu.log"),
            dict(os.environ, TMPDIR=self.folder),
            "qemu",
        )
        self.qemu.wait_ready(self._open, BOOT)
        self.run("systemctl", "is-system-running", "--wait", code=None, seconds=BOOT)
        return self

    def running(self):
        return self.qemu is not None and self.qemu.running()

    def pull_the_plug(self):
        if self.running():
            os.kill(self.qemu.pid, signal.SIGKILL)
            self.qemu.wait(20)

    def last_words(self):
        if self.running():
            return super().last_words()
        with open(os.path.join(self.folder, "console.log"), encoding="utf-8", errors="replace") as file:
            return file.read()[-4000:]

    # Commands

    def _ssh(self, *options):
        return [
            "ssh", "-q", "-p", str(self.port), "-i", os.path.join(self.prepared, "key"), "-S", os.path.join(self.folder, "door"),
            *(f"-o{option}" for option in ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "ConnectTimeout=60", "BatchMode=yes")),
            *options, "root@127.0.0.1",
        ]  # fmt: skip

    def _open(self):
        """One connection for all commands, as each would take a second to make."""
        try:
            return subprocess.run(self._ssh("-f", "-N", "-M"), stdin=subprocess.DEVNULL, timeout=90, check=False).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def _do(self, words, seconds, **how):
        said = " ".join(map(str, words))
        try:
            done = subprocess.run(
                self._ssh() + [shlex.join(map(str, words))], timeout=seconds, check=False, stdout=subprocess.PIPE, **how)
        except subprocess.TimeoutExpired as late:
            raise Trouble(f"{said} did not end within {seconds} s: {late.stdout}") from None
        return done, said

    def run(self, *words, code=0, seconds=120, text=""):
        """Runs a command and returns what it printed. It must end with @code, unless that is None."""
        done, said = self._do(words, seconds, stderr=subprocess.STDOUT, input=text, encoding="utf-8", errors="replace")
        if code is not None and done.returncode != code:
            raise Trouble(f"{said} ended with {done.returncode}:\n{done.stdout}")
        return done.stdout

    def shell(self, script, **how):
        return self.run("bash", "-ec", script, **how)

    def read(self, path):
        return self.run("cat", path)

    def write(self, path, text):
        self.shell(f"mkdir -p {os.path.dirname(path)}; cat >{path}", text=text)

    def get(self, path, folder):
        """Copies a folder of the machine's here, into @folder."""
        done, said = self._do(["tar", "-C", path, "--warning=no-file-changed", "-cf", "-", "."], 300)
        if done.returncode not in (0, 1):  # 1: a file grew
            raise Trouble(f"{said} ended with {done.returncode}")
        os.makedirs(folder)
        subprocess.run(["tar", "-C", folder, "-xf", "-"], input=done.stdout, check=True)
        return folder

    def page(self, path):
        code, _, text = self.run("python3", "-c", ASK, path).partition("\n")
        return int(code), text


def accelerator():
    """
    Whether the processor can run the machine itself. Debian 12's qemu (7.2) has been seen to emulate a processor that never came out of
    an instruction which another one was changing, as the kernel does when system calls begin to be recorded: its journal then says "soft
    lockup", of lttng-consumerd. Debian 13's (10.0) has not.
    """
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        can = {"vmx", "svm"} & set(file.read().split())
    if can and os.access("/dev/kvm", os.R_OK | os.W_OK):
        return ["-accel", "kvm", "-cpu", "host"]
    return ["-accel", "tcg,thread=multi", "-cpu", "max"]
