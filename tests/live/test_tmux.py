# SPDX-License-Identifier: BSD-2-Clause
"""`blkin top` and `blkin tail` in tmux, a terminal that knows nothing of them."""

import re

from rig.process import wait_until
from rig.tmux import Tmux
from test_top_live import loaded  # noqa: F401 a fixture


def command(node, name, *options):
    return [node.built("cli/blkin"), name, "--socket", node.socket, *options]


def top(node, *options, **more):
    return Tmux(node, command(node, "top", "--every", "500ms", *options), **dict({"LC_ALL": "C.UTF-8"}, **more))


def widest(tmux):
    return max(map(len, tmux.screen()))


def test_top(loaded):  # noqa: F811
    """Keys, a filter, 40 and 250 columns, and the terminal as it was before."""
    with top(loaded) as tmux:
        tmux.wait_shows("^load-0 +read")
        tmux.press("n")
        tmux.wait_shows("by name")
        tmux.press("/", "sync")
        tmux.wait_shows("filter: sync_")
        wait_until(lambda: not tmux.shows("^load-0 +read"), 5, "the others to go")
        tmux.press("Escape")
        tmux.wait_shows("^load-0 +read")
        tmux.resize(40, 12)
        wait_until(lambda: widest(tmux) <= 40 and not tmux.shows("MEAN") and tmux.shows("SPANS/S"), 10, "40 columns")
        tmux.resize(250, 50)
        tmux.wait_shows("MEAN +P50 +P99 +MAX +ERRORS")
        tmux.resize(100, 9)
        tmux.wait_shows("1-4 of 7")
        tmux.press("Down", "Down")
        tmux.wait_shows("3-6 of 7")
        tmux.press("q")
        tmux.wait_shows("it ended with 0")
        assert not tmux.shows("load-0"), tmux.screen()
        assert tmux.ask("display-message", "-p", "#{alternate_on} #{cursor_flag}").split() == ["0", "1"]


def test_colours(loaded):  # noqa: F811
    """There are some, unless NO_COLOR is set; without UTF-8 all is ASCII."""
    with top(loaded) as tmux:
        tmux.wait_shows("größe")
        assert re.search("\033\\[[0-9;]*m", "\n".join(tmux.screen(colours=True)))
    with top(loaded, NO_COLOR="1") as tmux:
        tmux.wait_shows("größe")
        assert not re.search("\033\\[[34][0-9]", "\n".join(tmux.screen(colours=True)))
    with top(loaded, LC_ALL="C", LANG="C") as tmux:
        tmux.wait_shows("^load-0 +read")
        assert "\n".join(tmux.screen()).isascii()


def test_agent_restarted_under_them(loaded):  # noqa: F811
    with top(loaded) as tmux:
        tmux.wait_shows("^load-0 +read")
        loaded.agent.kill()
        tmux.wait_shows("no agent|not answer|refused|gone|waiting")
        loaded.start_agent_again()
        tmux.wait_shows("^load-0 +read")
        tmux.press("C-c")
        tmux.wait_shows("it ended with 0")


def test_tail(loaded):  # noqa: F811
    """Lines are cut at the width, or folded by nobody; Ctrl-C ends it."""
    with Tmux(loaded, command(loaded, "tail", "--name", "sync*"), columns=60, LC_ALL="C.UTF-8") as tmux:
        tmux.wait_shows("load-0.*sync-all")
        assert widest(tmux) <= 60
        tmux.press("C-c")
        tmux.wait_shows("it ended with 0")
    with Tmux(loaded, command(loaded, "tail", "--trees", "--count", "3"), LC_ALL="C", LANG="C") as tmux:
        tmux.wait_shows("it ended with 0")
        assert "\n".join(tmux.screen()).isascii() and tmux.shows("load-0"), tmux.screen()
