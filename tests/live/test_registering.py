# SPDX-License-Identifier: BSD-2-Clause
"""
A program is killed, or stopped, while it registers: it leaves buffers, and metadata that do not say yet what is in them, or
which events there are, but nothing of the stream they are in. Such a trace holds no event, and nobody notices.
"""

import glob
import os
import shutil
import signal

import pytest
from expect import check_recorded
from rig.load import KEEP
from rig.lttng import EVENTS_FIRST, TELLS_OF_TIMEOUTS, programs_of
from rig.node import WHOLE_STACKS
from rig.process import child_of, wait_until
from rig.users import start_as
from test_hostile import GOOD, HOSTILE

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


def start_dying(node, user, *words, **environment):
    library = shutil.copy(node.built("tests/live/programs/libdying.so"), node.path("shared"))
    return start_as(node, user, "spanload", "-n", 1, *words, LD_PRELOAD=library, **DYING, **environment)


def die_registering(node, user):
    """A program of that user's, which never comes to record anything; returns when the relay has what it left."""
    program = start_dying(node, user)
    assert program.wait(20) == -signal.SIGKILL
    wait_until(lambda: b"clock {" in metadata_of(node, user), 10, "the metadata")
    wait_until(lambda: paths(node, user, "index/*"), 10, "packets, although empty ones")
    assert b"stream {" not in metadata_of(node, user)


def start_agent(node, receiver):
    """With whole stacks, as babeltrace2 may keep a little where a session is attached to again."""
    node.start_agent(receiver.port, session=KEEP)
    node.agent.stop()
    node.start_agent_again(**WHOLE_STACKS)


GAVE_UP = "gave up those that did not answer"


def check(node, receiver, counts, but=None):
    """@counts[number] spans of each load came, once each, nothing was lost, and nothing is said of it, @but in such lines."""
    ledger = node.wait_ledger(lambda ledger: ledger.idle() and ledger.sent >= sum(counts.values()), 20, "all spans")
    receiver.wait_for(sum(counts.values()))
    # LTTng measures for each user by how much the clock is ahead, some microseconds apart
    check_recorded(receiver.spans(), {(number, 0): count for number, count in counts.items()}, apart=10000)
    assert (ledger.lost, ledger.packets_lost, ledger.again, ledger.sessions, ledger.sessions_lost) == (0, 0, 0, 1, 0)
    status = node.status()
    assert (status["reader_restarts"], status["users_left_out"], status["session_error"]) == (0, [], "")
    for words in ("cannot be read", "lttng-relayd's files", "is lost", "are lost"):
        assert [line for line in node.agent.log().splitlines() if words in line and not (but and but in line)] == []


def test_others_do_not_notice(node, receiver):
    """Another user's spans are read live all the time."""
    start_agent(node, receiver)
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
    start_agent(node, receiver)
    start_as(node, GOOD, "spanload", "-n", COUNT).wait(20)
    check(node, receiver, {0: COUNT})
    node.agent.stop()
    start_as(node, GOOD, "spanload", "-P", 1, "-n", COUNT).wait(20)
    die_registering(node, HOSTILE)
    node.start_agent_again(**WHOLE_STACKS)
    start_as(node, GOOD, "spanload", "-P", 2, "-n", COUNT).wait(20)
    check(node, receiver, {0: COUNT, 1: COUNT, 2: COUNT})
    node.write_config(receiver.port, session={"keep": "no"})
    node.agent.stop()
    node.start_agent_again(**WHOLE_STACKS)
    start_as(node, GOOD, "spanload", "-P", 3, "-n", COUNT).wait(20)
    node.wait_ledger(lambda ledger: ledger.sent == 4 * COUNT and ledger.idle(), 20, "the spans of another session")
    assert node.ledger().packets_lost == 0 and "lost" not in node.agent.log()


def test_then_another_program(node, receiver):
    """Another program of the same user comes, while the reader has the streams of the one that died: it is read live."""
    start_agent(node, receiver)
    start_as(node, GOOD, "spanload", "-n", COUNT).wait(20)
    check(node, receiver, {0: COUNT})
    die_registering(node, HOSTILE)
    start_as(node, GOOD, "spanload", "-P", 1, "-n", COUNT).wait(20)
    check(node, receiver, {0: COUNT, 1: COUNT})
    start_as(node, HOSTILE, "spanload", "-P", 2, "-n", COUNT).wait(20)
    check(node, receiver, {0: COUNT, 1: COUNT, 2: COUNT})


def test_as_the_session_begins(node, receiver):
    """
    A program that runs already tells first which events it has, and then of the channel that they are in: it is stopped in
    between. LTTng gives it up. Neither a reader that is attached nor one that attaches fails on what there is of it (until LTTng
    2.13 events whose stream is nowhere), or on what comes later.
    """
    os.mkdir(node.path("shared"), 0o755)
    os.chmod(node.folder, 0o711)
    shutil.copy(node.built("libclient/libblkin-provider.so.1"), node.path("shared"))
    program = start_dying(node, HOSTILE, "-w", 60, DYING_STOPS="yes")
    wait_until(lambda: program.pid in programs_of(node), 10, "it to have its events")
    node.write_config(receiver.port, session=KEEP)
    node.start_agent_again(**WHOLE_STACKS)
    wait_until(lambda: (b"event {" if EVENTS_FIRST else b"clock {") in metadata_of(node, HOSTILE), 20, "its metadata")
    assert (b"event {" in metadata_of(node, HOSTILE), b"stream {" in metadata_of(node, HOSTILE)) == (EVENTS_FIRST, False)
    counts = {}

    def record(user):
        number = len(counts)
        start_as(node, user, "spanload", "-P", number, "-n", COUNT).wait(20)
        counts[number] = COUNT
        check(node, receiver, counts, GAVE_UP)

    record(GOOD)
    told = node.sessiond.log().count("Communication time out")
    assert (told > 0) == TELLS_OF_TIMEOUTS and node.ledger().programs_lost >= max(told, 1)
    assert GAVE_UP in node.agent.log()
    os.kill(child_of(program.pid, "exe"), signal.SIGKILL)  # without its parent it would go on
    program.kill()
    node.agent.stop()
    node.start_agent_again(**WHOLE_STACKS)
    record(GOOD)
    assert b"stream {" not in metadata_of(node, HOSTILE)
    record(HOSTILE)
    assert b"stream {" in metadata_of(node, HOSTILE)
    record(GOOD)
