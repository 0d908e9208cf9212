# SPDX-License-Identifier: BSD-2-Clause
"""SIGHUP: what can change while the agent runs does, without a span lost; what is wrong changes nothing."""

import glob
import os
import signal
import socket
import time
from pathlib import Path

import pytest
from expect import key_of
from rig.load import LOAD
from rig.node import get
from rig.process import free_port, wait_until
from rig.scribe import Receiver
from rig.sections import REFUSED, TAKEN


class Reloader:
    """A node's agent, whose configuration is edited and read again."""

    def __init__(self, node, server, **sections):
        self.node = node
        self.agent = node.start_agent(server, **sections)
        self.path = node.path("agent.conf")
        with open(self.path, encoding="utf-8") as file:
            self.text = file.read()
        self.count = 0

    def hang_up(self, wanted=TAKEN):
        self.agent.send(signal.SIGHUP)
        before = self.count
        self.count += 1
        log = self.agent.log
        wait_until(lambda: log().count(TAKEN) + log().count(REFUSED) > before, 10, "the reload to end")
        assert self.results()[-1] == (wanted == TAKEN), log()
        self.agent.expect_running()

    def edit(self, section, key, value):
        """Sets a key in the file, and has it read again."""
        lines = [line for line in self.text.splitlines() if not line.startswith(f"{key} =")]
        lines.insert(lines.index(f"[{section}]") + 1, f"{key} = {value}")
        self.text = "\n".join(lines) + "\n"
        self.write(self.text)
        self.hang_up()

    def write(self, text):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)

    def results(self):
        """What became of each reload, in order."""
        return [TAKEN in line for line in self.agent.log().splitlines() if TAKEN in line or REFUSED in line]


def numbers(spans, name):
    """The numbers of the spans that programs/levels.c calls @name, in their order."""
    return [int({tag.key: tag.value for tag in span.binary_annotations}["n"]) for span in spans if span.name == name]


def test_a_bad_file_changes_nothing(node, receiver):
    reloader = Reloader(node, receiver.port)
    good = reloader.text
    bad = [
        (good + "[output]\nservr = a:1\n", ": unknown key `servr` in [output]; did you mean `server`?"),
        (good + "[outptu]\n", ": unknown section [outptu]; did you mean [output]?"),
        (good + "[session]\nlevel = loud\n", ": `level = loud` is not valid: it must be emerg, alert, crit"),
        (good.replace("127.0.0.1:", "127.0.0.1;"), "is not valid: it must be "),
        (good + "[output]\ntls-ca = /nonexistent\ntls = yes\n", "/nonexistent"),
        (good + "\0", "this is not UTF-8 text: byte 0x00"),
    ]
    for number, (text, message) in enumerate(bad):
        reloader.write(text)
        reloader.hang_up(REFUSED)
        assert message in reloader.agent.log(), reloader.agent.log()
        metrics = node.metrics()
        assert metrics["blkin_agent_config_reload_failures_total"] == number + 1
        assert metrics["blkin_agent_config_last_reload_successful"] == 0
    finding = node.status()["findings"][-1]
    assert finding["code"] == "reload-failed" and "`blkin validate` says what is wrong" in finding["fix"]
    # the command reads the bad file too, says so, and asks the agent all the same
    reloader.write(bad[0][0])
    program = node.start([node.built("cli/blkin"), "status", "--config", node.path("agent.conf")], name="status")
    assert program.wait(20) == 0
    assert bad[0][1] in program.log() and "could not be reloaded" in program.log()
    node.run([LOAD, "-n", 100])
    receiver.wait_for(100)
    before = node.metrics()["blkin_agent_config_last_reload_success_timestamp_seconds"]
    reloader.write(good)
    reloader.hang_up()
    metrics = node.metrics()
    assert metrics["blkin_agent_config_last_reload_successful"] == 1
    assert metrics["blkin_agent_config_last_reload_success_timestamp_seconds"] > before
    assert metrics["blkin_agent_config_reload_failures_total"] == len(bad)
    assert reloader.results() == [False] * len(bad) + [True]
    assert "reload-failed" not in [finding["code"] for finding in node.status()["findings"]]
    assert reloader.agent.stop() == 0


def test_a_change_that_nobody_reloads(node, receiver):
    """Status tells it, of the file and of its drop-ins, until the agent has read them or they are as they were."""

    def due():
        return "reload-due" in [finding["code"] for finding in node.status()["findings"]]

    reloader = Reloader(node, receiver.port)
    drop_ins = Path(node.path("agent.conf.d"))
    assert not due()
    reloader.write(reloader.text + "# more to come\n")
    assert due()
    reloader.hang_up()
    assert not due()
    drop_ins.mkdir()
    (drop_ins / "batch.conf").write_text("[output]\nbatch-spans = 10\n")
    assert due()
    (drop_ins / "batch.conf").unlink()
    assert not due()
    reloader.write("[output]\nservr = a:1\n")
    reloader.hang_up(REFUSED)
    assert not due(), "a file that was read and refused has a finding of its own"
    assert reloader.agent.stop() == 0


def test_servers_change_under_load(node, receiver):
    """From one collector to the other and back; each span is at one of them, and what is there twice is counted."""
    other = Receiver(node, free_port()).start()
    total = 50000
    reloader = Reloader(node, receiver.port, output={"batch_delay": "10ms"})
    load = node.start([node.built(LOAD), "-n", total, "-r", 10000])
    for port in [other.port, receiver.port] * 4:
        time.sleep(0.5)
        reloader.edit("output", "server", f"127.0.0.1:{port}")
    assert load.wait() == 0
    ledger = node.wait_ledger(lambda ledger: ledger.read >= total and ledger.idle(), 30, "all to be delivered")
    keys = [key_of(span)[2] for span in receiver.spans() + other.spans()]
    assert set(keys) == set(range(total))
    assert (ledger.read, ledger.sent, ledger.dropped) == (total, total, 0)
    assert len(keys) - total <= ledger.sent_again
    assert receiver.spans() and other.spans()
    assert node.status()["server"] == f"127.0.0.1:{receiver.port}"
    assert reloader.results() == [True] * 8
    assert reloader.agent.stop() == 0


def test_a_collector_that_was_wrong(node):
    """Spans that waited for a server that never was are delivered once the configuration names the right one."""
    receiver = Receiver(node, free_port()).start()
    reloader = Reloader(node, free_port())
    node.run([LOAD, "-n", 1000])
    node.wait_ledger(lambda ledger: ledger.queued + ledger.spooled == 1000, 20, "spans to wait")
    reloader.edit("output", "server", f"127.0.0.1:{receiver.port}")
    receiver.wait_for(1000, 10)
    assert sorted(key_of(span)[2] for span in receiver.spans()) == list(range(1000))
    assert reloader.agent.stop() == 0


def test_level_changes_under_load(node, receiver):
    """Spans that count at both levels are all there, and once, whichever way it changes."""
    reloader = Reloader(node, receiver.port)
    load = node.start([node.built("tests/live/programs/levels"), 10, 1000])
    changes = 0
    while load.running():
        time.sleep(0.6)
        changes += 1
        reloader.edit("session", "level", "crit" if changes % 2 else "debug")
        wait_until(lambda n=changes: reloader.agent.log().count("`level` has changed") == n, 10, "the level to change")
    total = int(load.log())
    assert changes >= 10
    wait_until(lambda: len(numbers(receiver.spans(), "crit")) >= total, 20, "all to be delivered")
    node.wait_ledger(lambda ledger: ledger.idle(), 20, "the rest to be delivered")
    time.sleep(0.5)  # what comes twice would be here
    spans = receiver.spans()
    assert sorted(numbers(spans, "crit")) == list(range(total))
    debug = numbers(spans, "debug")
    assert len(debug) == len(set(debug)) and 0.2 * total < len(debug) < 0.8 * total
    assert node.metrics()["blkin_agent_sessions_created_total"] == 1
    assert reloader.agent.stop() == 0


def test_restart_after_a_change_of_level(node, receiver):
    """The session that is kept is not replaced, although the configuration has another level than when it was made."""
    reloader = Reloader(node, receiver.port, session={"keep": "yes"})
    load = node.start([node.built("tests/live/programs/levels"), 8, 1000])
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "spans")
    reloader.edit("session", "level", "crit")
    wait_until(lambda: "`level` has changed" in reloader.agent.log(), 10, "the level to change")
    assert reloader.agent.stop() == 0
    node.start_agent_again()
    assert load.wait(60) == 0
    total = int(load.log())
    wait_until(lambda: len(numbers(receiver.spans(), "crit")) >= total, 30, "all to be delivered")
    time.sleep(1)  # what comes twice would be here
    spans = receiver.spans()
    assert sorted(numbers(spans, "crit")) == list(range(total))
    assert max(numbers(spans, "debug")) < total / 2
    assert "which was kept" in node.agent.log()
    # and it takes up another level when it starts
    assert node.agent.stop() == 0
    reloader.write(reloader.text.replace("level = crit\n", ""))
    node.start_agent_again()
    wait_until(lambda: "`level` has changed" in node.agent.log(), 10, "the level to change")
    node.run(["tests/live/programs/levels", 1, 100])
    wait_until(lambda: len(numbers(receiver.spans(), "debug")[-100:]) == 100 and receiver.read() >= total + 200, 20, "both")
    assert node.agent.stop() == 0


def test_level_changes_while_nothing_is_collected(bare_node):
    """The session that comes has the level that is asked for by then."""
    receiver = Receiver(bare_node, free_port()).start()
    config = bare_node.write_config(receiver.port)
    agent = bare_node.start([bare_node.built("agent/blkin-agent"), "-c", config])
    bare_node.agent = agent
    agent.wait_ready(lambda: bare_node.http_get("/healthz")[0] == 200)
    with open(config, encoding="utf-8") as file:
        text = file.read()
    with open(config, "w", encoding="utf-8") as file:
        file.write(text.replace("[session]\n", "[session]\nlevel = crit\n"))
    agent.send(signal.SIGHUP)
    wait_until(lambda: TAKEN in agent.log(), 10, "the reload")
    bare_node.start_lttng()
    wait_until(bare_node.collecting, 20, "it to collect")
    bare_node.run(["tests/live/programs/levels", 1, 100])
    receiver.wait_for(100)
    time.sleep(0.5)
    assert sorted(numbers(receiver.spans(), "crit")) == list(range(100)) and not numbers(receiver.spans(), "debug")
    assert agent.stop() == 0


def test_spans_and_batches_change(node, receiver, run_classic):
    """A linger of minutes becomes one of a second, also for what has come before."""
    reloader = Reloader(node, receiver.port, spans={"linger": "10min", "grace": "1min"})
    run_classic(node, 1)
    node.wait_ledger(lambda ledger: ledger.pending == 3, 20, "three spans pending")
    reloader.edit("spans", "grace", "100ms")
    reloader.edit("spans", "linger", "1s")
    reloader.edit("output", "batch-spans", "1")
    receiver.wait_for(3)
    run_classic(node, 1)
    receiver.wait_for(6)
    assert reloader.agent.stop() == 0


def test_pending_memory_shrinks(node, receiver, run_classic):
    """Spans that are over a new limit are sent as they are, and counted."""
    reloader = Reloader(node, receiver.port, spans={"linger": "10min", "grace": "1min", "max_pending": "16M"})
    for _ in range(10):
        run_classic(node, 100)
    before = node.wait_ledger(lambda ledger: ledger.pending == 3000, 20, "3000 spans pending").pending
    reloader.edit("spans", "max-pending", "64K")
    ledger = node.wait_ledger(lambda ledger: ledger.pending < before / 2, 10, "most of them to be sent")
    receiver.wait_for(before - ledger.pending, 10)
    assert reloader.agent.stop() == 0


def test_http_moves(node, receiver):
    reloader = Reloader(node, receiver.port)
    old, new = node.http, free_port()
    reloader.edit("agent", "http", f"127.0.0.1:{new}")
    assert get(f"http://127.0.0.1:{new}/healthz")[0] == 200 and get(f"http://127.0.0.1:{old}/healthz")[0] == 0
    # one that is taken is refused, and the old one stays open; so does the rest, whatever else was changed
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = server.getsockname()[1]
        reloader.write(
            reloader.text.replace(f"http = 127.0.0.1:{new}", f"http = 127.0.0.1:{taken}").replace(
                f"server = 127.0.0.1:{receiver.port}", "server = 127.0.0.1:1"
            )
        )
        reloader.hang_up(REFUSED)
    assert f"cannot listen on 127.0.0.1:{taken}" in reloader.agent.log()
    assert get(f"http://127.0.0.1:{new}/healthz")[0] == 200
    node.http = new
    node.run([LOAD, "-n", 100])
    receiver.wait_for(100)
    reloader.edit("agent", "http", "")
    assert get(f"http://127.0.0.1:{new}/healthz")[0] == 0
    assert node.status()["server"] == f"127.0.0.1:{receiver.port}"
    assert reloader.results() == [True, False, True]
    assert reloader.agent.stop() == 0


IPV6_LOOPBACK = "0" * 24 + "01000000"


def has_ipv6():
    """Not every kernel has it."""
    try:
        with socket.create_server(("::", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def listening(port):
    """The addresses, as the kernel writes them, on which somebody listens at the port."""
    found = set()
    for path in glob.glob("/proc/net/tcp*"):
        with open(path, encoding="ascii") as file:
            rows = [line.split() for line in file.readlines()[1:]]
        found |= {row[1].split(":")[0] for row in rows if row[3] == "0A" and row[1].endswith(f":{port:04X}")}
    return found


def test_http_moves_between_addresses_that_overlap(node, receiver):
    """To every address and back; nobody is turned away meanwhile, and nobody else can share the port then."""
    reloader = Reloader(node, receiver.port)
    port = node.http
    names = {"127.0.0.1": "0100007F", "0.0.0.0": "0" * 8, "[::]": "0" * 32, "localhost": None, "127.0.0.2": "0200007F"}
    moves = ["0.0.0.0", "127.0.0.1", "[::]", "0.0.0.0", "[::]", "127.0.0.1", "localhost", "0.0.0.0", "127.0.0.2"]
    moves = [name for name in moves if name != "[::]" or has_ipv6()]
    for name in moves:
        reloader.edit("agent", "http", f"{name}:{port}")
        assert names[name] is None or listening(port) == {names[name]}, name
        there = "127.0.0.2" if name == "127.0.0.2" else "localhost"
        assert get(f"http://{there}:{port}/healthz")[0] == 200, name
        family = socket.AF_INET6 if listening(port) == {IPV6_LOOPBACK} else socket.AF_INET  # localhost may be that
        with socket.socket(family) as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with pytest.raises(OSError):
                other.bind((there, port))
                other.listen()
    assert reloader.results() == [True] * len(moves)
    assert reloader.agent.stop() == 0


def test_http_stays_if_part_of_an_address_is_taken(node, receiver):
    """Somebody else has the port at an address of ours that is in the new one, too: the old one stays open."""
    reloader = Reloader(node, receiver.port)
    with socket.create_server(("127.0.0.2", node.http)):
        good = reloader.text
        reloader.write(good.replace(f"http = 127.0.0.1:{node.http}", f"http = 0.0.0.0:{node.http}"))
        reloader.hang_up(REFUSED)
        assert f"cannot listen on 0.0.0.0:{node.http}: Address already in use" in reloader.agent.log()
        assert node.http_get("/healthz")[0] == 200
    reloader.hang_up()
    assert listening(node.http) == {"0" * 8} and node.http_get("/healthz")[0] == 200
    assert reloader.agent.stop() == 0


@pytest.mark.parametrize("key, value", [("memory", "64M"), ("live-timer", "300ms"), ("name", "other")])
def test_what_needs_a_restart_is_named(node, receiver, key, value):
    reloader = Reloader(node, receiver.port)
    reloader.edit("session", key, value)
    assert f"`{key}` in [session] was changed: this takes effect after a restart" in reloader.agent.log()
    found = {finding["code"]: finding for finding in node.status()["findings"]}
    assert found["restart-due"]["what"].endswith(f": `{key}` in [session]")
    node.run([LOAD, "-n", 100])
    receiver.wait_for(100)
    assert reloader.agent.stop() == 0


def test_drop_in_counts(node, receiver):
    other = Receiver(node, free_port()).start()
    reloader = Reloader(node, receiver.port)
    os.mkdir(reloader.path + ".d")
    with open(reloader.path + ".d/site.conf", "w", encoding="utf-8") as file:
        file.write(f"[output]\nserver = 127.0.0.1:{other.port}\n")
    reloader.hang_up()
    node.run([LOAD, "-n", 100])
    other.wait_for(100)
    assert reloader.agent.stop() == 0


def test_reload_while_it_stops(node):
    agent = node.start_agent(free_port(), agent={"stop_timeout": "2s"}, session={"keep": "no"})
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.queued + ledger.spooled == 100, 20, "spans to wait")
    agent.send(signal.SIGTERM)
    wait_until(lambda: "stopping: " in agent.log(), 10, "the stop")
    agent.send(signal.SIGHUP)
    agent.wait(20)
    assert TAKEN not in agent.log() and "stopped: 100 events read" in agent.log()
