# SPDX-License-Identifier: BSD-2-Clause
"""
A program that makes babeltrace2 fail, or grow, under the names of our events: another user's spans arrive all the same, every
one, and the culprit is named.
"""

import os
import re
import shutil
import time

import pytest
from expect import check_load, key_of
from rig.load import KEEP
from rig.memory import allowance, rss_of_all
from rig.node import TOP, sanitized
from rig.process import wait_until
from rig.users import start_as
from test_hostile import GOOD, HOSTILE, RATE

SECONDS = 40

pytestmark = pytest.mark.as_root("only root may run programs as another user")


def high():
    """KiB: MemoryHigh of the agent's unit; beyond it the kernel slows it down."""
    with open(os.path.join(TOP, "systemd/blkin-agent.service.in"), encoding="utf-8") as unit:
        return int(re.search(r"^MemoryHigh=(\d+)M$", unit.read(), re.MULTILINE)[1]) * 1024


def clock(node):
    plugin = shutil.copy(node.built("tests/live/programs/libbackclock.so"), node.path("shared"))
    return start_as(node, HOSTILE, "spanload", "-P", 8, "-n", 10**6, "-r", 100, LTTNG_UST_CLOCK_PLUGIN=plugin)


def sequence(node):
    """As large as a sub-buffer admits: it costs memory, and does no harm."""
    return start_as(node, HOSTILE, "sequences", "span", 510_000)


def layouts(node):
    return start_as(node, HOSTILE, "registrar", "layouts", 20000, 4)


def named(node):
    """Where the culprit's user id stands."""
    status = node.status()
    return re.search(rf"\buser {HOSTILE}\b", status["session_error"])


def told(node):
    """What the agent says, but for a new user who is read for the first time; not babeltrace2's last words."""
    lines = [line for line in node.agent.log().splitlines() if line.startswith("blkin-agent: ")]
    return [line for line in lines if "attaching to the session again" not in line]


@pytest.mark.parametrize("culprit", [clock, sequence, layouts], ids=["clock", "sequence", "layouts"])
def test_others_do_not_notice(node, receiver, culprit):
    node.write_config(receiver.port, session=KEEP)
    # babeltrace2 leaks when it fails
    node.start_agent_again(ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0")
    start_as(node, GOOD, "spanload", "-P", 9, "-n", 1).wait(20)
    node.wait_ledger(lambda ledger: ledger.sent == 1, 20, "a span")
    lines = len(told(node))
    program = culprit(node)
    load = start_as(node, GOOD, "spanload", "-n", RATE * SECONDS, "-r", RATE)
    ready = asked = early = 0
    sizes, was_named = [], False
    while load.running():
        asked += 1
        ready += node.collecting()
        sizes.append(rss_of_all(node.agent))
        early = len(told(node)) - lines if asked <= 100 else early
        was_named |= asked % 20 == 0 and bool(named(node))
        time.sleep(0.25)
    assert load.wait() == 0
    assert program.running()
    said = told(node)[lines:]
    print(f"ready {ready} of {asked}, at most {max(sizes)} KiB, {len(said)} lines:", *said[:40], sep="\n")

    def arrived():
        # where a process that reads was ended, what came twice is the same span
        return {key_of(span): span for span in receiver.spans() if key_of(span)[0] == 0}

    wait_until(lambda: len(arrived()) == RATE * SECONDS, 30, "all the other user's spans")
    check_load(list(arrived().values()), 1, 1, RATE * SECONDS)
    assert ready >= 0.95 * asked
    assert max(sizes) < allowance(high())
    half = len(sizes) // 2
    assert sanitized() or max(sizes[half:]) < 1.25 * max(sizes[:half]) + 1024, "it grows"
    # LTTng itself may give up on a program with so many layouts, before any of them is recorded
    assert was_named == (culprit is not sequence) or (culprit is layouts and not said)
    # how it begins takes a few lines; it goes on quietly. babeltrace2 2.1 ends a process that meets such a clock: another one begins,
    # and again when the culprit, and live reading, are tried again after half a minute
    aborted = any("the process that reads the session was killed" in line for line in said)
    assert not aborted or culprit is clock
    most, later = (16, 8) if aborted else (6, 1)
    assert len(said) <= most and len(said) - early <= later
