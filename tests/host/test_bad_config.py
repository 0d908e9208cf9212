# SPDX-License-Identifier: BSD-2-Clause
"""Ten wrong configurations: each is reported with its line, and none of them affects the running agent."""

import re

import pytest
from rig.process import wait_until
from test_life import load_arrives

CONFIG = 78
FILE = "/etc/blkin/agent.conf"
MISTAKES = {
    "key": ("[output]\nservr = a:1\n", 2, "unknown key `servr` in [output]; did you mean `server`?"),
    "section": ("# ours\n\n[outptu]\n", 3, "unknown section [outptu]; did you mean [output]?"),
    "key of another section": ("[session]\nserver = a:1\n", 2, "it belongs in [output]"),
    "twice": ("[spans]\nlinger = 1s\nlinger = 2s\n", 3, "`linger` is already set on line 2"),
    "no section": ("server = a:1\n", 1, "before the first [section]"),
    "address": ("[output]\nserver = here\n", 2, "HOST:PORT"),
    "time": ("[spans]\n\nlinger = soon\n", 3, "a time from 10ms to 1h"),
    "size": ("[session]\nmemory = much\n", 2, "a size from 1M to 64G"),
    "range": ("[output]\nwindow = 0\n", 2, "out of range"),
    "no text": ("[agent]\n# \udcff\n", 2, "not UTF-8"),
}


def test_there_are_ten():
    assert len(MISTAKES) == 10


@pytest.fixture(scope="module")
def running(rack, collector):
    """A node whose agent runs on, whatever is done to its configuration."""
    node = rack.installed_host("beta", server=collector.address)
    load_arrives(rack, node, collector)
    yield node
    load_arrives(rack, node, collector)
    rack.remove(node)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_refused_on_reload(running, mistake):
    text, line, words = MISTAKES[mistake]
    good, before = running.read(FILE), running.main_pid("blkin-agent")
    with open(running.path(FILE), "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    try:
        told = running.run("blkin", "validate", code=CONFIG)
        assert re.search(rf"{re.escape(FILE)}:{line}: .*{re.escape(words)}", told), told
        assert running.code("systemctl", "reload", "blkin-agent") != 0
        assert f"{FILE}:{line}: " in running.journal("blkin-agent").rsplit("Reloading", 1)[1]
        assert running.collecting() and running.main_pid("blkin-agent") == before
    finally:
        running.write(FILE, good)
    running.systemctl("reload", "blkin-agent")
    assert running.collecting() and running.main_pid("blkin-agent") == before


def test_start_is_refused_once(rack, node, collector):
    """The service has failed, and says so; systemd does not start it over and over."""
    node.wait_collecting()
    good = node.read(FILE)
    node.write(FILE, "[output]\nservr = a:1\n")
    node.systemctl("restart", "blkin-agent", code=None)
    wait_until(lambda: node.property("blkin-agent", "ActiveState") == "failed", 10, "the service to have failed")
    assert f"{FILE}:2: " in node.journal("blkin-agent")
    assert int(node.property("blkin-agent", "NRestarts")) == 0
    node.write(FILE, good)
    node.systemctl("restart", "blkin-agent")
    load_arrives(rack, node, collector)
