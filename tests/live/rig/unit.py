# SPDX-License-Identifier: BSD-2-Clause
"""
The session daemon as systemd keeps it on Debian (Restart=on-failure, and else what systemd does by itself): when it ends badly,
what is left of its unit is asked to end, and it is started again. For tests that last so long that it dies of its own faults.
"""

import contextlib
import os
import signal
import threading
import time

RESTART = 0.1  # s; RestartSec
TIMEOUT = 90  # s; TimeoutStopSec
STEP = 0.05


def children_of(pid):
    """Of all its threads."""
    found = set()
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                found.update(map(int, file.read().split()))
    return found


def lives(pid):
    """It may be nobody's child any more that would take note of its end."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rsplit(") ", 1)[1][0] not in "ZX"
    return False


def send(pids, *signals):
    for pid in pids:
        for number in signals:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


class Unit:
    """Use it with `with`: a node's session daemon is started again by a thread. It ends with it, by pdeathsig."""

    def __init__(self, node):
        self.node = node
        self.deaths = []  # that nobody asked for: (when, how)
        self.died = self.started = 0.0  # the last of these, and when a daemon was last ready again
        self.trouble = None
        self.asked = None  # the daemon that was killed by kill()
        self.children = set()
        self.guard = threading.Lock()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def kill(self):
        """systemctl kill -s KILL lttng-sessiond: all of the unit, which is then started again."""
        with self.guard:
            self.asked = self.node.sessiond
            self.children |= children_of(self.asked.pid)
            send(self.children, signal.SIGKILL)
            self.asked.kill()

    def is_up(self):
        """The daemon runs, and is the one that was started last."""
        assert not self.trouble, self.trouble
        return self.node.sessiond.running() and self.started >= self.died and self.asked is not self.node.sessiond

    def _watch(self):
        while not self.over.wait(STEP):
            with self.guard:
                daemon = self.node.sessiond
                if daemon.running():
                    self.children = children_of(daemon.pid)
                elif daemon.process.returncode:
                    self._start_again(daemon)
                if self.trouble:
                    return

    def _start_again(self, daemon):
        if daemon is not self.asked:
            self.died = time.monotonic()
            self.deaths.append((self.died, f"{daemon.process.returncode} {self._last_words(daemon)}"))
        try:
            self._end_children()
            self.over.wait(RESTART)
            self.node.start_sessiond()
            self.started = time.monotonic()
        except Exception as trouble:  # told by is_up, in the thread that waits for it
            self.trouble = f"lttng-sessiond cannot be started again: {trouble}"

    @staticmethod
    def _last_words(daemon):
        """An assertion that failed, if it says so."""
        return next((line for line in reversed(daemon.log().splitlines()) if "ssert" in line), "")

    def _end_children(self):
        """KillMode=control-group: one that is stopped goes on, so that it can end; what is caught in a fault is killed at last."""
        left = set(filter(lives, self.children))
        send(left, signal.SIGTERM, signal.SIGCONT)
        end = time.monotonic() + TIMEOUT
        while left and not self.over.wait(STEP):
            if time.monotonic() > end:
                send(left, signal.SIGKILL)
            left = set(filter(lives, left))
