# SPDX-License-Identifier: BSD-2-Clause
"""The wall clock stepped under a running session: spans before it, and after it, carry their own time."""

import mmap
import struct
import time

import pytest
from expect import key_of
from rig.load import KEEP, LOAD
from rig.process import wait_until

HOUR = 3600 * 10**9
COUNT = 200
CLOSE = 1000  # us: what LTTng's reading of the two clocks, and ours, may differ by


class Clock:
    """The agent's wall clock, and no other's: LTTng, like a real step, leaves the session's offset as it is."""

    def __init__(self, node):
        self.path = node.path("shift")
        with open(self.path, "wb") as file:
            file.write(b"\0" * 4096)
        with open(self.path, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 4096)
        self.environment = {
            "LD_PRELOAD": node.built("tests/live/programs/libshiftclock.so"),
            "SHIFTCLOCK": self.path,
            "ASAN_OPTIONS": "verify_asan_link_order=0",
        }

    def set(self, ns):
        self.page[:8] = struct.pack("=q", ns)


def check_times(receiver, shifts):
    """Each load of COUNT spans carries the time that the program read, shifted."""
    offset = time.time_ns() - time.monotonic_ns()
    spans = receiver.spans()
    assert len(spans) == COUNT * len(shifts)
    by_start = sorted((int(tag.value), span) for span in spans for tag in span.binary_annotations if tag.key == "start")
    for n, (start, span) in enumerate(by_start):
        expected = (start + offset + shifts[n // COUNT]) // 1000
        assert abs(span.timestamp - expected) <= CLOSE, (n, key_of(span), span.timestamp - expected)
        assert span.duration == 100 + key_of(span)[2] % 1000


def record(node, times):
    node.run([LOAD, "-n", COUNT, "-r", 2000])
    node.wait_ledger(lambda ledger: ledger.sent == times * COUNT, 20, f"{times * COUNT} spans")


@pytest.fixture
def clock(node, receiver):
    clock = Clock(node)
    node.write_config(receiver.port, session=KEEP)
    node.start_agent_again(**clock.environment)
    return clock


@pytest.mark.parametrize("hours", [1, -1])
def test_stepped_by_an_hour(node, receiver, clock, hours):
    record(node, 1)
    clock.set(hours * HOUR)
    wait_until(lambda: node.metrics()["blkin_agent_clock_steps_total"] == 1, 5, "the agent to see the step")
    assert f"the wall clock stepped by {hours * 3600}.000 s" in node.agent.log()
    assert 0 <= node.status()["up_seconds"] < 3600
    record(node, 2)
    clock.set(0)
    wait_until(lambda: node.metrics()["blkin_agent_clock_steps_total"] == 2, 5, "the agent to see the step back")
    record(node, 3)
    check_times(receiver, [0, hours * HOUR, 0])


def test_recorded_before_and_read_after(node, receiver, clock):
    """What counts is when an event was recorded, not when it is read."""
    node.agent.stop()
    node.write_config(receiver.port, session=dict(KEEP, live_timer="8s"))
    node.start_agent_again(**clock.environment)
    wait_until(node.collecting, 20, "the new session")
    node.run([LOAD, "-n", COUNT, "-r", 2000])
    time.sleep(1.2)  # a quiet reader looks at the clock once a second, which nothing shows
    clock.set(HOUR)
    wait_until(lambda: node.metrics()["blkin_agent_clock_steps_total"] == 1, 5, "the agent to see the step")
    assert node.ledger().read == 0
    record(node, 2)
    check_times(receiver, [0, HOUR])


def test_over_restarts(node, receiver, clock):
    """Stepped before a restart, and while no agent runs."""
    record(node, 1)
    clock.set(HOUR)
    wait_until(lambda: node.metrics()["blkin_agent_clock_steps_total"] == 1, 5, "the agent to see the step")
    record(node, 2)
    node.agent.stop()
    node.run([LOAD, "-n", COUNT, "-r", 2000])
    node.start_agent_again(**clock.environment)
    record(node, 4)
    node.wait_quiet("state", 0.5)  # the checkpoint has it
    node.agent.kill()
    clock.set(-HOUR)
    node.start_agent_again(**clock.environment)
    record(node, 5)
    assert node.metrics()["blkin_agent_clock_steps_total"] == 2
    check_times(receiver, [0, HOUR, HOUR, HOUR, -HOUR])


def test_less_than_a_millisecond_is_no_step(node, receiver, clock):
    clock.set(900_000)
    record(node, 1)
    assert node.metrics()["blkin_agent_clock_steps_total"] == 0
    check_times(receiver, [0])
