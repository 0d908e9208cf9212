# SPDX-License-Identifier: BSD-2-Clause
"""The session ends, or is meddled with, behind the agent's back: what the relay has on disk is delivered all the same."""

import signal
import time

import pytest
from expect import check_load, key_of
from rig.process import wait_until
from test_restart import KEEP, LOAD

COUNT = 20000


def record_unread(node, agent_stopped):
    """Records spans that the agent does not read, and waits until the relay has them."""
    if agent_stopped:
        node.agent.send(signal.SIGSTOP)
    node.run([LOAD, "-p", 2, "-n", COUNT // 2, "-r", COUNT])
    time.sleep(1)  # ten times the live timer


def check_all(node, receiver, lost=1):
    ledger = node.wait_ledger(lambda ledger: ledger.read >= COUNT and ledger.idle(), 30, "everything to be delivered")
    assert (ledger.read, ledger.again, ledger.sent, ledger.packets_lost) == (COUNT, 0, COUNT, 0)
    wait_until(lambda: node.ledger().sessions == 1 + lost, 20, "a new session")
    assert ledger.sessions_lost == lost
    receiver.wait_for(COUNT)
    check_load(receiver.spans(), 2, 1, COUNT // 2)


def check_records(node, receiver):
    """A new session records; of that before nothing is left on disk."""
    read = node.ledger().read
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.read == read + 100 and ledger.idle(), 20, "100 new spans")
    wait_until(lambda: len(node.session_folders()) == 1, 10, "the old session's folder to be removed")
    assert node.agent.log().count("is over: ") == 1


def again(daemon, start):
    daemon.kill()
    start()


@pytest.mark.parametrize("who", ["relayd", "sessiond"])
def test_daemon_killed_with_unread_files(node, receiver, who):
    node.start_agent(receiver.port, session=KEEP)
    record_unread(node, agent_stopped=True)
    again(getattr(node, who), getattr(node, f"start_{who}"))
    node.agent.send(signal.SIGCONT)
    check_all(node, receiver)
    wait_until(node.collecting, 20, "the agent to collect again")
    check_records(node, receiver)


def test_everything_killed_as_by_a_reboot(node, receiver):
    node.start_agent(receiver.port, session=KEEP)
    node.agent.stop()
    record_unread(node, agent_stopped=False)
    again(node.sessiond, node.start_sessiond)
    again(node.relayd, node.start_relayd)
    node.start_agent_again()
    check_all(node, receiver)
    check_records(node, receiver)


def test_killed_while_reading_the_rest(node, receiver):
    """The files of a session that is gone are read by one agent after another, each of which is killed."""
    node.start_agent(receiver.port, session=KEEP)
    node.agent.stop()
    record_unread(node, agent_stopped=False)
    again(node.sessiond, node.start_sessiond)
    for pause in (0.03, 0.06, 0.1, 0.15, 0.2, 0.3):
        node.start_agent_again(wait=False)
        time.sleep(pause)
        node.agent.kill()
    node.start_agent_again()
    ledger = node.wait_ledger(lambda ledger: ledger.read - ledger.again >= COUNT and ledger.idle(), 30, "the rest")
    assert ledger.read - ledger.again == COUNT
    keys = {key_of(span) for span in receiver.spans()}
    assert len(keys) == COUNT
    wait_until(lambda: len(node.session_folders()) == 1, 10, "the old session's folder to be removed")


def test_session_destroyed(node, receiver):
    node.start_agent(receiver.port, session=KEEP)
    record_unread(node, agent_stopped=True)
    node.lttng("destroy", "blkin")
    node.agent.send(signal.SIGCONT)
    check_all(node, receiver)
    wait_until(lambda: node.ledger().sessions == 2 and node.collecting(), 20, "a new session")
    check_records(node, receiver)


def test_session_replaced(node, receiver):
    """Somebody destroys it, and makes another of the same name, which is none of ours: that one is ended too."""
    node.start_agent(receiver.port, session=KEEP)
    record_unread(node, agent_stopped=True)
    node.lttng("destroy", "blkin")
    time.sleep(1.1)
    node.lttng("create", "blkin", "--output", node.path("other"))
    node.agent.send(signal.SIGCONT)
    wait_until(lambda: node.ledger().sessions == 2 and node.collecting(), 30, "a new session")
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 30, "everything to be delivered")
    assert ledger.read == COUNT
    check_load(receiver.spans(), 2, 1, COUNT // 2)


MEDDLING = [
    (["stop", "blkin"], "it was stopped"),
    (["disable-channel", "-u", "-s", "blkin", "spans"], "its channel was disabled"),
    (["disable-event", "-u", "-s", "blkin", "-c", "spans", "blkin:*"], "its events were disabled"),
    (["disable-event", "-u", "-s", "blkin", "-c", "spans", "--all-events"], "its events were disabled"),
]


@pytest.mark.parametrize("words, what", MEDDLING, ids=[words[0] + words[-1] for words, _ in MEDDLING])
def test_session_meddled_with(node, receiver, words, what):
    node.start_agent(receiver.port, session=KEEP)
    node.run([LOAD, "-n", 100])
    node.lttng(*words)
    wait_until(lambda: f"{what}, not by this agent" in node.agent.log(), 20, "the agent to see it")
    node.run([LOAD, "-n", 100])
    ledger = node.wait_ledger(lambda ledger: ledger.read == 200 and ledger.idle(), 20, "100 more spans")
    assert (ledger.sessions, ledger.sessions_lost) == (1, 0)
    assert node.metrics()["blkin_agent_sessions_mended_total"] >= 1
    assert node.agent.stop() == 0


def test_stop_while_the_session_daemon_hangs(node, receiver):
    """The session is kept, so that nothing has to be asked of it."""
    node.start_agent(receiver.port, session=KEEP)
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.sent == 100, 20, "100 spans")
    node.sessiond.send(signal.SIGSTOP)
    try:
        time.sleep(3)  # the watch hangs in it by now
        begun = time.monotonic()
        assert node.agent.stop() == 0
        assert time.monotonic() - begun < 3
    finally:
        node.sessiond.send(signal.SIGCONT)
    node.start_agent_again()
    node.run([LOAD, "-n", 100])
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 200, 20, "100 spans more")
    assert (ledger.read, ledger.again, ledger.sessions) == (200, 0, 1)
