# SPDX-License-Identifier: BSD-2-Clause
"""Memory by users and CPUs: on a node that seems to have 128 CPUs, of which each user has a ring and a stream for each."""

import os
import subprocess

import pytest
from expect import key_of
from rig.memory import allowance, rss_of_all
from test_events_session import rings
from test_newusers import start
from test_users import share

CPUS, USERS, COUNT = 128, 5, 50
# KiB: blkin-agent.conf(5), Memory: of a user, and of each of its streams; of which few bytes come here.
USER, STREAM = 0.7 * 1024, 16 + 4
FOLDER = "/sys/devices/system/cpu"

pytestmark = pytest.mark.as_root("only root may run programs as other users")


@pytest.fixture
def cpus():
    """For LTTng and the C library; the kernel has no more than it had."""
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", FOLDER], check=True)
    for number in range(CPUS):
        os.mkdir(f"{FOLDER}/cpu{number}")
    for name in ("possible", "present", "online"):
        with open(f"{FOLDER}/{name}", "w", encoding="ascii") as file:
            file.write(f"0-{CPUS - 1}\n")
    yield
    subprocess.run(["umount", FOLDER], check=True)


def test_many_streams(cpus, node, receiver):
    share(node)
    assert os.sysconf("SC_NPROCESSORS_CONF") == CPUS
    node.start_agent(receiver.port)
    before = rss_of_all(node.agent)
    for number in range(USERS):
        assert start(node, 5000 + number, number, "-n", COUNT, "-r", 500).wait(20) == 0
        # each is attached to in its turn, and what was read of the others is read again
        node.wait_ledger(lambda ledger, sent=COUNT * (number + 1): ledger.sent == sent, 20, "its spans")
    assert sorted(key_of(span) for span in receiver.spans()) == [(u, 0, n) for u in range(USERS) for n in range(COUNT)]
    assert rings(node)["spans"][1] == 64 * 1024, "it has not as many CPUs as it should"
    grown = rss_of_all(node.agent) - before
    stated = USERS * (USER + CPUS * STREAM)
    print(f"{grown} KiB for {USERS} users on {CPUS} CPUs, {stated:.0f} stated")
    assert grown < allowance(stated)
