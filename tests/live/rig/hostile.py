# SPDX-License-Identifier: BSD-2-Clause
"""A user who takes turns, at random, at what would take tracing away from others; programs are killed as each turn ends."""

import glob
import os
import shutil
import time
from collections import Counter

from .users import PROGRAMS, start_as

FOREVER = 10**9


class Hostile:
    """@user: whose programs these are. What they record may be lost, but is counted and named."""

    def __init__(self, node, user, rng):
        self.node, self.user, self.rng = node, user, rng
        self.done = Counter()
        self.program, self.until = None, 0.0
        self.ruined = False

    def look(self, ruin):
        """Takes another turn if it is time to. @ruin: once at what he does not recover from as long as the session lives."""
        now = time.monotonic()
        if now < self.until:
            return
        self.end()
        name = RUIN if ruin and not self.ruined else self.rng.choice(TURNS)
        self.done[name] += 1
        self.ruined |= name == RUIN
        getattr(self, name)()
        self.until = now + self.rng.uniform(3, 12)

    def end(self):
        if self.program:
            self.program.kill()
            self.program = None

    def run(self, program, *words, **environment):
        self.program = start_as(self.node, self.user, program, *words, **environment)

    def files(self, name):
        """Files of the user's that the relay has."""
        return [path for top in self.node.session_folders() for path in glob.glob(f"{top}/ust/uid/{self.user}/*/{name}")]

    # Turns

    def names(self):
        """Of events, none of which is ever logged."""
        self.run("registrar", "names", 2000, 4)

    def layouts(self):
        """Of an event that the session records."""
        self.run("registrar", "layouts", 200, 4)

    def long_events(self):
        self.run("sequences", self.rng.choice(["whatever", "span"]), 250_000)

    def clock_goes_back(self):
        plugin = shutil.copy(self.node.built(PROGRAMS + "libbackclock.so"), self.node.path("shared"))
        self.run("spanload", "-P", 99, "-n", FOREVER, "-r", 100, LTTNG_UST_CLOCK_PLUGIN=plugin)

    def flood(self):
        kind, rate = self.rng.choice([("endless", 3000), ("names", 2000), ("strings", 1000)])
        self.run("flood", kind, FOREVER, rate)

    def damage_packets(self):
        self._damage("spans_*[0-9]", 64)

    def damage_index(self):
        self._damage("index/*.idx", 16)

    def _damage(self, name, size):
        """Some bytes of one file."""
        paths = [path for path in self.files(name) if os.path.getsize(path)]
        if not paths:
            return
        with open(self.rng.choice(sorted(paths)), "r+b") as file:
            file.seek(self.rng.randrange(os.path.getsize(file.name)))
            file.write(self.rng.randbytes(size))

    def spoil_metadata(self):
        """By an event with a link that no metadata can hold."""
        self.run("spoiler")


TURNS = "names layouts long_events clock_goes_back flood damage_packets damage_index".split()
RUIN = "spoil_metadata"
