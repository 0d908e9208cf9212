# SPDX-License-Identifier: BSD-2-Clause
"""Programs: started in the foreground as children, with a log file each, stopped by their process id."""

import contextlib
import fcntl
import glob
import os
import random
import re
import signal
import socket
import subprocess
import time

# Servers that are started for each test: what they have compiled would not last for long.
JAVA = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
# A command behind it, also root's, may read only what its user may.
NO_OVERRIDE = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]
SANITIZER = re.compile(r"(ERROR|WARNING|FATAL): \w+Sanitizer|runtime error:|\w+Sanitizer: failed to read")
# babeltrace2 2.1 cannot stand a stream that comes before its trace's metadata; another reader takes over
NO_METADATA = re.compile(
    r"ERROR: AddressSanitizer: SEGV (?:(?!ERROR: ).)*SUMMARY: AddressSanitizer: SEGV \([^)]*/libbabeltrace2[^)]*\)[^\n]*"
    r" in bt_trace_class_borrow_stream_class_by_index",
    re.DOTALL,
)
# What babeltrace2 keeps when another user's streams come, now and then: GLib keeps no frame pointers, so that a stack which is
# walked quickly ends there, and names nobody. WHOLE_STACKS (node.py) and the unit tests tell whose a leak is.
CUT_LEAKS = re.compile(
    r"ERROR: LeakSanitizer: detected memory leaks\n\n"
    r"(?:(?:Direct|Indirect) leak of [^\n]*\n    #0 [^\n]*\n(?:    #\d+ [^\n]*/libglib-2\.0\.so[^\n]*\n)+\n)+"
    r"SUMMARY: AddressSanitizer: [^\n]*"
)

# SIGTRAP is how GLib ends a program.
CRASHES = tuple(
    -number
    for number in (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV, signal.SIGSYS, signal.SIGTRAP)
)


def slowness():
    """How many times slower than usual a program is just now, as processors are slow, or others use them, too."""
    begun = time.monotonic()
    for _ in range(2_000_000):
        pass
    return max(1, min(3, (time.monotonic() - begun) / 0.08))


def crowding():
    """How many times longer work takes at this moment than on a machine that does nothing else: others have its processors."""
    wall, cpu = time.monotonic(), time.thread_time()
    while time.thread_time() - cpu < 0.005:
        pass
    return (time.monotonic() - wall) / (time.thread_time() - cpu)


SLOW = float(os.environ.get("BLKIN_SLOW", "1"))  # how many times slower than usual programs are made
PATIENCE = SLOW if SLOW > 1 else slowness()  # how many times longer than usual to wait for what has to come


class Trouble(Exception):
    """Something that a user can read: one sentence."""


class Inexact(AssertionError):
    """
    Spans that are missing, came twice or are in no row of the ledger, or a program that a sanitizer complains of, that crashed or
    hung: such a failure gets no second try (tests/again).
    """


def exactly(true, what):
    """For counts and ids, which do not depend on how fast the machine is."""
    if not true:
        raise Inexact(what)


def wait_until(condition, seconds, what, step=0.05, promised=False):
    """
    Returns the first true value of condition(), asked each @step seconds, and sooner at first; Trouble after @seconds, or
    more where BLKIN_SLOW says so, or the machine is slow. Where so many seconds are @promised to users, it is only more where other
    programs have the processors meanwhile. What takes long to ask, as `blkin status` does, is asked less often: it would keep a
    processor busy that what is waited for needs.
    """
    begun, crowded = time.monotonic(), [1]
    seconds *= SLOW if promised else PATIENCE
    deadline = begun + seconds
    pause = min(step, 0.01)
    while True:
        asked = time.monotonic()
        value = condition()
        if value:
            return value
        if promised:
            crowded.append(crowding())
            deadline = begun + seconds * sum(crowded) / len(crowded)
        now = time.monotonic()
        if now > deadline:
            raise Trouble(f"waited {now - begun:.1f} s in vain for {what}")
        time.sleep(max(pause, min(2 * (now - asked), 0.3)) if step else 0)
        pause = min(2 * pause, step)


def thread_states(pid):
    """As in /proc: {"T"} once a process is stopped."""
    states = set()
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            states.add(file.read().rpartition(")")[2].split()[0])
    return states


@contextlib.contextmanager
def stopped(pid):
    """A process is stopped, and goes on if it still is there."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


_given = set()


def free_port():
    """
    A port below those that the kernel gives to outgoing connections, so that none of these takes it; and none that was
    given before, as nobody may listen there yet.
    """
    while True:
        port = random.SystemRandom().randrange(12000, 32000)
        with contextlib.closing(socket.socket()) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in _given:
            _given.add(port)
            return port


def answers(address):
    """Whether something listens at @address: a path, a port on loopback, or an address and a port."""
    local = isinstance(address, str)
    address = ("127.0.0.1", address) if isinstance(address, int) else address
    with contextlib.closing(socket.socket(socket.AF_UNIX if local else socket.AF_INET)) as probe:
        probe.settimeout(1)
        return probe.connect_ex(address) == 0


def is_unlocked(path):
    """Whether no process holds a lock on the file."""
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def child_of(parent, name):
    """The process of this name that a process has as its child, or None."""
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError):
            with open(path, encoding="ascii", errors="replace") as file:
                pid, rest = file.read().split(" (", 1)
            found, rest = rest.rsplit(") ", 1)
            if found == name and int(rest.split()[1]) == parent and rest[0] != "Z":
                return int(pid)
    return None


def reader_of(agent):
    """The process that reads the session for an agent, or None."""
    return child_of(agent, "blkin-reader")


class Program:
    """A running program. It dies with the thread that started it: start programs in the main thread."""

    def __init__(self, command, log, environment, name=None):
        self.command = [str(word) for word in command]
        self.name = name or os.path.basename(self.command[0])
        self.sent = set()  # signals
        self.log_path = log
        with open(log, "ab") as output:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL"] + self.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
            )

    @property
    def pid(self):
        return self.process.pid

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def running(self):
        return self.process.poll() is None

    def expect_running(self):
        if not self.running():
            raise Trouble(f"{self.name} ended with code {self.process.returncode}:\n{self.log()}")
        return True

    def wait_ready(self, ready, seconds=30):
        wait_until(lambda: self.expect_running() and ready(), seconds, f"{self.name} to be ready")
        return self

    def send(self, number):
        if self.running():
            self.sent.add(number)
            self.process.send_signal(number)

    def suspend(self):
        """SIGSTOP. One thread takes the signal, when it has a CPU; until then, the others run on: waits for all of them."""
        self.send(signal.SIGSTOP)
        wait_until(lambda: not self.running() or thread_states(self.process.pid) == {"T"}, 10, f"{self.name} to stop")

    def wait(self, seconds=60):
        seconds *= PATIENCE
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Trouble(f"{self.name} did not end within {seconds} s:\n{self.log()}") from None

    def stop(self, seconds=30):
        """Asks the program to end and returns its exit code; kills it if it does not."""
        self.send(signal.SIGTERM)
        try:
            return self.wait(seconds)
        finally:
            self.kill()

    def kill(self):
        """Ends the program at once, as a crash would."""
        self.send(signal.SIGKILL)
        return self.process.wait()

    def crashed(self):
        """Whether it has ended by a signal of CRASHES that nobody here sent."""
        code = self.process.returncode
        return code in CRASHES and -code not in self.sent

    def complaints(self):
        """What a sanitizer found in it, or an empty text."""
        log = CUT_LEAKS.sub("", NO_METADATA.sub("", self.log()))
        found = SANITIZER.search(log)
        return log[found.start() :] if found else ""
