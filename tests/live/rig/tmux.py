# SPDX-License-Identifier: BSD-2-Clause
"""A command in tmux: a terminal that is not ours draws what it sends, and types keys."""

import itertools
import re
import shlex
import subprocess

from .process import Trouble, wait_until


NUMBERS = itertools.count()


class Tmux:
    """A server of its own, with one window; its socket is in the node's folder."""

    def __init__(self, node, command, columns=100, lines=30, **environment):
        self.socket = node.path(f"tmux-{next(NUMBERS)}")  # a server that ends may still have the last one
        self.environment = dict(node.environment, LC_ALL="C.UTF-8", TERM="xterm-256color")
        settings = [f"{key}={value}" for key, value in dict(node.environment, **environment).items() if key != "TERM"]
        # what is left after the command is its exit code
        words = f"env {shlex.join([*settings, *command])}; echo it ended with $?; exec sleep 60"
        self.ask("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(lines), words)
        self.ask("set-option", "-g", "status", "off")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ask("kill-server")

    def ask(self, *words):
        done = subprocess.run(
            ["tmux", "-S", self.socket, *words], env=self.environment, capture_output=True, text=True, check=False, timeout=20
        )
        if done.returncode:
            raise Trouble(f"tmux {words}: {done.stderr}")
        return done.stdout

    def screen(self, colours=False):
        return self.ask("capture-pane", "-p", *(["-e"] if colours else [])).rstrip("\n").split("\n")

    def shows(self, pattern):
        return re.search(pattern, "\n".join(self.screen()), re.MULTILINE)

    def wait_shows(self, pattern, seconds=20):
        try:
            return wait_until(lambda: self.shows(pattern), seconds, f"{pattern!r} on the screen")
        except Trouble as trouble:
            raise Trouble(f"{trouble}\n" + "\n".join(self.screen())) from None

    def press(self, *keys):
        """tmux's names of keys: Escape, Down, C-c; other text is typed as it is."""
        self.ask("send-keys", *keys)

    def resize(self, columns, lines):
        self.ask("resize-window", "-x", str(columns), "-y", str(lines))
