# SPDX-License-Identifier: BSD-2-Clause
"""What `blkin status` says holds: it does not come and go while nothing changes, and falls silent about nothing."""

import contextlib
import fcntl
import grp
import json
import os
import pty
import random
import re
import socket
import struct
import subprocess
import termios
import threading
import time

import pytest
from rig.idsink import IdSink
from rig.moody import CLOSE, LATER, OK, Moody
from rig.process import free_port, wait_until
from rig.sender import Client
from test_doctor import LOAD, findings, status, unwrapped
from test_doctor_outputs import web
from test_input import start_agent


def watch(node, seconds):
    """What is found in this time, each once, in its order; and what the lines of delivering say."""
    found, lines = [], []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        codes = list(findings(node))
        if found[-1:] != [codes]:
            found.append(codes)
        text = status(node, "--socket", node.socket)[1]
        line = next(line for line in text.splitlines() if line.startswith("delivering"))
        if line not in lines:
            lines.append(line)
        time.sleep(0.25)
    return found, lines


def wait_found(node, codes, seconds=20):
    wait_until(lambda: set(findings(node)) == set(codes), seconds, f"the doctor to find {codes}", 0.3)


def test_acknowledged_losses(node, receiver):
    """What is lost has its time, until it is acknowledged; that outlives the agent, and what comes later is told again."""
    from thrift.Thrift import TApplicationException

    port = start_agent(node, receiver.port, session={"keep": "yes"})
    options = ("--socket", node.socket)

    def refused(count):
        with Client(port) as client:
            for _ in range(count):
                with contextlib.suppress(TApplicationException):
                    client.log(["x"], "app")

    refused(3)
    lost = lambda: status(node, *options)[1].split("\nlost")[1].split("\nto do")[0]  # noqa: E731
    assert re.fullmatch(r"\n +3  messages refused: (.|\n)*; the\s+last\s+\d+\s+s\s+ago", lost()), lost()
    with socket.socket(socket.AF_UNIX) as to:
        to.connect(node.socket)
        to.sendall(b"GET /acknowledge HTTP/1.0\r\n\r\n")
        assert to.recv(65536).split()[1] == b"405"
    assert status(node, "--acknowledge", *options)[0] == 0
    assert re.fullmatch(r" since 20\d\d-\d\d-\d\d \d\d:\d\d\n  nothing", lost()), lost()
    assert node.status()["losses"] == [] and abs(node.status()["acknowledged"] - time.time()) < 60
    assert node.status()["input"]["refused"]["category"] == 3
    assert node.agent.stop() == 0
    node.start_agent_again()
    assert re.fullmatch(r" since .*\n  nothing", lost()), lost()
    refused(2)
    (loss,) = node.status()["losses"]
    assert loss["amount"] == 2 and loss["last_seconds"] < 60
    assert node.agent.stop() == 0
    node.start_agent_again()
    assert re.search(r"\n +2  messages refused: (.|\n)*; before the agent\s+started", lost()), lost()


# A collector that is away, and nothing more comes that could be sent to it


@pytest.mark.parametrize("kind", ["scribe", "http", "otlp"])
def test_dead_and_all_is_spooled(node, kind):
    node.start_agent(free_port(), output={"type": kind})
    node.run([LOAD, "-n", 300])
    node.wait_ledger(lambda ledger: (ledger.spooled, ledger.queued) == (300, 0), 20, "all spans in the spool")
    wait_until(lambda: "output-refused" in findings(node), 10, "the doctor to find it")
    found, lines = watch(node, 4)
    assert all("output-refused" in codes for codes in found), found
    assert len(lines) == 1 and ": NO," in lines[0].replace("  ", ": "), lines


def test_no_broker_and_all_is_spooled(node):
    node.start_agent(1, output={"type": "kafka", "brokers": f"127.0.0.1:{free_port()}"})
    node.run([LOAD, "-n", 300])
    node.wait_ledger(lambda ledger: (ledger.spooled, ledger.queued) == (300, 0), 30, "all spans in the spool")
    wait_until(lambda: "output-refused" in findings(node), 20, "the doctor to find it")
    found, lines = watch(node, 4)
    assert all("output-refused" in codes for codes in found) and len(lines) == 1 and "NO" in lines[0], (found, lines)


def test_no_directory_and_all_is_spooled(node):
    node.start_agent(1, output={"type": "file", "directory": node.path("files")})
    node.run([LOAD, "-n", 300])
    node.wait_ledger(lambda ledger: (ledger.spooled, ledger.queued) == (300, 0), 30, "all spans in the spool")
    wait_until(lambda: "output-directory" in findings(node), 20, "the doctor to find it")
    found, lines = watch(node, 4)
    assert all("output-directory" in codes for codes in found) and len(lines) == 1 and "NO" in lines[0], (found, lines)


@pytest.mark.parametrize("kind, code", [("http", 404), ("otlp", 400), ("http", 503)])
def test_refuses_and_all_is_spooled(node, kind, code):
    """It accepts connections, which says nothing."""
    with web(code) as port:
        node.start_agent(port, output={"type": kind})
        node.run([LOAD, "-n", 300])
        node.wait_ledger(lambda ledger: (ledger.spooled, ledger.queued) == (300, 0), 20, "all spans in the spool")
        wait_until(lambda: any(name.startswith("output-") for name in findings(node)), 10, "the doctor to find it")
        found, lines = watch(node, 4)
        assert all(any(name.startswith("output-") for name in codes) for codes in found), found
        assert len(lines) == 1 and "NO" in lines[0], lines
        text = status(node, "--socket", node.socket)[1]
        assert "Scribe" not in text and " 9410" not in text, text
        node.agent.stop()


def test_dies_while_idle(node, receiver):
    """It had taken all."""
    node.start_agent(receiver.port)
    node.run([LOAD, "-n", 300])
    node.wait_ledger(lambda ledger: ledger.sent == 300, 20, "delivery")
    receiver.program.stop()
    wait_until(lambda: "output-refused" in findings(node), 10, "the doctor to find it")
    assert all("output-refused" in codes for codes in watch(node, 3)[0])


# What comes and goes


@pytest.mark.parametrize("mood", [LATER, CLOSE])
def test_comes_and_goes(node, mood):
    """A collector that is overloaded: each failure is over at once, so that none of them is worth a word."""
    dice = random.Random(1)
    with Moody(node, lambda messages: mood if dice.random() < 0.3 else OK) as server:
        node.start_agent(server.port)
        node.start([node.built(LOAD), "-n", 100000000, "-r", 2000])
        wait_found(node, ["output-unsteady"])
        found, lines = watch(node, 8)
        assert found == [["output-unsteady"]]
        assert lines == [f"delivering  yes, to 127.0.0.1:{server.port}"]
        text = unwrapped(status(node, "--socket", node.socket)[1])
        assert f"at 127.0.0.1:{server.port} fails again and again, and recovers each time; the last failure: " in text
        assert "-> read the collector's log, and that of a proxy before it" in text
        server.mood = lambda messages: mood
        wait_found(node, ["output-busy" if mood == LATER else "output-closed"])  # it is away now, which is another thing
        node.agent.stop()


def test_closes_after_each_answer(node):
    """As servers of HTTP/1.0 do: nothing is wrong with that."""
    with web(202, close=True) as port:
        node.start_agent(port, output={"type": "http"})
        node.start([node.built(LOAD), "-n", 100000000, "-r", 500])
        wait_until(lambda: node.ledger().sent > 100, 20, "delivery")
        found, lines = watch(node, 6)
        assert found == [[]] and lines == [f"delivering  yes, to 127.0.0.1:{port}"]
        node.agent.stop()


def test_heavy_load(node):
    """From the first program on: what is said of losses, and of a server that does not keep up, is so."""
    sink = IdSink(node, free_port()).start()
    node.start_agent(sink.port)
    wait_found(node, ["no-program"])
    for _ in range(2):
        node.start([node.built(LOAD), "-n", 100000000])
    wait_until(lambda: node.ledger().sent and "no-program" not in findings(node), 20, "spans of the programs")
    found, lines = watch(node, 15)
    # what is recorded faster than it is read is lost, and what comes faster than it is taken waits on the disk
    ledger = node.ledger()
    told = {code for codes in found for code in codes}
    may = {"events-lost": ledger.lost, "packets-lost": ledger.packets_lost, "output-slow": ledger.spooled}
    assert told <= {code for code, true in may.items() if true}
    assert lines == [f"delivering  yes, to 127.0.0.1:{sink.port}"]


def test_short_programs(node, receiver):
    """Between two of them there is none, which is as it should be while spans come."""
    node.start_agent(receiver.port)
    node.run([LOAD, "-n", 10])
    wait_until(lambda: node.ledger().sent, 20, "spans")
    done = threading.Event()

    def work():
        while not done.wait(0.3):
            node.run([LOAD, "-n", 10])

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert watch(node, 8)[0] == [[]]
    finally:
        done.set()
        thread.join()


def test_start_is_quiet(node, receiver):
    """An agent that has just started finds nothing wrong with itself."""
    node.start([node.built(LOAD), "-n", 100000000, "-r", 100])
    node.write_config(receiver.port)
    node.start_agent_again(wait=False)
    node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
    assert watch(node, 5)[0] == [[]]


# Who is answered


@pytest.mark.as_root("becomes another user")
def test_who_is_answered(node, receiver):
    """As the help says: root, the members of the socket's group; of others' programs root alone learns which they are."""
    node.start_agent(receiver.port, session={"tracing_group": "tracing"})
    os.chmod(node.folder, 0o711)
    blkin, tracing = grp.getgrnam("daemon").gr_gid, grp.getgrnam("tracing").gr_gid
    os.chown(node.socket, 0, blkin)
    client = "/var/run/lttng/client-lttng-sessiond"
    os.chown(client, 0, tracing)
    os.chmod(client, 0o660)

    def ask(*groups):
        numbers = ",".join(map(str, groups))
        user = ["setpriv", "--reuid=65534", "--regid=65534", f"--groups={numbers}"]
        code, text = status(node, "--json", "--socket", node.socket, prefix=user)
        return [json.loads(text)[key] for key in ("programs", "programs_with_blkin")] if code == 0 else text

    denied = f"blkin status: no permission to ask the agent on {node.socket}: it answers root and the members of group `daemon` only\n"
    assert ask(tracing) == denied
    assert ask(blkin) == [0, None]
    assert ask(blkin, tracing) == [0, 0]
    node.start([node.built(LOAD), "-n", 100000000, "-r", 100])
    wait_until(lambda: node.status()["programs_with_blkin"] == 2, 20, "both processes")
    # the agent itself counts them every few seconds
    wait_until(lambda: ask(blkin) == ask(blkin, tracing) == [2, None], 20, "their number to be told")
    told = status(node, "--help")[1]
    assert "answers root and the members of group `blkin` only" in told and "a user's own that\nuser." in told
    assert "Root also learns how many programs record with blkin" in told


# On the screen


def test_fits_the_terminal(node):
    """Of whatever width: the words are the same, and none stands beyond it."""
    node.start_agent(free_port())
    wait_found(node, ["output-refused", "no-program"])
    texts = []
    for width in (60, 200):
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
        with open(leader, "rb", buffering=0) as screen:
            command = [node.built("cli/blkin"), "status", "--socket", node.socket]
            with subprocess.Popen(command, env=node.environment, stdout=follower) as program:
                os.close(follower)
                shown = b""
                with contextlib.suppress(OSError):  # the other side is closed
                    while part := screen.read(65536):
                        shown += part
                assert program.wait() == 0
        todo = shown.decode().replace("\r\n", "\n").split("\nto do\n")[1]
        assert max(map(len, todo.splitlines())) <= width
        texts.append(todo)
    assert unwrapped(texts[0]) == unwrapped(texts[1]) and len(texts[0].splitlines()) > len(texts[1].splitlines())
    assert max(map(len, texts[1].splitlines())) > 100
