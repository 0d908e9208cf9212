# SPDX-License-Identifier: BSD-2-Clause
"""`blkin top` on a terminal: keys, any width, no colours, no UTF-8, and an agent that comes and goes."""

import contextlib
import os
import re
import signal
import subprocess
import time

import pytest
from rig.process import free_port, wait_until
from rig.terminal import Terminal
from test_files import LOAD, NONE


@contextlib.contextmanager
def top(node, *options, columns=100, lines=30, **environment):
    command = [node.built("cli/blkin"), "top", "--socket", node.socket, "--every", "500ms", *options]
    settings = dict(dict(node.environment, TERM="xterm", LC_ALL="C.UTF-8"), **environment)
    with Terminal(command, columns, lines, **settings) as terminal:
        yield terminal
    assert terminal.process.returncode is not None


@pytest.fixture
def loaded(node):
    """A node with a load, for as long as the test takes."""
    node.start_agent(free_port(), output=NONE)
    node.start([node.built(LOAD), "-n", "1000000", "-r", "500", "-t", "2", "-w", "20"], name="load")
    wait_until(lambda: node.metrics().get("blkin_agent_events_read_total", 0) > 300, 20, "spans")
    return node


def quit_by(terminal, key):
    terminal.press(key)
    assert terminal.process.wait(10) == 0
    wait_until(terminal.is_as_before, 5, "the terminal to be as it was")


def names_of(terminal):
    screen = terminal.screen()
    first = next(i for i, line in enumerate(screen) if line.startswith(("SERVICE", "PROGRAM")))
    return [line for line in screen[first + 1 : -1] if line]


def test_keys(loaded):
    """Each does what the help says."""
    with top(loaded) as terminal:
        terminal.wait_shows("every 0.5 s")
        terminal.wait_shows("^load-0 +read")
        terminal.wait_shows(r"\d{3}\.\d/s")
        assert terminal.shows("nothing lost")
        terminal.press("n")
        terminal.wait_shows("by name")
        spans = [re.split(r"\s{2,}", line[7:])[0] for line in names_of(terminal)]
        assert spans == sorted(spans) and len(spans) == 7
        terminal.press("i")
        terminal.wait_shows("reversed")
        terminal.press("i>")
        terminal.wait_shows("by share")
        terminal.press("<")
        terminal.wait_shows("by name")
        terminal.press("/grö")
        terminal.wait_shows("filter: grö_")
        assert len(names_of(terminal)) == 1
        terminal.press("\x7f\x7f\x7fsync")
        terminal.wait_shows("^load-0 +sync-all")
        terminal.press("\r")
        assert not terminal.shows("_$") and len(names_of(terminal)) == 1
        terminal.press("\033")
        wait_until(lambda: len(names_of(terminal)) == 7, 5, "all names")
        terminal.press("a")
        terminal.wait_shows("since the agent began")
        terminal.press("a ")
        terminal.wait_shows("paused")
        terminal.press(" p")
        terminal.wait_shows(r"^spanload +\d+ \w+")
        terminal.press("h")
        terminal.wait_shows("sort by share of the time")
        terminal.press("x")
        terminal.wait_shows("PROGRAM")
        quit_by(terminal, "q")


@pytest.mark.parametrize("key", ["q", "\x03", signal.SIGTERM, signal.SIGHUP])
def test_ends(loaded, key):
    with top(loaded) as terminal:
        terminal.wait_shows("SERVICE")
        if isinstance(key, str):
            quit_by(terminal, key)
        else:
            terminal.process.send_signal(key)
            quit_by(terminal, "")


def test_scrolls(loaded):
    with top(loaded, "--sort", "name", lines=9) as terminal:
        terminal.wait_shows("1-4 of 7")
        terminal.press("\033[B")
        terminal.wait_shows("2-5 of 7")
        terminal.press("\033[6~")
        terminal.wait_shows("4-7 of 7")
        terminal.press("\033[B\033[A")
        terminal.wait_shows("3-6 of 7")
        terminal.press("\033[H")
        terminal.wait_shows("1-4 of 7")
        terminal.press("\033[1;5Q\033Oz")  # keys that it does not know
        quit_by(terminal, "q")


def test_any_width(loaded):
    """Lines are never wider than the terminal; what is left out comes back with the room."""
    with top(loaded) as terminal:
        terminal.wait_shows("SPANS/S.*P99.*ERRORS")
        for columns, lines, shown, hidden in (
            (40, 12, r"SERVICE +SPAN +SPANS/S", "MEAN"),
            (250, 60, r"SPANS/S +SPANS +MEAN +P50 +P99 +MAX +ERRORS +TIME", None),
            (20, 5, "SERVICE", "SPANS/S"),
            (10, 3, "", None),
            (80, 24, "SPANS/S.*P99", None),
        ):
            terminal.resize(columns, lines)

            def fits(columns=columns, shown=shown, hidden=hidden):
                screen = terminal.screen()
                well = 0 < max(map(len, screen)) <= columns and not (hidden and terminal.shows(hidden))
                return well and (not shown or terminal.shows(shown))

            wait_until(fits, 10, f"the screen to have {columns} columns")
            time.sleep(0.7)
            assert fits(), terminal.screen()
        quit_by(terminal, "q")


def test_no_colours_no_utf8(loaded):
    with top(loaded, NO_COLOR="1") as terminal:
        terminal.wait_shows("größe")
        assert not re.search(r"\033\[[0-9;]*m", terminal.raw)
    with top(loaded, LC_ALL="C") as terminal:
        terminal.wait_shows("gr..?e")
        assert all(line.isascii() for line in terminal.screen())
        assert re.search(r"\033\[[0-9;]*m", terminal.raw)


def test_without_a_terminal(loaded):
    """It prints the table once."""
    command = [loaded.built("cli/blkin"), "top", "--socket", loaded.socket]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=20, check=False)
    assert done.returncode == 0 and "SPANS/S" in done.stdout and "\033" not in done.stdout
    with Terminal(command, **dict(loaded.environment, TERM="dumb", LC_ALL="C.UTF-8")) as terminal:
        assert terminal.process.wait(10) == 0
        wait_until(lambda: terminal.shows("SPANS/S"), 5, "the table")
        assert "?1049" not in terminal.raw


def test_agent_restarted(loaded):
    """It says so, waits for it, and counts anew."""
    with top(loaded, "--sort", "name") as terminal:
        terminal.wait_shows("every 0.5 s")
        loaded.agent.stop()
        terminal.wait_shows("! no agent answers, waiting for it")
        assert terminal.shows("^load-0")
        terminal.press("p")
        terminal.wait_shows("PROGRAM")
        loaded.start_agent_again()
        terminal.wait_shows("every 0.5 s", 20)
        quit_by(terminal, "q")


def test_agent_hangs(loaded):
    """Keys are heard all the time."""
    with top(loaded) as terminal:
        terminal.wait_shows("every 0.5 s")
        os.kill(loaded.agent.pid, signal.SIGSTOP)
        try:
            time.sleep(1)
            terminal.press("n")
            terminal.wait_shows("by name", 1)
            terminal.wait_shows("no agent answers", 10)
            quit_by(terminal, "q")
        finally:
            os.kill(loaded.agent.pid, signal.SIGCONT)


def test_no_agent(node):
    """That is said before the screen is taken."""
    node.write_config(free_port())
    command = [node.built("cli/blkin"), "top", "--socket", node.socket]
    with Terminal(command, **dict(node.environment, TERM="xterm")) as terminal:
        assert terminal.process.wait(10) == 69
        wait_until(lambda: terminal.shows("no agent runs on"), 5, "why")
        assert "?1049" not in terminal.raw
