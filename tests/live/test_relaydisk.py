# SPDX-License-Identifier: BSD-2-Clause
"""The relay's disk is full: LTTng ends the streams silently; the agent says so, and creates a new session later."""

import os
import time

from expect import end_load, key_of
from rig.load import KEEP, LOAD
from rig.process import wait_until
from rig.scribe import Receiver
from rig.process import free_port


def fill(path):
    with open(path, "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(b"x" * 65536)
        except OSError:
            pass


def test_disk_full(bare_node):
    node = bare_node
    os.mkdir(node.path("relay"))
    node.mount(node.path("relay"), "40m")
    node.start_lttng()
    receiver = Receiver(node, free_port()).start()
    node.start_agent(receiver.port, session=dict(KEEP, memory="16M", disk="16M"))
    node.run([LOAD, "-n", 1000])
    node.wait_ledger(lambda ledger: ledger.sent == 1000, 20, "1000 spans")
    filler = node.path("relay/filler")
    fill(filler)
    load = node.start([node.built(LOAD), "-p", 2, "-n", 10**6, "-r", 2000])
    wait_until(lambda: not node.collecting(), 30, "the agent to see that the relay cannot write")
    page = node.http_get("/readyz")[1]
    assert f"the disk of lttng-relayd is full ({node.path('relay')})" in page
    assert [finding["code"] for finding in node.status()["findings"]] == ["relay-disk-full"]
    os.unlink(filler)
    wait_until(node.collecting, 30, "a new session")
    read = node.ledger().read
    node.wait_ledger(lambda ledger: ledger.read > read + 1000, 20, "spans of the new session")
    time.sleep(5)  # it goes on well
    recorded = end_load(load)
    node.wait_quiet("relay", 1)  # ten times the live timer
    # what was recorded last comes through
    last = {(*worker, count - 1) for worker, count in recorded.items()}
    wait_until(lambda: last <= {key_of(span) for span in receiver.spans()}, 30, "the last spans")
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 30, "the rest")
    assert (ledger.sessions, ledger.sessions_lost, ledger.again) == (2, 1, 0)
    assert len(receiver.spans()) == ledger.read == ledger.sent
    assert node.agent.log().count("the disk of lttng-relayd is full") == 1
    wait_until(lambda: len(node.session_folders()) == 1, 10, "the old session's folder to be removed")
    assert node.agent.stop() == 0
