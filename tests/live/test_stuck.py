# SPDX-License-Identifier: BSD-2-Clause
"""
A program dies, or stops, between the reservation of an event in its ring buffer and its commit: LTTng before 2.15 never gets
past that. The agent replaces the session, and goes on for all. Later ones get past one that died, in the same session.
"""

import os
import shutil
import signal
import subprocess

import pytest
from expect import key_of
from rig.load import KEEP, LOAD
from rig.lttng import HEALS, sessions_of
from rig.node import WHOLE_STACKS
from rig.process import exactly, wait_until
from rig.proxy import Proxy
from rig.users import start_as
from test_reload import Reloader
from test_users import share

pytestmark = pytest.mark.as_root("only root may run programs as other users")

CULPRIT, OTHER = 4321, 4322
CPU = 0


def load(node, user, number, *words):
    """Spans of a user's, under a process number of their own, all of them on the CPU that is to be stuck."""
    become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "taskset", "-c", str(CPU)]
    command = become + [os.path.join(node.path("shared"), os.path.basename(LOAD)), "-P", number, "-w", 10, *words]
    return node.start(command, name=f"load-{user}", HOME="/", LD_LIBRARY_PATH=node.path("shared"))


def begin(node, receiver):
    node.write_config(receiver.port, session=KEEP)
    node.start_agent_again(**WHOLE_STACKS)  # babeltrace2 may keep a little where a session is attached to again


def halfway(node, how, spans=5):
    return start_as(node, CULPRIT, "halfway", how, CPU, spans)


def die_halfway(node, spans=5):
    assert halfway(node, "die", spans).wait(20) == -signal.SIGKILL


def state_of(program):
    """Of its process: "T" while it is stopped."""
    with open(f"/proc/{program.pid}/stat", encoding="ascii") as file:
        return file.read().rpartition(")")[2].split()[0]


def replaced(node):
    return node.metrics()["blkin_agent_sessions_replaced_total"]


def is_waited_for(status, times):
    """Whether a stream is stuck, and the session is not replaced again yet."""
    stuck = "stream-stuck" in [finding["code"] for finding in status["findings"]]
    return stuck and str(CULPRIT) in status["session_error"] and status["sessions_replaced"] == times


def is_loads(span):
    return span.name not in ("whole", "halfway")


def ordinals(receiver, number):
    """Of the spans of a load that came."""
    return sorted(key_of(span)[2] for span in receiver.spans() if is_loads(span) and key_of(span)[0] == number)


def live_again(node, since, seconds=15, heals=HEALS):
    """Waits until spans come that were recorded after this moment, in another session unless LTTng @heals."""
    before = node.ledger().sent
    wait_until(lambda: heals or replaced(node) >= since, seconds, "the session to be replaced", promised=True)
    node.wait_ledger(lambda ledger: ledger.sent > before, seconds, "spans to come again")


def is_gone(node, name):
    """LTTng's daemons, and the relay's disk, have nothing left of a session."""
    live = subprocess.run(
        ["babeltrace2", "-i", "lttng-live", f"net://127.0.0.1:{node.relay_ports[2]}"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    viewed = live.replace(" (", "\n").split("\n")
    folders = [os.path.basename(folder).rsplit("-", 2)[0] for folder in node.session_folders()]
    return name not in sessions_of(node) and not any(line.endswith(f"/{name}") for line in viewed) and name not in folders


def end_load(load):
    """Ends it; how many spans it recorded."""
    load.send(signal.SIGTERM)
    assert load.wait(20) == 0
    return int(load.log().split()[1])


def check_other(node, receiver, number, load):
    """All spans of a load came, once each: both sessions recorded for a while."""
    recorded = end_load(load)
    wait_until(lambda: (ordinals(receiver, number) or [0])[-1] == recorded - 1, 15, "its last span")
    wait_until(lambda: len(node.session_folders()) == 1, 15, "the old session, which may have some, to be gone")
    node.wait_ledger(lambda ledger: ledger.idle(), 15, "nothing to be under way")
    came = ordinals(receiver, number)
    exactly(came == list(range(recorded)), f"{len(came)} came, {len(set(came))} of {recorded}")


def check_whole(node, receiver, number, count):
    """A load of the culprit's, on the CPU that was stuck."""
    assert load(node, CULPRIT, number, "-n", count).wait(30) == 0
    wait_until(lambda: ordinals(receiver, number) == list(range(count)), 15, "all its spans")


def test_killed(node, receiver):
    share(node)
    begin(node, receiver)
    other = load(node, OTHER, 1, "-n", 10**6, "-r", 1000)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "the other user's first spans")
    die_halfway(node)
    live_again(node, 1)
    check_whole(node, receiver, 2, 2000)
    check_other(node, receiver, 1, other)
    if HEALS:
        ledger = node.ledger()
        assert (replaced(node), ledger.packets_lost, ledger.sessions, ledger.sessions_lost, ledger.again) == (0, 0, 1, 0, 0)
        assert "not collecting" not in node.agent.log()
        return
    wait_until(lambda: is_gone(node, "blkin"), 15, "the old session to be gone")
    ledger = node.ledger()
    assert (replaced(node), ledger.packets_lost, ledger.sessions, ledger.sessions_lost, ledger.again) == (1, 1, 2, 0, 0)
    log = node.agent.log()
    assert log.count("is replaced by `blkin-2`") == log.count(f"user {CULPRIT} ") == 1, log
    assert "not collecting" not in log
    status = node.status()
    assert (status["session"], status["session_error"], status["sessions_replaced"]) == ("blkin-2", "", 1)
    # the next agent takes it up
    assert node.agent.stop() == 0
    node.start_agent_again(**WHOLE_STACKS)
    check_whole(node, receiver, 3, 100)
    assert node.ledger().sessions == 2
    assert node.agent.stop() == 0


@pytest.mark.stuck("an event in whose middle a program died")
@pytest.mark.parametrize("spans", [0, 5])
def test_is_named_in_time(node, receiver, spans):
    """Another user's stream flows, on another CPU: the one that stands still is found all the same."""
    share(node)
    begin(node, receiver)
    other = load(node, OTHER, 1, "-n", 10**6, "-r", 500)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "the other user's first spans")
    culprit = start_as(node, CULPRIT, "halfway", "die", os.cpu_count() - 1, spans)
    assert culprit.wait(20) == -signal.SIGKILL
    wait_until(lambda: f"user {CULPRIT} " in node.status()["session_error"] or replaced(node), 12, "the user to be named")
    live_again(node, 1, 15)
    assert f"user {CULPRIT} " in node.agent.log()
    check_other(node, receiver, 1, other)


class Counting(Proxy):
    """A proxy to the relay's viewer port, which counts how often a session is attached to."""

    attached = 0

    def forward(self, data, one, other):
        self.attached += data[8:12] == b"\0\0\0\x03"
        other.sendall(data)


@pytest.mark.stuck("an event in whose middle a program died")
def test_is_named_by_the_next_reader(node, receiver):
    """
    To a reader that attaches only then nothing comes, and what others have recorded seems not to be reported: why that is so
    is found out before it attaches once more.
    """
    share(node)
    proxy = Counting(node.relay_ports[2])
    node.write_config(receiver.port, session=dict(KEEP, relay_live_port=proxy.port))
    node.start_agent_again(**WHOLE_STACKS)
    other = load(node, OTHER, 1, "-n", 10**6, "-r", 500)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "the other user's first spans")
    die_halfway(node, 0)
    before = proxy.attached
    os.kill(node.reader_pid(), signal.SIGKILL)
    wait_until(lambda: f"user {CULPRIT} " in node.status()["session_error"] or replaced(node), 12, "the user to be named")
    assert proxy.attached == before + 2, "not the reader, and then the look at the streams"
    live_again(node, 1, 15)
    recorded = end_load(other)
    wait_until(lambda: (ordinals(receiver, 1) or [0])[-1] == recorded - 1, 15, "its last span")
    came = ordinals(receiver, 1)
    assert sorted(set(came)) == list(range(recorded))
    assert len(came) - recorded <= node.ledger().again  # as the reader was killed


@pytest.mark.stuck("an event in whose middle a program died")
def test_slow_live_timer(node, receiver):
    """A look at the streams takes five turns of it: longer than lttng-relayd may take to answer, and it is not said to hang."""
    share(node)
    node.write_config(receiver.port, session=dict(KEEP, live_timer="5s"))
    node.start_agent_again(**WHOLE_STACKS)
    other = load(node, OTHER, 1, "-n", 10**6, "-r", 50)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 40, "the other user's first spans")
    die_halfway(node)
    live_again(node, 1, 120)
    end_load(other)
    log = node.agent.log()
    assert "hung, and was killed" not in log and "lttng-relayd hangs" not in log, log
    assert "not collecting" not in log, log
    node.wait_ledger(lambda ledger: ledger.packets_lost == 1, 60, "the old session to be read to its end")
    assert replaced(node) == 1


def test_nobody_else(node, receiver):
    """Nothing comes to the relay's disk that does not come live: the streams' silence tells."""
    share(node)
    begin(node, receiver)
    die_halfway(node)
    mine = load(node, CULPRIT, 1, "-n", 10**6, "-r", 500)
    live_again(node, 1)
    recorded = end_load(mine)
    wait_until(lambda: (ordinals(receiver, 1) or [0])[-1] == recorded - 1, 15, "the last span")
    came = ordinals(receiver, 1)
    assert came == list(range(came[0], recorded))
    assert (came[0] == 0) == HEALS
    assert (replaced(node), node.ledger().packets_lost) == ((0, 0) if HEALS else (1, 1))


def die_everywhere(node):
    culprits = [start_as(node, CULPRIT, "halfway", "die", cpu, 5) for cpu in range(os.cpu_count())]
    assert [culprit.wait(20) for culprit in culprits] == [-signal.SIGKILL] * os.cpu_count()


def test_everywhere(node, receiver):
    """
    No stream of the only user moves, as on a node with one CPU: another session, whose streams do, tells that LTTng's
    daemons are well.
    """
    share(node)
    begin(node, receiver)
    mine = load(node, CULPRIT, 1, "-n", 10**6, "-r", 500)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "the first spans")
    die_everywhere(node)
    live_again(node, 1, 20)
    assert "lttng-consumerd passes on nothing" not in node.agent.log()
    recorded = end_load(mine)
    wait_until(lambda: (ordinals(receiver, 1) or [0])[-1] == recorded - 1, 15, "the last span")
    came = ordinals(receiver, 1)
    exactly(len(came) == len(set(came)), f"{len(came)} came, {len(set(came))} of {recorded}")
    if not HEALS:
        ledger = node.ledger()
        assert (replaced(node), ledger.packets_lost, ledger.sessions_lost) == (1, os.cpu_count(), 0)
    check_whole(node, receiver, 2, 200)


@pytest.mark.stuck("an event in whose middle a program died")
def test_other_settings_meanwhile(node, receiver):
    """A session that was begun to find out what stands still, and has the settings of before, does not take over."""
    share(node)
    reloader = Reloader(node, receiver.port, session=KEEP, events={"names": ""})
    mine = load(node, CULPRIT, 1, "-n", 10**6, "-r", 500)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "the first spans")
    die_everywhere(node)
    wait_until(lambda: "blkin-2" in sessions_of(node), 20, "another session", 0.05)
    os.kill(node.reader_pid(), signal.SIGKILL)
    reloader.edit("events", "names", "foreign:*")
    wait_until(lambda: "has changed: a new session" in node.agent.log(), 30, "the change to be seen")
    wait_until(lambda: len(sessions_of(node)) == 1 and len(node.session_folders()) == 1, 30, "the old sessions to be gone")
    live_again(node, 0)
    assert node.agent.log().count("has changed: a new session") == 1, node.agent.log()
    assert node.ledger().sessions_lost == 0
    end_load(mine)


@pytest.mark.stuck("an event in whose middle a program died")
def test_everywhere_and_nobody_left(node, receiver):
    """As nobody runs, no other session's streams tell anything: the session is replaced all the same."""
    share(node)
    begin(node, receiver)
    die_everywhere(node)
    wait_until(lambda: replaced(node) == 1, 20, "the session to be replaced", promised=True)
    assert "lttng-consumerd passes on nothing" not in node.agent.log()
    check_whole(node, receiver, 2, 200)


def test_stopped(node, receiver):
    """The program is alive: it goes on in the new session, and what it had begun in the old one is lost."""
    share(node)
    begin(node, receiver)
    other = load(node, OTHER, 1, "-n", 10**6, "-r", 500)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "the other user's first spans")
    stopped = halfway(node, "stop")
    wait_until(lambda: state_of(stopped) == "T", 20, "the program to stop")
    live_again(node, 1, 25, heals=False)  # the session daemon waits for it for five seconds
    stopped.send(signal.SIGCONT)
    assert stopped.wait(20) == 0
    check_whole(node, receiver, 2, 200)
    check_other(node, receiver, 1, other)
    wait_until(lambda: is_gone(node, "blkin"), 15, "the old session to be gone")
    assert (replaced(node), node.ledger().packets_lost) == (1, 1)


@pytest.mark.stuck("an event in whose middle a program died")
def test_again_and_again(node, receiver):
    """A user who does it again is waited for: the session is read from files meanwhile."""
    share(node)
    begin(node, receiver)
    other = load(node, OTHER, 1, "-n", 10**6, "-r", 500)
    for times in (1, 2):
        node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "the other user's first spans")
        die_halfway(node)
        live_again(node, times, 25)
    wait_until(lambda: is_gone(node, "blkin-2") or is_gone(node, "blkin"), 15, "an old session to be gone")
    die_halfway(node)
    wait_until(lambda: is_waited_for(node.status(), 2), 15, "the finding")
    before = node.ledger().sent
    node.wait_ledger(lambda ledger: ledger.sent > before + 500, 15, "spans from files")
    live_again(node, 3, 40)
    wait_until(lambda: not node.status()["findings"], 15, "nothing to do")
    end_load(other)
    names = ["blkin"] + [f"blkin-{number}" for number in range(2, 9)]
    wait_until(lambda: sum(not is_gone(node, name) for name in names) == 1, 15, "the old sessions to be gone")


@pytest.mark.stuck("an event in whose middle a program died")
def test_relay_is_killed_meanwhile(node, receiver):
    """The session that took another one's place is lost before that one is gone: nothing is delivered twice."""
    share(node)
    begin(node, receiver)
    others = load(node, OTHER, 1, "-n", 10**6, "-r", 100)
    node.wait_ledger(lambda ledger: ledger.sent > 200, 30, "spans")
    die_halfway(node)
    wait_until(lambda: "is replaced by" in node.agent.log(), 30, "the session to be replaced", 0.01)
    node.relayd.kill()
    node.start_relayd()
    node.wait_ledger(lambda ledger: ledger.sessions_lost and ledger.sessions >= 3, 30, "another session")
    sent = node.ledger().sent
    node.wait_ledger(lambda ledger: ledger.sent > sent + 200, 30, "spans of it")
    end_load(others)
    node.wait_ledger(lambda ledger: ledger.idle(), 20, "nothing under way")
    keys = [key_of(span) for span in receiver.spans() if key_of(span)[0] == 1]
    exactly(len(keys) == len(set(keys)), f"{len(keys) - len(set(keys))} spans came twice")


@pytest.mark.stuck("an event in whose middle a program died")
def test_without_a_checkpoint(node, receiver):
    """An agent that knows nothing finds the session by its other name, and ends it."""
    share(node)
    begin(node, receiver)
    other = load(node, OTHER, 1, "-n", 10**6, "-r", 100)
    node.wait_ledger(lambda ledger: ledger.sent > 10, 20, "the other user's first spans")
    die_halfway(node)
    live_again(node, 1)
    end_load(other)
    wait_until(lambda: is_gone(node, "blkin"), 15, "the old session to be gone")
    assert node.agent.stop() == 0
    shutil.rmtree(node.path("state"))
    os.mkdir(node.path("state"))
    node.start_agent_again(**WHOLE_STACKS)
    wait_until(lambda: is_gone(node, "blkin-2"), 20, "the session to be taken up and ended")
    assert "`blkin-2` without a checkpoint" in node.agent.log()
    check_whole(node, receiver, 2, 100)
