# SPDX-License-Identifier: BSD-2-Clause
"""There is no reader, or none that lives: /readyz and the log say so, and when there is one again it reads on."""

import os

import pytest
from rig.load import KEEP, LOAD, finish
from rig.process import wait_until
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
