# SPDX-License-Identifier: BSD-2-Clause
"""Spans of chosen services, names, durations and errors: tests/live/programs/dictated.c."""

import subprocess
import urllib.parse

from rig.users import as_user


class Dictation:
    """Use it with `with`: a program that records what it is told."""

    def __init__(self, node, user=None):
        """@user: whose program it is, which root may choose."""
        command, more = [node.built("tests/live/programs/dictated")], {}
        if user is not None:
            command, more = as_user(node, user, "dictated")
        environment = dict(node.environment) | more
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
        )
        self.node, self.recorded = node, 0

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        code = self.process.wait(30)
        assert kind or code == 0

    def say(self, spans):
        """Records spans, (service, name, µs, error), and waits until the program has; returns how many."""
        for service, name, us, error in spans:
            words = [urllib.parse.quote(word, safe="") for word in (service, name)]
            self.process.stdin.write(f"{' '.join(words)} {round(us * 1000)} {int(error)}\n")
            self.recorded += 1
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert int(self.process.stdout.readline()) == self.recorded
        return self.recorded

    def deliver(self, spans, seconds=60):
        """The same, and waits until the agent has passed all of them on. Of a second program's the test waits by itself."""
        count = self.say(spans)
        self.node.wait_ledger(lambda ledger: ledger.sent >= count and ledger.idle(), seconds, f"{count} spans")
