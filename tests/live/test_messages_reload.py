# SPDX-License-Identifier: BSD-2-Clause
"""An output takes messages, and takes none, by reloads while they come in: an OK is kept, and each is in one row."""

import threading
import time

from rig.messages import MessageSink
from rig.messagesender import Refused, call
from rig.process import exactly, free_port, wait_until
from rig.sender import raw
from test_input import TIMID, start_agent


class Caller(threading.Thread):
    """Hands over messages, each once, and keeps those that were answered OK."""

    def __init__(self, port, number):
        super().__init__(daemon=True)
        self.port, self.number = port, number
        self.kept, self.refused, self.stopped = set(), 0, False

    def run(self):
        count = 0
        with raw(self.port) as stream:
            while not self.stopped:
                entries = [(b"app", b"%d.%d" % (self.number, count + n)) for n in range(3)]
                count += 3
                try:
                    if call(stream, entries) == 0:
                        self.kept.update(text for _, text in entries)
                except Refused:
                    self.refused += 1


def test_reloads_while_they_come(node):
    sink = MessageSink(node, free_port()).start()
    out = dict(TIMID, server=f"127.0.0.1:{sink.port}", takes="messages")
    port = start_agent(node, sink.port, **{"output site": out})
    with open(node.path("agent.conf"), encoding="utf-8") as file:
        takes = file.read()
    callers = [Caller(port, number) for number in range(4)]
    for caller in callers:
        caller.start()
    for count in range(20):
        with open(node.path("agent.conf"), "w", encoding="utf-8") as file:
            file.write(takes if count % 2 else takes.replace("takes = messages", "takes = spans"))
        node.agent.send(1)
        wait_until(lambda: node.agent.log().count("configuration reloaded") > count, 10, "the reload")
        wait_until(lambda: node.agent.log().count(" is removed: of ") == count + 1, 10, "the lane to end")
        time.sleep(0.1)
    for caller in callers:
        caller.stopped = True
    for caller in callers:
        caller.join(20)
        exactly(not caller.is_alive() and caller.kept and caller.refused, f"{len(caller.kept)} {caller.refused}")
    lane = node.wait_lane("messages", lambda lane: lane.idle(), 20, "all to be settled", "site")
    kept, came = set().union(*(caller.kept for caller in callers)), set(sink.of(b"app"))
    exactly(not kept - came, f"{len(kept - came)} that were OK are missing: {sorted(kept - came)[:3]}")
    ledger = node.ledger()
    ledger.check()
    exactly(ledger.passed == lane.taken, f"{ledger}\n{lane}")
