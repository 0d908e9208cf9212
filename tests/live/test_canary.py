# SPDX-License-Identifier: BSD-2-Clause
"""
The canary: an event of the agent's own that comes back through LTTng every few seconds. It is no program's event, and when it
stays away, that is known also where nobody records anything.
"""

import os
import shutil
import signal

import pytest
from rig.load import KEEP as AS_KEPT
from rig.load import LOAD
from rig.node import build_dir
from rig.process import child_of, stopped, wait_until
from test_doctor import status, unwrapped

SPANS = 2000

KEEP = dict(AS_KEPT, canary="yes")


def canary_pid(node):
    return child_of(node.agent.pid, "blkin-canary")


def state(node):
    return node.status()["canary"]["state"]


def comes_back(node, times=1):
    wait_until(lambda: node.status()["events"]["canary"] >= times and state(node) == "well", 30, "the canary to come back")


def lag(node):
    return node.metrics().get("blkin_agent_canary_lag_seconds")


def test_comes_back(node, receiver):
    """It is counted apart, and delivered nowhere; and no program is there, as before."""
    node.start_agent(receiver.port, session=KEEP)
    comes_back(node, 2)
    told = node.status()
    assert (told["programs"], told["events"]["read"], told["last_event_seconds"]) == (0, 0, None)
    assert [finding["code"] for finding in told["findings"]] == ["no-program"]
    assert 0 <= told["canary"]["lag_seconds"] <= 5 and 0 <= lag(node) <= 5
    text = unwrapped(status(node, "--socket", node.socket)[1])
    assert " canary back after " in text, text
    ledger = node.ledger()
    ledger.check()
    assert (ledger.read, ledger.spans, ledger.packets_lost, receiver.spans()) == (0, 0, 0, [])


def test_beside_programs(node, receiver):
    """What programs record is counted as before, over a restart and a kill of the agent, too."""
    node.start_agent(receiver.port, session=dict(KEEP), events={"names": "blkin_canary:*"})
    comes_back(node)
    for number in range(3):
        assert node.start([node.built(LOAD), "-P", number, "-n", SPANS]).wait(30) == 0
        node.wait_ledger(lambda ledger: ledger.sent == SPANS * (number + 1), 30, "all spans")
        before = node.status()["events"]["canary"] + 1
        if number == 0:
            assert node.agent.stop() == 0
        else:
            comes_back(node, before)  # the spans are checkpointed by then
            before = node.status()["events"]["canary"] + 1
            node.agent.kill()
        node.start_agent_again()
        comes_back(node, before)
    ledger = node.ledger()
    ledger.check()
    assert (ledger.in_spans, ledger.made, ledger.again, ledger.rejected, ledger.json) == (3 * SPANS, 3 * SPANS, 0, 0, 0)
    assert len(receiver.spans()) == 3 * SPANS


def test_slow_timer(node, receiver):
    """An event waits for its turn, and is not late for that."""
    node.start_agent(receiver.port, session=dict(KEEP, live_timer="12s"))

    def is_back():
        assert state(node) in ("starts", "well")
        return node.status()["events"]["canary"] >= 2

    wait_until(is_back, 60, "the canary to come back", 0.3)
    assert node.metrics()["blkin_agent_canary_lag_limit_seconds"] == 34


def test_ends_with_the_agent(node, receiver):
    """Also with one that is killed: by its socket, not by a signal, which may meet it in the middle of an event."""
    node.start_agent(receiver.port, session=KEEP)
    comes_back(node)
    pid = canary_pid(node)
    node.agent.kill()
    wait_until(lambda: not os.path.exists(f"/proc/{pid}"), 10, "the canary to end")
    node.start_agent_again()
    comes_back(node)
    pid = canary_pid(node)
    assert node.agent.stop() == 0
    assert not os.path.exists(f"/proc/{pid}")


def test_is_killed(node, receiver):
    """The status says so, and nothing else is the worse for it."""
    node.start_agent(receiver.port, session=KEEP)
    comes_back(node)
    os.kill(canary_pid(node), signal.SIGKILL)
    wait_until(lambda: state(node) == "missing", 10, "the status to say so")
    assert "signal 9" in node.status()["canary"]["error"] and node.collecting()
    assert node.start([node.built(LOAD), "-P", 1, "-n", SPANS]).wait(30) == 0
    node.wait_ledger(lambda ledger: ledger.sent == SPANS, 30, "all spans")
    assert node.agent.log().count("no event of the agent's own") == 1


def test_off(node, receiver):
    node.start_agent(receiver.port, session=AS_KEPT)
    assert node.start([node.built(LOAD), "-P", 1, "-n", SPANS]).wait(30) == 0
    node.wait_ledger(lambda ledger: ledger.sent == SPANS, 30, "all spans")
    assert (state(node), canary_pid(node), lag(node)) == ("off", None, None)
    assert "canary" not in status(node, "--socket", node.socket)[1]


def test_cannot_be_had(node, receiver):
    """Neither beside the agent nor where it is installed: the status says so quietly, and all else is as ever."""
    folder = node.path("bin")
    os.mkdir(folder)
    for name in ("blkin-agent", "blkin-reader"):
        shutil.copy(os.path.join(build_dir(), "agent", name), folder)
    node.write_config(receiver.port, session=KEEP)
    node.agent = node.start([f"{folder}/blkin-agent", "-c", node.path("agent.conf")], **node.leak_environment)
    node.agent.wait_ready(node.collecting)
    wait_until(lambda: state(node) == "missing", 20, "the status to say so")
    assert "cannot be started" in unwrapped(status(node, "--socket", node.socket)[1])
    assert node.start([node.built(LOAD), "-P", 1, "-n", SPANS]).wait(30) == 0
    node.wait_ledger(lambda ledger: ledger.sent == SPANS, 30, "all spans")
    assert node.status()["findings"] == []


@pytest.mark.parametrize("part, code", [("consumer", "consumer-hangs"), ("sessiond", "lttng-hangs"), ("relayd", "lttng-hangs")])
def test_where_nobody_records(node, receiver, part, code):
    """The finding names who holds it, within ten seconds and the time that it takes to ask; and then it comes back."""
    node.start_agent(receiver.port, session=KEEP)
    comes_back(node)
    pids = {"consumer": node.consumer_pid, "sessiond": lambda: node.sessiond.pid, "relayd": lambda: node.relayd.pid}
    with stopped(pids[part]()):
        wait_until(lambda: code in [finding["code"] for finding in node.status()["findings"]], 12, "the finding")
        assert not node.collecting()
        if part != "sessiond":  # who passes on what programs record without it
            wait_until(lambda: state(node) == "late" and lag(node) >= 5, 20, "the canary to be late")
    wait_until(lambda: state(node) == "well" and node.collecting() and lag(node) < 5, 30, "the canary to come back")


def test_reader_is_stopped(node, receiver):
    """The agent ends it, and the next one reads what was recorded meanwhile."""
    node.start_agent(receiver.port, session=KEEP)
    comes_back(node)
    before = node.status()["events"]["canary"]
    os.kill(node.reader_pid(), signal.SIGSTOP)
    comes_back(node, before + 2)
