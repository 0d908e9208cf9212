# SPDX-License-Identifier: BSD-2-Clause
"""
What the agent needs, and does not have when it starts: it works without as far as it can, says what is missing, and goes
on by itself once it is there. `blkin validate` tries all of it before, as the agent's user.
"""

import os
import re
import signal
import socket
import ssl
import subprocess

import pytest
from expect import key_of
from rig.load import KEEP, LOAD
from rig.moody import Moody
from rig.process import answers, free_port, wait_until
from test_user import User

CONFIG = 78


def make_certificate(node, name):
    """NAME.pem and NAME.key, for 127.0.0.1; its own authority."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        + ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"]
        + ["-keyout", node.path(f"{name}.key"), "-out", node.path(f"{name}.pem")],
        check=True, capture_output=True,
    )  # fmt: skip


def finding(node, code):
    return {found["code"]: found for found in node.status()["findings"]}.get(code)


@pytest.mark.parametrize("late", ["tls-ca", "tls-certificate", "tls-key"])
def test_tls_files_that_come_late(node, receiver, late):
    """That output waits, with its spans; the other one delivers, and the finding names the file."""
    for name in ("server", "client"):
        make_certificate(node, name)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(node.path("server.pem"), node.path("server.key"))
    files = {"tls-ca": "server.pem", "tls-certificate": "client.pem", "tls-key": "client.key"}
    path = node.path(files[late])
    with Moody(node, tls=context) as server:
        os.rename(path, path + ".away")
        output = {"type": "scribe", "server": f"127.0.0.1:{server.port}", "tls": "yes", "retry-max": "500ms"}
        output.update({key: node.path(name) for key, name in files.items()})
        agent = node.start_agent(receiver.port, **{"output b": output})
        node.run([LOAD, "-n", 500])
        receiver.wait_for(500, 20)
        what = f"`{late} = {path}` cannot be read"
        found = wait_until(lambda: finding(node, "output-tls-files"), 20, "the finding")
        assert what in found["what"] and "No such file or directory" in found["what"] and "[output b]" in found["fix"]
        assert agent.log().count(what) == 1
        os.rename(path + ".away", path)
        wait_until(lambda: len(server.taken) >= 500, 20, "the spans to be delivered")
        ledger = node.wait_ledger(lambda ledger: ledger.idle(), 20, "all to be settled", "b")
        assert (ledger.sent, ledger.dropped) == (500, 0) and not finding(node, "output-tls-files")
    assert agent.stop() == 0


def test_a_reload_that_names_a_file_that_is_not_there(node, receiver):
    """It is refused, in a sentence, and everything goes on as before."""
    agent = node.start_agent(receiver.port)
    with open(node.path("agent.conf"), "a", encoding="utf-8") as file:
        file.write("[output b]\nserver = 127.0.0.1:1\ntls = yes\ntls-ca = /nowhere/ca.pem\n")
    subprocess.run(["kill", "-HUP", str(agent.pid)], check=True)
    wait_until(lambda: "the previous one stays in force" in agent.log(), 10, "the reload to be refused")
    wrong = "[output b]: `tls-ca = /nowhere/ca.pem` cannot be read as certificates in PEM: No such file or directory"
    assert [line for line in agent.log().splitlines() if "/nowhere" in line] == [f"blkin-agent: {wrong}"]
    node.run([LOAD, "-n", 100])
    receiver.wait_for(100)
    assert sorted(key_of(span)[2] for span in receiver.spans()) == list(range(100))
    assert agent.stop() == 0


def test_a_state_directory_that_cannot_be_written(node, receiver):
    agent = node.start_agent(receiver.port, session=KEEP, agent={"state_directory": "/proc/nowhere"})
    found = finding(node, "no-checkpoint")
    assert "/proc/nowhere" in found["what"] and "`state-directory`" in found["fix"]
    node.run([LOAD, "-n", 100])
    receiver.wait_for(100)
    assert agent.stop() == 0


@pytest.mark.parametrize("path", ["/nowhere/agent.sock", "/proc/agent.sock", "/tmp/" + "x" * 200])
def test_a_socket_that_cannot_be(bare_node, path):
    """No other start would do better: it ends with 78, after which the unit does not start it again."""
    bare_node.write_config(free_port(), agent={"socket": path})
    agent = bare_node.start_agent_again(wait=False)
    assert agent.wait(20) == CONFIG
    assert f"{path}" in agent.log() and "`socket` in [agent]" in agent.log()
    assert not answers(bare_node.http)


def validate(node, words=(), **environment):
    """The exit code of `blkin validate`, and the lines that say what the agent cannot have."""
    command = list(words) + [node.built("cli/blkin"), "validate", node.path("agent.conf")]
    program = node.start(command, name="validate", **environment)
    code, log = program.wait(20), program.log()
    return code, [line for line in log.splitlines() if line.startswith("blkin validate: ")]


TLS = {"tls": "yes", "tls_ca": "/nowhere/ca.pem"}
LACKS = [
    (
        {"output": TLS},
        "[output]: `tls-ca = /nowhere/ca.pem` cannot be read as certificates in PEM: No such file or directory",
    ),
    (
        {"agent": {"state_directory": "/proc/nowhere"}},
        "`state-directory` of [agent] cannot be used: /proc/nowhere: No such file or directory: make the folder first: mkdir -p /proc/",
    ),
    (
        {"agent": {"socket": "/nowhere/agent.sock"}},
        "`socket` of [agent] cannot be used: /nowhere/agent.sock: No such file or directory: make the folder first: mkdir -p /no",
    ),
    ({"agent": {"http": "192.0.2.1:9412"}}, "`http` of [agent] cannot be used: 192.0.2.1:9412: Cannot assign"),
]


@pytest.mark.parametrize("sections, words", LACKS)
def test_validate_tries_what_the_agent_needs(bare_node, sections, words):
    bare_node.write_config(free_port(), **sections)
    code, lines = validate(bare_node)
    assert code == (CONFIG if "`socket`" in words else 1) and len(lines) == 1, lines
    # with the place of the key, and no file is said to be in order
    assert re.match(re.escape(f"blkin validate: {bare_node.path('agent.conf')}:") + r"\d+: " + re.escape(words), lines[0]), lines
    assert ": OK" not in bare_node.programs[-1].log()
    bare_node.write_config(free_port())
    assert validate(bare_node) == (0, [])


def test_validate_does_not_wait_for_a_session_daemon_that_hangs(node):
    """What it finds without it is still said."""
    node.sessiond.send(signal.SIGSTOP)
    node.write_config(free_port(), events={"names": "a:b", "filter": "a > 1"}, kernel={"events": "sched_*"})
    assert validate(node) == (0, [])
    said = node.programs[-1].log()
    node.write_config(free_port(), events={"names": "a:b", "filter": "a >"}, kernel={"events": "sched_*"})
    code, lines = validate(node)
    node.sessiond.send(signal.SIGCONT)
    assert all(f"note: {what} is not tried: LTTng's session daemon does not answer" in said for what in ("`filter` of [events]", "[kernel]")), said
    assert code == 1 and "`filter` of [events] cannot be used" in lines[0], lines


def test_validate_notes_what_others_can_read_and_what_is_empty(bare_node):
    """No mistake: the exit code is 0."""
    make_certificate(bare_node, "own")
    token, key = bare_node.path("token"), bare_node.path("own.key")
    os.chmod(bare_node.folder, 0o755)
    keys = {"type": "otlp", "headers_file": token, "tls": "yes", "tls_certificate": bare_node.path("own.pem"), "tls_key": key}
    bare_node.write_config(free_port(), **{"output otel": keys})

    def notes(text, mode, mode_of_key=0o600):
        with open(token, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(token, mode)
        os.chmod(key, mode_of_key)
        assert validate(bare_node) == (0, [])
        return [line for line in bare_node.programs[-1].log().splitlines() if line.startswith("note: ") and "server" not in line]

    assert not notes("X-Token: 1\n", 0o640)
    assert notes("X-Token: 1\n", 0o644, 0o604) == [
        f"note: everybody can read `{key} = {path}` of [output otel]: only the agent's user should"
        for key, path in (("headers-file", token), ("tls-key", key))
    ]
    assert notes("# none yet\n", 0o600) == [f"note: `headers-file = {token}` of [output otel] has no header: none is sent"]
    os.chmod(bare_node.folder, 0o750)
    assert not notes("X-Token: 1\n", 0o644, 0o644)


def test_validate_knows_the_agents_own_port(node, receiver):
    """Taken by somebody else it is a lack, by the agent itself it is not."""
    node.write_config(receiver.port)
    with socket.create_server(("127.0.0.1", node.http)):
        code, lines = validate(node)
        assert code == 1 and f"cannot be used: 127.0.0.1:{node.http}: Address already in use" in lines[0]
    agent = node.start_agent_again()
    assert validate(node) == (0, [])
    assert agent.stop() == 0
    # one that cannot be asked may be there
    node.start_agent(receiver.port, agent={"socket": ""}, wait=False).wait_ready(lambda: node.http_get("/healthz")[0] == 200)
    assert validate(node) == (0, [])


SYSTEMCTL = """#!/bin/sh
cat <<END
LoadState=loaded
User=blkin
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
ReadWritePaths=
StateDirectory=blkin
RuntimeDirectory=blkin
END
"""


@pytest.mark.as_root("only root can become the agent's user")
def test_validate_tries_it_as_the_agents_user(bare_node):
    """Root may read and write all: what counts is the user of the unit, and what that forbids."""
    node = bare_node
    make_certificate(node, "ca")
    os.chmod(node.path("ca.pem"), 0o600)
    os.chmod(node.folder, 0o755)
    with open("/etc/passwd", encoding="utf-8") as file, open(node.path("passwd"), "w", encoding="utf-8") as own:
        own.write("".join(line for line in file if not line.startswith("blkin:")) + "blkin:x:64321:64321::/:/bin/sh\n")
    mount = f"mount --bind {node.path('passwd')} /etc/passwd && exec \"$@\""
    words = ["unshare", "--mount", "sh", "-c", mount, "sh"]
    os.mkdir(node.path("bin"))
    with open(node.path("bin/systemctl"), "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nexit 1\n")
    os.chmod(node.path("bin/systemctl"), 0o755)
    path = f"{node.path('bin')}:{os.environ['PATH']}"
    node.write_config(free_port(), agent={"socket": ""}, output={"tls": "yes", "tls_ca": node.path("ca.pem")})
    code, lines = validate(node, words, PATH=path)
    assert code == 1 and len(lines) == 2
    assert "[output] as user blkin: `tls-ca = " in lines[0] and lines[0].endswith(": Permission denied")
    state = node.path("state")
    assert lines[1].endswith(
        f"cannot be used as user blkin: {state}: Permission denied: it has to be that user's: chown -R blkin: {state}"
    )
    os.chmod(node.path("ca.pem"), 0o644)
    os.chown(node.path("state"), 64321, 64321)
    assert validate(node, words, PATH=path) == (0, [])
    os.chmod(node.path("agent.conf"), 0o600)
    code, lines = validate(node, words, PATH=path)
    assert code == CONFIG and len(lines) == 1 and "agent.conf: cannot be read as user blkin, so the agent does not" in lines[0]
    os.chmod(node.path("agent.conf"), 0o644)
    with open(node.path("bin/systemctl"), "w", encoding="utf-8") as file:
        file.write(SYSTEMCTL)
    code, lines = validate(node, words, PATH=path)  # all of it is below /tmp
    assert code == 1 and len(lines) == 2 and all("PrivateTmp=" in line for line in lines)
    with open(node.path("bin/systemctl"), "w", encoding="utf-8") as file:
        file.write(SYSTEMCTL.replace("PrivateTmp=yes", "PrivateTmp=no"))
    code, lines = validate(node, words, PATH=path)
    assert code == 1 and len(lines) == 1 and "the unit may not write there (ProtectSystem=)" in lines[0]
    with open(node.path("agent.conf"), "a", encoding="utf-8") as file:
        file.write("[output files]\ntype = file\ndirectory = /srv/spans\n")
    code, lines = validate(node, words, PATH=path)
    assert code == 1 and len(lines) == 2 and lines[0].endswith(
        "`directory` of [output files] cannot be used as user blkin: /srv/spans: No such file or directory: "
        "install -d -o blkin -g blkin -m 2750 /srv/spans; allow it in the unit: systemctl edit blkin-agent, with "
        "ReadWritePaths=/srv/spans below [Service]; then systemctl restart blkin-agent"
    ), lines
    node.write_config(free_port(), agent={"socket": ""}, output={"tls": "yes", "tls_ca": node.path("ca.pem")})
    with open(node.path("bin/systemctl"), "w", encoding="utf-8") as file:
        file.write(SYSTEMCTL.replace("PrivateTmp=yes", "PrivateTmp=no").replace("Paths=", f"Paths=/x {node.folder}"))
    assert validate(node, words, PATH=path) == (0, [])


@pytest.mark.as_root("only root has no folder of its own by default")
def test_validate_without_a_configuration(bare_node):
    """What the agent does not start without, with what to do; the exit code is the agent's own."""
    node = bare_node
    hide = "mount -t tmpfs none /run && mount -t tmpfs none /var/lib && exec \"$@\""
    words = ["unshare", "--mount", "sh", "-c", hide, "sh"]
    done = node.start(words + [node.built("cli/blkin"), "validate"], name="validate")
    assert done.wait(20) == CONFIG
    assert "`socket` of [agent] cannot be used: /run/blkin/agent.sock: No such file or directory: " in done.log()
    assert "mkdir -p /run/blkin (where the packages are installed: systemd-tmpfiles --create)" in done.log()
    agent = node.start(words + [node.built("agent/blkin-agent")], name="agent")
    assert agent.wait(20) == CONFIG and "cannot make the control socket /run/blkin/agent.sock" in agent.log()
    # what the unit makes when it starts is no lack
    os.mkdir(node.path("bin"))
    with open(node.path("bin/systemctl"), "w", encoding="utf-8") as file:
        file.write(SYSTEMCTL.replace("User=blkin", "User="))
    os.chmod(node.path("bin/systemctl"), 0o755)
    command = words + [node.built("cli/blkin"), "validate"]
    done = node.start(command, name="validate", PATH=f"{node.path('bin')}:{os.environ['PATH']}")
    assert done.wait(20) == 0, done.log()
    made = words[:4] + [hide.replace("exec", "mkdir /run/blkin && exec"), "sh", node.built("cli/blkin"), "validate"]
    done = node.start(made, name="validate")
    assert done.wait(20) == 0, done.log()


def test_validate_for_a_user(bare_node):
    """Who means an agent of his own is told of --user, with which what the agent makes need not be there."""
    user = User(bare_node)
    done = user.start("cli/blkin", "validate")
    if user.prefix:
        assert done.wait(20) == CONFIG
        assert "note: this is about the system's agent: for one of your own, add --user" in done.log()
    done = user.start("cli/blkin", "validate", "--user")
    assert done.wait(20) == 0 and "note" not in done.log(), done.log()
    os.rmdir(user.environment["XDG_RUNTIME_DIR"])
    os.chmod(user.home, 0o500)
    if user.prefix:
        done = user.start("cli/blkin", "validate", "--user")
        assert done.wait(20) == CONFIG and "agent.sock: Permission denied" in done.log(), done.log()


PORTS = [
    ({"server": "z:9411"}, "port 9411 of z, which is usually Zipkin's HTTP port: that takes `type = http`"),
    ({"type": "http", "server": "z:9410"}, "port 9410 of z, which is usually Zipkin's Scribe port: that takes `type = scribe`"),
    ({"type": "otlp", "server": "z:4317"}, "port 4317 of z, which is usually OTLP's gRPC port; its HTTP port is usually 4318"),
    ({"type": "kafka", "brokers": "z:2181"}, "port 2181 of z, which is usually ZooKeeper's port; a broker's is usually 9092"),
]


def test_validate_notes_ports_of_others_and_keys_without_effect(bare_node):
    def notes(**keys):
        bare_node.write_config(free_port(), **{"output": {"type": "none"}, "output b": keys})
        assert validate(bare_node) == (0, [])
        return [line for line in bare_node.programs[-1].log().splitlines() if line.startswith("note: [output b]")]

    for keys, words in PORTS:
        assert notes(**keys) == [f"note: [output b] sends to {words}"]
    assert not notes(type="otlp", server="z:4318") and not notes(server="z:9410")
    keeps = "note: [output b] keeps every trace, as `keep = 1/1`: `{}` has no effect"
    assert notes(server="z:1", keep_errors="yes") == [keeps.format("keep-errors")]
    assert notes(server="z:1", keep_slower="1s") == [keeps.format("keep-slower")]
    assert not notes(server="z:1", keep="1/2", keep_errors="yes")
    assert notes(server="z:1", keep_traces="1s") == [keeps.format("keep-traces")]
    assert not notes(server="z:1", keep="1/2", keep_slower="1s", keep_traces="1s")
    single = "note: [output b] keeps no single spans, as neither `keep-errors` nor `keep-slower` is set: `keep-traces` has no effect"
    assert notes(server="z:1", keep="1/2", keep_traces="1s") == [single]
    nothing = "note: [output b] has one {}, with one address: `balance = yes` has no effect there, but that the connection is renewed now and then"
    assert notes(server="127.0.0.1:1", balance="yes") == [nothing.format("server")]
    assert notes(type="otlp", server="z:1", proxy="127.0.0.1:2", balance="yes") == [nothing.format("proxy")]
    assert not notes(server="127.0.0.1:1, 127.0.0.2:1", balance="yes") and not notes(server="z:1", balance="yes")


EVENTS_UNTAKEN = "note: [events] has events recorded, but no output takes them: set `takes = spans, events` in one"
KERNEL_UNTAKEN = "note: no output takes what [kernel] has recorded: it is of use to `blkin why` only"
EVENTS_NONE = "note: [output] takes events, but none are recorded: set `names` in [events], or `events`, `syscalls` or `functions` in [kernel]"


@pytest.mark.parametrize(
    "sections, words",
    [
        ({"events": {"names": "a:*"}}, EVENTS_UNTAKEN),
        ({"kernel": {"syscalls": "openat"}}, KERNEL_UNTAKEN),
        ({"output": {"takes": "spans, events"}}, EVENTS_NONE),
        ({"input": {"scribe": "127.0.0.1:1463", "ack": "queued"}, "output": {"spool_size": "0"}},
         "note: [output] has no spool, and `ack = queued` of [input] acknowledges what waits in memory only: a stop or a kill while "
         "the server is away loses it"),
        ({"input": {"scribe": "127.0.0.1:1463", "ack": "queued"}}, None),
        ({"input": {"ack": "queued"}, "output": {"spool_size": "0"}}, None),
        ({"events": {"filter": "a > 1"}}, "note: `filter` of [events] has no effect, as `names` is empty"),
        ({"events": {"names": "a:*"}, "output": {"takes": "events"}}, None),
        ({"events": {"spans": "a:b/c by vtid"}}, None),
        ({"events": {"spans": "a:b/c by vtid"}, "output": {"takes": "events", "type": "kafka"}, "kernel": {"events": "d"}},
         "note: `spans` of [events] has no effect, as no output takes spans"),
        ({"events": {"spans": "b/c by tid"}},
         "note: `spans` of [events] has pairs by tid, which need `events`, `syscalls` or `functions` in [kernel]"),
        ({"events": {"spans": "b/c by tid"}, "kernel": {"events": "b, c"}}, None),
        ({"kernel": {"events": "sched_*"}, "output": {"takes": "events"}}, None),
        ({"kernel": {"events": "sched_*", "mode": "flight"}, "thresholds": {"a/b": "1ms"}}, None),
        ({"kernel": {"events": "sched_*", "mode": "flight"}, "thresholds": {"a/b": "1ms"}, "output": {"takes": "events"}},
         "note: [output] takes events, but none come of [kernel] with `mode = flight`: set `mode = live`, or `names` in [events]"),
        ({"kernel": {"events": "sched_*", "mode": "flight"}, "thresholds": {"a/b": "none"}},
         "note: [kernel] has `mode = flight`, and nothing is ever late: set limits in [thresholds]"),
        ({"kernel": {"events": "b, c", "mode": "flight"}, "thresholds": {"a/b": "1ms"}, "events": {"spans": "b/c by tid"}},
         "note: `spans` of [events] has pairs by tid, which are not made while [kernel] has `mode = flight`"),
    ],
)
def test_validate_notes_what_goes_nowhere(bare_node, sections, words):
    bare_node.write_config(free_port(), **sections)
    assert validate(bare_node) == (0, [])
    notes = [line for line in bare_node.programs[-1].log().splitlines() if line.startswith("note:")]
    assert notes == ([words] if words else [])
