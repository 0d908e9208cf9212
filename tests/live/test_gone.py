# SPDX-License-Identifier: BSD-2-Clause
"""The session ends, or is meddled with, behind the agent's back: what the relay has on disk is delivered all the same."""

import json
import os
import signal
import time

import pytest
from expect import check_load, end_load, key_of
from rig.load import KEEP, LOAD
from rig.process import PATIENCE, exactly, free_port, wait_until
from test_doctor import findings, start_load
from test_leftovers import start

COUNT = 20000


def record_unread(node, agent_stopped):
    """Records spans that the agent does not read, and waits until the relay has them."""
    if agent_stopped:
        node.stop_reading()
    node.run([LOAD, "-p", 2, "-n", COUNT // 2, "-r", COUNT])
    node.wait_quiet("relay", 1)  # ten times the live timer


def check_all(node, receiver, lost=1):
    ledger = node.wait_ledger(lambda ledger: ledger.read >= COUNT and ledger.idle(), 30, "everything to be delivered")
    assert (ledger.read, ledger.again, ledger.sent, ledger.packets_lost) == (COUNT, 0, COUNT, 0)
    wait_until(lambda: node.ledger().sessions == 1 + lost, 20, "a new session")
    assert node.ledger().sessions_lost == lost
    receiver.wait_for(COUNT)
    check_load(receiver.spans(), 2, 1, COUNT // 2)


def check_records(node, receiver):
    """A new session records; of that before nothing is left on disk."""
    read = node.ledger().read
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.read == read + 100 and ledger.idle(), 20, "100 new spans")
    wait_until(lambda: len(node.session_folders()) == 1, 10, "the old session's folder to be removed")
    assert node.agent.log().count("has ended: ") == 1


def again(daemon, start):
    daemon.kill()
    start()


@pytest.mark.parametrize("who", ["relayd", "sessiond"])
def test_daemon_killed_with_unread_files(node, receiver, who):
    node.start_agent(receiver.port, session=KEEP)
    record_unread(node, agent_stopped=True)
    again(getattr(node, who), getattr(node, f"start_{who}"))
    node.read_on()
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
    keys = {key_of(span) for span in receiver.spans()}
    exactly(ledger.read - ledger.again == len(keys) == COUNT, f"{len(keys)} came, {ledger}")
    wait_until(lambda: len(node.session_folders()) == 1, 10, "the old session's folder to be removed")


def test_stopped_while_reading_the_rest(node, receiver):
    """The same with stops instead of kills: then nothing arrives twice."""
    node.start_agent(receiver.port, session=KEEP)
    node.agent.stop()
    for _ in range(5):
        record_unread(node, agent_stopped=False)
    again(node.sessiond, node.start_sessiond)
    for pause in (0.01, 0.05, 0.1, 0.2):
        node.start_agent_again(wait=False)
        node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
        time.sleep(pause)
        assert node.agent.stop() == 0
    node.start_agent_again()
    ledger = node.wait_ledger(lambda ledger: ledger.read >= 5 * COUNT and ledger.idle(), 60, "the rest")
    assert (ledger.read, ledger.again, ledger.sent) == (5 * COUNT, 0, 5 * COUNT)
    exactly(len(receiver.spans()) == 5 * COUNT, f"{len(receiver.spans())} came")


def test_session_destroyed(node, receiver):
    node.start_agent(receiver.port, session=KEEP)
    record_unread(node, agent_stopped=True)
    node.lttng("destroy", "blkin")
    node.read_on()
    check_all(node, receiver)
    wait_until(lambda: node.ledger().sessions == 2 and node.collecting(), 20, "a new session")
    check_records(node, receiver)


def test_session_replaced(node, receiver):
    """Somebody destroys it, and makes another of the same name, which is none of ours: that one is left alone."""
    node.start_agent(receiver.port, session=KEEP)
    record_unread(node, agent_stopped=True)
    node.lttng("destroy", "blkin")
    time.sleep(1.1)
    node.lttng("create", "blkin", "--output", node.path("other"))
    node.read_on()
    node.wait_ledger(lambda ledger: ledger.sent == COUNT, 30, "everything to be delivered")
    check_waits_for(node)
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 30, "everything to be delivered")
    assert ledger.read == COUNT
    check_load(receiver.spans(), 2, 1, COUNT // 2)


def check_waits_for(node):
    """The agent leaves somebody else's session `blkin` alone, says so, and collects once that is destroyed."""
    says = "there is already an LTTng session `blkin` that this agent did not create"
    wait_until(lambda: says in node.http_get("/readyz")[1], 20, "the agent to say so")
    time.sleep(1.5)
    assert "blkin" in node.lttng("list")
    sessions = node.ledger().sessions
    node.lttng("destroy", "blkin")
    wait_until(lambda: node.ledger().sessions == sessions + 1 and node.collecting(), 30, "a new session")


def relay_urls(node, control=0):
    ports = node.relay_ports
    return [f"--ctrl-url=tcp://127.0.0.1:{ports[control]}", f"--data-url=tcp://127.0.0.1:{ports[1]}"]


OTHERS = {
    "local": lambda node: [["create", "blkin", "--output", node.path("other")]],
    "not live": lambda node: [["create", "blkin"] + relay_urls(node), ["enable-channel", "-u", "-s", "blkin", "spans"]],
    "other channel": lambda node: [
        ["create", "blkin", "--live"] + relay_urls(node),
        ["enable-event", "-u", "-s", "blkin", "-c", "mine", "--all"],
    ],
}


@pytest.mark.parametrize("kind", OTHERS)
def test_session_of_somebody_else(node, receiver, kind):
    for words in OTHERS[kind](node):
        node.lttng(*words)
    node.start_agent(receiver.port, wait=False, session=KEEP)
    node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
    check_waits_for(node)
    node.run([LOAD, "-n", 100])
    receiver.wait_for(100)


def test_session_of_that_moment(node, receiver):
    """The agent cannot make its session, and somebody makes one of that name before it has tidied up."""
    script = node.path("forestall")
    with open(script, "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\nunset LD_PRELOAD\nlttng --no-sessiond create blkin --output {node.path('other')}\n")
    os.chmod(script, 0o755)
    start(node, receiver, BLKIN_FORESTALL=script)
    check_waits_for(node)


def test_session_that_was_only_begun(node, receiver):
    """As by an agent that was killed before it had a channel: it is in nobody's way."""
    node.lttng("create", "blkin", "--live", *relay_urls(node))
    node.start_agent(receiver.port, session=KEEP)
    assert node.ledger().sessions == 1
    node.run([LOAD, "-n", 100])
    receiver.wait_for(100)


def test_session_of_another_agent(node, receiver):
    """Two agents with one name for their sessions: the second delivers nothing of the first one's, and says why."""
    node.start_agent(receiver.port, session=KEEP)
    node.run([LOAD, "-n", 1000])
    node.wait_ledger(lambda ledger: ledger.sent == 1000, 20, "1000 spans")
    first = node.agent
    of_its_own = {"state_directory": node.path("second"), "socket": node.path("second.sock")}
    os.mkdir(node.path("second"))
    node.start_agent(receiver.port, wait=False, session=KEEP, agent=of_its_own)
    wait_until(lambda: "another agent" in node.http_get("/readyz")[1], 20, "the second agent to say why it waits")
    found = json.loads(node.http_get("/status.json")[1])["findings"]
    assert [finding["code"] for finding in found] == ["foreign-session"]
    node.run([LOAD, "-p", 2, "-n", 1000])
    time.sleep(2)
    ledger = node.ledger()
    assert (ledger.read, ledger.sessions, ledger.sessions_lost) == (0, 0, 0)
    receiver.read()
    assert len(receiver.spans()) == 3000
    assert node.agent.stop() == 0
    assert first.stop() == 0


def test_relay_live_port_wrong(node, receiver):
    """Nobody can attach: sessions are made less and less often, and leave nothing on disk."""
    node.start_agent(receiver.port, wait=False, session=dict(KEEP, relay_live_port=free_port()))
    seen = set()
    deadline = time.monotonic() + 9
    while time.monotonic() < deadline:
        seen.update(node.session_folders())
        time.sleep(0.02)
    assert 2 <= len(seen) <= 5, seen
    wait_until(lambda: len(node.session_folders()) <= 1, 10, "the folders to be removed")
    assert node.ledger().sessions == 0


def test_session_is_lost_again_and_again(node, receiver):
    """Each time it is there again before that is worth a word, but little of what is recorded comes."""
    node.start_agent(receiver.port, session=KEEP)
    start_load(node)

    def is_found():
        created = node.ledger().sessions
        node.lttng("destroy", "blkin")
        node.wait_ledger(lambda ledger: ledger.sessions > created, 30, "another session")
        return "session-unsteady" in findings(node)

    wait_until(is_found, 60, "the finding", 0.3)
    code, text = node.http_get("/readyz")
    assert code == 503 and "not collecting" in text
    wait_until(lambda: node.collecting() and findings(node) == {}, 30, "it to be over", 0.3)
    sent = node.ledger().sent
    node.wait_ledger(lambda ledger: ledger.sent > sent, 15, "spans again")


def test_session_is_stopped_again_and_again(node, receiver):
    """The agent goes on with it each time, within two seconds, and what programs record in these is lost."""
    node.start_agent(receiver.port, session=KEEP)
    start_load(node)

    def is_found():
        mended = node.metrics()["blkin_agent_sessions_mended_total"]
        node.lttng("stop", "blkin")
        wait_until(lambda: node.metrics()["blkin_agent_sessions_mended_total"] > mended, 20, "it to go on", 0.3)
        return "session-unsteady" in findings(node)

    wait_until(is_found, 60, "the finding", 0.3)
    wait_until(lambda: node.collecting() and findings(node) == {}, 30, "it to be over", 0.3)


MEDDLING = [
    (["stop", "blkin"], "it was stopped"),
    (["disable-channel", "-u", "-s", "blkin", "spans"], "its channel was disabled"),
    (["disable-event", "-u", "-s", "blkin", "-c", "spans", "blkin:span2"], "its events were disabled"),
    (["disable-event", "-u", "-s", "blkin", "-c", "spans", "--all-events"], "its events were disabled"),
    (["track", "-u", "-s", "blkin", "--vpid", "1"], "it was told to record of some processes only"),
    (["track", "-u", "-s", "blkin", "--vuid", "4711"], "it was told to record of some processes only"),
    (["untrack", "-u", "-s", "blkin", "--vgid", "--all"], "it was told to record of some processes only"),
]


@pytest.mark.parametrize("words, what", MEDDLING, ids=[" ".join(words[:1] + words[-2:]) for words, _ in MEDDLING])
def test_session_meddled_with(node, receiver, words, what):
    node.start_agent(receiver.port, session=KEEP)
    node.run([LOAD, "-n", 100])
    node.lttng(*words)
    wait_until(lambda: f"{what} externally" in node.agent.log(), 20, "the agent to see it")
    node.run([LOAD, "-n", 100])
    ledger = node.wait_ledger(lambda ledger: ledger.read == 200 and ledger.idle(), 20, "100 more spans")
    assert (ledger.sessions, ledger.sessions_lost) == (1, 0)
    assert node.metrics()["blkin_agent_sessions_mended_total"] >= 1
    assert node.agent.stop() == 0


def test_session_is_cleared(node, receiver):
    """What was not read yet is lost, and counted; the status says that somebody may do so, and the rest comes."""
    node.start_agent(receiver.port, session=KEEP)
    program = start_load(node)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "spans")

    def is_counted():
        node.lttng("clear", "blkin")
        sent = node.ledger().sent
        return node.wait_ledger(lambda ledger: ledger.sent > sent, 20, "spans again").packets_lost

    wait_until(is_counted, 60, "what is lost to be counted", 1)
    assert "lttng clear" in findings(node)["packets-lost"]["fix"]
    recorded = sum(end_load(program).values())
    node.wait_ledger(lambda ledger: ledger.idle(), 20, "nothing under way")
    spans = receiver.spans()
    exactly(len({span.id for span in spans}) == len(spans) < recorded, f"{len(spans)} of {recorded}")


def test_an_event_of_ours_gets_a_filter(node, receiver):
    """It is listed as enabled, in place of the one that is not."""
    node.start_agent(receiver.port, session=KEEP)
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.read == 100, 20, "100 spans")
    for words in ("disable-event", "-u", "blkin:span2"), ("enable-event", "-u", "blkin:span2", "--filter", "1 == 2"):
        node.lttng(*words, "-s", "blkin", "-c", "spans")
    wait_until(lambda: "its events were disabled externally" in node.agent.log(), 20, "the agent to see it")
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.read == 200 and ledger.idle(), 20, "100 more spans")


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
        assert time.monotonic() - begun < 3 * PATIENCE
    finally:
        node.sessiond.send(signal.SIGCONT)
    node.start_agent_again()
    node.run([LOAD, "-n", 100])
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 200, 20, "100 spans more")
    assert (ledger.read, ledger.again, ledger.sessions) == (200, 0, 1)
