# SPDX-License-Identifier: BSD-2-Clause
"""SIGHUP with several outputs: one comes, goes, or changes, to the id, and the others do not notice."""

import os
import re
import signal
import time

import pytest
from rig.idsink import QUICK, IdSink, SinkPair, wanted_ids
from rig.load import KEEP, LOAD
from rig.process import PATIENCE, free_port, wait_until
from rig.sections import REFUSED, Sections
from test_outputs import PROCESSES, QUICK_SPOOL, ROOMY, THREADS, WORKERS, start_load
from test_outputs_restart import RATE

GONE = re.compile(
    r"output (\S+) is removed: of (\d+) spans (\d+) are sent, (?:(\d+) are sampled out, )?(?:\d+ are given back to their senders, )?"
    r"(?:(\d+) stay in (\S+) until there is an output of that name again, )?(\d+) are dropped"
)


def what_left(node, name):
    """Waits until an output is gone; what the log says of it: (all, sent, stored, dropped), and the spool's file; all without those sampled out."""
    wait_until(lambda: f"output {name} is removed" in node.agent.log(), 20, f"{name} to be removed")
    found = [match for match in GONE.findall(node.agent.log()) if match[0] == name]
    assert found, node.agent.log()
    _, total, sent, sampled, stored, file, dropped = found[-1]
    stored, total = stored or 0, int(total) - int(sampled or 0)
    assert total == int(sent) + int(stored) + int(dropped)
    return (total, int(sent), int(stored), int(dropped)), file


def check_parted(before, after, total, spans):
    """Each span of the load is at one of two sinks, once."""
    one, other = before.ids(), after.ids()
    assert not one.keys() & other.keys()
    assert one.keys() | other.keys() == wanted_ids(PROCESSES, THREADS, spans)
    assert one.total() + other.total() == total


def test_one_comes_and_one_goes(node):
    """Up to a moment every span is at the first, and after it at the third; the second has them all."""
    pair, east = SinkPair(node), IdSink(node, free_port()).start()
    pair.start_agent(session=ROOMY)
    load, spans = start_load(node, 6, RATE)
    total = spans * WORKERS
    pair["default"].wait_for(2 * RATE, 30)
    sections = Sections(node)
    sections.keys["output"] = "type = none\n"
    sections.output("output east", east, type="http", batch_spans="100")
    sections.hang_up()
    (taken, sent, stored, dropped), _ = what_left(node, "default")
    assert (taken, stored, dropped) == (sent, 0, 0)
    assert load.wait(60) == 0
    ledger = node.wait_ledger(lambda ledger: ledger.read == total and ledger.idle(), 30, "all to be sent", "west")
    assert (ledger.taken, ledger.sent, ledger.dropped, ledger.lost) == (total, total, 0, 0), str(ledger)
    assert pair["west"].check(PROCESSES, THREADS, spans) == 0
    ledger = node.wait_ledger(lambda ledger: ledger.sent + taken == total, 30, "the rest to be sent", "east")
    check_parted(pair["default"], east, total, spans)
    assert (pair["default"].count(), east.count()) == (taken, ledger.taken)
    assert [output["name"] for output in node.status()["outputs"]] == ["west", "east"]
    assert 'output="default"' not in node.http_get("/metrics")[1]
    assert node.agent.stop() == 0


def test_what_was_sampled_out_is_told(node, receiver):
    """Each span is in one of the numbers when an output goes."""
    node.start_agent(1, output={"type": "none"}, **{"output some": {"server": f"127.0.0.1:{receiver.port}", "keep": "1/4"}})
    node.run([LOAD, "-n", 400])
    ledger = node.wait_ledger(lambda ledger: ledger.made == 400 and ledger.idle(), 20, "delivery", "some")
    sections = Sections(node)
    del sections.keys["output some"]
    sections.hang_up()
    out = 400 - ledger.sent
    assert 0 < ledger.sent < 400
    wait_until(lambda: "output some is removed" in node.agent.log(), 20, "its end to be told")
    told = f"output some is removed: of 400 spans {ledger.sent} are sent, {out} are sampled out, 0 are dropped"
    assert told in node.agent.log()


@pytest.mark.parametrize("restart", [False, True])
def test_one_goes_while_it_is_away_and_comes_back(node, restart):
    """What it was not sent stays on disk, as the log says, and is delivered once it is back; nothing is there twice."""
    pair = SinkPair(node)
    pair.start_agent(session=dict(ROOMY, **KEEP), spool=QUICK_SPOOL)
    load, spans = start_load(node, 10, RATE)
    total = spans * WORKERS
    pair["west"].wait_for(RATE, 30)
    pair["west"].put_off()
    node.wait_ledger(lambda ledger: ledger.spooled > RATE, 20, "spans to be stored", "west")
    sections = Sections(node)
    mine = sections.keys.pop("output west")
    sections.hang_up()
    (taken, sent, stored, dropped), file = what_left(node, "west")
    assert file == node.path("state/spool-west.db")
    assert (stored > RATE, dropped, sent) == (True, 0, pair["west"].count())
    pair["west"].recover()
    if restart:
        assert node.agent.stop() == 0
        node.start_agent_again()
        said = f"{stored} spans are in {file}, and no output delivers them"
        wait_until(lambda: said in node.agent.log(), 5, "the agent to tell of the spool")
        sections.hang_up()
        assert node.agent.log().count(said) == 1
    sections.keys["output west"] = mine
    sections.hang_up()
    assert load.wait(60) == 0
    ledgers = pair.wait_idle(total)
    assert ledgers["default"].sent == total and pair["default"].check(PROCESSES, THREADS, spans) == 0
    west = ledgers["west"]
    assert (west.taken + west.recovered, west.dropped) == (west.sent, 0), str(west)
    assert west.recovered == (stored if restart else 0)
    came = pair["west"].ids()
    assert came.total() == len(came) == (sent if restart else 0) + west.sent
    # on a busy machine the load may have been through before the output went
    assert taken <= len(came) <= total
    assert node.agent.stop() == 0


def test_one_moves(node):
    """Another server for one: the connections of the other stay, and both have every span."""
    pair, east = SinkPair(node), IdSink(node, free_port()).start()
    pair.start_agent(session=ROOMY)
    load, spans = start_load(node, 6, RATE)
    total = spans * WORKERS
    pair["west"].wait_for(RATE, 30)
    sections = Sections(node)
    for sink in (east, pair["west"], east):
        sections.output("output west", sink, type="http")
        sections.hang_up()
        time.sleep(1)
    assert load.wait(60) == 0
    ledgers = pair.wait_idle(total)
    for name in pair.names:
        assert (ledgers[name].taken, ledgers[name].sent, ledgers[name].dropped) == (total, total, 0)
    assert pair["default"].check(PROCESSES, THREADS, spans) == ledgers["default"].sent_again == 0
    moved = pair["west"].ids() + east.ids()
    assert moved.keys() == wanted_ids(PROCESSES, THREADS, spans)
    assert moved.total() - total <= ledgers["west"].sent_again
    assert pair["west"].count() > RATE and east.count() > RATE
    assert node.agent.log().count(f"output 127.0.0.1:{pair['default'].port}: connected") == 1
    assert "is removed" not in node.agent.log()
    assert node.agent.stop() == 0


def test_batches_of_one_change(node):
    """The others' stay; nothing is lost at the change."""
    pair = SinkPair(node)
    pair.start_agent(session=ROOMY, default={"batch_spans": 300})
    load, spans = start_load(node, 5, RATE)
    total = spans * WORKERS
    pair["west"].wait_for(RATE, 30)
    sections = Sections(node)
    for size in ("3", "5", "300"):
        sections.output("output west", pair["west"], type="http", batch_spans=size)
        sections.hang_up()
        time.sleep(0.7)
    assert load.wait(60) == 0
    ledgers = pair.wait_idle(total)
    for name in pair.names:
        assert (ledgers[name].taken, ledgers[name].sent, ledgers[name].dropped) == (total, total, 0)
        assert pair[name].check(PROCESSES, THREADS, spans) == 0
    sizes = pair["west"].batch_sizes()
    assert sizes.count(3) > 50 and sizes.count(5) > 50 and max(sizes) > 5
    assert pair["default"].batch_sizes().count(3) < 50
    assert node.agent.stop() == 0


def test_a_mistake_in_one_changes_nothing_at_any(node):
    """Whether the file says it, or it turns out when the output is made: all stay as they are, and deliver."""
    pair, east, total = SinkPair(node), IdSink(node, free_port()).start(), 3000
    pair.start_agent()
    good = Sections(node)
    pages = []
    for mistake in ({"servr": "a:1"}, {"tls": "yes", "tls-ca": "/nonexistent"}, {"batch_spans": "0"}):
        sections = Sections(node)
        sections.output("output west", east)  # another server, and type
        sections.keys["output"] += "batch-spans = 3\n"
        sections.output("output east", east, **mistake)
        sections.hang_up(REFUSED)
        assert "[output east]" in node.agent.log()
        pages.append(node.http_get("/metrics")[1])
    assert not any('output="east"' in page for page in pages)
    node.run([LOAD, "-n", total])
    ledgers = pair.wait_idle(total)
    for name in pair.names:
        assert (ledgers[name].sent, ledgers[name].sent_again) == (total, 0)
        assert pair[name].check(1, 1, total) == 0
    assert east.count() == 0 and 3 not in pair["default"].batch_sizes()
    assert node.agent.log().count(": connected") == 2
    assert not os.path.exists(node.path("state/spool-east.db"))
    good.hang_up()
    assert node.agent.stop() == 0


def test_all_go_and_come_back(node):
    """Without an output spans are made, and go nowhere; then they go where they should again."""
    pair = SinkPair(node)
    pair.start_agent()
    node.run([LOAD, "-n", 1000])
    pair.wait_idle(1000)
    sections = Sections(node)
    kept = dict(sections.keys)
    del sections.keys["output west"]
    sections.keys["output"] = "type = none\n"
    sections.hang_up()
    for name in pair.names:
        assert what_left(node, name)[0] == (1000, 1000, 0, 0)
    node.run([LOAD, "-n", 1000])
    wait_until(lambda: node.metrics()["blkin_agent_spans_total"] == 2000, 20, "1000 more to be read")
    sections.keys = kept
    sections.hang_up()
    node.run([LOAD, "-n", 500])
    ledgers = pair.wait_idle(2500)
    for name in pair.names:
        assert (ledgers[name].taken, ledgers[name].sent) == (1500, 1500)
        pair[name].wait_for(1500, 5)
        assert sorted(pair[name].ids().values()) == [1] * 500 + [2] * 500
    assert node.agent.stop() == 0


@pytest.mark.parametrize("spans", [1, 100])
@pytest.mark.parametrize("how", ["added", "again"])
def test_one_comes_while_all_is_idle(node, how, spans):
    """It has every span that is recorded after the reload: the first ones, too."""
    pair = SinkPair(node)
    pair.start_agent()
    node.run([LOAD, "-n", 10])
    pair.wait_idle(10)
    time.sleep(3)  # until the agent has nothing more to do at all
    sections, name, sink, had = Sections(node), "west", pair["west"], 10
    if how == "added":
        had = 0
        name, sink = "east", IdSink(node, free_port()).start()
        sections.output("output east", sink, type="http")
    else:
        mine = sections.keys.pop("output west")
        sections.hang_up()
        assert what_left(node, "west")[0] == (10, 10, 0, 0)
        sections.keys["output west"] = mine
    sections.hang_up()
    node.run([LOAD, "-P", 1, "-n", spans])
    pair["default"].wait_for(10 + spans, 20)
    ledger = node.wait_ledger(lambda ledger: ledger.sent + ledger.dropped >= had + spans, 10, "it to have them", name)
    assert (ledger.taken, ledger.sent, ledger.dropped) == (had + spans, had + spans, 0), str(ledger)
    assert sink.count() == had + spans
    assert {(1, 0, n) for n in range(spans)} <= sink.ids().keys()
    assert node.agent.stop() == 0


def test_a_stop_while_one_goes(node):
    """It has the time of the stop to deliver what it has, as those that stay."""
    pair, total = SinkPair(node), 2000
    pair.start_agent(west={"spool_size": "0"})
    pair["west"].put_off()
    node.run([LOAD, "-n", total])
    node.wait_ledger(lambda ledger: ledger.queued == total, 20, "spans to wait", "west")
    sections = Sections(node)
    del sections.keys["output west"]
    sections.hang_up()
    node.agent.send(signal.SIGTERM)
    wait_until(lambda: "stopping: " in node.agent.log(), 5, "the stop")
    time.sleep(0.5)
    pair["west"].recover()
    before = time.monotonic()
    assert node.agent.wait(20) == 0
    assert time.monotonic() - before < 4 * PATIENCE  # as soon as it is done
    assert what_left(node, "west")[0] == (total, total, 0, 0)
    assert pair["west"].check(1, 1, total) == 0


def test_one_goes_with_what_it_cannot_deliver(node):
    """While it is leaving the status and the metrics have it; what is dropped at its end stays in the ledger."""
    pair, total = SinkPair(node), 2000
    pair.start_agent(agent={"stop_timeout": "4s"}, west={"spool_size": "0"})
    pair["west"].put_off()
    node.run([LOAD, "-n", total])
    node.wait_ledger(lambda ledger: ledger.queued == total, 20, "spans to wait", "west")
    node.wait_ledger(lambda ledger: ledger.sent == total, 20, "the other's spans to be delivered")
    sections = Sections(node)
    mine = sections.keys.pop("output west")
    sections.hang_up()
    shown = {output["name"]: output for output in node.status()["outputs"]}
    assert (shown["default"]["leaving"], shown["west"]["leaving"]) == (False, True)
    assert (shown["west"]["spans"]["queued"], shown["default"]["spans"]["sent"]) == (total, total)
    assert node.metrics("west")['blkin_agent_spans{state="queued"}'] == total
    assert what_left(node, "west")[0] == (total, 0, 0, total)
    assert [output["name"] for output in node.status()["outputs"]] == ["default"]
    assert node.metrics()["blkin_agent_spans_dropped_with_output_total"] == total
    # back again, it begins with nothing
    sections.keys["output west"] = mine
    sections.hang_up()
    ledger = node.ledger("west")
    assert (ledger.taken, ledger.dropped) == (0, 0), str(ledger)
    assert node.metrics()["blkin_agent_spans_dropped_with_output_total"] == total
    assert node.agent.stop() == 0


def test_a_spool_that_no_output_has(node):
    """At a start, the log says once how many spans are where, and what to do; of an empty one there is nothing to say."""
    pair, total = SinkPair(node), 2000
    pair["west"].kill()
    pair.start_agent()
    node.run([LOAD, "-n", total])
    node.wait_ledger(lambda ledger: ledger.spooled == total, 20, "all to be stored", "west")
    assert node.agent.stop() == 0
    sections = Sections(node)
    mine = sections.keys.pop("output west")
    with open(sections.path, "w", encoding="utf-8") as file:
        file.write("".join(f"[{name}]\n{keys}" for name, keys in sections.keys.items()))
    node.start_agent_again()
    file = node.path("state/spool-west.db")
    said = f"{total} spans are in {file}, and no output delivers them: add [output west] and reload the agent to have them sent"
    wait_until(lambda: said in node.agent.log(), 5, "the agent to tell of the spool")
    assert "spool.db" not in node.agent.log()
    again = Sections(node)
    again.hang_up()
    # an output that has no spool delivers nothing of it either
    again.keys["output west"] = mine + "spool-size = 0\n"
    again.hang_up()
    assert node.agent.log().count(file) == 1
    assert node.agent.stop() == 0
