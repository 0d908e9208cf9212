# SPDX-License-Identifier: BSD-2-Clause
"""How much memory a program takes."""

import contextlib
import glob
import math
import re

from .node import sanitized, sanitizers
from .process import reader_of


def own(pid):
    """KiB of memory that is the process's own: not the libraries' code, which is shared."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        status = file.read()
    return sum(int(re.search(rf"{name}:\s+(\d+)", status)[1]) for name in ("RssAnon", "RssShmem"))


def rss(program):
    """The same of the program and its reader."""
    return sum(own(pid) for pid in (program.pid, reader_of(program.pid)) if pid)


def rss_of_all(program):
    """The same of the program and all of its children."""
    total = own(program.pid)
    for path in glob.glob(f"/proc/{program.pid}/task/*/children"):  # each thread has its own
        with contextlib.suppress(OSError, TypeError):  # one has just ended
            with open(path, encoding="ascii") as file:
                total += sum(own(int(pid)) for pid in file.read().split())
    return total


class MemoryWatch:
    """The most that a program took, at the moments at which somebody looked."""

    def __init__(self, program):
        self.program, self.most = program, 0

    def look(self):
        self.most = max(self.most, rss(self.program))
        return self.most


def allowance(kib):
    """
    What the agent and its reader may take of which @kib is said: sanitizers have a shadow, red zones, and 256 MiB that is
    freed, in each of them. With ThreadSanitizer's it says nothing.
    """
    if sanitizers() == "thread":
        return math.inf
    return 3 * kib + 2 * 400 * 1024 if sanitized() else kib
