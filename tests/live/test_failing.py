# SPDX-License-Identifier: BSD-2-Clause
"""Each call that the delivery path makes of the system fails once, one after the other: no crash, no hang, no silent loss.

The path is run alone (programs/delivery.c), with programs/failing.c preloaded, against a collector in this process. A
run without a fault counts the calls of each kind; then each of them fails in a run of its own. BLKIN_FAILING says how
many of each kind are tried, evenly spread: `all`, or a number.
"""

import base64
import errno
import os
import signal
import socket
import struct
import subprocess
import threading

import pytest
from rig.node import build_dir
from rig.process import Inexact, exactly, free_port

SECONDS = 40  # for a run, which takes well below one without a fault
ERRORS = {
    "open": [errno.EMFILE, errno.ENOSPC],
    "read": [errno.EIO, 0],
    "write": [errno.ENOSPC, errno.EIO, 0],
    "sync": [errno.EIO],
    "connect": [errno.ECONNREFUSED, errno.ENETUNREACH],
    "send": [errno.EPIPE, errno.ECONNRESET, 0],
    "recv": [errno.ECONNRESET, 0],
    "malloc": [errno.ENOMEM],
}
FIRST, SECOND, THIRD = (0, 100), (100, 400), (400, 500)  # spans before, during and after the collector's absence


class Collector:
    """A Scribe server that can go and come back at once; it knows what it acknowledged."""

    def __init__(self):
        self.port = free_port()
        self.taken = []  # the messages, base64 removed
        self.listener = None
        self.streams = []
        self.lock = threading.Lock()

    def come(self):
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def go(self):
        with self.lock:
            for gone in [self.listener] + self.streams:
                # a close alone leaves a thread that waits in accept or recv on it
                try:
                    gone.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                gone.close()
            self.streams = []

    def accept(self, listener):
        while True:
            try:
                stream = listener.accept()[0]
            except OSError:
                return
            with self.lock:
                self.streams.append(stream)
            threading.Thread(target=self.serve, args=(stream,), daemon=True).start()

    def serve(self, stream):
        file = stream.makefile("rb")
        try:
            while True:
                head = file.read(4)
                call = file.read(struct.unpack("!i", head)[0]) if len(head) == 4 else b""
                if not call:
                    return
                # version and type, name, sequence number; then the list of the only argument
                seqid, count = call[11:15], struct.unpack("!i", call[19:23])[0]
                with self.lock:
                    self.taken += entries(call, 23, count)
                answer = b"\x80\x01\x00\x02\x00\x00\x00\x03Log" + seqid + b"\x08\x00\x00\x00\x00\x00\x00\x00"
                stream.sendall(struct.pack("!i", len(answer)) + answer)
        except OSError:
            pass


def entries(call, at, count):
    """The messages of @count LogEntry structs of category `zipkin`."""
    found = []
    for _ in range(count):
        assert call[at : at + 13] == b"\x0b\x00\x01\x00\x00\x00\x06zipkin" and call[at + 13 : at + 16] == b"\x0b\x00\x02"
        size = struct.unpack("!i", call[at + 16 : at + 20])[0]
        found.append(base64.b64decode(call[at + 20 : at + 20 + size], validate=True))
        at += 20 + size + 1
    return found


class Delivery:
    """The program: its commands, and its end."""

    def __init__(self, port, directory, **environment):
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", os.path.join(build_dir(), "tests/live/programs/delivery")]
            + [f"127.0.0.1:{port}", directory],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # a sanitizer wants to be first, and is not
            env=dict(os.environ, ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0", **environment),
        )
        self.timer = threading.Timer(SECONDS, self.process.kill)
        self.timer.start()

    def tell(self, command):
        """Its answer; GLib, when it gets no memory, says so in between."""
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return ""
        while True:
            line = self.process.stdout.readline()
            if line.startswith(("good", "bad", "made")) or not line:
                return line.strip()

    def end(self):
        """The ledger's rows by name."""
        words = self.tell("end").split()
        errors = self.process.stderr.read()
        code = self.process.wait()
        self.timer.cancel()
        exactly(code in (0, -signal.SIGKILL), f"ended with {code}: {errors}")
        assert code == 0, f"it did not end within {SECONDS} s"
        return {name: int(amount) for name, amount in zip(words[::2], words[1::2])}


def scenario(collector, directory, **environment):
    """Up, away, and up again; returns the ledger at the end."""
    delivery = Delivery(collector.port, directory, **environment)
    try:
        if not delivery.tell("push %d %d" % FIRST):
            # something that it needs to start is missing: it says so, and its supervisor restarts it
            errors = delivery.process.stderr.read()
            assert (delivery.process.wait(), errors.count("\n")) == (1, 1), errors
            return None
        assert delivery.tell("rest") == "good"
        collector.go()
        delivery.tell("push %d %d" % SECOND)
        assert delivery.tell("rest") == "good", "not on disk"
        collector.come()
        delivery.tell("push %d %d" % THIRD)
        assert delivery.tell("empty") == "good", "not delivered"
        return delivery.end()
    finally:
        delivery.timer.cancel()
        delivery.process.kill()
        delivery.process.communicate()


def check(collector, directory, **environment):
    """Runs it with a fault, then once more without, for what may have been left on disk; each span is accounted for."""
    collector.taken.clear()
    ledger = scenario(collector, directory, **environment)
    if not ledger:
        return None
    exactly(ledger["made"] == THIRD[1], str(ledger))
    dropped = sum(ledger[row] for row in ("queue_full", "refused", "spool_full", "corrupt", "shutdown"))
    settled = ledger["queued"] + ledger["spooled"] + ledger["sent"] + dropped
    exactly(ledger["made"] + ledger["recovered"] == settled, str(ledger))
    if ledger["spooled"]:
        delivery = Delivery(collector.port, directory)
        assert delivery.tell("empty") == "good"
        rest = delivery.end()
        exactly(rest["recovered"] == ledger["spooled"] == rest["sent"], f"{ledger}, then {rest}")
    names = [f"span {n}".encode() for n in range(THIRD[1])]
    taken = set(collector.taken)
    exactly(taken <= set(names), f"{taken - set(names)}")
    exactly(len(names) - len(taken) == dropped, f"{len(names) - len(taken)} spans are missing, {dropped} are counted")
    return ledger


@pytest.fixture
def collector():
    made = Collector()
    made.come()
    yield made
    made.go()


def count_calls(collector, tmp_path, preload):
    counts = tmp_path / "counts"
    os.mkdir(tmp_path / "dry")
    ledger = check(collector, str(tmp_path / "dry"), LD_PRELOAD=preload, BLKIN_FAIL_COUNTS=str(counts))
    assert ledger["sent"] == THIRD[1]
    return {kind: int(count) for kind, count in (line.split() for line in counts.read_text().splitlines())}


@pytest.mark.parametrize("kind", ERRORS)
def test_each_call_fails_once(collector, tmp_path, kind):
    preload = os.path.join(build_dir(), "tests/live/programs/libfailing.so")
    calls = count_calls(collector, tmp_path, preload)[kind]
    assert calls > 0
    wanted = os.environ.get("BLKIN_FAILING", "2")
    numbers = range(1, calls + 1)
    if wanted != "all" and int(wanted) < calls:
        numbers = sorted({1 + n * (calls - 1) // (int(wanted) - 1) for n in range(int(wanted))})
    failed, exact = [], True
    for number in numbers:
        for error in ERRORS[kind]:
            directory = tmp_path / f"{number}-{error}"
            os.mkdir(directory)
            try:
                check(collector, str(directory), LD_PRELOAD=preload, BLKIN_FAIL=f"{kind}:{number}:{error}")
            except AssertionError as problem:
                failed.append(f"{kind} number {number} of {calls}, error {error}: {problem}")
                exact = exact and not isinstance(problem, Inexact)
                collector.go()
                collector.come()
    exactly(exact, "\n".join(failed))
    assert not failed, "\n".join(failed)
