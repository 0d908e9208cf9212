# SPDX-License-Identifier: BSD-2-Clause
"""The disk of the state directory is full when an agent starts again, or the folder is removed under it: it collects all the same."""

import os
import shutil

from rig.idsink import IdSink
from rig.load import KEEP, LOAD
from rig.process import exactly, free_port, wait_until
from test_doctor import findings


def fill(folder):
    """Fills the disk."""
    with open(f"{folder}/filler", "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(b"x" * 4096)
        except OSError:
            pass


def restart_on_full_disk(node, receiver, **sections):
    """Spans wait in the relay's files while no agent runs, and the next one has no room to carve them out."""
    node.write_config(receiver.port)
    node.mount(node.path("state"), "4M")
    node.start_agent(receiver.port, session=KEEP, **sections)
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.sent == 100, 20, "100 spans")
    assert node.agent.stop() == 0
    fill(node.path("state"))
    node.run([LOAD, "-P", 1, "-n", 40000, "-r", 20000])
    node.wait_quiet("relay", 1)  # ten times the live timer
    node.start_agent_again(wait=False)
    node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)


def test_carved_beside_the_socket(node, receiver):
    restart_on_full_disk(node, receiver)
    wait_until(node.collecting, 20, "the agent to collect")
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 40100 and ledger.idle(), 20, "what waited on disk")
    assert (ledger.read, ledger.again, ledger.lost, ledger.packets_lost) == (40100, 0, 0, 0)
    node.run([LOAD, "-P", 2, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.sent == 40200, 20, "100 spans, live")
    assert node.agent.stop() == 0


def test_no_room_anywhere(node, receiver):
    """What waits is given up after a while, and counted, for the sake of what comes."""
    restart_on_full_disk(node, receiver, agent={"socket": node.path("state/agent.sock")})
    node.socket = node.path("state/agent.sock")
    assert not node.collecting()
    wait_until(lambda: "packets of LTTng session `blkin` are lost" in node.agent.log(), 30, "the loss to be told")
    wait_until(lambda: "packets-lost" in findings(node), 15, "the status to say so")
    wait_until(node.collecting, 20, "the agent to collect")
    node.run([LOAD, "-P", 2, "-n", 100])
    ledger = node.wait_ledger(lambda ledger: ledger.sent >= 200 and ledger.idle(), 20, "100 spans, live")
    assert ledger.packets_lost > 0
    assert ledger.lost == 0
    assert len([span for span in receiver.spans()]) == ledger.sent


def test_folder_removed(node):
    """Under an agent that works: it writes its checkpoint into a new one, so that after a kill it goes on from there."""
    sink = IdSink(node, free_port()).start()
    node.start_agent(sink.port, session=KEEP)
    node.run([LOAD, "-n", 1000])
    node.wait_ledger(lambda ledger: ledger.sent == 1000, 20, "1000 spans")
    shutil.rmtree(node.path("state"))
    node.run([LOAD, "-P", 1, "-n", 1000])
    node.wait_ledger(lambda ledger: ledger.sent == 2000, 20, "1000 more")
    slots = [node.path(f"state/checkpoint.{slot}") for slot in (0, 1)]
    wait_until(lambda: all(map(os.path.exists, slots)), 20, "a checkpoint")
    # one that has all of it, as nothing comes after
    node.wait_quiet("state", 1)
    node.agent.kill()
    node.start_agent_again()
    node.run([LOAD, "-P", 2, "-n", 1000])
    ledger = node.wait_ledger(lambda ledger: ledger.sent >= 3000 and ledger.idle(), 20, "1000 more")
    exactly((ledger.read, ledger.again, ledger.sent) == (3000, 0, 3000), str(ledger))
    exactly(sum(sink.ids().values()) == 3000, "each came once")
