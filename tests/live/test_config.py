# SPDX-License-Identifier: BSD-2-Clause
"""A bad configuration: exit code 78 from the agent and from `blkin validate`, every mistake in one line with file, line
and what to do; nothing is started."""

import os

import pytest

USAGE, CONFIG = 64, 78
NO_OVERRIDE = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]


def run_agent(node, *words):
    agent = node.start([node.built("agent/blkin-agent")] + list(words))
    return agent.wait(10), agent.log()


def file_of(content):
    def make(path):
        with open(path, "wb") as file:
            file.write(content)

    return make


def unreadable(path):
    file_of(b"")(path)
    os.chmod(path, 0)


def drop_in(path):
    file_of(b"[output]\nserver = a:1\n")(path)
    os.mkdir(path + ".d")
    file_of(b"# site\n[output]\nservr = b:1\n")(path + ".d/site.conf")


# Name, what makes the file, and the message behind the file's name.
MISTAKES = [
    ("key", file_of(b"[output]\nservr = a:1\n"), ":2: unknown key `servr` in [output]; did you mean `server`?"),
    ("section", file_of(b"\n# ours\n[sesion]\nname = x\n"), ":3: unknown section [sesion]; did you mean [session]?"),
    (
        "section of the key",
        file_of(b"[agent]\nserver = a:1\n"),
        ":2: unknown key `server` in [agent]; it belongs in [output]",
    ),
    (
        "unit",
        file_of(b"[output]\nbatch-delay = 3 weeks\n"),
        ":2: `batch-delay = 3 weeks` is not valid: it must be a time from 0ms to 1min, with its unit: us, ms, s, min or h",
    ),
    (
        "range",
        file_of(b"[session]\nrelay-live-port = 70000\n"),
        ":2: `relay-live-port = 70000` is out of range: it can be 0 to 65535",
    ),
    ("twice", file_of(b"[output]\nserver = a:1\n\nserver = b:1\n"), ":4: `server` is already set on line 2"),
    ("no section", file_of(b"http = 127.0.0.1:1\n"), ":1: `http` is set before the first [section]"),
    ("bracket", file_of(b"[agent\n"), ":1: a section is written [name], on a line of its own"),
    (
        "address",
        file_of(b"[output]\nserver = nowhere\n"),
        ":2: `server = nowhere` is not valid: it must be HOST:PORT, such as 127.0.0.1:9410 or [::1]:9410, or up to 8 different ones, separated by commas",
    ),
    (
        "size",
        file_of(b"[session]\nmemory = -1\n"),
        ":2: `memory = -1` is not valid: it must be a size from 1M to 64G, in bytes, or with K, M or G",
    ),
    (
        "two keys",
        file_of(b"[output]\nretry-max = 1s\nretry-min = 2s\n"),
        ":3: `retry-min` is larger than `retry-max` in [output]",
    ),
    (
        "relay ports",
        file_of(b"[session]\nrelay-live-port = 0\n"),
        ":2: the relay's ports must either all be 0, or none of them, in [session]",
    ),
    (
        "kept with a relay that is not",
        file_of(b"[session]\nrelay-live-port = 0\nrelay-data-port = 0\nrelay-control-port = 0\n"),
        ":4: `keep = yes` needs a relay daemon that outlives the agent: its ports cannot be 0 in [session]",
    ),
    (
        "key of a named output",
        file_of(b"[output zipkin2]\nservr = a:1\n"),
        ":2: unknown key `servr` in [output zipkin2]; did you mean `server`?",
    ),
    (
        "name of an output",
        file_of(b"[output]\n[output a b]\n"),
        ":2: `a b` cannot be an output's name: it has letters, digits, `_` and `-` only",
    ),
    (
        "two keys of a named output",
        file_of(b"[output]\nretry-min = 1s\n[output two]\nretry-min = 2s\n"),
        ":4: `retry-min` is larger than `retry-max` in [output two]",
    ),
    ("drop-in", drop_in, ".d/site.conf:3: unknown key `servr` in [output]; did you mean `server`?"),
    ("NUL", file_of(b"[agent]\nhttp =\0\n"), ":2: this is not UTF-8 text: byte 0x00"),
    ("bad UTF-8", file_of(b"# caf\xc3\xa9\n# caf\xe9\n"), ":2: this is not UTF-8 text: byte 0xe9"),
    ("binary", file_of(bytes(range(256)) * 64), ":1: this is not UTF-8 text: byte 0x00"),
    ("huge", file_of(b"#" * (1 << 20) + b"\n"), ": is larger than 1 MiB: this is no configuration file"),
    ("folder", os.mkdir, ": is a folder, not a file"),
    ("not there", lambda path: None, ": cannot be read: No such file or directory"),
    ("unreadable", unreadable, ": cannot be read: Permission denied"),
]


@pytest.mark.parametrize("make, message", [case[1:] for case in MISTAKES], ids=[case[0] for case in MISTAKES])
def test_mistake(bare_node, make, message):
    path = bare_node.path("bad.conf")
    make(path)
    agent = bare_node.start(NO_OVERRIDE + [bare_node.built("agent/blkin-agent"), "-c", path])
    assert (agent.wait(10), agent.log()) == (CONFIG, f"blkin-agent: {path}{message}\n")
    command = bare_node.start(NO_OVERRIDE + [bare_node.built("cli/blkin"), "validate", path])
    assert (command.wait(10), command.log()) == (CONFIG, f"blkin validate: {path}{message}\n")


def test_every_mistake_is_told(bare_node):
    path = bare_node.path("bad.conf")
    with open(path, "w", encoding="utf-8") as file:
        file.write("[output]\nservr = a:1\nwindow = many\n[spans]\nlingre = 1s\n")
    code, log = run_agent(bare_node, "-c", path)
    assert (code, len(log.splitlines())) == (CONFIG, 3)


def test_drop_ins_are_read_and_shown(bare_node):
    """The last drop-in wins, in the agent as in what `blkin validate --print` says."""
    path = bare_node.write_config(1, agent={"stop_timeout": "1s"})
    os.mkdir(path + ".d")
    file_of(b"[output]\nserver = 127.0.0.1:3\n")(path + ".d/90-last.conf")
    file_of(b"[output]\nserver = 127.0.0.1:2\nwindow = 3\n")(path + ".d/10-first.conf")
    assert bare_node.run(["cli/blkin", "validate", path]).splitlines() == [
        f"{name}: OK" for name in (path, path + ".d/10-first.conf", path + ".d/90-last.conf")
    ]
    text = bare_node.run(["cli/blkin", "validate", "--print", path])
    assert f"\n# {path}.d/90-last.conf:2\nserver = 127.0.0.1:3\nbalance = no\n" in text
    assert f"\n# {path}.d/10-first.conf:3\nwindow = 3\n" in text
    # what is printed is a configuration
    file_of(text.encode())(bare_node.path("printed.conf"))
    bare_node.run(["cli/blkin", "validate", bare_node.path("printed.conf")])
    agent = bare_node.start([bare_node.built("agent/blkin-agent"), "-c", path])
    agent.wait_ready(lambda: bare_node.http_get("/healthz")[0] == 200)
    assert bare_node.status()["server"] == "127.0.0.1:3"
    assert agent.stop() == 0


def test_several_outputs(bare_node):
    """`blkin validate` takes them from file and drop-ins, shows them, and points out what nobody may want."""
    path = bare_node.path("outputs.conf")
    agent = f"[agent]\nsocket =\nstate-directory = {bare_node.folder}/state\n".encode()
    file_of(b"[output two]\ntype = http\nserver = b:1\n" + agent)(path)
    assert bare_node.run(["cli/blkin", "validate", path]).splitlines() == [
        f"{path}: OK",
        "note: [output] delivers to 127.0.0.1:9410, as no `server` is set there; `type = none` switches it off",
    ]
    os.mkdir(path + ".d")
    file_of(b"[output]\ntype = none\n[output two]\nwindow = 3\n")(path + ".d/site.conf")
    assert bare_node.run(["cli/blkin", "validate", path]).splitlines() == [f"{path}: OK", f"{path}.d/site.conf: OK"]
    text = bare_node.run(["cli/blkin", "validate", "--print", path])
    assert f"\n[output]\n# {path}.d/site.conf:2\ntype = none\n\n[output two]" in text
    assert f"\n[output two]\n# {path}:2\ntype = http\ntakes = spans\n# {path}:3\nserver = b:1\n" in text
    assert f"\n# {path}.d/site.conf:4\nwindow = 3\n" in text
    file_of(text.encode())(bare_node.path("printed.conf"))
    bare_node.run(["cli/blkin", "validate", bare_node.path("printed.conf")])
    file_of(b"[output]\ntype = none\n")(path + ".d/site.conf")
    os.remove(path)
    file_of(agent)(path)
    note = "note: no output delivers: events are read and counted, and their spans thrown away"
    assert bare_node.run(["cli/blkin", "validate", path]).splitlines()[2:] == [note]
    text = bare_node.run(["cli/blkin", "validate", "--print", path])
    assert text.endswith(f"\n# {note}\n")


def test_without_the_node(bare_node):
    """Files of other nodes are checked where nothing of what they need is."""
    path = bare_node.path("other.conf")
    file_of(b"[agent]\nsocket = /nonexistent/agent.sock\n[output]\ntype = file\ndirectory = /nonexistent/spans\n")(path)
    assert bare_node.start([bare_node.built("cli/blkin"), "validate", path]).wait(10) == CONFIG
    assert bare_node.run(["cli/blkin", "validate", "--no-environment", path]) == f"{path}: OK\n"
    file_of(b"")(path)
    assert bare_node.run(["cli/blkin", "validate", "--no-environment", path]) == f"{path}: OK\n"
    file_of(b"[output]\nservr = a:1\n")(path)
    for words, code in ((["--no-environment"], CONFIG), (["--no-environment", "--connect"], USAGE)):
        assert bare_node.start([bare_node.built("cli/blkin"), "validate", *words, path]).wait(10) == code


def test_no_control_character_gets_out(node):
    """Neither into the log, nor into the status: also those of C1, which some terminals obey in UTF-8."""
    path = node.write_config(1, agent={"state-directory": "/proc/no\u009b2Jwhere"}, session={"relay-output": "/proc/\u0090"})
    agent = node.start([node.built("agent/blkin-agent"), "-c", path], **node.leak_environment)
    agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
    text = node.run(["cli/blkin", "status", "--socket", node.socket])
    assert "/proc/no??2Jwhere" in text and "`state-directory` /proc/no??2Jwhere" in agent.log()
    pages = [node.http_get(page)[1] for page in ("/status.json", "/readyz")] + [text, agent.log()]
    assert not set("".join(pages)) & {chr(c) for c in [*range(10), *range(11, 32), *range(127, 160)]}
    assert agent.stop() == 0


def test_wrong_option(bare_node):
    code, log = run_agent(bare_node, "--colour")
    assert code == USAGE and "--help" in log
