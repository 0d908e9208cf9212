# SPDX-License-Identifier: BSD-2-Clause
"""max-pending is lowered while far more is pending: that is sent as it is, or counted, and nobody is blamed."""

import glob
import os
import signal

import pytest
from expect import key_of
from rig.fakereader import ring_is_full
from rig.load import KEEP, LOAD
from rig.process import wait_until
from test_reload import TAKEN, Reloader

# of 8 KiB each: more than a reader may hand over at a time with the limit that follows, which is LIMIT
SPANS, LIMIT = 4500, 32 * 1024 * 1024 + 2 * 64 * 1024
LOW = "64K"
LATER = 100


def place_size(node):
    """Of the newest place on disk, which has all that was pending."""
    return max(os.path.getsize(path) for path in glob.glob(node.path("state/checkpoint.*")))


def lower(reloader, how):
    node, agent = reloader.node, reloader.agent
    reloader.write(reloader.text.replace("max-pending = 256M", f"max-pending = {LOW}"))
    if how == "restart":
        assert agent.stop() == 0
        node.start_agent_again()
        return
    pid = node.reader_pid()
    if how == "reload":
        agent.send(signal.SIGSTOP)
        node.run([LOAD, "-P", 1, "-n", 10])
        wait_until(lambda: ring_is_full(pid), 40, "a place, which has all that is pending, to be under way")
        agent.send(signal.SIGHUP)
        agent.send(signal.SIGCONT)
    else:
        os.kill(pid, signal.SIGSTOP)
        agent.send(signal.SIGHUP)
    wait_until(lambda: TAKEN in agent.log(), 10, "the reload")
    if how == "killed":
        os.kill(pid, signal.SIGKILL)


@pytest.mark.no_threads("ThreadSanitizer reads this much slowly")
@pytest.mark.parametrize("how", ["reload", "killed", "restart"])
def test_lowered(node, receiver, how):
    reloader = Reloader(
        node,
        receiver.port,
        session=dict(KEEP, memory="128M", disk="1G", reader_memory="1G"),
        spans={"linger": "10min", "grace": "1min", "max_pending": "256M"},
        output={"queue_size": "512M"},
        agent={"stop_timeout": "30s"},
    )
    node.run(["tests/live/programs/flood", "long", SPANS, 2000])
    node.wait_ledger(lambda ledger: ledger.read == SPANS and ledger.pending == SPANS, 60, "all to be pending")
    wait_until(lambda: place_size(node) > LIMIT, 40, "a place that has all that is pending")
    lower(reloader, how)
    wait_until(node.collecting, 30, "the agent to collect")
    node.run([LOAD, "-n", LATER])
    total = SPANS + LATER + (10 if how == "reload" else 0)
    ledger = node.wait_ledger(
        lambda ledger: ledger.read - ledger.again == total and ledger.queued == 0 and ledger.pending < 10,
        60,
        "what was pending to be sent",
    )
    assert (ledger.lost, ledger.packets_lost, ledger.rejected_for("malformed")) == (0, 0, 0)
    # what is pending still comes at the stop
    assert node.collecting()
    status = node.status()
    assert (status["users_left_out"], status["session_error"]) == ([], "")
    assert status["reader_restarts"] == (1 if how == "killed" else 0)
    assert "of user" not in node.agent.log()
    came = receiver.spans()
    floods = {span.trace_id for span in came if span.name == "endless"}
    assert len(set(range(1, SPANS + 1)) - floods) <= ledger.pending + ledger.dropped
    assert {key_of(span)[2] for span in came if span.name != "endless"} == set(range(LATER))
    assert node.agent.stop() == 0
