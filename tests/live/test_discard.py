# SPDX-License-Identifier: BSD-2-Clause
"""`blkin spool discard`: what an administrator gives up does not arrive, what comes later does, and all of it is counted."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import time

import pytest
from expect import key_of
from rig.load import LOAD
from rig.process import free_port, wait_until
from rig.scribe import Receiver

PATH = "/spool/discard?protocol=6&output=default"
# An order on the control socket, by whoever runs it.
POST = """
import http.client, socket, sys
connection = http.client.HTTPConnection("localhost", timeout=5)
connection.sock = socket.socket(socket.AF_UNIX)
connection.sock.connect(sys.argv[1])
connection.request(sys.argv[2], sys.argv[3])
answer = connection.getresponse()
print(answer.status, answer.read().decode())
"""


def discard(node, *words, config="agent.conf"):
    """Runs it without a terminal; its exit code and what it printed."""
    done = subprocess.run(
        [node.built("cli/blkin"), "spool", "discard", *words, "--config", node.path(config)],
        env=node.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


def on_terminal(node, reply, *words):
    """Runs it on a terminal, where it is answered with @reply; its exit code and what it printed."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [node.built("cli/blkin"), "spool", "discard", *words, "--config", node.path("agent.conf")],
        env=node.environment,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as command:
        os.write(ours, f"{reply}\n".encode())
        out = command.communicate(timeout=60)[0]
    os.close(ours)
    os.close(theirs)
    return command.returncode, out


def spooled(node, total, **sections):
    """An agent whose collector is away, with so many spans in its spool; and that collector."""
    receiver = Receiver(node, free_port())
    node.start_agent(receiver.port, **sections)
    load(node, total)
    return receiver


def load(node, count):
    """So many spans more, on disk."""
    before = node.ledger()
    node.run([LOAD, "-n", count])
    node.wait_ledger(lambda ledger: ledger.spooled == before.spooled + count, 30, "all to be in the spool")


def test_what_is_discarded_does_not_arrive(node):
    total, later = 20000, 700
    receiver = spooled(node, total, spool={"replay_share": 100})
    code, out, complaint = discard(node, "--output", "default", "--yes")
    assert (code, out, complaint) == (0, f"output default: {total} spans are discarded\n", "")
    ledger = node.ledger()
    ledger.check()
    assert ledger.spooled == 0 and ledger.dropped == ledger.dropped_for("discarded") == total
    log = node.agent.log()
    assert f"user {os.getuid()} asks to discard what waits in the spool" in log
    assert f"{total} spans in the spool are discarded, as user {os.getuid()} asked" in log
    status = node.status()
    assert status["spans"]["dropped"]["discarded"] == total and status["spool"]["batches"] == 0
    assert f"{total}  spans discarded (`blkin spool discard`)" in node.run(["cli/blkin", "status", "--socket", node.socket])
    load(node, later)
    receiver.start()
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 30, "the rest to be sent")
    assert (ledger.sent, ledger.dropped) == (later, total)
    receiver.wait_for(later)
    assert sorted(key_of(span)[2] for span in receiver.spans()) == list(range(later))
    # a restart knows it, and what is delivered as before
    assert node.agent.stop() == 0
    node.start_agent_again()
    node.ledger().check()
    assert node.ledger().recovered == 0


def test_in_the_middle_of_a_replay(node):
    """Each span arrives, or is discarded: none both."""
    total = 30000
    receiver = spooled(node, total, spool={"replay_share": 1, "replay_floor": 10000})
    receiver.start()
    node.wait_ledger(lambda ledger: ledger.sent > 4000, 30, "some to be sent")
    code, out, _ = discard(node, "--all", "--yes")
    assert code == 0, out
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 30, "nothing to be left")
    gone = ledger.dropped_for("discarded")
    assert ledger.sent + gone == total and ledger.sent > 4000 and gone > 4000
    assert int(re.match(r"output default: (\d+) spans are discarded", out)[1]) <= gone
    receiver.wait_for(ledger.sent)
    time.sleep(1)
    receiver.read()
    ids = [key_of(span)[2] for span in receiver.spans()]
    assert len(set(ids)) == len(ids) == ledger.sent


def test_only_what_is_old(node):
    receiver = spooled(node, 5000, spool={"replay_share": 100})
    time.sleep(4)
    load(node, 300)
    for words in (["--older-than", "1h"], ["--older-than", "3s"]):
        code, out, complaint = discard(node, "--output", "default", "--yes", *words)
        assert (code, complaint) == (0, ""), out
    assert out == "output default: 5000 spans are discarded\n"
    receiver.start()
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 30, "the rest to be sent")
    assert (ledger.sent, ledger.dropped_for("discarded")) == (300, 5000)


def test_asks_first(node):
    spooled(node, 2000)
    assert discard(node, "--output", "default")[0] == 64
    code, out = on_terminal(node, "n", "--output", "default")
    assert code == 1 and re.match(r"Discard 2000 spans of output default, oldest from \d+ s ago\? \[y/N\] ", out), out
    assert "nothing of output default is discarded" in out and node.ledger().spooled == 2000
    assert on_terminal(node, "", "--all")[0] == 1 and node.ledger().spooled == 2000
    code, out = on_terminal(node, "n", "--all", "--older-than", "2h")
    assert code == 0 and "no such spans wait" in out
    code, out = on_terminal(node, "y", "--all")
    assert code == 0 and "output default: 2000 spans are discarded" in out and node.ledger().spooled == 0
    for words in (
        ["--yes"],
        ["--all", "--output", "default"],
        ["--all", "--json"],
        ["--output", "a/b"],
        ["--all", "--older-than", "3"],
        ["--all", "--older-than", "0s"],
        ["--all", "more"],
    ):
        assert discard(node, *words)[0] == 64, words
    code, _, complaint = discard(node, "--output", "defualt", "--yes")
    assert code == 1 and "did you mean default?" in complaint


def test_one_of_two_outputs(node):
    """What the other one has stays; `--all` takes both, and the order is for each a line."""
    west = Receiver(node, free_port())
    sections = {"output west": {"server": f"127.0.0.1:{west.port}", "batch-delay": "50ms", "retry-max": "500ms"}}
    spooled(node, 2000, **sections)
    node.wait_ledger(lambda ledger: ledger.spooled == 2000, 30, "all to be in the other spool", "west")
    assert discard(node, "--output", "west", "--yes")[:2] == (0, "output west: 2000 spans are discarded\n")
    assert (node.ledger().spooled, node.ledger().dropped) == (2000, 0)
    assert (node.ledger("west").spooled, node.ledger("west").dropped_for("discarded")) == (0, 2000)
    assert f"2000 spans in the spool of output west are discarded, as user {os.getuid()} asked" in node.agent.log()
    load(node, 100)
    node.wait_ledger(lambda ledger: ledger.spooled == 100, 30, "the same of the other", "west")
    code, out, _ = discard(node, "--all", "--yes")
    assert (code, out) == (0, "output default: 2100 spans are discarded\noutput west: 100 spans are discarded\n")
    node.ledger("west").check()
    west.start()
    node.run([LOAD, "-n", 50])
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 50 and ledger.idle(), 30, "what came then to be sent", "west")
    assert ledger.dropped == 2100


def post(node, user=None, method="POST", path=PATH, socket=None):
    done = subprocess.run(
        [sys.executable, "-c", POST, socket or node.socket, method, path],
        user=user,
        group=user,
        extra_groups=[] if user else None,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    return done.stdout, done.stderr


@pytest.mark.as_root("only root may run programs as another user")
def test_another_user_is_refused(node):
    """Who may open the socket may read there, and not discard."""
    spooled(node, 1000)
    os.chmod(node.folder, 0o711)
    out, complaint = post(node, 65534)
    assert not out and "Permission" in complaint
    os.chmod(node.socket, 0o666)
    out, _ = post(node, 65534)
    assert out.startswith("403 only root and the user that the agent runs as may do that"), out
    for other in ("/acknowledge", "/reload/refused"):
        assert post(node, 65534, path=other)[0].startswith("403 only root and"), other
        assert post(node, 65534, "GET", other)[0].startswith("405 "), other
    assert node.status()["acknowledged"] is None and "not reloaded" not in node.agent.log()
    assert post(node, 65534, "GET")[0].startswith("200 order 0\nover 1\n")
    assert node.ledger().spooled == 1000 and "asks to discard" not in node.agent.log()
    assert post(node)[0].startswith("200 order 1\n")
    node.wait_ledger(lambda ledger: ledger.dropped_for("discarded") == 1000, 20, "root's order")
    # the port takes no orders at all
    node.run([LOAD, "-n", 10])
    for method in ("POST", "GET"):
        out = subprocess.run(
            ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-X", method, f"http://127.0.0.1:{node.http}{PATH}"],
            capture_output=True, text=True, check=False,
        ).stdout
        assert out in ("404", "405", "501"), out


def test_killed_in_the_middle(node):
    """A kill -9 while spans are discarded: each is delivered or discarded, and the count of both is right."""
    total = 40000
    receiver = spooled(
        node, total, session={"keep": "yes"}, output={"batch_spans": 10}, spool={"replay_share": 100}
    )
    node.wait_quiet("state", 1)  # the checkpoint knows, so nothing is read again
    for pause in (0.004, 0.015, 0.03):
        before = node.ledger().dropped_for("discarded")
        assert post(node)[0].startswith("200 order 1\n")
        time.sleep(pause)
        node.agent.kill()
        node.start_agent_again()
        ledger = node.wait_ledger(lambda ledger: ledger.queued == ledger.pending == 0, 30, "it to know its spool")
        gone = ledger.dropped_for("discarded")
        print(f"after {pause} s: {gone} of {total} discarded, {ledger.sent} sent")
        assert gone >= before and gone + ledger.spooled == total, str(ledger)
        assert ledger.dropped == gone and ledger.sent == 0
    receiver.start()
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 60, "the rest to be sent")
    assert ledger.dropped_for("discarded") == gone and ledger.sent == total - gone
    receiver.wait_for(total - gone) if gone < total else None
    ids = [key_of(span)[2] for span in receiver.spans()]
    assert len(set(ids)) == len(ids) == total - gone


def test_without_the_agent(node):
    """Without it only the spools of outputs that are gone are removed."""
    state = node.path("state")
    spooled(node, 3000)
    node.agent.stop()
    for suffix in (".db", ".tally"):
        shutil.copy(f"{state}/spool{suffix}", f"{state}/spool-west{suffix}")
        shutil.copy(f"{state}/spool{suffix}", f"{state}/spool-east{suffix}")
    code, out, complaint = discard(node, "--output", "default", "--yes")
    assert (code, out) == (69, "") and "no agent runs" in complaint
    code, out = on_terminal(node, "n", "--output", "west")
    assert code == 1 and "Discard 3000 spans of the former output west, oldest from" in out
    code, _, complaint = discard(node, "--output", "west", "--older-than", "1h", "--yes")
    assert code == 1 and "as a whole or not at all" in complaint
    assert {"spool-west.db", "spool-west.tally"} <= set(os.listdir(state))
    code, out, _ = discard(node, "--output", "west", "--yes")
    assert (code, out) == (0, "output west: 3000 spans are discarded, with the spool's files\n")
    assert [name for name in os.listdir(state) if "west" in name] == []
    code, out, complaint = discard(node, "--all", "--yes")
    assert code == 69 and out.startswith("output east: 3000 spans are discarded") and complaint.count("\n") == 1
    assert {name.split(".")[0] for name in os.listdir(state) if "spool" in name} == {"spool"}
    command = [node.built("cli/blkin"), "spool", "list", "--json", "--directory", state]
    listed = subprocess.run(command, env=node.environment, capture_output=True, text=True, check=True).stdout
    assert sum(json.loads(line)["spans"] for line in listed.splitlines()) == 3000
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, env=node.environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and done.stderr.endswith("cannot write to standard output: No space left on device\n"), done


def test_a_spool_that_the_agent_still_has(node):
    """The configuration has lost the output, and the agent does not know that yet."""
    spooled(node, 1000)
    with open(node.path("agent.conf"), encoding="utf-8") as file:
        text = file.read()
    with open(node.path("other.conf"), "w", encoding="utf-8") as file:
        file.write(text.replace("[output]", "[output]\ntype = none\n\n[output west]"))
    code, out, complaint = discard(node, "--output", "default", "--yes", config="other.conf")
    assert (code, out) == (1, "") and "the agent still has its spool" in complaint
    code, _, complaint = discard(node, "--output", "west", "--yes", config="other.conf")
    assert code == 1 and "it has no output of this name" in complaint
    assert node.ledger().spooled == 1000
    wait_until(lambda: os.path.exists(node.path("state/spool.db")), 1, "it to be there still")
