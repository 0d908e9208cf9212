# SPDX-License-Identifier: BSD-2-Clause
"""Of a session that is over nothing is left on the relay's disk, whatever befalls the agent while it removes it."""

import glob
import os
import signal
import time

import pytest
from expect import key_of
from rig.load import KEEP, LOAD
from rig.lttng import sessions_of
from rig.process import wait_until


def start(node, receiver, **environment):
    """An agent that may meet with a mishap (programs/mishap.c)."""
    preload = [node.built("tests/live/programs/libmishap.so"), node.leak_environment.get("LD_PRELOAD", "")]
    if not os.path.exists(node.path("agent.conf")):
        node.write_config(receiver.port, session=KEEP)
    return node.start_agent_again(
        wait=False, LD_PRELOAD=":".join(filter(None, preload)), ASAN_OPTIONS="verify_asan_link_order=0", **environment
    )


def record(node):
    """A session with a trace on disk, all of which is delivered; returns its folder."""
    node.agent.wait_ready(node.collecting)
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.sent == 100 and ledger.idle(), 20, "100 spans")
    return node.session_folders()[0]


def lose_session(node):
    node.sessiond.kill()
    node.start_sessiond()


def wait_removed(folder):
    wait_until(lambda: not os.path.exists(folder), 10, "the old session's folder to be removed")


@pytest.mark.parametrize("name", ["metadata", "index", "64-bit", str(os.getuid()), "uid", "ust"])
def test_killed_while_removing(node, receiver, name):
    """The next agent goes on with it, wherever that was."""
    start(node, receiver, BLKIN_DIE_AT=name)
    folder = record(node)
    lose_session(node)
    wait_until(lambda: not node.agent.running(), 20, "the agent to be killed")
    assert os.path.exists(folder)
    node.start_agent_again()
    wait_removed(folder)
    wait_until(lambda: len(node.session_folders()) == 1, 10, "one session to be left")
    assert node.ledger().sent == 100


def test_stopped_when_another_session_has_just_taken_over(node, receiver):
    """Although none is kept, the next agent knows of the old one: it reads none of it again, and takes it down."""
    session = {"keep": "no"}
    node.start_agent(receiver.port, session=session)
    record(node)
    node.write_config(receiver.port, session=session, events={"names": "alike:*"})
    node.agent.send(signal.SIGHUP)
    wait_until(lambda: node.status()["session"] == "blkin-2", 30, "it to be read", 0.01)
    assert node.agent.stop() == 0
    node.start_agent_again()
    wait_until(lambda: len(node.session_folders()) == len(sessions_of(node)) == 1, 20, "one session to be left")
    assert "without a checkpoint" not in node.agent.log()
    node.run([LOAD, "-P", 1, "-n", 100])
    receiver.wait_for(200)
    assert node.agent.stop() == 0


def test_something_is_in_the_way(node, receiver):
    """As of a relay that is not quite done with the session: it is tried again."""
    node.start_agent(receiver.port, session=KEEP)
    folder = record(node)
    trace = f"{folder}/ust/uid/{os.getuid()}/64-bit"
    os.mkdir(f"{trace}/late")
    lose_session(node)
    wait_until(lambda: not os.path.exists(f"{trace}/metadata"), 20, "the agent to remove the rest")
    wait_until(node.collecting, 20, "a new session")
    os.rmdir(f"{trace}/late")
    wait_removed(folder)


def test_folders_that_cannot_be_opened_now(node, receiver):
    """While descriptors are short, say, nothing counts as read: what is there is read later, and removed then."""
    shut = node.path("shut")
    start(node, receiver, BLKIN_SHUT=shut)
    folder = record(node)
    assert node.agent.stop() == 0
    node.run([LOAD, "-n", 1000])
    node.wait_quiet("relay", 1)
    with open(shut, "w", encoding="ascii"):
        pass
    lose_session(node)
    start(node, receiver, BLKIN_SHUT=shut)
    time.sleep(4)
    os.unlink(shut)
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 1100 and ledger.idle(), 20, "1000 spans")
    assert ledger.packets_lost == 0
    wait_removed(folder)


def test_a_forged_index_entry(node, receiver):
    """It hides nothing behind it, is counted, and the log says so once."""
    start(node, receiver)
    folder = record(node)
    assert node.agent.stop() == 0
    node.run([LOAD, "-n", 20000, "-r", 5000])
    path = max(glob.glob(f"{folder}/ust/uid/*/64-bit/index/*.idx"), key=os.path.getsize)
    count = (os.path.getsize(path) - 16) // 72
    assert count > 4
    with open(path, "r+b") as file:  # the one but two
        file.seek(16 + 72 * (count - 3))
        file.write(b"\xff" * 72)
    start(node, receiver)
    node.agent.wait_ready(node.collecting)
    node.wait_ledger(lambda ledger: ledger.sent > 100 and ledger.idle(), 20, "what is behind it")
    node.run([LOAD, "-n", 100])
    time.sleep(3)
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 20, "the rest")
    received = {key_of(span)[2] for span in receiver.spans()}
    assert 19999 in received and len(received) > 20000 * (count - 2) / count / 2, "the last ones are there"
    lose_session(node)
    node.wait_ledger(lambda ledger: ledger.packets_lost >= 1, 20, "the loss to be counted")
    assert node.agent.log().count("it has entries that cannot be") == 1, ledger
    assert node.agent.stop() == 0


def test_disk_stalls_once(node, receiver):
    """A checkpoint that took long to write, once, does not keep the next ones away."""
    stall = node.path("stall")
    start(node, receiver, BLKIN_STALL=stall)
    node.agent.wait_ready(node.collecting)
    with open(stall, "w", encoding="ascii"):
        pass
    folder = record(node)
    wait_until(lambda: not os.path.exists(stall), 10, "the disk to stall")
    lose_session(node)
    wait_removed(folder)
    assert node.agent.running()
