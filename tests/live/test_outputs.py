# SPDX-License-Identifier: BSD-2-Clause
"""
Several outputs at once: what happens to one is nothing to the others, and every span is at each of them.

BLKIN_OUTAGE says for how many seconds an output is in trouble, each time.
"""

import os
import time

import pytest
from rig.idsink import SinkPair, wanted_ids
from rig.load import LOAD
from rig.node import paced
from rig.process import crowding, exactly, wait_until
from test_spool import spool

PROCESSES, THREADS = 2, 2
WORKERS = PROCESSES * THREADS
OUTAGE = int(os.environ.get("BLKIN_OUTAGE", "3"))
CALM, PAUSE = 4, 2
ROOMY = {"memory": "256M", "disk": "4G"}
QUICK_SPOOL = {"replay_share": 100, "max_size": f"{1 + OUTAGE // 10}G"}


def load_rate():
    """Spans a second, of all workers."""
    return paced(20000, 10000)


def start_load(node, seconds, rate):
    """Starts a load of that length; the program, and how many spans a worker records."""
    spans = int(seconds * rate) // WORKERS
    return node.start(
        [node.built(LOAD), "-p", PROCESSES, "-t", THREADS, "-n", spans, "-r", rate // WORKERS]
    ), spans


def other_of(name):
    return next(each for each in SinkPair.names if each != name)


class Latency:
    """How late spans are at a sink, in phases of a run, against the first."""

    def __init__(self, sink):
        self.sink = sink
        self.phases = []

    def phase(self, name, seconds):
        """Lets time go by. Its first moments are the change from the last phase."""
        start, slow = time.time(), [1]
        while time.time() < start + seconds:
            time.sleep(0.1)
            slow.append(crowding())
        self.phases.append((name, start, time.time(), sum(slow) / len(slow)))

    def check(self, rate):
        calm = None
        for name, start, end, slow in self.phases:
            delays = self.sink.delays(start, end)
            # whether all came is counted elsewhere: it is enough that the phase was one of load, which a busy machine slows down
            assert len(delays) > 0.5 * rate * (end - start), f"{name}: {len(delays)} spans in {end - start} s"
            median, late = delays[len(delays) // 2], delays[len(delays) * 99 // 100]
            print(f"{name}: median {median * 1000:.0f} ms, p99 {late * 1000:.0f} ms, most {delays[-1] * 1000:.0f} ms, slow {slow:.1f}")
            calm = calm or (median, late)
            # an output that waited for the other would be late by seconds; so may any be while other tests take the machine
            assert median < 2 * calm[0] + slow, f"{name}: the median is {median} s, and was {calm[0]} s; {slow:.1f}"
            assert late < 3 * calm[1] + slow, f"{name}: p99 is {late} s, and was {calm[1]} s; {slow:.1f}"


def check_untouched(pair, name, ledger, total, spans):
    """An output that had no trouble delivered each span, once."""
    assert (ledger.lost, ledger.packets_lost) == (0, 0), "LTTng lost events: the load was too fast for this machine"
    assert (ledger.taken, ledger.sent, ledger.sent_again, ledger.dropped) == (total, total, 0, 0), str(ledger)
    assert pair[name].check(PROCESSES, THREADS, spans) == 0


TROUBLES = ["hang", "put_off", "kill"]


@pytest.mark.parametrize("name", SinkPair.names)
def test_one_collector_in_trouble(node, name):
    """Hung, busy, dead, one after the other: the other output's latency and counts stay what they are."""
    pair, rate, calm = SinkPair(node), load_rate(), other_of(name)
    pair.start_agent(session=ROOMY, spool=QUICK_SPOOL)
    load, spans = start_load(node, 2 + CALM + len(TROUBLES) * (OUTAGE + PAUSE), rate)
    total = spans * WORKERS
    pair[calm].wait_for(rate, 30)
    latency = Latency(pair[calm])
    latency.phase("calm", CALM)
    for trouble in TROUBLES:
        getattr(pair[name], trouble)()
        latency.phase(trouble, OUTAGE)
        node.ledger(name).check()
        pair[name].recover()
        latency.phase(f"after {trouble}", PAUSE)
    assert load.wait(60) == 0
    ledgers = pair.wait_idle(total, 60 + 4 * OUTAGE)
    check_untouched(pair, calm, ledgers[calm], total, spans)
    ledger = ledgers[name]
    assert (ledger.taken, ledger.sent, ledger.dropped) == (total, total, 0), str(ledger)
    again = pair[name].check(PROCESSES, THREADS, spans)
    assert again <= ledger.sent_again
    print(f"{again} came twice at {name}, {ledger.sent_again} were sent again")
    latency.check(rate)


@pytest.mark.parametrize("name", SinkPair.names)
def test_one_collector_refuses(node, name):
    """A few spans may be set aside before it is clear that it refuses everything: they are those that are not there."""
    pair, rate, calm = SinkPair(node), load_rate(), other_of(name)
    pair.start_agent(session=ROOMY, spool=QUICK_SPOOL)
    load, spans = start_load(node, 2 + CALM + OUTAGE + PAUSE, rate)
    total = spans * WORKERS
    pair[calm].wait_for(rate, 30)
    latency = Latency(pair[calm])
    latency.phase("calm", CALM)
    pair[name].refuse()
    latency.phase("refuses", OUTAGE)
    pair[name].recover()
    latency.phase("after", PAUSE)
    assert load.wait(60) == 0
    ledgers = pair.wait_idle(total, 60 + 4 * OUTAGE)
    check_untouched(pair, calm, ledgers[calm], total, spans)
    ledger = ledgers[name]
    assert ledger.dropped == ledger.dropped_for("refused") == total - ledger.sent, str(ledger)
    assert pair[name].ids().total() == ledger.sent
    assert ledger.dropped < 1000
    missing = wanted_ids(PROCESSES, THREADS, spans) - pair[name].ids().keys()
    exactly(len(missing) == ledger.dropped, f"{len(missing)} spans are missing: {ledger}")
    latency.check(rate)


def fill(folder):
    """Takes all the room there is; returns what has to be removed to have it again."""
    path = f"{folder}/filler"
    with open(path, "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(b"x" * 4096)
        except OSError:
            return path


@pytest.mark.parametrize("name", SinkPair.names)
def test_one_collector_away_and_the_disk_full(node, name):
    """Spans wait in memory, as far as it reaches, and what does not fit is counted; to the other output it is nothing."""
    pair, rate, calm = SinkPair(node), load_rate(), other_of(name)
    os.mkdir(node.path("state"))
    node.mount(node.path("state"), "32M")
    pair.start_agent(session=ROOMY, spool=QUICK_SPOOL, **{name: {"queue_size": f"{512 + 18 * OUTAGE}M"}})
    load, spans = start_load(node, 2 + CALM + OUTAGE + PAUSE, rate)
    total = spans * WORKERS
    pair[calm].wait_for(rate, 30)
    latency = Latency(pair[calm])
    latency.phase("calm", CALM)
    filler = fill(node.path("state"))
    pair[name].kill()
    latency.phase("away, disk full", OUTAGE)
    ledger = node.ledger(name)
    assert ledger.queued > rate * (OUTAGE - 2), str(ledger)
    assert node.metrics(name)["blkin_agent_spool_up"] == 0
    os.remove(filler)
    pair[name].recover()
    latency.phase("after", PAUSE)
    assert load.wait(60) == 0
    ledgers = pair.wait_idle(total, 60 + 4 * OUTAGE)
    check_untouched(pair, calm, ledgers[calm], total, spans)
    assert (ledgers[name].sent, ledgers[name].dropped) == (total, 0), str(ledgers[name])
    assert pair[name].check(PROCESSES, THREADS, spans) <= ledgers[name].sent_again
    latency.check(rate)


@pytest.mark.parametrize("disk", ["full", "bounded"])
def test_more_than_one_output_can_keep(node, disk):
    """A queue in front of a full disk, or a spool of its size: the oldest of this output are dropped, to the id."""
    pair, rate = SinkPair(node), load_rate()
    seconds = max(8, 80000 // rate)  # enough spans to fill what there is
    os.mkdir(node.path("state"))
    node.mount(node.path("state"), "64M")
    small = {"queue_size": "4M"} if disk == "full" else {"spool_size": "8M"}
    pair.start_agent(west=small, session=ROOMY, spool=QUICK_SPOOL)
    filler = fill(node.path("state")) if disk == "full" else None
    pair["west"].kill()
    load, spans = start_load(node, seconds, rate)
    total = spans * WORKERS
    assert load.wait(60) == 0
    reason = {"full": "queue_full", "bounded": "spool_full"}[disk]
    node.wait_ledger(lambda ledger: ledger.sent == total, 60, "all to be at the other", "default")
    ledger = node.wait_ledger(lambda ledger: ledger.taken == total, 10, "all to be taken", "west")
    assert ledger.dropped_for(reason) == ledger.dropped > 0 and ledger.sent == 0, str(ledger)
    if filler:
        os.remove(filler)
    pair["west"].recover()
    ledgers = pair.wait_idle(total)
    check_untouched(pair, "default", ledgers["default"], total, spans)
    came = pair["west"].ids()
    assert came.keys() <= wanted_ids(PROCESSES, THREADS, spans)
    assert len(came) == ledgers["west"].sent == total - ledgers["west"].dropped, str(ledgers["west"])
    # the newest are there; of the oldest there is at most the batch with which the collector was tried
    assert all((p, t, spans - 1) in came for p in range(PROCESSES) for t in range(THREADS))
    assert not any((p, t, 1000) in came for p in range(PROCESSES) for t in range(THREADS))


@pytest.mark.parametrize("west", [{}, {"batch_spans": 7, "batch_delay": "500ms"}])
def test_batches_alike_and_not(node, west):
    """Outputs that agree on batches share them; the others have their own. Each span is at each of them, once."""
    pair, total = SinkPair(node), 20000
    pair.start_agent(default={"batch_spans": 200}, west=dict({"batch_spans": 200}, **west))
    node.run([LOAD, "-n", total, "-r", 10000])
    ledgers = pair.wait_idle(total)
    for name in pair.names:
        assert (ledgers[name].taken, ledgers[name].sent, ledgers[name].sent_again) == (total, total, 0)
        assert pair[name].check(1, 1, total) == 0
    sizes = {name: pair[name].batch_sizes() for name in pair.names}
    assert 7 < max(sizes["default"]) <= 200
    assert max(sizes["west"]) == (west["batch_spans"] if west else max(sizes["default"]))
    if not west:
        assert sizes["west"] == sizes["default"]


def test_what_is_told_of_each_output(node):
    """Status, metrics and `blkin spool`: by output, and adding up."""
    pair, total = SinkPair(node), 3000
    pair["west"].kill()
    pair.start_agent(west={"spool_size": "16M"})
    node.run([LOAD, "-n", total])
    node.wait_ledger(lambda ledger: ledger.spooled == total, 20, "west to store", "west")
    node.wait_ledger(lambda ledger: ledger.sent == total, 20, "all to be sent")
    page = node.http_get("/metrics")[1]
    for name in pair.names:
        assert f'blkin_agent_spans_taken_total{{output="{name}"}} {total}\n' in page
        assert f'blkin_agent_spans_dropped_total{{output="{name}",reason="queue_full"}} 0\n' in page
    assert f"blkin_agent_spans_total {total}\n" in page  # what comes in has no output
    for line in ("# TYPE blkin_agent_spans_sent_total counter", "# TYPE blkin_agent_spool_up gauge"):
        assert page.count(line + "\n") == 1
    said = node.status()
    assert [output["name"] for output in said["outputs"]] == ["default", "west"]
    default, west = said["outputs"]
    assert (default["output"], default["server"]) == ("scribe", f"127.0.0.1:{pair['default'].port}")
    assert (west["output"], west["server"]) == ("http", f"127.0.0.1:{pair['west'].port}")
    assert (default["delivering"], west["delivering"]) == (True, False)
    assert (default["spans"]["sent"], west["spans"]["sent"]) == (total, 0)
    assert (default["spool"]["spans"], west["spool"]["spans"]) == (0, total)
    assert west["spool"]["max_bytes"] == 16 << 20
    assert said["spans"]["sent"] == total and said["server"] == default["server"]
    program = node.start([node.built("cli/blkin"), "status", "--socket", node.socket], name="status")
    program.wait()
    text = program.log()
    for name in pair.names:
        assert name in text and f"127.0.0.1:{pair[name].port}" in text, text
    code, out, _ = spool(node, "list", "--config", node.path("agent.conf"))
    assert code == 0 and "output default\n0 batches, 0 spans" in out and "output west\n" in out and f" {total} spans" in out
    pair["west"].recover()
    wait_until(lambda: node.ledger("west").sent == total, 20, "west to have all")
    assert pair["west"].check(1, 1, total) == 0


def test_an_output_that_is_off(node):
    """[output] with `type = none` beside another: nothing goes there, and nothing is counted for it."""
    pair, total = SinkPair(node), 1000
    node.write_config(1, output={"type": "none"}, **{"output west": {"type": "http", "server": f"127.0.0.1:{pair['west'].port}"}})
    node.start_agent_again()
    node.run([LOAD, "-n", total])
    ledger = node.wait_ledger(lambda ledger: ledger.sent == total and ledger.idle(), 20, "all to be sent", "west")
    assert (ledger.taken, ledger.dropped) == (total, 0)
    assert pair["west"].check(1, 1, total) == 0
    assert 'output="default"' not in node.http_get("/metrics")[1]
    assert [output["name"] for output in node.status()["outputs"]] == ["west"]
    assert node.agent.stop() == 0
    assert "127.0.0.1:1:" not in node.agent.log()
