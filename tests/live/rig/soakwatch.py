# SPDX-License-Identifier: BSD-2-Clause
"""How a node is, looked at all the time by a thread: ready or not, memory and descriptors of the agent and its reader."""

import os
import threading
import time

from .process import reader_of

PAGE = os.sysconf("SC_PAGE_SIZE")
STEP = 0.25


def resources(pid):
    """KiB of memory that is the process's own, and its open descriptors; None if there is no such process."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            _, resident, shared = file.read().split()[:3]
        return (int(resident) - int(shared)) * PAGE >> 10, len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return None


class SoakWatch:
    """Use it with `with`."""

    def __init__(self, node):
        self.node = node
        self.asked = self.ready = 0
        self.used = {"agent": [], "reader": [], "both": []}  # (when, KiB, descriptors)
        self.over = threading.Event()
        self.began = time.monotonic()
        self.ended = None
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        self.ended = time.monotonic()

    def _watch(self):
        while not self.over.wait(STEP):
            self.asked += 1
            self.ready += self.node.collecting()
            agent = self.node.agent.pid
            both = [resources(pid) if pid else None for pid in (agent, reader_of(agent))]
            if all(both):
                for name, used in zip(self.used, both + [tuple(map(sum, zip(*both)))]):
                    self.used[name].append((time.monotonic(), *used))

    def share(self):
        """Of the times at which it was asked, how often /readyz said yes."""
        return self.ready / max(self.asked, 1)

    def halves(self, name):
        """The most memory, in KiB, and the most descriptors in the first half of the time, and in the second."""
        middle = (self.began + self.ended) / 2
        first = [used[1:] for used in self.used[name] if used[0] < middle]
        second = [used[1:] for used in self.used[name] if used[0] >= middle]
        return [tuple(max(column) for column in zip(*half)) for half in (first, second)]
