# SPDX-License-Identifier: BSD-2-Clause
"""LTTng, the agent or a program may have no more files, processes or shared memory: that is said, and of whom."""

import itertools
import os
import resource
import signal

import pytest
from expect import key_of
from rig.load import LOAD
from rig.node import WHOLE_STACKS
from rig.process import free_port, wait_until
from rig.scribe import Receiver
from rig.users import as_user, start_as
from test_doctor import findings
from test_leftovers import start

USERS = (5002, 5003, 5004)
FOREVER = 10**6

pytestmark = pytest.mark.as_root("becomes other users")


def begin(node, receiver):
    """An agent, and a program of a user's."""
    node.write_config(receiver.port)
    node.start_agent_again(**WHOLE_STACKS)
    start_as(node, 5001, "spanload", "-n", FOREVER, "-r", 50)
    node.wait_ledger(lambda ledger: ledger.sent > 50, 20, "spans")


def start_others(node):
    """They wait until they are recorded."""
    return [start_as(node, user, "spanload", "-P", user - 5000, "-n", FOREVER, "-r", 50, "-w", 1000) for user in USERS]


class Crowded:
    """A process may open one file more than it has."""

    def __init__(self, pid):
        self.pid = pid
        self.limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)

    def __enter__(self):
        has = set(map(int, os.listdir(f"/proc/{self.pid}/fd")))
        free = next(number for number in itertools.count() if number not in has)
        resource.prlimit(self.pid, resource.RLIMIT_NOFILE, (free + 1, self.limits[1]))

    def __exit__(self, *_):
        resource.prlimit(self.pid, resource.RLIMIT_NOFILE, self.limits)


def is_over(node, expected=()):
    wait_until(lambda: node.collecting() and set(findings(node)) == set(expected), 30, "nothing to do", 0.3)
    sent = node.ledger().sent
    node.wait_ledger(lambda ledger: ledger.sent > sent + 100, 20, "spans again")
    assert node.collecting() and set(findings(node)) == set(expected)


def test_consumer_may_open_no_more_files(node, receiver):
    """The programs of users who have no buffers yet record nothing, for as long as they run; those that start later do."""
    begin(node, receiver)
    with Crowded(node.consumer_pid()):
        others = start_others(node)
        words = "3 programs with blkin record nothing"
        wait_until(lambda: findings(node).get("program-unrecorded", {"what": ""})["what"].startswith(words), 30, "the finding", 0.3)
    found = findings(node)["program-unrecorded"]
    assert all(f"spanload ({program.pid}) of user {user}" in found["what"] for program, user in zip(others, USERS)), found
    for program in others:
        program.kill()
    start_others(node)
    # the daemon may be left so that lttng-relayd does not answer: that is told, and after 20 s another reader goes on
    node.wait_ledger(lambda _: {key_of(span)[0] for span in receiver.spans()} >= {user - 5000 for user in USERS}, 60, "theirs")
    is_over(node)


def test_program_may_open_no_files(node, receiver):
    """It is not told what to record; all others record."""
    begin(node, receiver)
    command, more = as_user(node, USERS[0], "spanload", "-n", FOREVER, "-r", 50, "-w", 1000)
    program = node.start(["prlimit", "--nofile=8", *command], name="spanload-8", **more)
    wait_until(lambda: set(findings(node)) == {"program-unrecorded"}, 30, "the finding", 0.3)
    assert "1 program with blkin records nothing" in findings(node)["program-unrecorded"]["what"]
    assert node.collecting()
    program.kill()
    is_over(node)


ALONE = {
    "no processes": ([], ["prlimit", "--nproc=1"]),
    "no /dev/shm": (["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o mode=700 tmpfs /dev/shm && exec "$@"', "sh"], []),
}


@pytest.mark.parametrize("how", ALONE)
def test_program_gets_no_threads_of_lttng(node, receiver, how):
    """LTTng does not hear of it; all others record."""
    begin(node, receiver)
    command, more = as_user(node, USERS[0], "spanload", "-P", 1, "-n", FOREVER, "-r", 50, "-w", 1000)
    before, after = ALONE[how]
    program = node.start([*before, *command[:4], *after, *command[4:]], name="spanload-alone", **more)
    wait_until(lambda: set(findings(node)) == {"program-unrecorded"}, 30, "the finding", 0.3)
    assert f"spanload ({program.pid}) of user {USERS[0]}, without LTTng's threads" in findings(node)["program-unrecorded"]["what"]
    assert node.collecting()
    program.kill()
    is_over(node)


def test_agent_may_open_no_more_files(node, receiver):
    """It cannot start another reader, and says why."""
    begin(node, receiver)
    with Crowded(node.agent.pid):
        os.kill(node.reader_pid(), signal.SIGKILL)
        wait_until(lambda: "no-reader" in findings(node), 30, "the finding", 0.3)
        assert "the agent may open no more files" in findings(node)["no-reader"]["what"]
        assert not node.collecting()
    is_over(node)


def test_agent_may_write_no_large_files(node):
    """It goes on, and says that it cannot keep what waits."""
    node.start_agent(free_port(), output={"retry-max": "300ms"})
    limits = resource.prlimit(node.agent.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(node.agent.pid, resource.RLIMIT_FSIZE, (1, limits[1]))
    node.run([LOAD, "-n", 500])
    wait_until(lambda: "spool-failing" in findings(node), 30, "the finding", 0.3)
    resource.prlimit(node.agent.pid, resource.RLIMIT_FSIZE, limits)
    node.wait_ledger(lambda ledger: ledger.spooled == 500, 30, "all in the spool")


def test_agent_may_start_no_more_threads(node, receiver):
    """An output that comes with a reload then has no spool, which is said; it delivers, and after a restart it has one."""
    start(node, receiver, BLKIN_THREADLESS=node.path("threadless"))
    node.agent.wait_ready(node.collecting)
    other = Receiver(node, free_port()).start()
    with open(node.path("agent.conf"), "a", encoding="ascii") as file:
        file.write(f"[output other]\nserver = 127.0.0.1:{other.port}\n")
    open(node.path("threadless"), "w", encoding="ascii").close()
    node.agent.send(signal.SIGHUP)
    wait_until(lambda: "spool-failing" in findings(node), 30, "the finding", 0.3)
    assert "the spool of output other stores no spans: its thread cannot be started" in findings(node)["spool-failing"]["what"]
    os.unlink(node.path("threadless"))
    node.run([LOAD, "-n", 100])
    other.wait_for(100)
    assert node.agent.stop() == 0
    node.start_agent_again()
    wait_until(lambda: not findings(node), 30, "nothing to do", 0.3)
