# SPDX-License-Identifier: BSD-2-Clause
"""A bad configuration: exit code 78, every mistake in one line with file, line and what to do; nothing is started."""

import pytest

USAGE, CONFIG = 64, 78


def run_agent(node, *words):
    agent = node.start([node.built("agent/blkin-agent")] + list(words))
    return agent.wait(10), agent.log()


@pytest.mark.parametrize(
    "text, line, words",
    [
        ("[output]\nservr = localhost:9410\n", 2, ["`servr`", "[output]", "did you mean `server`?"]),
        ("\n# ours\n[sesion]\nname = x\n", 3, ["[sesion]", "did you mean [session]?"]),
        ("[output]\nbatch-delay = soon\n", 2, ["`batch-delay = soon`", "a time, as"]),
        ("[session]\nrelay-live-port = 70000\n", 2, ["`relay-live-port = 70000`", "1 to 65535"]),
        ("[agent\n", 1, ["[name]"]),
        ("http = 127.0.0.1:1\n", 1, ["`http`", "[section]"]),
        ("[session]\nmemory = -1\n", 2, ["`memory = -1`", "a size, as"]),
        ("[output]\nserver = nowhere\n", 2, ["`server = nowhere`", "HOST:PORT"]),
    ],
    ids=["key", "section", "time", "port", "bracket", "no section", "size", "server"],
)
def test_mistake_in_the_file(bare_node, text, line, words):
    path = bare_node.path("bad.conf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    code, log = run_agent(bare_node, "-c", path)
    assert code == CONFIG
    assert f"{path}:{line}: " in log or f"bad.conf:{line}: " in log, log
    assert all(word in log for word in words), log
    assert len(log.splitlines()) == 1, log


def test_every_mistake_is_told(bare_node):
    path = bare_node.path("bad.conf")
    with open(path, "w", encoding="utf-8") as file:
        file.write("[output]\nservr = a:1\nwindow = many\n[spans]\nlingre = 1s\n")
    code, log = run_agent(bare_node, "-c", path)
    assert (code, len(log.splitlines())) == (CONFIG, 3)


def test_file_is_not_there(bare_node):
    code, log = run_agent(bare_node, "-c", bare_node.path("none.conf"))
    assert code == CONFIG and "none.conf" in log and len(log.splitlines()) == 1


def test_garbage_for_a_file(bare_node):
    path = bare_node.path("bad.conf")
    with open(path, "wb") as file:
        file.write(bytes(range(256)) * 64)
    code, log = run_agent(bare_node, "-c", path)
    assert code == CONFIG and "bad.conf" in log


def test_wrong_option(bare_node):
    code, log = run_agent(bare_node, "--colour")
    assert code == USAGE and "--help" in log
