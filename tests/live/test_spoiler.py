# SPDX-License-Identifier: BSD-2-Clause
"""A program whose event has a link that no metadata can hold: its own user's spans are left out, the others' go on."""

import os
import shutil
import time

import pytest
from expect import check_load
from rig.load import KEEP, LOAD
from rig.process import wait_until

USER = 4321

pytestmark = pytest.mark.as_root("only root may run programs as another user")


@pytest.fixture
def spoiler(node):
    """A function that starts it, as another user."""
    folder = node.path("shared")
    os.mkdir(folder, 0o755)
    os.chmod(node.folder, 0o711)
    program = shutil.copy(node.built("tests/live/programs/spoiler"), folder)
    become = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
    return lambda: node.start(become + [program], name="spoiler", HOME="/")


def left_out(node):
    return f"what programs of user {USER} record cannot be read, and is skipped" in node.status()["session_error"]


def test_others_go_on(node, receiver, spoiler):
    node.start_agent(receiver.port, session=KEEP)
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.sent == 100, 20, "100 spans")
    program = spoiler()
    node.run([LOAD, "-P", 1, "-n", 20000, "-r", 5000])
    wait_until(lambda: left_out(node), 30, "the spoiler to be named")
    assert node.collecting()
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 20100 and ledger.idle(), 20, "20,000 spans of files")
    assert (ledger.read, ledger.again, ledger.lost, ledger.sessions, ledger.sessions_lost) == (20100, 0, 0, 1, 0)
    assert ledger.packets_lost > 0
    # a new agent, which finds it so
    assert node.agent.stop() == 0
    node.run([LOAD, "-P", 2, "-n", 100])
    node.start_agent_again()
    wait_until(lambda: left_out(node), 30, "the spoiler to be named again")
    node.run([LOAD, "-P", 3, "-n", 100])
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 20300 and ledger.idle(), 20, "200 spans more")
    assert (ledger.read, ledger.again) == (20300, 0)
    # its packets are counted as they come, but the log names it once
    lost = ledger.packets_lost
    node.wait_ledger(lambda ledger: ledger.packets_lost > lost, 10, "more packets to be counted")
    assert node.agent.log().count("is skipped") == 1
    # without it, a new session is read live again
    program.kill()
    node.lttng("destroy", "blkin")
    wait_until(lambda: node.ledger().sessions == 2 and node.collecting(), 40, "a new session")
    node.run([LOAD, "-P", 4, "-n", 100])
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 20400 and ledger.idle(), 20, "100 spans more")
    assert (ledger.read, ledger.again, node.status()["session_error"]) == (20400, 0, "")
    assert len(receiver.spans()) == 20400
    assert node.agent.stop() == 0


def test_rest_of_a_lost_session(node, receiver, spoiler):
    """On disk, too: the files of a session that is gone hold both users' packets."""
    node.start_agent(receiver.port, session=KEEP)
    node.agent.stop()
    spoiler()
    node.run([LOAD, "-n", 5000, "-r", 5000])
    time.sleep(1)  # ten times the live timer
    node.sessiond.kill()
    node.start_sessiond()
    node.start_agent_again()
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 5000 and ledger.idle(), 30, "what is on disk")
    assert (ledger.read, ledger.again) == (5000, 0)
    wait_until(lambda: node.ledger().packets_lost > 0, 10, "the other user's packets to be counted")
    check_load(receiver.spans(), 1, 1, 5000)


def test_session_not_kept(node, receiver, spoiler):
    """A stop reads to the end what cannot be read live."""
    node.start_agent(receiver.port)
    spoiler()
    wait_until(lambda: left_out(node), 30, "the spoiler to be named")
    node.run([LOAD, "-n", 1000])
    assert node.agent.stop() == 0
    check_load(receiver.spans(), 1, 1, 1000)
    assert not node.session_folders()
