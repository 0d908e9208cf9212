# SPDX-License-Identifier: BSD-2-Clause
"""
What programs record stays where it is, as one of LTTng's daemons is stopped, or caught in a fault, or gone: the status never
says that all is well, names the one, and has nothing to do once it is over.
"""

import contextlib
import glob
import os
import signal
import socket

import pytest
from expect import check_recorded, end_load, key_of
from rig.load import KEEP
from rig.lttng import HEALS
from rig.node import WHOLE_STACKS
from rig.process import stopped, wait_until
from rig.proxy import Proxy
from rig.users import start_as
from test_doctor import LOAD, expect, findings, start_load
from test_reload import Reloader

NAMED = 12  # s until the status names it: 10, and the time that it takes to ask
FOREVER = 10**6
CUT_OFF = ("consumer-still", "lttng-consumerd passes on nothing", "systemctl kill -s KILL lttng-sessiond")
CUT_OFF_LATER = ("consumer-gone", "lttng-consumerd has ended", "systemctl restart lttng-sessiond")


as_root = pytest.mark.as_root("becomes other users")


def begin(node, receiver):
    node.write_config(receiver.port)
    node.start_agent_again(**WHOLE_STACKS)  # babeltrace2 may keep a little where a session is attached to again


def is_not_ready(node, what):
    """Scripts and alerts are told the same."""
    code, text = node.http_get("/readyz")
    assert code == 503 and what in text
    assert node.metrics()["blkin_agent_collecting"] == 0


def is_over(node):
    """Spans arrive again, and there is nothing to do."""
    wait_until(lambda: node.collecting() and findings(node) == {}, 15, "the doctor to find nothing", 0.3, promised=True)
    sent = node.ledger().sent
    node.wait_ledger(lambda ledger: ledger.sent > sent, 15, "spans again")
    assert node.collecting()


def check_all(node, receiver, load):
    """Of what was recorded nothing is missing."""
    recorded = end_load(load)
    node.wait_ledger(lambda ledger: ledger.sent == sum(recorded.values()), 30, "everything to be sent")
    ledger = node.ledger()
    assert (ledger.lost, ledger.packets_lost) == (0, 0)
    check_recorded(receiver.spans(), recorded)


def test_consumer_is_stopped(node, receiver):
    begin(node, receiver)
    load = start_load(node)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "spans")
    with stopped(node.consumer_pid()):
        expect(node, "consumer-hangs", "lttng-consumerd is stopped or hangs", "pkill -CONT lttng-consumerd", NAMED)
        is_not_ready(node, "lttng-consumerd is stopped or hangs")
    is_over(node)
    check_all(node, receiver, load)
    assert "lttng-relayd does not send" not in node.agent.log()


def test_consumer_is_stopped_while_nothing_is_recorded(node, receiver):
    """The first program to come would not be traced."""
    begin(node, receiver)
    with stopped(node.consumer_pid()):
        expect(node, "consumer-hangs", "lttng-consumerd is stopped or hangs", "pkill -CONT lttng-consumerd", NAMED)
    load = start_load(node)
    is_over(node)
    check_all(node, receiver, load)


@contextlib.contextmanager
def silent_kernel(node):
    """Where the kernel's consumer daemon is asked how it is, nobody answers."""
    path = node.sessiond_file("kconsumerd/health")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        yield
    os.unlink(path)


def test_kernels_consumer_is_stopped(node, receiver):
    """What takes another session is put off, as that would wait for it: spans come, and it is made once the daemon answers."""
    kernel = {"events": "sched_switch", "mode": "live"}
    reloader = Reloader(node, receiver.port, session=KEEP, events={"names": ""}, kernel=kernel)
    load = start_load(node)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "spans")
    with silent_kernel(node):
        reloader.edit("events", "names", "foreign:*")
        wait_until(lambda: "as yet: one of LTTng's daemons does not answer" in node.agent.log(), 20, "the change to be put off")
        sent = node.ledger().sent
        node.wait_ledger(lambda ledger: ledger.sent > sent + 100, 15, "spans")
        assert node.status()["session"] == "blkin"
    wait_until(lambda: node.status()["session"] == "blkin-2", 30, "the change")
    check_all(node, receiver, load)
    assert node.agent.log().count("has changed: a new session takes the old one's place") == 1


@pytest.mark.parametrize("busy", [True, False], ids=["busy", "idle"])
def test_session_daemon_is_stopped(node, receiver, busy):
    begin(node, receiver)
    load = start_load(node) if busy else None
    node.wait_ledger(lambda ledger: not busy or ledger.sent > 100, 20, "spans")
    with stopped(node.sessiond.pid):
        expect(node, "lttng-hangs", "lttng-sessiond hangs", "systemctl restart lttng-sessiond", NAMED)
        is_not_ready(node, "lttng-sessiond hangs")
    load = load or start_load(node)
    is_over(node)
    check_all(node, receiver, load)


@pytest.mark.parametrize("busy", [True, False], ids=["busy", "idle"])
def test_relay_daemon_is_stopped(node, receiver, busy):
    begin(node, receiver)
    load = start_load(node) if busy else None
    node.wait_ledger(lambda ledger: not busy or ledger.sent > 100, 20, "spans")
    with stopped(node.relayd.pid):
        expect(node, "lttng-hangs", "lttng-relayd hangs", "systemctl restart blkin-relayd", NAMED)
        is_not_ready(node, "lttng-relayd hangs")
    load = load or start_load(node)
    is_over(node)
    check_all(node, receiver, load)


def test_consumer_is_killed(node, receiver):
    """The session daemon does not start another, and its own words do not say so."""
    begin(node, receiver)
    start_load(node)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "spans")
    os.kill(node.consumer_pid(), signal.SIGKILL)
    expect(node, "consumer-gone", "lttng-consumerd has ended", "systemctl restart lttng-sessiond", NAMED)
    is_not_ready(node, "lttng-consumerd has ended")
    assert node.sessiond.stop() == 0
    node.start_sessiond()
    is_over(node)
    assert node.ledger().sessions_lost == 1


def read_from_files(node, receiver):
    """A user's programs record what readers die of: the session is read from files for half a minute."""
    preload = [node.built("tests/live/programs/libdeadly.so"), node.leak_environment.get("LD_PRELOAD")]
    node.write_config(receiver.port)
    node.start_agent_again(LD_PRELOAD=" ".join(filter(None, preload)), BLKIN_WAITS=node.path("wait"), **WHOLE_STACKS)
    program = start_as(node, 5004, "spanload", "-P", 666, "-n", FOREVER, "-r", 50)
    wait_until(lambda: "left-out" in findings(node), 120, "the user to be left out", 0.3)
    program.kill()


def is_told(node, beside, code, what, fix):
    """Beside what the way of reading is told of, nothing else."""
    if not beside:
        expect(node, code, what, fix, NAMED)
        return
    wait_until(lambda: set(findings(node)) - beside == {code}, NAMED, f"the doctor to find {code}", 0.3, promised=True)
    found = findings(node)[code]
    assert what in found["what"] and fix in found["fix"], found


begins = pytest.mark.parametrize("read", [begin, read_from_files], ids=["live", "files"])


@as_root
@begins
def test_ring_buffers_are_cut_off(node, receiver, read):
    """
    A user makes the files of their own ring buffers shorter: LTTng's consumer daemon is caught in a fault for ever, and
    passes on nothing of anybody. That of LTTng 2.16 ends.
    """
    read(node, receiver)
    for number, user in enumerate((5001, 5002)):
        start_as(node, user, "spanload", "-P", number, "-n", FOREVER, "-r", 100)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "spans")
    villain = start_as(node, 5003, "shrink")
    wait_until(lambda: "2 files" in villain.log(), 10, "the files to be cut off")
    told = CUT_OFF_LATER if HEALS else CUT_OFF
    beside = {"left-out"} if read is read_from_files else set()
    is_told(node, beside, *told)
    is_not_ready(node, told[1])
    villain.kill()
    is_told(node, beside, *told)
    # what the remedy does: all processes of the unit are killed, and systemd starts it again
    if node.consumer_pid():
        os.kill(node.consumer_pid(), signal.SIGKILL)
    node.sessiond.kill()
    node.start_sessiond()
    # lttng-relayd may hold on to the session before, and then the new one is read from files for now
    beside |= {"relay-stalls"} if beside else set()
    wait_until(lambda: node.collecting() and set(findings(node)) <= beside, 15, "it to be over", 0.3)
    sent = node.ledger().sent
    node.wait_ledger(lambda ledger: ledger.sent > sent, 15, "spans again")
    assert node.ledger().sessions_lost == 1


@pytest.mark.stuck("a consumer daemon that a fault does not end")
@as_root
def test_it_is_over_before_anybody_records_again(node, receiver):
    """The next session is not taken for one that stands still."""
    begin(node, receiver)
    program = start_as(node, 5001, "spanload", "-n", FOREVER, "-r", 100)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "spans")
    villain = start_as(node, 5003, "shrink")
    wait_until(lambda: "2 files" in villain.log(), 10, "the files to be cut off")
    is_told(node, set(), *CUT_OFF)
    for left in (villain, program):
        left.kill()
    os.kill(node.consumer_pid(), signal.SIGKILL)
    node.sessiond.kill()
    node.start_sessiond()
    wait_until(lambda: node.ledger().sessions_lost == 1, 15, "the session to be lost")
    # of a user whose metadata was not at the relay yet when the session was read from files, that is told for a minute
    left_out = {"left-out"} if "user 5003 record cannot be read, and is skipped" in node.agent.log() else set()
    wait_until(lambda: node.collecting() and set(findings(node)) <= {"no-program"} | left_out, 15, "it to be over", 0.3, promised=True)


def has_recorded(node, user):
    """Whether the relay's disk has events of a user's."""
    found = [path for folder in node.session_folders() for path in glob.glob(f"{folder}/ust/uid/{user}/64-bit/spans_*")]
    return any(os.path.getsize(path) for path in found)


@pytest.mark.stuck("a consumer daemon that a fault does not end")
@as_root
def test_what_is_left_to_read_hides_nothing(node, receiver):
    """
    The consumer daemon is caught in a fault while the reader is behind, each user's programs being read alone: what it then
    reads, of what was recorded before, does not change what is told.
    """
    read_from_files(node, receiver)
    start_as(node, 5001, "spanload", "-P", 1, "-n", FOREVER, "-r", 100)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "spans")
    with open(node.path("wait"), "wb"):
        start_as(node, 5005, "spanload", "-P", 888, "-n", 1)
    wait_until(lambda: os.path.exists(node.path("wait.here")), 20, "the reader to be in the midst of a pass")
    assert start_as(node, 5006, "spanload", "-P", 2, "-n", 1).wait(20) == 0
    wait_until(lambda: has_recorded(node, 5006), 10, "a span on disk that this pass does not read")
    villain = start_as(node, 5003, "shrink")
    wait_until(lambda: "2 files" in villain.log(), 10, "the files to be cut off")
    node.wait_quiet(node.path("relay"), 3)  # user 5001 still records
    os.unlink(node.path("wait"))
    is_told(node, {"left-out"}, *CUT_OFF)
    wait_until(lambda: any(key_of(span)[0] == 2 for span in receiver.spans()), 15, "that span")
    is_told(node, {"left-out"}, *CUT_OFF)
    is_not_ready(node, CUT_OFF[1])


class Failing(Proxy):
    """A proxy to the relay's viewer port, which fails whoever attaches next, once that is asked for."""

    fails = False

    def forward(self, data, one, other):
        if self.fails and data[8:12] == b"\0\0\0\x03":  # it attaches to a session
            self.fails = False
            one.shutdown(socket.SHUT_RDWR)
        else:
            other.sendall(data)


@pytest.mark.stuck("a consumer daemon that a fault does not end")
@as_root
def test_a_look_at_the_streams_that_fails(node, receiver):
    """It is made again soon, as long as nothing comes."""
    proxy = Failing(node.relay_ports[2])
    node.write_config(receiver.port, session={"relay_live_port": proxy.port})
    node.start_agent_again(**WHOLE_STACKS)
    start_as(node, 5001, "spanload", "-n", FOREVER, "-r", 100)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "spans")
    villain = start_as(node, 5003, "shrink")
    wait_until(lambda: "2 files" in villain.log(), 10, "the files to be cut off")
    proxy.fails = True
    wait_until(lambda: CUT_OFF[0] in findings(node), 20, "the status to say so", 0.3, promised=True)
    assert not proxy.fails, "nothing to be tested: nobody attached"


@pytest.mark.stuck("an event in whose middle a program died")
@as_root
@begins
def test_a_stream_is_stuck(node, receiver, read):
    """A program is killed in the middle of an event: the session is replaced, however it is read."""
    read(node, receiver)
    start_as(node, 5001, "spanload", "-P", 1, "-n", FOREVER, "-r", 100)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "spans")
    assert start_as(node, 5002, "halfway", "die", 0, 5).wait(20) == -signal.SIGKILL
    wait_until(lambda: node.status()["sessions_replaced"] == 1, NAMED, "the session to be replaced", promised=True)
    assert "a program of user 5002 was killed, or is stopped, in the middle of recording an event" in node.agent.log()
    assert "program of user 5001" not in node.agent.log()  # it may say of it that the session is attached to again
    sent = node.ledger().sent
    node.wait_ledger(lambda ledger: ledger.sent > sent + 100, 15, "spans again")
