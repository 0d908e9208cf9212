# SPDX-License-Identifier: BSD-2-Clause
"""A command on a terminal of its own: keys go in, and what the screen shows can be looked at."""

import codecs
import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time

from .process import wait_until

# After the size has changed, so many pictures may be under way that are of the size before.
STALE = 4
SEQUENCE = re.compile(r"\033\[([?0-9;]*)([A-Za-z])")


class Terminal:
    """Knows what `blkin` sends: the cursor home, ends of lines, clearing, colours and modes."""

    def __init__(self, command, columns=100, lines=30, **environment):
        self.master, slave = pty.openpty()
        self.text, self.raw, self.modes = {}, "", set()
        self.row = self.column = 0
        self.columns, self.lines = columns, lines
        self.lock = threading.Lock()
        self.resize(columns, lines, tell=False)
        self.stale = 0
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=dict(environment), start_new_session=True
        )
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.slave)
        self.thread.join(5)
        os.close(self.master)

    def resize(self, columns, lines, tell=True):
        with self.lock:
            self.columns, self.lines = columns, lines
            self.text = {}
            self.stale = STALE
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        if tell:
            self.process.send_signal(signal.SIGWINCH)

    def press(self, keys):
        os.write(self.master, keys.encode())
        time.sleep(0.2)

    def read(self):
        decoder = codecs.getincrementaldecoder("utf-8")()
        rest = ""
        with contextlib.suppress(OSError):
            while data := os.read(self.master, 65536):
                rest += decoder.decode(data)
                with self.lock:
                    self.raw += rest
                    rest = self.take(rest)
                    self.raw = self.raw[: len(self.raw) - len(rest)]

    def take(self, text):
        """Draws it; gives back a sequence that is not whole yet."""
        at = 0
        while at < len(text):
            found = SEQUENCE.match(text, at)
            if found:
                self.obey(*found.groups())
                at = found.end()
            elif text[at] == "\033":
                if len(text) - at > 20:
                    raise ValueError(f"what the terminal does not know: {text[at:at + 20]!r}")
                return text[at:]
            else:
                self.put(text[at])
                at += 1
        return ""

    def obey(self, numbers, letter):
        line = self.text.get(self.row, "")
        if letter == "H":
            self.row = self.column = 0
            self.stale = max(0, self.stale - 1)
        elif letter == "K":
            self.text[self.row] = line[: self.column]
        elif letter == "J":
            for row in [row for row in self.text if row > self.row]:
                del self.text[row]
            if numbers == "2":
                self.text = {}
        elif letter == "h":
            self.modes.add(numbers)
        elif letter == "l":
            self.modes.discard(numbers)
        elif letter != "m":
            raise ValueError(f"what the terminal does not know: {numbers}{letter}")

    def put(self, letter):
        if letter == "\r":
            self.column = 0
        elif letter == "\n":
            self.row += 1
            assert self.row < self.lines or "?1049" not in self.modes or self.stale, "it would scroll"
        else:
            line = self.text.get(self.row, "").ljust(self.column)
            self.text[self.row] = line[: self.column] + letter + line[self.column + 1 :]
            self.column += 1

    def screen(self):
        with self.lock:
            return [self.text.get(row, "") for row in range(self.lines)]

    def shows(self, what):
        return any(re.search(what, line) for line in self.screen())

    def wait_shows(self, what, seconds=10):
        try:
            wait_until(lambda: self.shows(what), seconds, f"the screen to show {what}")
        except Exception as error:
            raise AssertionError("\n".join([str(error), *self.screen()])) from None

    def is_as_before(self):
        """The terminal is as it was before the command."""
        return termios.tcgetattr(self.slave)[:4] == self.before[:4] and "?1049" not in self.modes and "?25" in self.modes
