# SPDX-License-Identifier: BSD-2-Clause
"""
Several outputs over the agent's death and restart, while one of them comes and goes: every span is at each of them.

BLKIN_KILLS says how often it is killed; BLKIN_SEED repeats a run.
"""

import os
import random
import time

import pytest
from expect import check_load
from rig.idsink import SinkPair
from rig.load import KEEP, LOAD
from rig.node import paced
from rig.process import PATIENCE, free_port
from rig.scribe import Receiver
from test_import import recording, run_import  # noqa: F401
from test_kill import BOUND, KILLS
from test_outputs import PROCESSES, QUICK_SPOOL, ROOMY, THREADS, WORKERS, start_load

KEPT = dict(ROOMY, **KEEP)
RATE = paced(10000, 4000)


def toggle(sink, rng):
    """Away, or back: killed, or busy, as it comes."""
    if not sink.program.running():
        sink.recover()
    elif rng.random() < 0.5:
        sink.kill()
    else:
        rng.choice([sink.put_off, sink.recover])()


def check_both(pair, ledgers, total, spans):
    """Every id is at both; returns how many came more than once at each."""
    again = {}
    for name in pair.names:
        ledger = ledgers[name]
        assert (ledger.lost, ledger.packets_lost, ledger.sessions_lost) == (0, 0, 0), str(ledger)
        assert (ledger.read - ledger.again, ledger.dropped) == (total, 0), str(ledger)
        assert ledger.taken + ledger.recovered == ledger.sent, str(ledger)
        again[name] = pair[name].check(PROCESSES, THREADS, spans)
    return again


@pytest.mark.parametrize("name", SinkPair.names)
def test_killed_while_one_output_comes_and_goes(node, name):
    seed = int(os.environ.get("BLKIN_SEED", time.time_ns()))
    print(f"BLKIN_SEED={seed}")
    rng, pair = random.Random(seed), SinkPair(node)
    pair.start_agent(session=KEPT, spool=QUICK_SPOOL)
    load, spans = start_load(node, 4 * KILLS, RATE)
    total = spans * WORKERS
    for _ in range(KILLS):
        time.sleep(rng.choice([rng.uniform(0, 0.3), rng.uniform(0.3, 3)]))
        if rng.random() < 0.6:
            toggle(pair[name], rng)
        node.agent.kill()
        time.sleep(rng.choice([0, rng.uniform(0, 1)]))
        node.start_agent_again(wait=False)
    pair[name].recover()
    node.agent.wait_ready(node.collecting)
    assert load.wait(120) == 0
    ledgers = pair.wait_idle(total, 120)
    again = check_both(pair, ledgers, total, spans)
    print(f"{KILLS} kills, {total} spans: came again {again}, {ledgers[name].again} read again")
    assert max(again.values()) <= KILLS * RATE * BOUND


@pytest.mark.parametrize("name", SinkPair.names)
def test_restarted_while_one_output_is_away(node, name):
    """SIGTERM, and a new start, again and again: each span is at both, and none twice."""
    pair = SinkPair(node)
    pair.start_agent(session=KEPT, spool=QUICK_SPOOL, agent={"stop_timeout": "1s"})
    load, spans = start_load(node, 20 * PATIENCE, RATE)  # longer than five restarts take
    total = spans * WORKERS
    pair[name].wait_for(RATE, 30)
    for away in (False, True, True, False, True):
        if away:
            pair[name].put_off()
        else:
            pair[name].recover()
        time.sleep(random.uniform(0.3, 1.5))
        assert node.agent.stop() == 0
        said = node.agent.log()
        assert not away or f"output {name}: " in said and "spans are in the spool: the next start delivers them" in said, said
        assert "not delivered" not in said
        time.sleep(random.uniform(0, 0.5))
        node.start_agent_again()
    pair[name].recover()
    assert load.running(), "the load ended too early"
    assert load.wait(60) == 0
    ledgers = pair.wait_idle(total)
    assert check_both(pair, ledgers, total, spans) == {"default": 0, "west": 0}
    for ledger in ledgers.values():
        assert (ledger.read, ledger.again, ledger.sessions, ledger.made) == (total, 0, 1, total), str(ledger)
        assert (ledger.taken, ledger.recovered) == (total, 0), str(ledger)


def test_away_without_a_spool_at_a_stop(node):
    """What one output did not take is read again, for it: the other one gets it a second time, and nothing is lost."""
    pair, total = SinkPair(node), 5000
    pair.start_agent(session=KEPT, agent={"stop_timeout": "500ms"}, west={"spool_size": "0"})
    pair["west"].put_off()
    node.run([LOAD, "-n", total])
    node.wait_ledger(lambda ledger: ledger.sent == total, 20, "all to be at one of them")
    assert node.agent.stop() == 0
    assert f"output west: {total} spans are not delivered yet: the next start reads them again" in node.agent.log()
    pair["west"].recover()
    node.start_agent_again()
    ledger = node.wait_ledger(lambda ledger: ledger.sent == total, 20, "all to be at the other", "west")
    assert (ledger.read, ledger.again, ledger.taken, ledger.dropped) == (2 * total, total, total, 0), str(ledger)
    assert pair["west"].check(1, 1, total) == 0
    pair["default"].wait_for(2 * total, 20)
    assert set(pair["default"].ids().values()) == {2}


def test_import_to_two_outputs(node, recording):  # noqa: F811
    """`blkin import` delivers to every output of the configuration, and says how many spans each has."""
    first, second = Receiver(node, free_port()).start(), Receiver(node, free_port()).start()
    path = node.write_config(
        first.port, **{"output east": {"server": f"127.0.0.1:{second.port}", "batch_spans": 33}}
    )
    done = run_import(node, "--config", path, recording)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
    assert done.stdout.count("20000 spans: 20000 sent, 0 refused, 0 too large, 0 not sent") == 2
    assert "east" in done.stdout
    for receiver in (first, second):
        receiver.wait_for(20000, 5)
        check_load(receiver.spans(), 2, 1, 10000)
