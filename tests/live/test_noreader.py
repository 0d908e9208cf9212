# SPDX-License-Identifier: BSD-2-Clause
"""There is no reader, or none that lives: /readyz and the log say so, and when there is one again it reads on."""

import glob
import os

import pytest
from expect import end_load, key_of, keys_of
from rig.load import KEEP, LOAD, finish
from rig.process import exactly, stopped, wait_until
from test_doctor import findings
from test_fakereader import fake, kill_reader, restarts  # noqa: F401

CANNOT = "the process that reads the session cannot be started"


def missing(fake):
    os.rename(fake.reader, fake.reader + ".away")


def not_executable(fake):
    os.chmod(fake.reader, 0o644)


def put_back(fake):
    if not os.path.exists(fake.reader):
        os.rename(fake.reader + ".away", fake.reader)
    os.chmod(fake.reader, 0o755)


def recovers(fake, receiver, agent):
    fake.node.run([LOAD, "-P", 1, "-n", 100])
    fake.mode("real")
    put_back(fake)
    wait_until(fake.node.collecting, 30, "the agent to collect")
    finish(fake.node, receiver, 200)
    assert fake.node.status()["users_left_out"] == []
    assert "no-reader" not in findings(fake.node)
    assert agent.stop() == 0


def start_well(fake, receiver):
    agent = fake.start("real", receiver.port, session=KEEP)
    agent.wait_ready(fake.node.collecting)
    fake.node.run([LOAD, "-n", 100])
    fake.node.wait_ledger(lambda ledger: ledger.sent == 100, 20, "100 spans")
    return agent


def test_readers_only_die(fake, receiver):  # noqa: F811
    """Each greets, and that is all."""
    node = fake.node
    agent = start_well(fake, receiver)
    fake.mode("dies")
    kill_reader(node)
    wait_until(lambda: not node.collecting(), 15, "the agent not to collect")
    assert "ended with code 1" in node.http_get("/readyz")[1]
    before = restarts(node)
    wait_until(lambda: node.collecting() or restarts(node) >= before + 2, 30, "more to die")
    assert not node.collecting(), "the next one is not trusted either"
    recovers(fake, receiver, agent)


@pytest.mark.parametrize("how", [missing, not_executable])
def test_cannot_be_started(fake, receiver, how):  # noqa: F811
    """The log says why at once, although it has just told of a reader's end."""
    agent = start_well(fake, receiver)
    how(fake)
    kill_reader(fake.node)
    wait_until(lambda: CANNOT in agent.log(), 10, "the log to say why")
    assert CANNOT in fake.node.http_get("/readyz")[1] and not fake.node.collecting()
    wait_until(lambda: "no-reader" in findings(fake.node), 15, "the doctor to find it", 0.3)
    wait_until(lambda: restarts(fake.node) >= 4, 10, "more attempts")
    assert agent.log().count(CANNOT) == 1
    recovers(fake, receiver, agent)


def written(node):
    """When the checkpoint was, the last time."""
    return max(os.stat(path).st_mtime_ns for path in glob.glob(node.path("state/checkpoint.?")))


def test_greets_late(fake, receiver):  # noqa: F811
    """What the one before it handed over comes to be delivered meanwhile: that is no order, and it begins all the same."""
    node = fake.node
    agent = fake.start("real", receiver.port, session=KEEP, output={"batch-delay": "50ms", "spool-size": "0"})
    agent.wait_ready(node.collecting)
    load = node.start([node.built(LOAD), "-n", 10**6, "-r", 100])
    node.wait_ledger(lambda ledger: ledger.sent > 50, 20, "spans")
    with stopped(receiver.program.pid):
        made = node.ledger().made
        node.wait_ledger(lambda ledger: ledger.made > made + 100, 20, "places to wait for the collector")
        fake.mode("late")
        before, first = restarts(node), node.reader_pid()
        kill_reader(node)
        wait_until(lambda: node.reader_pid() not in (None, first), 10, "another one")
        last = written(node)
    wait_until(lambda: written(node) > last, 20, "a place to hold")
    with open(os.path.join(fake.folder, "go"), "w", encoding="ascii"):
        pass
    sent = node.ledger().sent
    node.wait_ledger(lambda ledger: ledger.idle() and ledger.sent > sent + 100, 20, "spans again")
    assert restarts(node) == before + 1
    recorded = end_load(load)
    total = sum(recorded.values())
    node.wait_ledger(lambda ledger: ledger.read - ledger.again >= total and ledger.idle(), 20, "all to be delivered")
    came = [key_of(span) for span in receiver.spans()]
    exactly(set(came) == keys_of(recorded), "spans are missing")
    exactly(len(came) <= len(set(came)) + node.ledger().again, "more came twice than were read again")
    assert agent.stop() == 0
