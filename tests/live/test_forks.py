# SPDX-License-Identifier: BSD-2-Clause
"""What a session daemon that hangs costs the children of a program that forks: no more than LTTng alone."""

import re
import signal
import time

import pytest
from rig.load import LOAD
from rig.process import wait_until

CHILDREN = 10
EACH = 0.2  # s that a child waits for the daemon; see libclient/registering.c
FEW = 0.75 * CHILDREN * EACH  # s: some wait, as on a busy machine it is time to find out again, but not all
ROUNDS = 200  # more than there is time for
PRELOADED = {"LD_PRELOAD": "liblttng-ust-fork.so.1", "ASAN_OPTIONS": "verify_asan_link_order=0"}


class Forks:
    """A program that forks when told, as often as @rounds."""

    def __init__(self, node, name, rounds=1, **environment):
        self.files = [node.path(f"{name}-{number}") for number in range(rounds)]
        command = [node.built(f"tests/live/programs/{name}"), CHILDREN, *self.files]
        self.program = node.start(command, **environment)
        self.program.wait_ready(lambda: "ready" in self.program.log())
        self.told = 0

    def results(self):
        return re.findall(r"^(\d+) (\d+)$", self.program.log(), re.MULTILINE)

    def fork(self):
        """How long its children took, in seconds: all of them, and the slowest."""
        with open(self.files[self.told], "w", encoding="utf-8"):
            self.told += 1
        wait_until(lambda: len(self.results()) == self.told, 60, "the children")
        return [int(number) / 1e6 for number in self.results()[-1]]


def now():
    """As spans have it, in µs."""
    return time.time_ns() // 1000


def recorded(receiver, since):
    """How many spans came that our program's children recorded since then. Those of the other program are of trace 1."""
    return sum(span.name == "child" and span.trace_id != 1 and span.timestamp >= since for span in receiver.spans())


def all_record(node, receiver, forks):
    """Whether all children of one more round do: what was recorded later, by a program that waits for the daemon, has come, too."""
    began, markers = now(), sum(span.name != "child" for span in receiver.spans())
    took = forks.fork()
    node.run([LOAD, "-n", 1])
    wait_until(lambda: sum(span.name != "child" for span in receiver.spans()) > markers, 30, "a span that was recorded later")
    count = recorded(receiver, began)
    print(f"and now {took}, {count} recorded")
    return count == CHILDREN


@pytest.mark.parametrize("environment", [{}, PRELOADED], ids=["alone", "with LTTng's preload"])
def test_daemon_that_hangs(node, receiver, environment):
    """It hangs after the programs have started, when nobody knows it yet."""
    node.start_agent(receiver.port)
    plain, ours = Forks(node, "forks_plain"), Forks(node, "forks", ROUNDS, **environment)
    node.sessiond.send(signal.SIGSTOP)
    try:
        expected, first, second = plain.fork(), ours.fork(), ours.fork()
    finally:
        node.sessiond.send(signal.SIGCONT)
    print(f"LTTng alone {expected}, ours at first {first}, then {second}")
    # one of them finds out for all; on a slow machine, the next ones are there when it is time to find out again
    assert first[0] <= expected[0] + FEW
    assert second[0] <= expected[0] + FEW
    back = now()
    # once the daemon is back, and it is time to find that out, all wait for it, and all is recorded; nothing was of those before
    wait_until(lambda: all_record(node, receiver, ours), 20, "all children to wait", 0.5)
    assert recorded(receiver, 0) == recorded(receiver, back)


def test_daemon_that_answers(node, receiver):
    """Each child's first span is recorded: it waits until LTTng has registered it."""
    node.start_agent(receiver.port)
    print(Forks(node, "forks").fork())
    receiver.wait_for(CHILDREN)
    assert len(receiver.spans()) == CHILDREN


def test_wait_that_is_set(node, receiver):
    """Whoever sets how long programs wait for the daemon gets that for their children, too."""
    node.start_agent(receiver.port)
    ours = Forks(node, "forks", LTTNG_UST_REGISTER_TIMEOUT="400")
    node.sessiond.send(signal.SIGSTOP)
    try:
        took = ours.fork()
    finally:
        node.sessiond.send(signal.SIGCONT)
    assert took[0] >= CHILDREN * 0.4
