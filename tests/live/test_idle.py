# SPDX-License-Identifier: BSD-2-Clause
"""A node on which nothing happens is left in peace, and yet the first span after that is there within a second."""

import os
import time

import pytest

from rig.load import LOAD
from rig.node import sanitized

COUNT = 80
QUIET = 3  # s without an event, after which the reader looks less often, whether it can watch what relayd writes or not
WITHIN = 3 if sanitized() else 1  # s
DEFAULTS = {"session": {"live_timer": "200ms"}, "output": {"batch_delay": "100ms"}}


def looks(pid):
    """How often the threads of a process have waited for something."""
    count = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/status", encoding="ascii", errors="replace") as file:
            count += sum(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches"))
    return count


def looks_in(pid, seconds):
    before = looks(pid)
    time.sleep(seconds)
    return (looks(pid) - before) / seconds


def deliver_one(node, sent):
    """Records one span; gives the seconds from then on until it is sent."""
    node.run([LOAD, "-n", 1])
    begun = time.monotonic()
    node.wait_ledger(lambda ledger: ledger.sent == sent, 20, "the span to be sent")
    return time.monotonic() - begun


@pytest.mark.parametrize("watched", [True, False], ids=["watched", "unwatched"])
def test_quiet_node(node, receiver, watched):
    """If relayd's files are not where the agent looks for them, it cannot watch them."""
    elsewhere = {} if watched else {"relay_output": os.path.join(node.folder, "elsewhere")}
    node.start_agent(receiver.port, session=DEFAULTS["session"] | elsewhere, output=DEFAULTS["output"])
    took, quiet = [], []
    for sent in range(1, 4):
        took.append(deliver_one(node, sent))
        time.sleep(QUIET + 1)
        quiet.append(looks_in(node.reader_pid(), 4))
    names = {os.readlink(f"/proc/{node.reader_pid()}/fd/{fd}") for fd in os.listdir(f"/proc/{node.reader_pid()}/fd")}
    assert ("anon_inode:inotify" in names) == watched
    load = node.start([node.built(LOAD), "-n", COUNT, "-r", 10])
    node.wait_ledger(lambda ledger: ledger.sent > 5, 20, "spans to come, one by one")
    busy = looks_in(node.reader_pid(), 4)
    assert load.wait(20) == 0
    assert max(quiet) < 0.6 * busy, (quiet, busy)
    # the first one came to a reader that was not yet quiet
    assert min(took[1:]) < WITHIN, took
    receiver.wait_for(3 + COUNT)
    assert len({span.id for span in receiver.spans()}) == len(receiver.spans()) == 3 + COUNT
