# SPDX-License-Identifier: BSD-2-Clause
"""Of a session that is over nothing is left on the relay's disk, whatever befalls the agent while it removes it."""

import os

import pytest
from rig.process import wait_until
from test_restart import KEEP, LOAD


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
    assert len(node.session_folders()) == 1 and node.ledger().sent == 100


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
