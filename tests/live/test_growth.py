# SPDX-License-Identifier: BSD-2-Clause
"""
Ring buffers that were full grow: a session with larger ones takes the place of the one at hand. What did not fit before is counted,
nothing else is lost, none comes twice, and an agent that is started again keeps them; whatever happens meanwhile.
"""

import contextlib
import glob
import os
import signal
import struct
import time

import pytest
from expect import end_load, key_of, keys_of
from rig.load import KEEP, LOAD
from rig.lttng import HEALS, sessions_of
from rig.node import WHOLE_STACKS
from rig.process import Trouble, exactly, stopped, wait_until
from rig.proxy import Proxy
from test_doctor import expect
from test_stuck import CULPRIT, OTHER, die_halfway, ordinals
from test_stuck import end_load as end_one
from test_stuck import load as load_of
from test_users import share
from test_versions import room, taken

MIB = 1024 * 1024
LITTLE = 400 * 1024  # less than the ring buffers of one user and CPU
BURST = 8000  # spans, as fast as can be: more than ring buffers of 1M hold, and less than those of 16M do on one CPU


def size(node):
    """Of the ring buffers of the user who has some."""
    return max((user["bytes"] for user in node.status()["buffers"]["users"]), default=0)


def sessions(node):
    return node.metrics()["blkin_agent_sessions_created_total"]


def begin(node, receiver, most, memory=1, rate=200, **session):
    """With a program that records all the time."""
    node.start_agent(receiver.port, session={**KEEP, "memory": f"{memory}M", "memory_max": most, **session})
    load = node.start([node.built(LOAD), "-P", 1, "-w", 10, "-n", 10**6, "-r", rate])
    node.wait_for(lambda: size(node) == memory * MIB, 20, "the program's ring buffers")
    return load


def burst(node, number, count=BURST):
    """
    Nobody empties the ring buffers meanwhile. Where a session is about to end, LTTng would wait for its consumer daemon, and the
    program for LTTng.
    """
    node.wait_for(lambda: len(sessions_of(node)) == 1, 30, "the session before to be gone")
    with stopped(node.consumer_pid()):
        node.run([LOAD, "-P", number, "-w", 20, "-n", count])


def burst_lost(node, number):
    """How many of such a burst were lost, once it is read."""
    before = node.ledger()
    there = before.read + before.lost + BURST
    burst(node, number)
    return node.wait_ledger(lambda ledger: ledger.read + ledger.lost >= there, 60, "the burst to be read or counted").lost - before.lost


def on_each_cpu(node):
    """What a ring discarded LTTng says with the next packet: one comes of each. Returns what is recorded for that."""
    recorded = {}
    for cpu in os.sched_getaffinity(0):
        one = node.start(["taskset", "-c", str(cpu), node.built(LOAD), "-P", 1000 + cpu, "-w", 20, "-n", 1])
        assert one.wait(30) == 0
        recorded[1000 + cpu, 0] = 1
    return recorded


def check(node, receiver, load, bursts, count=BURST):
    """What is missing was counted as lost, and nothing came twice that was not read again. Returns what is missing, by program."""
    recorded = end_load(load) | {(number, 0): count for number in bursts} | on_each_cpu(node)
    wanted = keys_of(recorded)
    try:
        ledger = node.wait_ledger(
            lambda ledger: ledger.read - ledger.again + ledger.lost >= len(wanted) and ledger.idle(), 60, "all to be read, or counted"
        )
    except Trouble as trouble:
        away = sorted(wanted - {key_of(span) for span in receiver.spans()})
        raise Trouble(f"{trouble}\n{len(away)} did not come: {away[:20]} ... {away[-20:]}") from None
    receiver.wait_for(ledger.sent)
    came = [key_of(span) for span in receiver.spans()]
    exactly(len(came) - len(set(came)) <= ledger.again, f"{len(came) - len(set(came))} came twice, {ledger.again} were read again")
    missing = wanted - set(came)
    exactly(set(came) <= wanted and len(missing) <= ledger.lost, f"{len(missing)} are missing, {ledger.lost} are counted")
    assert (ledger.packets_lost, ledger.sessions_lost) == (0, 0)
    return {process: sum(key[0] == process for key in missing) for process, _ in recorded}


def test_they_grow_until_all_fits(node, receiver):
    load = begin(node, receiver, "16M")
    bursts, growing = [], True
    while growing:
        was = size(node)
        bursts.append(len(bursts) + 2)
        growing = burst_lost(node, bursts[-1]) > 0
        if growing:
            node.wait_for(lambda was=was: size(node) > was, 30, "larger ring buffers")
    made, last = sessions(node), size(node)
    assert (made, last) == (len(bursts), MIB << len(bursts) - 1), "a session for each burst that did not fit"
    # LTTng has up to an eighth more for each ring
    node.wait_for(lambda: last <= taken() < 1.3 * last, 30, "the smaller ones to be given back")
    assert node.agent.stop() == 0
    node.start_agent_again()
    missing = check(node, receiver, load, bursts)
    assert missing[bursts[0]] > 0
    assert missing[bursts[-1]] == 0
    assert (sessions(node), size(node)) == (made, last), "the next agent keeps them"


def test_no_further_than_they_may(node, receiver):
    load = begin(node, receiver, "2M")
    count = 2 * BURST  # more than 2M hold, also where the program goes to another CPU meanwhile
    burst(node, 2, count)
    node.wait_for(lambda: size(node) == 2 * MIB, 30, "larger ring buffers")
    burst(node, 3, count)
    missing = check(node, receiver, load, (2, 3), count)
    assert min(missing[2], missing[3]) > 0
    assert (sessions(node), size(node)) == (2, 2 * MIB)


@pytest.mark.as_root("mounts")
def test_no_further_than_there_is_room(node, receiver):
    """A quarter of /dev/shm, for all users together; a larger one is used once it is there."""
    with room("7M"):
        load = begin(node, receiver, "16M")
        for number in (2, 3):
            assert burst_lost(node, number) > 0
        assert (sessions(node), size(node)) == (1, MIB)
    burst(node, 4)
    node.wait_for(lambda: size(node) == 2 * MIB, 30, "larger ring buffers")
    missing = check(node, receiver, load, (2, 3, 4))
    assert min(missing[2], missing[3]) > 0
    assert sessions(node) == 2


def test_no_further_than_what_was_lost_asks_for(node, receiver):
    """What is read of the old session once the new one has its place was lost in the old one: it is no reason to grow again."""
    load = begin(node, receiver, "16M")
    node.stop_reading()
    for number in (2, 3, 4):
        burst(node, number)
        node.run([LOAD, "-P", number, "-w", 20, "-n", 1])  # with which what was lost is told
    node.read_on()
    node.wait_for(lambda: size(node) > MIB, 30, "larger ring buffers")
    made = node.ledger().made
    node.wait_ledger(lambda ledger: ledger.made > made + 600, 20, "three seconds, of which two are the pause between two steps")
    assert (sessions(node), size(node)) == (2, 2 * MIB)
    load.kill()


def test_less_is_wanted(node, receiver):
    """A lower `memory` takes effect, although ring buffers could have grown from that to what they are."""
    load = begin(node, receiver, "16M", memory=4)
    assert node.agent.stop() == 0
    node.start_agent(receiver.port, session={**KEEP, "memory": "1M", "memory_max": "16M"})
    node.wait_for(lambda: size(node) == MIB, 30, "smaller ring buffers")
    check(node, receiver, load, ())
    assert (sessions(node), node.ledger().lost) == (2, 0)


def is_made(node):
    return "blkin-2" in sessions_of(node)


def is_started(node):
    return sessions_of(node).get("blkin-2", False)


def kill_reader(node):
    """While a session is about to take the other one's place, of which another reader knows then."""
    burst(node, 2)
    wait_until(lambda: is_started(node), 20, "another session", 0.01)
    os.kill(node.reader_pid(), signal.SIGKILL)


def test_reader_is_killed_meanwhile(node, receiver):
    """What was lost stays counted, and the two sessions do not record the same for long."""
    load = begin(node, receiver, "2M")
    kill_reader(node)
    node.wait_for(lambda: node.ledger().lost > 0, 20, "what was lost to be counted")
    wait_until(lambda: not sessions_of(node).get("blkin"), 40, "the old session to be stopped")
    assert check(node, receiver, load, (2,))[2] > 0


@pytest.mark.parametrize("who", ["agent", "reader"])
def test_killed_while_the_rest_is_read(node, receiver, who):
    """The old session was stopped, and stays so: or it would record beside the other one, for as long as it takes to find that out."""
    load = begin(node, receiver, "2M")
    burst(node, 2)
    wait_until(lambda: is_started(node), 20, "another session", 0.01)
    wait_until(lambda: not sessions_of(node).get("blkin"), 20, "the old one to be stopped", 0.01)
    if who == "agent":
        node.agent.kill()
        node.start_agent_again(wait=False)
    else:
        os.kill(node.reader_pid(), signal.SIGKILL)
    recorded = []
    wait_until(lambda: recorded.append(sessions_of(node).get("blkin")) or "blkin" not in sessions_of(node), 40, "the old one to be gone", 0.05)
    assert True not in recorded
    node.wait_for(lambda: node.status()["session"] == "blkin-2", 20, "the other session to be read")
    assert check(node, receiver, load, (2,))[2] > 0
    assert sessions(node) == 2


def test_other_session_is_destroyed_meanwhile(node, receiver):
    """The next reader makes another one."""
    load = begin(node, receiver, "2M")
    kill_reader(node)
    with contextlib.suppress(Trouble):
        node.lttng("destroy", "blkin-2")
    made = node.ledger().made
    node.wait_ledger(lambda ledger: ledger.made > made + 200 and ledger.lost, 20, "spans by way of the next reader")
    burst(node, 3)
    node.wait_for(lambda: size(node) == 2 * MIB, 40, "larger ring buffers")
    assert "`blkin-2`, which was to take the place of `blkin`, was gone before it had" in node.agent.log()
    check(node, receiver, load, (2, 3))
    wait_until(lambda: len(node.session_folders()) == 1, 20, "the old sessions' files to be removed")


def fill(path):
    """Takes all of /dev/shm but a little, whoever takes some at the same time."""
    with open(path, "wb") as file:
        while (room := os.statvfs(path)).f_bavail * room.f_frsize > LITTLE:
            with contextlib.suppress(OSError):
                os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), room.f_bavail * room.f_frsize - LITTLE // 2)


def check_consumer_ended(node):
    """LTTng's consumer daemon of 2.16 ends where it finds no room, and all sessions with it: which is said."""
    assert HEALS, "LTTng 2.13's is still there"
    expect(node, "consumer-gone", "lttng-consumerd has ended", "systemctl restart lttng-sessiond", 20)
    assert "lttng-relayd has ended" not in node.agent.log()
    assert node.sessiond.stop() == 0
    node.start_sessiond()
    read = node.ledger().read
    node.wait_ledger(lambda ledger: ledger.read > read + 200, 30, "spans of another session")
    burst(node, 3)
    node.wait_for(lambda: size(node) == 2 * MIB, 30, "larger ring buffers")
    assert node.ledger().sessions_lost == 1


@pytest.mark.as_root("mounts")
def test_room_is_taken_meanwhile(node, receiver):
    """Whose buffers do not find room in the other session would record nothing any more: the one at hand stays, until there is."""
    filler = "/dev/shm/blkin-filler"
    with room("64M"):
        load = begin(node, receiver, "2M")
        burst(node, 2)
        reader = node.reader_pid()
        wait_until(lambda: "grow from" in node.agent.log(), 20, "them to be about to grow", 0.001)
        with stopped(reader):  # or they have grown by then
            fill(filler)
        try:
            wait_until(lambda: "no LTTng session can take the place of `blkin`: " in node.agent.log(), 20, "the lack of room to be told")
            ended = not node.consumer_pid()
            if not ended:
                read = node.ledger().read
                node.wait_ledger(lambda ledger: ledger.read > read + 200, 20, "spans of the session at hand")
        finally:
            os.unlink(filler)
        if ended:
            check_consumer_ended(node)
            return
        assert (node.status()["session"], size(node)) == ("blkin", MIB)
        read = node.ledger().read
        node.wait_ledger(lambda ledger: ledger.read > read + 800, 20, "the time until it is tried again")
        burst(node, 3)
        node.wait_for(lambda: size(node) == 2 * MIB, 30, "larger ring buffers")
        check(node, receiver, load, (2, 3))


class Slow(Proxy):
    """A way to the relay that is slow, at times."""

    rate = None  # bytes a second

    def forward(self, data, one, other):
        if self.rate:
            time.sleep(len(data) / self.rate)
        other.sendall(data)


def test_relay_is_slow(node, receiver):
    """What the old session has comes late, but as it comes it is waited for."""
    way = Slow(node.relay_ports[1])
    load = begin(node, receiver, "4M", memory=2, rate=4000, relay_data_port=way.port)
    with stopped(node.consumer_pid()):
        node.run([LOAD, "-P", 2, "-n", 2 * BURST])
    wait_until(lambda: is_made(node), 30, "another session", 0.01)
    way.rate = 100000
    wait_until(lambda: node.status()["session"] == "blkin-2", 60, "the old session to be read")
    way.rate = None
    check(node, receiver, load, (2,), 2 * BURST)
    assert size(node) == 4 * MIB


def packets(node, user):
    """Of a user, as lttng-relayd's index has them: how many events each stream had lost up to each."""
    found = []
    for path in glob.glob(node.session_folders()[0] + f"/ust/uid/{user}/**/*.idx", recursive=True):
        with open(path, "rb") as file:
            data = file.read()
        (size_of,) = struct.unpack_from(">I", data, 12)
        found += [struct.unpack_from(">Q", data, at + 40)[0] for at in range(16, len(data) - size_of + 1, size_of)]
    return found


@pytest.mark.as_root("only root may run programs as other users")
@pytest.mark.stuck("an event in whose middle a program died")
def test_program_dies_halfway_meanwhile(node, receiver):
    """What it holds up in the old session is lost, and counted as the ring buffer that it is."""
    share(node)
    node.write_config(receiver.port, session={**KEEP, "memory": "1M", "memory_max": "2M"})
    node.start_agent_again(**WHOLE_STACKS)
    other = load_of(node, OTHER, 1, "-n", 10**6, "-r", 200)
    mine = load_of(node, CULPRIT, 2, "-n", 10**6, "-r", 50)
    wait_until(lambda: len(node.status()["buffers"]["users"]) == 2, 20, "the ring buffers of both")
    node.stop_reading()
    with stopped(node.consumer_pid()):
        assert load_of(node, OTHER, 3, "-n", BURST).wait(30) == 0
    wait_until(lambda: max(packets(node, OTHER)), 20, "what was lost to be told")
    before = len(packets(node, CULPRIT))
    wait_until(lambda: len(packets(node, CULPRIT)) > before + 2, 20, "the culprit's packets behind that")
    die_halfway(node)
    assert load_of(node, CULPRIT, 4, "-n", 100).wait(30) == 0
    node.read_on()
    node.wait_for(lambda: size(node) == 2 * MIB, 40, "larger ring buffers")
    recorded = end_one(other)
    node.wait_ledger(lambda ledger: ledger.idle(), 20, "everything to be delivered")
    wait_until(lambda: (ordinals(receiver, 1) or [0])[-1] == recorded - 1, 15, "its last span")
    came = {number: ordinals(receiver, number) for number in (1, 3, 4)}
    exactly(all(len(numbers) == len(set(numbers)) for numbers in came.values()), "some came twice")
    missing, ledger = recorded + BURST - len(came[1]) - len(came[3]), node.ledger()
    exactly(missing <= ledger.lost, f"{missing} of the other's are missing, {ledger.lost} are counted")
    assert (came[4], ledger.packets_lost) == ([], 1)
    assert f"a program of user {CULPRIT} was killed, or is stopped, in the middle of recording an event" in node.agent.log()
    mine.kill()
