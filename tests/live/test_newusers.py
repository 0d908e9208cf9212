# SPDX-License-Identifier: BSD-2-Clause
"""
A user's first program starts while all others are idle: lttng-relayd tells babeltrace2 of new streams only with data of
others, and there are none.
"""

import ctypes
import glob
import os
import shutil
import signal
import time

import pytest
from expect import check_clocks, check_span, key_of
from rig.load import KEEP, LOAD
from rig.process import wait_until
from test_users import share

pytestmark = pytest.mark.as_root("only root may run programs as other users")

KEEPS = pytest.mark.parametrize("session", [KEEP, {"keep": "no"}], ids=["kept", "not-kept"])
USERS = (4321, 4322, 4323)


def start(node, user, number, *words):
    """A load as a user, under a process number of its own; it waits until it is traced."""
    folder = node.path("shared")
    become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    command = become + [os.path.join(folder, os.path.basename(LOAD)), "-P", number, "-w", 10, *words]
    return node.start(command, name=f"load-{user}", HOME="/", LD_LIBRARY_PATH=folder)


def check(node, receiver, counts):
    """@counts[number] spans of each load came, once each, all by one clock."""
    ledger = node.wait_ledger(lambda ledger: ledger.idle() and ledger.sent >= sum(counts), 10, "all spans")
    assert (ledger.read, ledger.sent, ledger.again) == (sum(counts), sum(counts), 0)
    assert (ledger.lost, ledger.packets_lost, ledger.sessions, ledger.sessions_lost) == (0, 0, 1, 0)
    receiver.wait_for(sum(counts))
    keys = [key_of(span) for span in receiver.spans()]
    assert sorted(keys) == [(number, 0, n) for number, count in enumerate(counts) for n in range(count)]
    check_clocks([check_span(span, key_of(span)) for span in receiver.spans()])


def attached_again(node):
    return node.agent.log().count("attaching to the session again")


def check_attached_again(node, times):
    """Where babeltrace2 is told of the new streams after all, as Debian 13's is, there is no need to."""
    assert attached_again(node) in (0, times), node.agent.log()


@KEEPS
def test_others_are_idle(node, receiver, session):
    """One span of a user's, and then another user's ten a second."""
    share(node)
    node.start_agent(receiver.port, session=session)
    start(node, USERS[0], 0, "-n", 1)
    node.wait_ledger(lambda ledger: ledger.sent == 1, 10, "the first user's span")
    time.sleep(1)
    load = start(node, USERS[1], 1, "-n", 100, "-r", 10)
    node.wait_ledger(lambda ledger: ledger.sent > 1, 6, "the second user's first span")
    assert load.running(), "its spans came at its end only"
    assert load.wait(20) == 0
    check(node, receiver, [1, 100])
    # its streams are known from now on
    start(node, USERS[1], 2, "-n", 50, "-r", 50)
    check(node, receiver, [1, 100, 50])
    check_attached_again(node, 1)
    assert "not collecting" not in node.agent.log()
    assert node.agent.stop() == 0


def test_others_are_idle_and_files_elsewhere(node, receiver):
    """Where relayd's files do not show who records, its list does; only what came before the agent attached again is missing."""
    share(node)
    node.start_agent(receiver.port, session=dict(KEEP, relay_output=node.path("elsewhere")))
    start(node, USERS[0], 0, "-n", 1)
    node.wait_ledger(lambda ledger: ledger.sent == 1, 10, "the first user's span")
    load = start(node, USERS[1], 1, "-n", 100000, "-r", 10)
    node.wait_ledger(lambda ledger: ledger.sent > 20, 30, "the second user's spans")
    # who is idle and known is not attached for
    again = attached_again(node)
    os.kill(load.pid, signal.SIGKILL)
    node.wait_quiet(node.path("relay"), 3)
    assert attached_again(node) == again
    check_attached_again(node, 1)
    assert "not collecting" not in node.agent.log()


def test_one_after_the_other(node, receiver):
    """Three users, of whom each logs a few spans and is idle from then on; and then the first one again."""
    share(node)
    node.start_agent(receiver.port, session=KEEP)
    counts = []
    for number, user in enumerate(USERS):
        counts.append(3)
        start(node, user, number, "-n", 3)
        check(node, receiver, counts)
    counts.append(3)
    start(node, USERS[0], len(USERS), "-n", 3)
    check(node, receiver, counts)
    check_attached_again(node, 2)
    assert "not collecting" not in node.agent.log()
    # a new agent, for which they all are idle, and a user who comes then
    assert node.agent.stop() == 0
    node.start_agent_again()
    counts.append(3)
    start(node, 4324, len(USERS) + 1, "-n", 3)
    check(node, receiver, counts)
    check_attached_again(node, 1)


def test_all_at_once(node, receiver):
    """While one who is idle is known, ten come."""
    share(node)
    node.start_agent(receiver.port, session=KEEP)
    start(node, 5000, 0, "-n", 1)
    node.wait_ledger(lambda ledger: ledger.sent == 1, 10, "the first user's span")
    counts = [1] + 10 * [20]
    for number in range(1, len(counts)):
        start(node, 5000 + number, number, "-n", counts[number], "-r", 10)
    time.sleep(2)
    check(node, receiver, counts)


def test_others_are_busy(node, receiver):
    """
    Users come while another records: if a first packet begins before what was read of the other by then, babeltrace2
    cannot take it. The agent attaches again, and collects all the time.
    """
    share(node)
    node.write_config(receiver.port, session=KEEP)
    # it leaks the message that it cannot take
    node.start_agent_again(ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0")
    start(node, USERS[0], 0, "-n", 1)
    node.wait_ledger(lambda ledger: ledger.sent == 1, 10, "the first user's span")
    load = start(node, USERS[0], 1, "-n", 3000, "-r", 200)
    counts = [1, 3000]
    for user in range(5000, 5005):
        counts.append(3)
        start(node, user, len(counts) - 1, "-n", 3)
        start(node, user + 100, len(counts) - 1, "-n", 0)
        time.sleep(2)
    assert load.running()
    assert load.wait(30) == 0
    check(node, receiver, counts)
    assert "not collecting" not in node.agent.log()


def connections(node):
    """Ports of connections to the relay's live port, those that ended within the last minute too."""
    with open("/proc/net/tcp", encoding="ascii") as file:
        rows = [line.split()[1:3] for line in file.readlines()[1:]]
    live = f":{node.relay_ports[2]:04X}"
    return {local for local, remote in rows if remote.endswith(live)}


def babeltrace2_minor():
    return ctypes.CDLL("libbabeltrace2.so.0").bt_version_get_minor()


def test_nothing_logged(node, receiver):
    """Users whose programs register, and log nothing, are not attached for: LTTng begins with an empty packet."""
    share(node)
    node.start_agent(receiver.port, session=KEEP)
    start(node, USERS[0], 0, "-n", 1)
    node.wait_ledger(lambda ledger: ledger.sent == 1, 10, "the first user's span")
    before = connections(node)
    for user in (*USERS[1:], USERS[0]):
        start(node, user, 1, "-n", 0).wait(20)
        assert str(user) in os.listdir(node.session_folders()[0] + "/ust/uid")
    time.sleep(6)
    assert attached_again(node) == 0
    # 2.1 is told of their streams, and may fail on each once ("have a late message when no inactivity message was ever sent")
    assert len(connections(node) - before) <= (len(USERS) if babeltrace2_minor() else 0)
    # not until one does
    start(node, USERS[1], 1, "-n", 5)
    check(node, receiver, [1, 5])
    check_attached_again(node, 1)


def test_never_comes(node, receiver):
    """
    Packets in the relay's index that are not in its files, of a user whom it does not know: attaching again cannot
    help. It is tried less and less often, said once, and does the others no harm.
    """
    share(node)
    node.start_agent(receiver.port, session=KEEP)
    start(node, USERS[0], 0, "-n", 1)
    node.wait_ledger(lambda ledger: ledger.sent == 1, 10, "the first user's span")
    before = connections(node)
    users = node.session_folders()[0] + "/ust/uid/"
    fake = shutil.copytree(users + str(USERS[0]), users + "9999")
    for path in glob.glob(fake + "/64-bit/spans_*"):
        os.truncate(path, 0)
    start(node, USERS[1], 1, "-n", 250, "-r", 10)
    time.sleep(25)
    # 2, 4, 8 and 16 seconds lie between the tries
    assert 2 <= len(connections(node) - before) <= 5
    assert node.agent.log().count("do not come live") == 1
    check(node, receiver, [1, 250])
    assert node.collecting()
    # and another user's wait no longer for it
    start(node, USERS[2], 2, "-n", 5)
    check(node, receiver, [1, 250, 5])


def test_session_daemon_hangs(node, receiver):
    """Nothing needs to be asked of it, once packets are on the relay's disk."""
    share(node)
    node.start_agent(receiver.port, session=KEEP)
    start(node, USERS[0], 0, "-n", 1)
    node.wait_ledger(lambda ledger: ledger.sent == 1, 10, "the first user's span")
    load = start(node, USERS[1], 1, "-n", 100, "-r", 10)
    folder = node.session_folders()[0] + f"/ust/uid/{USERS[1]}"
    metadata = f"{folder}/64-bit/metadata"
    wait_until(lambda: os.path.exists(metadata) and os.path.getsize(metadata), 6, "the second user to be recorded")
    time.sleep(0.5)  # the agent waits longer than that until it attaches again
    node.sessiond.send(signal.SIGSTOP)
    try:
        node.wait_ledger(lambda ledger: ledger.sent > 1, 6, "the second user's first span")
        assert load.running(), "its spans came at its end only"
    finally:
        node.sessiond.send(signal.SIGCONT)
    check(node, receiver, [1, 100])


def test_stop_at_once(node, receiver):
    """A session that is not kept ends with the agent, wherever a stop meets it; and nothing of it is lost."""
    share(node)
    node.start_agent(receiver.port, session={"keep": "no"})
    start(node, USERS[0], 0, "-n", 1)
    node.wait_ledger(lambda ledger: ledger.sent == 1, 10, "the first user's span")
    start(node, USERS[1], 1, "-n", 20).wait(20)
    wait_until(lambda: attached_again(node) or node.ledger().read > 1, 6, "it to attach again, or to read on")
    assert node.agent.stop() == 0
    assert "blkin" not in node.lttng("list") and not node.session_folders()
    receiver.wait_for(21)
    assert sorted(key_of(span) for span in receiver.spans()) == [(0, 0, 0)] + [(1, 0, n) for n in range(20)]
