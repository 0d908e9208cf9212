# SPDX-License-Identifier: BSD-2-Clause
"""Spans that the collector does not accept are stored on disk, survive there, and are delivered after fresh ones."""

import fcntl
import json
import os
import re
import shutil
import subprocess
import time

import pytest
from expect import check_load, key_of
from rig.idsink import IdSink
from rig.load import LOAD
from rig.memory import MemoryWatch, allowance
from rig.node import paced
from rig.moody import EXCEPTION, OK, Moody
from rig.process import free_port, wait_until
from rig.scribe import Receiver, decode

PROCESSES, THREADS = 4, 2
# Seconds that the collector is away in the large outage: a minute is what it is made for.
OUTAGE = int(os.environ.get("BLKIN_OUTAGE", "10"))


def load_rate():
    """Spans a second: what it is made for, or what sanitizers let through."""
    return paced(100000, 20000)


def await_outage(node, seconds, watch):
    """Watches an agent whose collector is away: its ledger adds up, and its memory does not grow."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        node.ledger().check()
        watch.look()
        time.sleep(0.25)


def check_fresh_first(records, back, expected):
    """
    When the collector was back, spans of the load's present came at once, beside those of the outage: behind the whole
    backlog, they would have come later than in two seconds.
    """
    first = [n for *_, n, at in records if back <= at < back + 2]
    fresh = sum(n > expected for n in first)
    assert fresh >= 1000, f"of {len(first)} that came in 2 s, {fresh} were above {expected}"


def test_collector_is_away_under_load(node):
    """The backlog waits on disk, memory stays flat; back again, fresh spans come at once, the others at their pace."""
    rate, before, after = load_rate(), 3, 8
    workers = PROCESSES * THREADS
    spans = rate * (before + OUTAGE + after) // workers
    total = spans * workers
    sink = IdSink(node, free_port()).start()
    node.start_agent(
        sink.port,
        session={"memory": "512M", "disk": "4G"},
        output={"retry_max": "1s"},
        spool={"max_size": "8G", "replay_share": 50, "replay_floor": rate},
    )
    load = node.start([node.built(LOAD), "-p", PROCESSES, "-t", THREADS, "-n", spans, "-r", rate // workers])
    sink.wait_for(rate, 30)
    watch = MemoryWatch(node.agent)
    time.sleep(before - 1)
    up = watch.look()
    sink.program.kill()
    gone = time.time()
    await_outage(node, OUTAGE, watch)
    ledger = node.ledger()
    assert ledger.spooled > rate * (OUTAGE - 2) * 0.7, str(ledger)
    came = sink.count()
    sink.start()
    back = time.time()
    wait_until(lambda: sink.count() > came, 2, "fresh spans within 2 s", step=0.01)
    assert load.wait(120) == 0
    loaded = time.time()
    ledger = node.wait_ledger(
        lambda ledger: ledger.read + ledger.lost >= total and ledger.idle(), 300, "all to be delivered"
    )
    watch.look()
    assert (ledger.lost, ledger.packets_lost) == (0, 0), "LTTng lost events: the load was too fast for this machine"
    assert (ledger.read, ledger.spans, ledger.sent, ledger.dropped) == (total, total, total, 0), str(ledger)
    again = sink.check(PROCESSES, THREADS, spans)
    assert again <= ledger.sent_again
    records = sink.records()
    newest = max(n for *_, n, at in records if at < gone)
    check_fresh_first(records, back, newest + (back - gone) * rate / workers / 3)
    # while the load runs, replayed spans are no more than their share allows, with its jitter
    paced = sink.rate(back + 3, max(1, loaded - back - 4))
    assert paced <= rate * (1 + 1.2) * 1.2, f"{paced} spans a second"
    print(f"memory {up} KiB up, {watch.most} KiB at most; {paced:.0f} spans/s while replaying; {again} came twice")
    assert watch.most < allowance(64 * 1024)


@pytest.mark.parametrize("slow", ["pace", "limit"])
def test_says_when_it_will_be_empty(node, slow):
    """While a slow collector takes what waited, the status says how long that will take; not while it is away."""
    rate, total = 2000, 30000
    drain = "blkin_agent_spool_drain_seconds"
    sections = {
        "pace": {"spool": {"replay_floor": rate, "replay_share": 1}},
        "limit": {"spool": {"replay_share": 100}, "output": {"rate_limit": "1200K", "batch_size": "64K"}},
    }[slow]

    def line():
        program = node.start([node.built("cli/blkin"), "status", "--socket", node.socket], name="status")
        assert program.wait() == 0
        return next(line for line in program.log().splitlines() if line.startswith("  spool  "))

    receiver = Receiver(node, free_port())
    node.start_agent(receiver.port, **sections)
    wait_until(lambda: line().startswith("  spool     empty (its file has "), 10, "the spool to be open")
    assert node.status()["spool"]["drain_seconds"] is None
    node.run([LOAD, "-n", total])
    node.wait_ledger(lambda ledger: ledger.spooled == total, 30, "all to be in the spool")
    wait_until(lambda: line().startswith(f"  spool     {total} spans, not draining; its file has "), 10, "the collector to count as away")
    assert node.status()["spool"]["drain_seconds"] is None and drain not in node.metrics()
    receiver.start()
    wait_until(lambda: node.status()["spool"]["drain_seconds"] is not None, 20, "the time that it will take")
    time.sleep(3)
    told, left, begun = node.status()["spool"]["drain_seconds"], node.ledger().spooled, time.monotonic()
    print(f"{left} spans in about {told} s")
    metric = node.metrics()[drain]
    soon = node.status()["spool"]["drain_seconds"]
    assert 0.8 * min(soon, told) - 2 <= metric <= 1.25 * max(soon, told) + 2
    assert re.search(r"  spool     \d+ spans, delivered in about \d+ s; its file has .* of 1 GiB$", line()), line()
    node.wait_ledger(lambda ledger: ledger.idle(), 60, "all to be delivered")
    took = time.monotonic() - begun
    print(f"took {took:.1f} s")
    # a replay gets faster while the collector takes it, each second by a fifth of what it begins with: so it takes 1 + took / 10
    # times less than the last seconds promise, which other load may have slowed down to a half
    assert 0.5 * took - 1 <= told <= (1 + took / 5 if slow == "pace" else 1.6) * took + 2, (told, took)
    assert slow == "limit" or left / took <= rate, f"{left} in {took:.1f} s: that is no pace"
    wait_until(lambda: line().startswith("  spool     empty (its file has "), 5, "nothing to be left")
    assert node.status()["outputs"][0]["spool"]["drain_seconds"] is None and drain not in node.metrics()
    receiver.program.kill()


def test_stop_stores_what_waits(node):
    """A stop without a collector is quick, and the next start delivers what waited."""
    receiver = Receiver(node, free_port())
    total = 20000
    agent = node.start_agent(receiver.port, session={"keep": "yes"})
    node.run([LOAD, "-n", total])
    node.wait_ledger(lambda ledger: ledger.read == total, 30, f"{total} events read")
    before = time.monotonic()
    assert agent.stop() == 0
    assert time.monotonic() - before < 10
    assert f"{total} spans are in the spool: the next start delivers them" in agent.log()
    assert "not delivered" not in agent.log()
    receiver.start()
    node.start_agent_again()
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 60, "all to be delivered")
    assert ledger.spans + ledger.recovered == ledger.sent == total, str(ledger)
    receiver.wait_for(total)
    check_load(receiver.spans(), 1, 1, total)  # each once


def test_killed_with_a_spool(node):
    """What is in the spool survives kill -9, again and again, while it is being replayed too."""
    receiver = Receiver(node, free_port())
    total, batch = 30000, 500
    node.start_agent(receiver.port, session={"keep": "yes"}, spool={"replay_floor": 10000, "replay_share": 1})
    node.run([LOAD, "-n", total])
    node.wait_ledger(lambda ledger: ledger.spooled == total, 30, "all to be in the spool")
    node.wait_quiet("state", 1)  # the checkpoint knows, so nothing is read again
    node.agent.kill()
    receiver.start()
    for _ in range(4):
        node.start_agent_again()
        time.sleep(1.2)
        node.ledger().check()
        node.agent.kill()
    node.start_agent_again()
    node.wait_ledger(lambda ledger: ledger.idle(), 60, "all to be delivered")
    receiver.read()
    keys = [key_of(span)[2] for span in receiver.spans()]
    assert set(keys) == set(range(total))
    # in 0.2 s before a kill 2000 spans and a burst are replayed, and batches are under way
    assert len(keys) - total <= 4 * (0.25 * 12000 + 10 * batch), f"{len(keys) - total} came twice"


def test_spool_is_full(node):
    receiver = Receiver(node, free_port())
    total = 120000
    node.start_agent(receiver.port, spool={"max_size": "8M", "replay_share": 100})
    node.run([LOAD, "-n", total, "-r", 20000])
    ledger = node.wait_ledger(lambda ledger: ledger.read == total and ledger.queued == 0, 60, "all to be stored")
    assert ledger.dropped == ledger.dropped_for("spool_full") == total - ledger.spooled > 0
    assert node.metrics()["blkin_agent_spool_bytes"] <= 8 << 20
    receiver.start()
    kept = ledger.spooled
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 60, "the rest to be sent")
    assert ledger.sent == kept
    receiver.wait_for(kept)
    # the oldest were dropped, but for a batch that the agent had at hand, to try the collector with it
    ids = sorted(key_of(span)[2] for span in receiver.spans())
    tried = [number for index, number in enumerate(ids) if number != total - kept + index]
    assert ids[len(tried) :] == list(range(total - kept + len(tried), total))
    assert len(tried) <= 1000 and tried == list(range(min(tried, default=0), min(tried, default=0) + len(tried)))


def test_folder_that_cannot_be_used(node, receiver):
    """The agent works without, and says so; a folder that turns up is used."""
    folder = node.path("gone")
    with open(folder, "w", encoding="ascii"):
        pass
    node.start_agent(receiver.port, agent={"state_directory": folder})
    node.run([LOAD, "-n", 1000])
    receiver.wait_for(1000)
    wait_until(lambda: node.status()["spool"]["state"] == "degraded", 20, "the spool to be given up")
    assert "spool-failing" in [finding["code"] for finding in node.status()["findings"]]
    assert folder in node.status()["spool"]["error"]
    assert node.metrics()["blkin_agent_spool_up"] == 0
    receiver.program.kill()
    node.run([LOAD, "-n", 1000])
    time.sleep(2)
    ledger = node.wait_ledger(lambda ledger: ledger.read == 2000, 20, "1000 spans more")
    assert (ledger.queued, ledger.spooled, ledger.dropped) == (1000, 0, 0)
    os.remove(folder)
    os.mkdir(folder)
    ledger = node.wait_ledger(lambda ledger: ledger.spooled == 1000, 20, "the spool to work")
    assert node.status()["spool"]["state"] == "ok"
    receiver.start()
    node.wait_ledger(lambda ledger: ledger.idle(), 30, "all to be sent")
    receiver.wait_for(2000)
    log = node.agent.log()
    assert log.count("the spool cannot be used") == log.count("the spool works again") == 1


def spool(node, *words):
    """Runs `blkin spool`; its exit code and what it printed."""
    done = subprocess.run(
        [node.built("cli/blkin"), "spool", *words],
        env=node.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


def test_look_into_the_spool(node):
    """While the agent writes to it, and when there is none."""
    config = ["--config", node.path("agent.conf")]
    state = node.path("state")
    receiver = Receiver(node, free_port())
    node.start_agent(receiver.port)
    assert spool(node, "list", "--directory", node.path("home"))[:2] == (0, f"there is no spool in {node.path('home')}\n")
    assert spool(node, "list", *config)[1] == "output default\n0 batches, 0 spans, 0 bytes\n"
    assert spool(node, "check", "--json", "--directory", node.path("home"))[:2] == (0, "[]\n")
    for word in ("list", "check"):
        code, out, complaint = spool(node, word, "--output", "defualt", *config)
        assert (code, out) == (1, "") and "there is no output defualt in the configuration" in complaint
        assert "did you mean default?" in complaint
    load = node.start([node.built(LOAD), "-n", 50000, "-r", 10000])
    while load.running():
        code, out, complaint = spool(node, "check", *config)
        assert (code, complaint) == (0, ""), out
        code, out, _ = spool(node, "list", "--json", *config)
        assert code == 0
        for line in out.splitlines():
            batch = json.loads(line)
            assert batch["spans"] > 0 and (batch["output"], batch["format"]) == ("default", "spans")
    ledger = node.wait_ledger(lambda ledger: ledger.spooled == 50000, 30, "all to be in the spool")
    code, out, _ = spool(node, "list", "--json", "--directory", state)
    batches = [json.loads(line) for line in out.splitlines()]
    assert (code, sum(batch["spans"] for batch in batches)) == (0, ledger.spooled)
    assert all(batch["oldest"] <= batch["newest"] for batch in batches)
    out = spool(node, "list", *config)[1].splitlines()
    assert len(out) == len(batches) + 3
    assert out[0] == "output default" and out[1].split()[-1] == "format" and out[2].split()[-1] == "spans"
    assert out[-1].startswith(f"{len(batches)} batches, 50000 spans, ")
    node.agent.stop()
    whole = (0, f"output default: OK, {len(batches)} batches in {state}/spool.db\n")
    assert spool(node, "check", *config)[:2] == spool(node, "check", "--output", "default", *config)[:2] == whole


def test_look_into_the_spools_of_several_outputs(node):
    """Each spool in the folder is shown with its output, configured or not, whole or not; or one of them."""
    state = node.path("state")
    node.start_agent(free_port())
    node.run([LOAD, "-n", 3000])
    node.wait_ledger(lambda ledger: ledger.spooled == 3000, 30, "all to be in the spool")
    node.agent.stop()
    # an output that is gone left a spool, as its file has nothing of its output's name in it
    for suffix in (".db", ".tally"):
        shutil.copy(f"{state}/spool{suffix}", f"{state}/spool-west{suffix}")
    code, out, _ = spool(node, "list", "--json", "--directory", state)
    batches = [json.loads(line) for line in out.splitlines()]
    outputs = [batch["output"] for batch in batches]
    assert code == 0 and outputs == sorted(outputs) and set(outputs) == {"default", "west"}
    assert sum(batch["spans"] for batch in batches if batch["output"] == "west") == 3000
    code, out, _ = spool(node, "list", "--json", "--output", "west", "--directory", state)
    assert (code, {json.loads(line)["output"] for line in out.splitlines()}) == (0, {"west"})
    code, out, _ = spool(node, "check", "--directory", state)
    assert code == 0 and [line.split(",")[0] for line in out.splitlines()] == ["output default: OK", "output west: OK"]
    none = f"there is no spool of output east in {state}\n"
    assert spool(node, "list", "--output", "east", "--directory", state)[:2] == (0, none)
    assert spool(node, "list", "--output", "../x", "--directory", state)[0] == 64
    code, out, _ = spool(node, "check", "--json", "--directory", state)
    assert code == 0 and [spool["output"] for spool in json.loads(out) if spool["ok"]] == ["default", "west"]
    # one that is damaged does not hide the other
    with open(f"{state}/spool.db", "wb") as file:
        file.write(b"no spool at all")
    code, out, complaint = spool(node, "check", "--directory", state)
    assert code == 1 and out.startswith("output west: OK") and f"{state}/spool.db is not a spool" in complaint
    code, out, _ = spool(node, "check", "--json", "--directory", state)
    assert code == 1 and {spool["output"]: spool["ok"] for spool in json.loads(out)} == {"default": False, "west": True}
    assert spool(node, "check", "--output", "west", "--directory", state)[0] == 0


def test_a_paused_look_holds_nothing_up(node):
    """`blkin spool list | less`, left open: the agent goes on storing, well beyond its log."""
    total = 20000
    node.start_agent(free_port(), output={"batch_size": "4K"}, spool={"max_size": "16M"})
    node.run([LOAD, "-n", total])
    node.wait_ledger(lambda ledger: ledger.spooled == total, 30, "all to be in the spool")
    words = [node.built("cli/blkin"), "spool", "list", "--directory", node.path("state")]
    with subprocess.Popen(words, env=node.environment, stdout=subprocess.PIPE, text=True) as paused:
        fcntl.fcntl(paused.stdout, fcntl.F_SETPIPE_SZ, 4096)
        paused.stdout.readline()
        for turn in range(2, 8):
            node.run([LOAD, "-n", total])
            node.wait_ledger(lambda ledger, turn=turn: ledger.spooled + ledger.dropped == turn * total, 30, "the same")
        assert paused.poll() is None
        assert "the spool cannot be used" not in node.agent.log()
        assert " batches, " in paused.stdout.read().splitlines()[-1]
        assert paused.wait(30) == 0


def test_refused_spans_are_kept(node):
    """Fresh or replayed: what the collector refuses can be looked at, in its words and decoded."""

    def mood(messages):
        return EXCEPTION if any(key_of(decode(message))[2] % 1000 == 7 for message in messages) else OK

    with Moody(node, mood) as server:
        server.stop()
        node.start_agent(server.port, spool={"replay_share": 100})
        node.run([LOAD, "-n", 2000])
        node.wait_ledger(lambda ledger: ledger.spooled == 2000, 30, "all to be in the spool")
        server.start()
        node.wait_ledger(lambda ledger: ledger.idle(), 60, "the backlog to be sent")
        node.run([LOAD, "-n", 1000])
        ledger = node.wait_ledger(lambda ledger: ledger.read == 3000 and ledger.idle(), 60, "all to be sent")
    assert (ledger.sent, ledger.dropped, ledger.dropped_for("refused")) == (2997, 3, 3)
    node.agent.stop()
    code, out, _ = spool(node, "list", "--json", "--directory", node.path("state"))
    kept = [json.loads(line) for line in out.splitlines()]
    tags = [each["decoded"][0]["tags"]["ordinal"] for each in kept]
    assert (code, sorted(tags)) == (0, ["1007", "7", "7"])
    assert all(each["words"] for each in kept)
    code, out, _ = spool(node, "list", "--directory", node.path("state"))
    assert code == 0 and out.count("refused  2") == 3 and out.count("ordinal = 1007") == 1


def test_look_into_a_damaged_spool(node):
    receiver = Receiver(node, free_port())
    node.start_agent(receiver.port)
    node.run([LOAD, "-n", 5000])
    node.wait_ledger(lambda ledger: ledger.spooled == 5000, 30, "all to be in the spool")
    node.agent.stop()
    path = node.path("state/spool.db")
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    code, _, complaint = spool(node, "check", "--directory", node.path("state"))
    assert code == 1 and complaint.startswith("blkin spool: ")
    with open(path, "wb") as file:
        file.write(b"no spool at all")
    code, _, complaint = spool(node, "list", "--directory", node.path("state"))
    assert (code, complaint.count("\n")) == (1, 1) and "it is not an SQLite database" in complaint
    assert spool(node, "list", "--directory", node.path("nowhere"))[0] == 1
    assert spool(node, "eat")[0] == spool(node)[0] == spool(node, "list", "check")[0] == 64
