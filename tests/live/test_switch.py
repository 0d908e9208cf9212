# SPDX-License-Identifier: BSD-2-Clause
"""
One session takes another one's place: both record for a moment, so that there is none in which neither does, and what both
have comes once.
"""

import collections
import contextlib
import os
import signal
import subprocess

import pytest
from expect import key_of
from rig.eventfiles import EventFiles
from rig.load import KEEP
from rig.lttng import sessions_of
from rig.node import WHOLE_STACKS, paced
from rig.process import Trouble, exactly, wait_until
from rig.users import start_as
from test_stuck import OTHER, check_other, die_halfway, end_load, is_gone, is_loads, live_again, load, ordinals, replaced
from test_users import share

pytestmark = pytest.mark.as_root("only root may run programs as other users")
stuck = pytest.mark.stuck("an event in whose middle a program died")


def begin(node, receiver, **sections):
    share(node)
    node.write_config(receiver.port, session=KEEP, **sections)
    node.start_agent_again(**WHOLE_STACKS)  # babeltrace2 may keep a little where a session is attached to again


def begin_load(node, *words):
    other = load(node, OTHER, 1, "-n", 10**6, *words)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "the first spans")
    return other


def counts(program, threads):
    """Ends it; how many events each of its threads recorded."""
    program.send(signal.SIGTERM)
    assert program.wait(20) == 0
    return {number: int(line) for number, line in enumerate(program.log().split()[:threads])}


def is_anything_lost(node):
    ledger = node.ledger()
    return ledger.lost or ledger.sessions_lost or ledger.again


def resize_shm(size):
    subprocess.run(["mount", "-o", f"remount,size={size}", "/dev/shm"], check=True)


@contextlib.contextmanager
def shm_of(size):
    """/dev/shm, which the tests have for themselves, is no larger meanwhile."""
    resize_shm(size)
    try:
        yield
    finally:
        resize_shm("50%")


@stuck
def test_all_come_once(node, receiver):
    """Of a program with four threads."""
    begin(node, receiver)
    other = begin_load(node, "-r", paced(1000, 1000), "-t", 4)
    die_halfway(node)
    live_again(node, 1)
    wait_until(lambda: "they are taken once" in node.agent.log(), 30, "all copies to be met")
    other.send(signal.SIGTERM)
    assert other.wait(20) == 0
    recorded = {tuple(map(int, who.split("."))): int(count) for who, count in zip(*[iter(other.log().split())] * 2)}
    wanted = {(1, thread, number) for (_, thread), count in recorded.items() for number in range(count)}
    node.wait_ledger(lambda ledger: ledger.sent - ledger.again >= len(wanted), 20, "all spans")
    came = collections.Counter(key_of(span) for span in receiver.spans() if is_loads(span))
    missing, twice = len(wanted - set(came)), sum(came.values()) - len(came)
    exactly((missing, twice) == (0, 0), f"{missing} are missing, {twice} came twice, of {len(wanted)}")
    assert not is_anything_lost(node)


@stuck
def test_events_alike(node, receiver):
    """Events of which one is like the other are told apart by their order: as many come as were recorded."""
    output = {"type": "file", "takes": "events", "directory": node.path("events"), "batch-delay": "50ms"}
    os.makedirs(node.path("events"))
    begin(node, receiver, events={"names": "alike:*"}, **{"output json": output})
    other = begin_load(node, "-r", 500)
    program = start_as(node, OTHER, "alike", 2, 5000)
    wait_until(lambda: node.ledger().json > 1000, 20, "the first events")
    die_halfway(node)
    live_again(node, 1)
    recorded, spans = counts(program, 2), end_load(other)
    total = sum(recorded.values())
    node.wait_for(lambda: node.ledger().json >= total, 30, f"{total} events")
    wait_until(lambda: (ordinals(receiver, 1) or [0])[-1] == spans - 1, 15, "the last span")
    node.wait_for(lambda: node.ledger().idle(), 20, "everything to be delivered")
    assert node.agent.stop() == 0
    came = collections.Counter(event["payload"]["thread"] for event in EventFiles(node.path("events")).lines())
    exactly(came == recorded, f"{dict(came)} came of {recorded}")
    exactly(ordinals(receiver, 1) == list(range(spans)), "spans are missing, or came twice")


def check_changed(node, receiver, other):
    """Spans come from another session, and none was lost or came twice."""
    wait_until(lambda: node.status()["session"] == "blkin-2", 20, "a new session")
    sent = node.ledger().sent
    node.wait_ledger(lambda ledger: ledger.sent > sent + 500, 20, "more spans")
    check_other(node, receiver, 1, other)
    assert not is_anything_lost(node) and node.ledger().packets_lost == 0
    wait_until(lambda: is_gone(node, "blkin"), 15, "the old session to be gone")


def test_settings_change(node, receiver):
    """A start with other settings of [session], while programs record."""
    begin(node, receiver)
    other = begin_load(node, "-r", 1000)
    assert node.agent.stop() == 0
    node.write_config(receiver.port, session=dict(KEEP, memory="16M"))
    node.start_agent_again(**WHOLE_STACKS)
    check_changed(node, receiver, other)


def test_settings_change_without_room(node, receiver):
    """Without room for both sessions' buffers one comes after the other: what is lost is no more than the status says."""
    begin(node, receiver)
    other = begin_load(node, "-r", 1000)
    assert node.agent.stop() == 0
    node.write_config(receiver.port, session=dict(KEEP, memory="16M"))
    with shm_of("44M"):  # of which 32 MiB are in use
        node.start_agent_again(**WHOLE_STACKS)
        wait_until(lambda: node.ledger().sessions == 2 and node.collecting(), 30, "a new session")
    sent = node.ledger().sent
    node.wait_ledger(lambda ledger: ledger.sent > sent + 500, 20, "more spans")
    recorded = end_load(other)
    wait_until(lambda: (ordinals(receiver, 1) or [0])[-1] == recorded - 1, 15, "its last span")
    assert "no LTTng session can take the place of `blkin`: the buffers of another one take" in node.agent.log()
    came, seconds = ordinals(receiver, 1), node.ledger().lost_seconds
    missing = recorded - len(set(came))
    print(f"{missing} of {recorded} are missing, recorded in {seconds} s at most")
    exactly(len(came) == len(set(came)) and 0 < missing <= 1000 * seconds, f"{missing} are missing of {seconds} s")


def test_events_switched_on(node, receiver):
    """By a reload; spans have the number of their thread from then on."""
    begin(node, receiver)
    other = begin_load(node, "-r", 1000)
    node.write_config(receiver.port, session=KEEP, events={"names": "alike:*"})
    node.agent.send(signal.SIGHUP)
    check_changed(node, receiver, other)


def is_made(node):
    return "blkin-2" in sessions_of(node)


def is_started(node):
    return sessions_of(node).get("blkin-2", False)


def is_announced(node):
    return "a new session takes the old one's place" in node.agent.log()


def check_killed(node, receiver, other, who):
    """The agent, or its reader: nothing is missing, and no more comes twice than is counted."""
    if who == "agent":
        node.agent.kill()
        node.start_agent_again(**WHOLE_STACKS)
    else:
        os.kill(node.reader_pid(), signal.SIGKILL)
    # what was recorded between the stop of the old one and its new start is in the other one, and comes once that is read
    # (an agent that was killed before it noted which one it made makes a third)
    wait_until(lambda: node.status()["session"] in ("blkin-2", "blkin-3"), 90, "the other session to be read")
    recorded = end_load(other)
    wait_until(lambda: (ordinals(receiver, 1) or [0])[-1] == recorded - 1, 20, "its last span")
    node.wait_ledger(lambda ledger: ledger.idle(), 20, "everything to be delivered")
    came = ordinals(receiver, 1)
    missing, twice = recorded - len(set(came)), len(came) - len(set(came))
    print(f"{missing} are missing, {twice} came twice, {node.ledger().again} were read again")
    exactly(missing == 0 and twice <= node.ledger().again, f"{missing} of {recorded} are missing, {twice} came twice")


STATES = {"made": is_made, "started": is_started, "replaced": replaced}


@stuck
@pytest.mark.parametrize("who", ["agent", "reader"])
@pytest.mark.parametrize("state", STATES)
def test_killed_meanwhile(node, receiver, state, who):
    begin(node, receiver)
    other = begin_load(node, "-r", 1000)
    die_halfway(node)
    wait_until(lambda: STATES[state](node), 20, "the state", 0.01)
    check_killed(node, receiver, other, who)


RELOADED = {"reloaded": lambda node: True, "announced": is_announced, "made": is_made, "started": is_started}


def reload_until(node, receiver, state):
    """With other settings."""
    node.write_config(receiver.port, session=KEEP, events={"names": "alike:*"})
    node.agent.send(signal.SIGHUP)
    wait_until(lambda: RELOADED[state](node), 20, "the state", 0.01)


@pytest.mark.parametrize("who", ["agent", "reader"])
@pytest.mark.parametrize("state", RELOADED)
def test_killed_after_a_reload(node, receiver, state, who):
    begin(node, receiver)
    other = begin_load(node, "-r", 1000)
    reload_until(node, receiver, state)
    check_killed(node, receiver, other, who)


def kill_session_daemon(node):
    consumer = node.consumer_pid()
    node.sessiond.kill()
    with contextlib.suppress(ProcessLookupError):  # it may have ended with the other one
        os.kill(consumer, signal.SIGKILL)
    node.start_sessiond()


def destroy_all(node):
    """One by one, as one may go at the same time, and LTTng then leaves the others."""
    for name in sessions_of(node):
        with contextlib.suppress(Trouble):
            node.lttng("destroy", name)


def is_counted(node):
    """LTTng 2.13's session daemon may end by an assertion when it is asked for a session that is being destroyed."""
    if not node.sessiond.running():
        node.start_sessiond()
    return node.ledger().lost_seconds and node.collecting()


@pytest.mark.parametrize("go", [kill_session_daemon, destroy_all])
@pytest.mark.parametrize("state", RELOADED)
def test_gone_meanwhile(node, receiver, state, go):
    """
    The old session, or both, go while another one takes its place: a session is lost, and what was recorded until the next one
    records is no more than what the status says.
    """
    begin(node, receiver)
    other = begin_load(node, "-r", 1000)
    reload_until(node, receiver, state)
    go(node)
    wait_until(lambda: is_counted(node), 40, "the loss to be counted")
    sent = node.ledger().sent
    node.wait_ledger(lambda ledger: ledger.sent > sent + 500, 30, "spans of another session")
    recorded = end_load(other)
    wait_until(lambda: (ordinals(receiver, 1) or [0])[-1] == recorded - 1, 20, "its last span")
    came, ledger = ordinals(receiver, 1), node.ledger()
    missing = recorded - len(set(came))
    print(f"{missing} of {recorded} are missing; {ledger.sessions_lost} lost, {ledger.lost_seconds} s at most")
    exactly(len(came) == len(set(came)), "some came twice")
    exactly(missing <= 1000 * ledger.lost_seconds, f"{missing} are missing, of {ledger.lost_seconds} s")
    # or the agent found it there, without another one, and ended it itself before that was done
    assert ledger.sessions_lost >= 1 or "no LTTng session can take the place of" in node.agent.log()


@stuck
def test_no_room(node, receiver):
    """Without room for the other session's buffers the one that is stuck stays: others' spans come from files until there is."""
    begin(node, receiver)
    other = begin_load(node, "-r", 500)
    with shm_of("90M"):  # the buffers of two users take 64 MiB
        die_halfway(node)
        wait_until(lambda: "could not be replaced: the buffers of another one take" in node.agent.log(), 20, "the lack of room to be told")
        before = node.ledger().sent
        node.wait_ledger(lambda ledger: ledger.sent > before + 500, 20, "spans from files")
        assert replaced(node) == 0
        assert "stream-stuck" in [finding["code"] for finding in node.status()["findings"]]
    live_again(node, 1, 30)
    check_other(node, receiver, 1, other)
