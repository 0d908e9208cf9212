# SPDX-License-Identifier: BSD-2-Clause
"""
A program is killed while it registers: it leaves buffers, and metadata that do not say yet what is in them. Such a trace holds no
event, and nobody notices.
"""

import glob
import shutil
import signal

import pytest
from expect import check_recorded
from rig.process import wait_until
from rig.users import start_as
from test_hostile import GOOD, HOSTILE
from test_restart import KEEP

RATE, SECONDS, COUNT = 100, 8, 50
DYING = {"ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}

pytestmark = pytest.mark.as_root("only root may run programs as another user")


def paths(node, user, name):
    return [path for folder in node.session_folders() for path in glob.glob(f"{folder}/ust/uid/{user}/*/{name}")]


def metadata_of(node, user):
    """What the relay has of it; there is one session."""
    data = b""
    for path in paths(node, user, "metadata"):
        with open(path, "rb") as file:
            data += file.read()
    return data


def die_registering(node, user):
    """A program of that user's, which never comes to record anything; returns when the relay has what it left."""
    library = shutil.copy(node.built("tests/live/programs/libdying.so"), node.path("shared"))
    program = start_as(node, user, "spanload", "-n", 1, LD_PRELOAD=library, **DYING)
    assert program.wait(20) == -signal.SIGKILL
    wait_until(lambda: b"clock {" in metadata_of(node, user), 10, "the metadata")
    wait_until(lambda: paths(node, user, "index/*"), 10, "packets, although empty ones")
    assert b"stream {" not in metadata_of(node, user)


def check(node, receiver, counts):
    """@counts[number] spans of each load came, once each, nothing was lost, and nothing is said of it."""
    ledger = node.wait_ledger(lambda ledger: ledger.idle() and ledger.sent >= sum(counts.values()), 20, "all spans")
    receiver.wait_for(sum(counts.values()))
    check_recorded(receiver.spans(), {(number, 0): count for number, count in counts.items()})
    assert (ledger.lost, ledger.packets_lost, ledger.again, ledger.sessions, ledger.sessions_lost) == (0, 0, 0, 1, 0)
    status = node.status()
    assert (status["reader_restarts"], status["users_left_out"], status["session_error"]) == (0, [], "")
    for words in ("cannot be read", "lttng-relayd's files", "is lost", "are lost"):
        assert words not in node.agent.log()


def test_others_do_not_notice(node, receiver):
    """Another user's spans are read live all the time."""
    node.start_agent(receiver.port, session=KEEP)
    load = start_as(node, GOOD, "spanload", "-n", RATE * SECONDS, "-r", RATE)
    node.wait_ledger(lambda ledger: ledger.sent, 20, "a span")
    die_registering(node, HOSTILE)
    asked = 0
    while load.running():
        asked += 1
        assert node.collecting() and not node.status()["session_error"]
    assert load.wait() == 0 and asked > 3
    check(node, receiver, {0: RATE * SECONDS})


def test_nobody_reads(node, receiver):
    """It happened while the agent was away: neither the files nor live reading stumble over it, nor does the session's end."""
    node.start_agent(receiver.port, session=KEEP)
    start_as(node, GOOD, "spanload", "-n", COUNT).wait(20)
    check(node, receiver, {0: COUNT})
    node.agent.stop()
    start_as(node, GOOD, "spanload", "-P", 1, "-n", COUNT).wait(20)
    die_registering(node, HOSTILE)
    node.start_agent_again()
    start_as(node, GOOD, "spanload", "-P", 2, "-n", COUNT).wait(20)
    check(node, receiver, {0: COUNT, 1: COUNT, 2: COUNT})
    node.write_config(receiver.port, session={"keep": "no"})
    node.agent.stop()
    node.start_agent_again()
    start_as(node, GOOD, "spanload", "-P", 3, "-n", COUNT).wait(20)
    node.wait_ledger(lambda ledger: ledger.sent == 4 * COUNT and ledger.idle(), 20, "the spans of another session")
    assert node.ledger().packets_lost == 0 and "lost" not in node.agent.log()
