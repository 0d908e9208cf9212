# SPDX-License-Identifier: BSD-2-Clause
"""
A span that makes the collector fail each time that it comes, without refusing it: all others arrive soon, that one is
found, counted and kept, and the agent says what is going on.
"""

import json
import subprocess
import time

import pytest
from expect import end_load, key_of
from rig.load import LOAD
from rig.moody import CLOSE, HALF, OK, SILENT, Moody, MoodyWeb
from rig.process import wait_until
from rig.scribe import decode
from test_doctor_outputs import findings

BAD = 7
MORE = 1  # the process whose spans come once the load is over
QUICK = {"timeout": "500ms", "retry_min": "20ms", "retry_max": "100ms", "batch_delay": "20ms", "batch_spans": 100}
RATE, SECONDS = 500, 9


def is_bad(messages):
    return any(key_of(decode(message))[2] == BAD for message in messages)


def ids_of(server):
    keys = [key_of(span) for span in server.spans()]
    return [n for process, _, n in keys if process != MORE]


def run_until_dropped(node):
    """The bad span is not proven guilty unless the server takes others: sends some until it is; returns how many."""
    more = 0
    while not node.ledger().dropped:
        assert more < 150, "it is never proven"
        node.run([LOAD, "-P", MORE, "-n", 5])
        more += 5
        time.sleep(1)
    return more


def check_end(node, server, total):
    """All but the bad span arrived, and no more often than the ledger says that they may have; it is counted."""
    node.wait_ledger(lambda ledger: ledger.read >= total, 20, "all to be read")
    more = run_until_dropped(node)
    ledger = node.wait_ledger(
        lambda ledger: ledger.read - ledger.again >= total + more and ledger.idle() and not ledger.spooled, 60, "all to be settled"
    )
    ids = ids_of(server)
    assert set(ids) == set(range(total)) - {BAD}
    assert len(ids) - len(set(ids)) <= ledger.sent_again
    assert ledger.lost == 0 and ledger.dropped == ledger.dropped_for("refused") == 1, str(ledger)
    assert ledger.spans == total + more == ledger.sent + ledger.dropped
    return ledger


def check_flow(node, server, total):
    """Runs the load; meanwhile spans arrive a few seconds after they were recorded, but for those of one batch."""
    load = node.start([node.built(LOAD), "-n", total, "-r", RATE])
    begin = time.monotonic()
    while load.running():
        time.sleep(1)
        due = (time.monotonic() - begin - 7) * RATE - 200
        assert len(server.taken) >= due, f"{len(server.taken)} spans arrived, and {due:.0f} should have"
    assert load.wait() == 0


def refused(node, words):
    """The span that was dropped for it is shown by `blkin spool list`, with the reason."""
    command = [node.built("cli/blkin"), "spool", "list", "--json", "--config", node.path("agent.conf")]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    kept = [json.loads(line) for line in lines if '"refused"' in line]
    assert len(kept) == 1 and words in json.dumps(kept[0]), lines


@pytest.mark.parametrize("size", ["64M", "0"], ids=["spool", "no spool"])
@pytest.mark.parametrize(
    "word, words", [(CLOSE, "closed the connection"), (HALF, "closed the connection"), (SILENT, "no answer within 0.5 s")]
)
def test_one_span_fails(node, word, words, size):
    total = RATE * SECONDS
    with Moody(node, lambda messages: word if is_bad(messages) else OK) as server:
        node.start_agent(server.port, output=QUICK, spool={"max_size": size})
        check_flow(node, server, total)
        check_end(node, server, total)
        log = node.agent.log()
        assert log.count("fails each time that certain ones come") == 1 and words in log
        assert log.count("the server refuses a span") == 1
        if size != "0":
            wait_until(lambda: node.status()["spool"]["batches"] == 0, 10, "the spool to be empty")
            refused(node, words)
        node.agent.stop()


def test_six_adjacent_batches(node):
    """The collector is silent on more batches in the spool than are set aside: it gets all others, and each bad span is found."""
    total, batch, six = 2000, 20, set(range(0, 120, 20))
    keys = {(0, 0, n) for n in six}
    server = Moody(node, lambda messages: OK if keys.isdisjoint(key_of(decode(each)) for each in messages) else SILENT)
    node.start_agent(server.port, output=dict(QUICK, batch_spans=batch, retry_max="20ms"))
    node.run([LOAD, "-n", total])
    node.wait_ledger(lambda ledger: ledger.spooled == total, 30, "all to be in the spool")
    with server:
        node.wait_ledger(lambda ledger: ledger.sent >= total - len(six) * batch, 60, "all others to be delivered")
        load = node.start([node.built(LOAD), "-P", MORE, "-n", 10**6, "-r", RATE])
        node.wait_ledger(lambda ledger: ledger.dropped >= len(six), 180, "the bad ones to be found")
        more = sum(end_load(load).values())
        ledger = node.wait_ledger(
            lambda ledger: ledger.read >= total + more and ledger.idle() and not ledger.spooled, 60, "all to be settled"
        )
        ids = ids_of(server)
        assert set(ids) == set(range(total)) - six
        assert len(ids) - len(set(ids)) <= ledger.sent_again
        assert ledger.dropped == ledger.dropped_for("refused") == len(six), str(ledger)
        assert ledger.spans == total + more == ledger.sent + ledger.dropped
        node.agent.stop()


def test_status_500(node):
    total = RATE * SECONDS
    with MoodyWeb(node, lambda messages: 500 if is_bad(messages) else 202) as server:
        node.start_agent(server.port, output=dict(QUICK, type="http"))
        check_flow(node, server, total)
        ledger = check_end(node, server, total)
        assert ledger.sent_again == 0
        refused(node, "HTTP status 500")
        node.agent.stop()


def test_it_says_so(node):
    """Status and doctor name it while it lasts, and not when it is over."""
    total = RATE * SECONDS
    with Moody(node, lambda messages: SILENT if is_bad(messages) else OK) as server:
        node.start_agent(server.port, output=QUICK)
        load = node.start([node.built(LOAD), "-n", total, "-r", RATE])
        wait_until(lambda: "output-suspects" in findings(node), 30, "the doctor to see it")
        status = node.status()
        what = [found["what"] for found in status["findings"] if found["code"] == "output-suspects"]
        assert not what or "certain spans come, and takes others: no answer within 0.5 s; " in what[0]
        assert 0 <= status["suspects"]["spans"] <= 100
        assert load.wait() == 0
        check_end(node, server, total)
        assert "output-suspects" not in findings(node) and node.status()["suspects"] == {"spans": 0, "error": ""}
        node.agent.stop()


def test_killed_meanwhile(node):
    """kill -9 while a batch is set aside, and again: nothing is lost, and the span at fault is still found."""
    total = count = RATE * SECONDS
    with Moody(node, lambda messages: CLOSE if is_bad(messages) else OK) as server:
        node.start_agent(server.port, session={"keep": "yes"}, output=dict(QUICK, retry_max="1s", retry_min="200ms"))
        load = node.start([node.built(LOAD), "-n", total, "-r", RATE])
        for _ in range(3):
            wait_until(lambda: node.status()["suspects"]["spans"] > 0, 60, "a suspect")
            time.sleep(0.3)
            node.agent.kill()
            node.start_agent_again()
        assert load.wait() == 0
        total += run_until_dropped(node)
        ledger = node.wait_ledger(
            lambda ledger: ledger.read - ledger.again >= total and ledger.idle() and not ledger.spooled, 60, "all to be settled"
        )
        assert ledger.lost == 0 and ledger.dropped == ledger.dropped_for("refused") >= 1, str(ledger)
        assert set(ids_of(server)) == set(range(count)) - {BAD}
        node.agent.stop()
