# SPDX-License-Identifier: BSD-2-Clause
"""
`blkin status` when nothing arrives: each reason made to happen, and named with what to do about it. The outputs' are in
test_doctor_outputs.py.
"""

import contextlib
import grp
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest
from rig.load import LOAD
from rig.node import VERSION, build_dir
from rig.process import NO_OVERRIDE, PATIENCE, Trouble, free_port, wait_until
from rig.scribe import Receiver
from test_reload import Reloader

UNAVAILABLE, CONFIG = 69, 78


def status(node, *words, prefix=(), **environment):
    program = node.start(list(prefix) + [node.built("cli/blkin"), "status", *words], name="status", **environment)
    return program.wait(20), program.log()


def findings(node, **environment):
    """What the doctor finds, by their codes; the text says the same."""
    code, text = status(node, "--json", "--socket", node.socket, **environment)
    assert code == 0, text
    return {finding["code"]: finding for finding in json.loads(text)["findings"]}


def unwrapped(text):
    """What the text says, wherever its lines are broken."""
    return " ".join(text.split())


def expect(node, code, what, fix, seconds=15, **environment):
    """Waits for the finding, which is the only one, as JSON and as text, and returns it."""
    found, text = {}, ""

    def is_found():
        nonlocal found, text
        found = findings(node, **environment)
        if list(found) != [code] or what not in found[code]["what"]:
            return False
        # the agent may have helped itself in between
        text = status(node, "--socket", node.socket, **environment)[1]
        return what in unwrapped(text.split("\nto do\n")[-1])

    try:
        wait_until(is_found, seconds, f"the doctor to find {code}", 0.3, promised=True)
    except Exception as trouble:
        raise AssertionError(f"{trouble}: {found}, {text}") from None
    assert fix in found[code]["fix"], found
    todo = text.split("\nto do\n")[1]
    assert f" -> {found[code]['fix']}" in unwrapped(todo), text
    assert len(text.splitlines()) <= 24, "that is no screen"
    assert all(len(line) <= 100 for line in todo.splitlines()), text
    return found[code]


def start_load(node, **environment):
    return node.start([node.built(LOAD), "-n", 1000000, "-r", 100], **environment)


@contextlib.contextmanager
def stopped(program):
    program.send(signal.SIGSTOP)
    try:
        yield
    finally:
        program.send(signal.SIGCONT)


def test_all_is_well(node, receiver):
    node.start_agent(receiver.port)
    start_load(node)
    wait_until(lambda: node.ledger().sent > 100 and node.status()["programs"] == 2, 20, "spans of both processes")
    assert findings(node) == {}
    code, text = status(node, "--socket", node.socket)
    assert code == 0 and text.endswith("\nto do\n  nothing\n")
    assert "collecting  yes, from 2 programs, for " in text and ", last event " in text
    assert re.search(r"\n  queue     [\d.]+( [KM]iB)? of 32 MiB\n  spool     empty \(its file has [\d.]+ [KM]iB of 1 GiB\)\n", text), text
    told = node.status()
    assert (told["programs"], told["programs_with_blkin"]) == (2, 2) and told["last_event_seconds"] <= 2


def test_no_session_daemon(bare_node):
    bare_node.start_agent(Receiver(bare_node, free_port()).start().port, wait=False)
    bare_node.agent.wait_ready(lambda: bare_node.http_get("/healthz")[0] == 200)
    expect(bare_node, "no-session-daemon", "no LTTng session daemon runs", "lttng-sessiond --daemonize")


def test_no_session_daemon_of_the_system(bare_node):
    bare_node.start_agent(Receiver(bare_node, free_port()).start().port, wait=False, session={"tracing_group": "tracing"})
    bare_node.agent.wait_ready(lambda: bare_node.http_get("/healthz")[0] == 200)
    expect(bare_node, "no-session-daemon", "no LTTng session daemon runs", "systemctl start lttng-sessiond")


def test_no_permission(node, receiver):
    """The session daemon is there, but its socket is for others."""
    config = node.write_config(receiver.port, session={"tracing_group": "tracing"})
    folder = "/var/run/lttng" if os.getuid() == 0 else node.path("home/.lttng")
    os.chmod(os.path.join(folder, "client-lttng-sessiond"), 0)
    node.agent = node.start(NO_OVERRIDE + [node.built("agent/blkin-agent"), "-c", config])
    node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
    whose = "root and group tracing" if os.getuid() == 0 else "root alone"  # LTTng gives its socket to that group as root only
    expect(node, "no-permission", f"may not talk to it: it is for {whose}", "usermod --append")


@pytest.mark.as_root("becomes another user")
@pytest.mark.parametrize("named", ["trcing", "daemon"], ids=["unknown", "another"])
def test_group_is_another(node, receiver, named):
    """The configuration names a group that is not that of LTTng's session daemon, which the distribution has."""
    path = os.path.join("/var/run/lttng", "client-lttng-sessiond")
    group = grp.getgrnam("tracing")
    os.chown(path, 0, group.gr_gid)
    os.chmod(path, 0o660)
    config = node.write_config(receiver.port, session={"tracing_group": named})
    for name in ("blkin-agent", "blkin-reader"):  # copies: the user may not look into our checkout
        shutil.copy(node.built(f"agent/{name}"), node.folder)
    subprocess.run(["chown", "-R", "65534:65534", node.folder], check=True)
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    node.agent = node.start(user + [node.path("blkin-agent"), "-c", config])
    node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
    wrong = ", which does not exist" if named == "trcing" else ""
    what = f"it is for root and group tracing, and `tracing-group` in [session] names {named}{wrong}"
    fix = "set `tracing-group = tracing` in [session]; usermod --append --groups tracing nobody; then restart the agent"
    expect(node, "no-permission", what, fix)
    assert "cannot be started" not in node.agent.log(), "the agent has asked itself"
    os.chown(path, 0, 0)
    expect(node, "no-permission", "it is for root alone", f"groupadd --system --force {named}; usermod")


def test_no_relay_daemon(bare_node):
    bare_node.start_sessiond()
    bare_node.start_agent(Receiver(bare_node, free_port()).start().port, wait=False)
    bare_node.agent.wait_ready(lambda: bare_node.http_get("/healthz")[0] == 200)
    expect(bare_node, "no-relay-daemon", "no LTTng relay daemon answers", "systemctl start blkin-relayd")


RELAYD = "`journalctl -u blkin-relayd` says"


def test_relay_does_not_start(bare_node):
    bare_node.start_sessiond()
    bare_node.start_agent(Receiver(bare_node, free_port()).start().port, wait=False)
    bare_node.agent.wait_ready(lambda: bare_node.http_get("/healthz")[0] == 200)
    expect(bare_node, "no-relay-daemon", "no LTTng relay daemon answers", f"if it does not start, {RELAYD} why")


@pytest.mark.parametrize("which", [1, 2], ids=["data", "live"])
def test_relay_port_is_taken(bare_node, which):
    """So that the relay ends as soon as it is started."""
    bare_node.start_sessiond()
    with socket.create_server(("127.0.0.1", bare_node.relay_ports[which])):
        with contextlib.suppress(Trouble):
            bare_node.start_relayd()
        wait_until(lambda: not bare_node.relayd.running(), 20, "the relay to give up")
        bare_node.start_agent(Receiver(bare_node, free_port()).start().port, wait=False)
        bare_node.agent.wait_ready(lambda: bare_node.http_get("/healthz")[0] == 200)
        what = f"but something listens on port {bare_node.relay_ports[which]}"
        expect(bare_node, "relay-port-taken", what, f"{RELAYD} whether its port is taken, and `ss -ltnp` by what")
    bare_node.start_relayd()
    expect(bare_node, "no-program", "", "")


def test_relay_ports_are_a_strangers(bare_node):
    """It takes connections, and says nothing."""
    bare_node.start_sessiond()
    with contextlib.ExitStack() as stack:
        for port in bare_node.relay_ports:
            stack.enter_context(socket.create_server(("127.0.0.1", port)))
        bare_node.start_agent(Receiver(bare_node, free_port()).start().port, wait=False)
        bare_node.agent.wait_ready(lambda: bare_node.http_get("/healthz")[0] == 200)
        expect(bare_node, "lttng-hangs", "lttng-relayd hangs", "may have its port: `journalctl -u blkin-relayd` says so", 20)


def test_lttng_hangs(node, receiver):
    node.start_agent(receiver.port)
    with stopped(node.relayd):
        expect(node, "lttng-hangs", "lttng-relayd hangs", "systemctl restart blkin-relayd")
    wait_until(lambda: set(findings(node)) == {"no-program"}, 20, "the agent's own event to be recorded")
    expect(node, "no-program", "", "")


def test_no_program(node, receiver):
    node.start_agent(receiver.port)
    expect(node, "no-program", "no program is registered with LTTng", "BLKIN_DEBUG=1")


def test_program_without_blkin(node, receiver):
    """It is registered with LTTng, as it has tracepoints of its own; ours are not in it."""
    node.start_agent(receiver.port)
    program = node.start(["sleep", "60"], LD_PRELOAD="liblttng-ust.so.1")
    expect(
        node,
        "no-blkin",
        f"1 program is registered with LTTng, as sleep ({program.pid}), but none records with blkin",
        "includes <blkin/blkin.h>",
    )
    start_load(node)
    wait_until(lambda: findings(node) == {}, 10, "the doctor to be content")
    words = " from 3 programs, 2 of them with blkin, for "
    wait_until(lambda: words in status(node, "--socket", node.socket)[1], 10, "all to be counted")


def test_program_with_tracepoints(node, receiver):
    """[events] has a name that it does not record; with the right one there is nothing to do."""
    reloader = Reloader(node, receiver.port, events={"spans": "lttng_ust_libc:malok/fre by vtid"})
    expect(node, "no-program", "no program is registered with LTTng", "or one with tracepoints that [events] names")
    node.start(["sh", "-c", "while sleep 0.2; do :; done"], LD_PRELOAD="liblttng-ust-libc-wrapper.so")
    what = "but none has recorded an event that [events] names, or records with blkin"
    expect(node, "no-blkin", what, "by the names that `lttng list --userspace` has")
    reloader.edit("events", "spans", "lttng_ust_libc:malloc/free by vtid")
    wait_until(lambda: findings(node) == {}, 20, "the doctor to be content")


def test_events_disabled(node, receiver):
    node.start_agent(receiver.port)
    start_load(node)
    wait_until(lambda: node.ledger().sent, 20, "spans")
    disable = ["disable-event", "--userspace", "--session", "blkin", "--channel", "spans", "--all-events"]
    node.lttng(*disable)
    times = 1

    def is_named():
        """The agent enables them again by itself, now and then before anybody has asked."""
        nonlocal times
        if node.agent.log().count("is restored") == times:
            times += 1
            node.lttng(*disable)
        return findings(node).get("events-disabled")

    finding = wait_until(is_named, 15, "the doctor to find it", promised=True)
    assert "LTTng session `blkin` records no blkin event" in finding["what"] and "restart the agent" in finding["fix"]


def test_level_too_low(node, receiver):
    node.start_agent(receiver.port, session={"level": "crit"})
    start_load(node)
    expect(node, "level", "only spans of level crit and above are recorded", "debug for example", 30)


def test_sampling_is_off(node, receiver):
    page = {"BLKIN_SAMPLING_PAGE": node.path("sampling")}
    node.run(["cli/blkin", "sampling", "--page", node.path("sampling"), "off"])
    node.start_agent(receiver.port)
    start_load(node, **page)
    expect(node, "sampling-off", "tells programs to record nothing", "blkin sampling default", 30, **page)
    # all are off but some: these are chosen, and nothing is to be done
    node.run(["cli/blkin", "sampling", "--page", node.path("sampling"), "off", "--service", "mds"])
    assert "sampling-off" in findings(node, **page)
    node.run(["cli/blkin", "sampling", "--page", node.path("sampling"), "1/1", "--service", "kv"])
    assert "sampling-off" not in findings(node, **page)


def test_sampled_out_by_the_program(node, receiver):
    node.start_agent(receiver.port)
    start_load(node, BLKIN_SAMPLE="0")
    expect(node, "quiet", "2 programs are there with blkin, but no event comes", "BLKIN_SAMPLE", 30)


def test_program_is_stopped(node, receiver):
    """It is counted all the same, as nobody asks it."""
    node.start_agent(receiver.port)
    load = start_load(node)
    wait_until(lambda: node.status()["programs"] == 2, 20, "both processes")
    with stopped(load):
        begun = time.monotonic()
        found = expect(node, "program-stopped", f"1 traced program is stopped: spanload ({load.pid}) of user", "kill -CONT")
        assert time.monotonic() - begun < 4 * PATIENCE
        assert f" of user {os.getuid()}; it records nothing, and lttng-sessiond waits 5 s for each" in found["what"]
        told = node.status()
        assert (told["programs"], told["programs_with_blkin"]) == (2, 2)
    wait_until(lambda: findings(node) == {}, 10, "the doctor to be content")


def test_query_changes_nothing(node, receiver):
    """It may be a scraper's, or a command's of before, which said there what it had found."""
    node.start_agent(receiver.port)
    for query in ("protocol=5&counted=1&programs=3", "protocol=5&other=%1b%5b2J", "colour=red"):
        code, page = node.http_get("/status.json?" + query)
        assert code == 200 and json.loads(page)["programs"] == 0
        assert node.http_get("/metrics?" + query)[0] == 200
    assert node.http_get("/status")[0] == 404


# Without an agent


def agent_program():
    """Where the agent is installed."""
    with open(os.path.join(build_dir(), "meson-info/intro-buildoptions.json"), encoding="utf-8") as file:
        option = {option["name"]: option["value"] for option in json.load(file)}
    return os.path.join(option["prefix"], option["sbindir"], "blkin-agent")


def test_no_agent(bare_node):
    path = bare_node.path("agent.sock")
    code, text = status(bare_node, "--socket", path)
    assert code == UNAVAILABLE and text == (
        f"blkin status: no agent runs on {path}: start it (systemctl start blkin-agent; a user's own: "
        f"{agent_program()} --user), or name another with --config\n"
    )


def test_no_agent_of_the_user(bare_node):
    """The command that is named is there, in a folder that is not in everybody's PATH."""
    own = {"XDG_RUNTIME_DIR": bare_node.path("run"), "XDG_CONFIG_HOME": bare_node.path("config")}
    path = bare_node.path("run/blkin/agent.sock")
    code, text = status(bare_node, "--user", **own)
    assert code == UNAVAILABLE
    assert text == f"blkin status: no agent runs on {path}: start it ({agent_program()} --user)\n"
    os.makedirs(os.path.dirname(path))
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(path)
    code, text = status(bare_node, "--user", **own)
    assert code == UNAVAILABLE and text.endswith(f"not been restarted (start it again: {agent_program()} --user)\n")
    assert "systemctl" not in text and "journalctl" not in text


def test_agent_was_killed(bare_node):
    agent = bare_node.start_agent(free_port(), wait=False)
    agent.wait_ready(lambda: bare_node.http_get("/healthz")[0] == 200)
    agent.kill()
    code, text = status(bare_node, "--socket", bare_node.socket)
    assert code == UNAVAILABLE and f"the agent on {bare_node.socket} was killed" in text


def test_agent_hangs(bare_node):
    agent = bare_node.start_agent(free_port(), wait=False)
    agent.wait_ready(lambda: bare_node.http_get("/healthz")[0] == 200)
    with stopped(agent):
        code, text = status(bare_node, "--socket", bare_node.socket)
        assert code == UNAVAILABLE and "does not answer within 5 s: it hangs" in text


def test_socket_is_for_others(bare_node):
    agent = bare_node.start_agent(free_port(), wait=False)
    agent.wait_ready(lambda: bare_node.http_get("/healthz")[0] == 200)
    os.chmod(bare_node.socket, 0)
    code, text = status(bare_node, "--socket", bare_node.socket, prefix=NO_OVERRIDE)
    assert code == 1 and "it answers root and the members of group `" in text


def test_socket_is_found_by_the_configuration(bare_node):
    agent = bare_node.start_agent(free_port(), wait=False)
    agent.wait_ready(lambda: bare_node.http_get("/healthz")[0] == 200)
    config = bare_node.path("agent.conf")
    assert status(bare_node, "--config", config)[1].startswith(f"blkin-agent {VERSION}, pid {agent.pid}, ")
    with open(config, "a", encoding="utf-8") as file:
        file.write("[agnt]\n")
    code, text = status(bare_node, "--config", config)
    assert code == 0 and "unknown section [agnt]" in text and "no agent starts" in text
    assert f"blkin-agent {VERSION}, pid {agent.pid}, " in text
    assert agent.stop() == 0
    assert status(bare_node, "--config", config)[0] == CONFIG
    with open(config, "w", encoding="utf-8") as file:
        file.write("[agent]\nsocket =\n")
    assert status(bare_node, "--config", config)[0] == CONFIG


def test_which_agent_is_told_once(bare_node):
    code, text = status(bare_node, "--socket", "")
    assert code == 64 and text == "blkin status: --socket needs the path of an agent's control socket, and it is empty\n"
    for words in (["--user"], ["--config", "/dev/null"]):
        code, text = status(bare_node, "--socket", "/nowhere", *words)
        assert code == 64 and "use either --socket, or --config and --user" in text


def status_of_stranger(node, *answers):
    """What `blkin status` says of a socket that gives these answers, one for each connection."""
    path = node.path("other.sock")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        server.settimeout(20)  # if it does not ask so often
        program = node.start([node.built("cli/blkin"), "status", "--socket", path])
        for answer in answers:
            connection = server.accept()[0]
            assert connection.recv(4096).startswith(b"GET /s")
            connection.sendall(answer)
            connection.close()
        assert program.wait(10) == 1
    return program.log().replace(path, "PATH")


@pytest.mark.parametrize("answer", [b"", b"220 mail\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"])
def test_socket_is_no_agents(bare_node, answer):
    assert "PATH" in status_of_stranger(bare_node, answer)


FOUND = b"HTTP/1.0 200 OK\r\n\r\n"


@pytest.mark.parametrize(
    "session, version",
    [
        (b"session blkin\ntracing-group tracing\n", "an older version"),
        (b"session blkin\ntracing-group tracing\nprotocol 7\nagent 0.9\n", "0.9"),
    ],
)
def test_agent_of_another_version(bare_node, session, version):
    assert status_of_stranger(bare_node, FOUND + session) == (
        f"blkin status: the agent on PATH is of {version}, and this is blkin {VERSION}, which does not understand it: "
        "use the `blkin` of its version, or restart the agent if it was upgraded (systemctl restart blkin-agent)\n"
    )


def test_agent_refuses(bare_node):
    """Its own words are what the user reads."""
    session = FOUND + f"session blkin\ntracing-group \nprotocol 6\nagent {VERSION}\n".encode()
    refusal = b"HTTP/1.0 400 Bad Request\r\n\r\nit was \x1b replaced\n"
    assert status_of_stranger(bare_node, session, refusal) == (
        "blkin status: the agent on PATH refuses to answer: it was ? replaced\n"
    )


@pytest.mark.parametrize("state", [b"", b"ok\n", b"{}", b'{"version":"1","findings":[', b'{"findings":[{"code":7}]}', b"[" * 100000])
def test_agent_is_garbled(bare_node, state):
    session = FOUND + f"session blkin\ntracing-group \nprotocol 6\nagent {VERSION}\n".encode()
    assert status_of_stranger(bare_node, session, FOUND + state) == (
        "blkin status: what the agent on PATH says of itself cannot be understood: try again, and if that lasts, restart it\n"
    )
