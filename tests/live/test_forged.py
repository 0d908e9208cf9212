# SPDX-License-Identifier: BSD-2-Clause
"""An index that claims more lost packets than there can be: the next start takes the checkpoint all the same."""

import glob
import os
import struct
import time

import pytest
from rig.load import KEEP, LOAD
from rig.process import wait_until
from rig.users import start_as
from test_hostile import HOSTILE

HEADER, ENTRY = 16, 72  # of an index; an entry ends with the packet's number
NUMBER = struct.Struct("!Q")
CLAIMED = 1 << 62

pytestmark = pytest.mark.as_root("only root may run programs as another user")


def forge(node):
    """The number of each user's last packet."""
    for path in glob.glob(f"{node.session_folders()[0]}/ust/uid/{HOSTILE}/*/index/*.idx"):
        end = HEADER + (os.path.getsize(path) - HEADER) // ENTRY * ENTRY
        if end > HEADER:
            with open(path, "r+b") as file:
                file.seek(end - NUMBER.size)
                file.write(NUMBER.pack(CLAIMED))


def test_number_of_a_packet(node, receiver):
    node.start_agent(receiver.port, session=KEEP)
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.sent == 100, 20, "100 spans")
    assert node.agent.stop() == 0
    spoiler = start_as(node, HOSTILE, "spoiler")
    time.sleep(2)  # many times the live timer
    spoiler.kill()
    node.wait_quiet("relay", 1)
    forge(node)
    node.start_agent_again()
    wait_until(lambda: node.ledger().packets_lost > 0, 30, "the user's packets to be counted")
    node.run([LOAD, "-P", 1, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.sent == 200, 20, "100 spans more")
    assert node.agent.stop() == 0
    node.start_agent_again()
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 20, "delivery")
    assert "checkpoint" not in node.agent.log(), node.agent.log()
    assert (ledger.read, ledger.again, ledger.sent) == (200, 0, 200)
    assert 0 < ledger.packets_lost < 1000
    assert node.agent.stop() == 0
