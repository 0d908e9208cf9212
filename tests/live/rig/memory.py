# SPDX-License-Identifier: BSD-2-Clause
"""How much memory a program takes."""

import contextlib
import glob
import re
from types import SimpleNamespace

from .node import sanitized
from .process import reader_of


def rss(program):
    """KiB of memory that is the program's own, and its reader's: not the libraries' code, which they share."""
    total = 0
    for pid in filter(None, (program.pid, reader_of(program.pid))):
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            status = file.read()
        total += sum(int(re.search(rf"{name}:\s+(\d+)", status)[1]) for name in ("RssAnon", "RssShmem"))
    return total


def rss_of_all(program):
    """The same of the program and its children together."""
    total = rss(program)
    for path in glob.glob(f"/proc/{program.pid}/task/*/children"):  # each thread has its own
        with contextlib.suppress(OSError, TypeError):  # one has just ended
            with open(path, encoding="ascii") as file:
                total += sum(rss(SimpleNamespace(pid=int(pid))) for pid in file.read().split())
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
    freed, in each of them.
    """
    return 3 * kib + 2 * 400 * 1024 if sanitized() else kib
