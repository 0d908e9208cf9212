# SPDX-License-Identifier: BSD-2-Clause
"""
What one user of a node, without any right that others have not, may do to the tracing of all; and, as faults that are alike,
what may happen to LTTng's daemons and to the agent. Each is begun and mended in the way in which the status says it.
"""

import contextlib
import os
import signal
import struct
import subprocess
import threading
import time

from .dictation import Dictation
from .process import free_port, wait_until
from .proxy import Proxy
from .sections import Sections
from .sender import frame, message, raw
from .users import start_as

SHM = "/dev/shm"
NAMES = 10000
FRAME_HEAD = struct.Struct("!i")
CALL_HEAD = 19  # of a Log() call: version, name, sequence number, and two headers; then the count of entries
DEAD = "type = http\nserver = 127.0.0.1:%d\nspool-size = 16M\n"
# A user's own process, which has no right to read these tests.
SLOW_CALLS = """
import resource, socket, sys, time
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
port, count, pause = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
streams = []
while True:
    while len(streams) < count:
        streams.append(socket.create_connection(("127.0.0.1", port), 5))
        streams[-1].sendall(b"\\0\\0\\2\\0\\x80\\1\\0\\1\\0\\0\\0\\3Log")
    for stream in list(streams):
        try:
            stream.sendall(b"\\0")
        except OSError:
            streams.remove(stream)
    time.sleep(pause)
"""


class Attack:
    """
    @says: the findings of which the status has one within ten seconds; none where nobody's spans stay away. @lasts: for how
    long it goes on at least, in seconds, and not before it is said; then what the status says to do is done.
    """

    says = ()
    lasts = 0.0

    def __init__(self, node, user, rng, intake, unit):
        """@user: the one who does it; @intake: the port of [input], and the way that the agent's calls take; @unit: the
        session daemon's."""
        self.node, self.user, self.rng, self.intake, self.unit = node, user, rng, intake, unit

    def begin(self):
        pass

    def mend(self):
        pass

    def is_healed(self):
        """By the agent itself, so fast that the status may not have said it."""
        return False


class CutOff(Attack):
    """Row 1: the files of ring buffers are made shorter, and the consumer daemon is caught in a fault for ever."""

    says = ("consumer-still", "canary-late")  # the latter while the session is read from files

    def begin(self):
        self.program = start_as(self.node, self.user, "shrink")

    def mend(self):
        self.program.kill()
        self.unit.kill()


class ConsumerStopped(Attack):
    """Row 2."""

    says = ("consumer-hangs",)
    lasts = 25.0

    def begin(self):
        self.consumer = self.node.consumer_pid()
        os.kill(self.consumer, signal.SIGSTOP)

    def mend(self):
        with contextlib.suppress(ProcessLookupError):  # its session daemon may have died
            os.kill(self.consumer, signal.SIGCONT)


class Killed(Attack):
    """Row 3: busy programs are killed, one of them for certain in the middle of an event."""

    says = ("stream-stuck",)

    def begin(self):
        self.replaced = self._replaced()
        for _ in range(8):
            program = start_as(self.node, self.user, "spanload", "-P", 99, "-n", 20000)
            self._kill_within(program, self.rng.uniform(0.02, 0.3))
        cpu = self.rng.choice(sorted(os.sched_getaffinity(0)))
        start_as(self.node, self.user, "halfway", "die", cpu, 5).wait()

    @staticmethod
    def _kill_within(program, seconds):
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.process.wait(seconds)
        program.kill()

    def is_healed(self):
        return self._replaced() > self.replaced

    def _replaced(self):
        return self.node.metrics()["blkin_agent_sessions_replaced_total"]


class Stopped(Killed):
    """Row 3 by a program that lives on, and waits in the middle of an event."""

    def begin(self):
        self.replaced = self._replaced()
        cpu = self.rng.choice(sorted(os.sched_getaffinity(0)))
        self.program = start_as(self.node, self.user, "halfway", "stop", cpu, 5)

    def mend(self):
        self.program.send(signal.SIGCONT)
        self.program.kill()


class DaemonDies(Stopped):
    """
    The session daemon ends by a signal, and is started again by systemd: at any time while there is a stopped program, of which
    the session is replaced. Nobody does it on purpose; LTTng 2.13.9's does it by itself, once in an hour of these attacks
    (an assertion in lttng_ht_destroy, as a session is destroyed).
    """

    lasts = 14.0

    def begin(self):
        super().begin()
        number = self.rng.choice([signal.SIGABRT, signal.SIGKILL])
        self.end = threading.Timer(self.rng.uniform(0, self.lasts), self._die, [number])
        self.end.start()

    def _die(self, number):
        self.node.sessiond.send(number)

    def mend(self):
        self.end.join()
        super().mend()


class MemoryFull(Attack):
    """Row 4: /dev/shm is filled, and stays full whatever else goes away; a user's first program starts, whose buffers find no room."""

    says = ("shm-full",)
    lasts = 12.0
    users = 5000  # none of these has any buffers yet

    def begin(self):
        self.path, self.over = f"{SHM}/filled", threading.Event()
        self._fill()
        self.filler = threading.Thread(target=self._keep_full)
        self.filler.start()
        MemoryFull.users += 1
        self.program = start_as(self.node, MemoryFull.users, "spanload", "-P", 98, "-n", 10**6, "-r", 100, "-w", 5)

    def _fill(self):
        with open(self.path, "ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(1 << 20))

    def _keep_full(self):
        while not self.over.wait(0.2):
            self._fill()

    def mend(self):
        self.over.set()
        self.filler.join()
        os.unlink(self.path)
        self.program.kill()


class ManyNames(Attack):
    """Row 5: ten thousand names, and some for which there is no room any more."""

    says = ("names-full",)

    def begin(self):
        with Dictation(self.node, self.user) as load:
            load.say([("crowd", f"{self.rng.random()} {n}", 10, False) for n in range(NAMES + 500)])


class SlowCalls(Attack):
    """Row 6: connections in the middle of a call, a byte every two seconds."""

    lasts = 20.0
    count = 300

    def begin(self):
        port, _ = self.intake
        become = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"]
        words = ["/usr/bin/python3", "-c", SLOW_CALLS, port, self.count, 2]
        self.program = self.node.start(become + words, name="slowcalls", HOME="/")

    def mend(self):
        self.program.kill()


class Forged(Attack):
    """Row 7: a call that has come by way of this agent, as far as it says."""

    lasts = 5.0

    def begin(self):
        port, tap = self.intake
        text = message(97, 0, self.rng.randrange(1 << 30)).encode()
        entry = b"\x0b\0\1\0\0\0\6zipkin\x0b\0\2" + FRAME_HEAD.pack(len(text)) + text + b"\0"
        with contextlib.closing(raw(port, frame(tap.call(entry)))) as stream:
            stream.recv(4096)


class KilledAfterReload(Attack):
    """Row 8: kill -9 of the agent right after a reload, with an output that nobody serves."""

    name = "output dead"
    second = 600  # events, of all that are recorded

    def begin(self):
        node = self.node
        sections = Sections(node)
        sections.keys[self.name] = DEAD % free_port()
        sections.hang_up()
        before, more = node.ledger().read, self.rng.randrange(1, self.second)
        wait_until(lambda: node.ledger().read >= before + more, 20, "some spans to be read")
        node.agent.kill()
        start_agent(node)

    def mend(self):
        node = self.node
        node.agent.wait_ready(node.collecting, 60)
        sections = Sections(node)
        del sections.keys[self.name]
        sections.hang_up()
        discard = [node.built("cli/blkin"), "spool", "discard", "--output", "dead", "--yes", "--config", node.path("agent.conf")]

        def is_discarded():  # not while the output still ends
            return subprocess.run(discard, env=node.environment, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0

        wait_until(is_discarded, 30, "the spool of the output to be given up")


def start_agent(node, **environment):
    """babeltrace2 leaks when it fails."""
    node.start_agent_again(wait=False, ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0", **environment)


class Tap(Proxy):
    """The way to a collector by Scribe, on which a call is overheard, of each connection the first."""

    def __init__(self, server):
        super().__init__(server)
        self.heard = {}
        self.last = b""
        self.guard = threading.Lock()

    def forward(self, data, one, other):
        with self.guard:
            so_far = self.heard.setdefault(one, b"")
            if so_far is not None:
                self._hear(one, so_far + data)
        other.sendall(data)

    def _hear(self, one, data):
        size = FRAME_HEAD.unpack_from(data)[0] if len(data) >= FRAME_HEAD.size else 1 << 30
        self.heard[one] = data
        if data[4:6] != b"\x80\1" or len(data) >= FRAME_HEAD.size + size:
            self.heard[one] = None
            if data[4:6] == b"\x80\1":
                self.last = data[FRAME_HEAD.size : FRAME_HEAD.size + size]

    def call(self, entry):
        """The last one, with one entry in the place of its own."""
        call, at = self.last, CALL_HEAD + 4
        (count,) = struct.unpack_from("!i", call, CALL_HEAD)
        for _ in range(count):
            for _ in range(2):
                at += 7 + FRAME_HEAD.unpack_from(call, at + 3)[0]
            at += 1
        return call[:CALL_HEAD] + FRAME_HEAD.pack(1) + entry + call[at:]


ATTACKS = {
    "1": CutOff,
    "2": ConsumerStopped,
    "3": Killed,
    "3b": Stopped,
    "4": MemoryFull,
    "5": ManyNames,
    "6": SlowCalls,
    "7": Forged,
    "8": KilledAfterReload,
    "s": DaemonDies,
}
