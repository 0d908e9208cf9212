# SPDX-License-Identifier: BSD-2-Clause
"""Two outputs to two real Zipkins, one by Scribe and one by HTTP: both end up with the same traces."""

import time

import pytest
from rig.load import KEEP, LOAD
from rig.process import wait_until
from rig.zipkin import Zipkin
from test_zipkin_http import spans_of


@pytest.fixture
def zipkins(node):
    """By Scribe, and by HTTP."""
    pair = Zipkin(node), Zipkin(node)
    for zipkin in pair:
        zipkin.launch()
    return tuple(zipkin.wait_ready() for zipkin in pair)


def start_agent(node, zipkins, **sections):
    by_scribe, by_http = zipkins
    west = {"type": "http", "server": f"127.0.0.1:{by_http.http_port}", "retry-max": "500ms", "batch-delay": "50ms"}
    return node.start_agent(by_scribe.scribe_port, **{"output west": west}, **sections)


def check_same(zipkins, count):
    """Waits until each of them has @count spans of the load, and compares all that they have."""
    for zipkin in zipkins:
        wait_until(lambda z=zipkin: z.span_count("load-0", 100000) >= count, 30, f"{count} spans in Zipkin")
    one, other = map(spans_of, zipkins)
    assert one.keys() == other.keys()
    for key, span in one.items():
        assert other[key] == span
    ordinals = [int(span["tags"]["ordinal"]) for span in one.values() if span["localEndpoint"]["serviceName"] == "load-0"]
    assert sorted(ordinals) == list(range(count))
    return one


def test_the_same_traces_at_both(node, zipkins, run_sample, run_classic):
    start_agent(node, zipkins)
    run_sample(node, 3)
    run_classic(node, 2)
    node.run(["tests/live/programs/badspans"])
    node.run([LOAD, "-n", 2000])
    ledgers = [
        node.wait_ledger(lambda ledger: ledger.read >= 2000 and ledger.idle(), 30, "all to be sent", output)
        for output in ("default", "west")
    ]
    assert ledgers[0].sent == ledgers[1].sent == ledgers[0].made and ledgers[0].dropped == ledgers[1].dropped == 0
    spans = check_same(zipkins, 2000)
    services = {span["localEndpoint"]["serviceName"] for span in spans.values() if "localEndpoint" in span}
    assert {"load-0", "gateway", "store", "classic client", "classic server", "negative port"} <= services


@pytest.mark.parametrize("away", [0, 1])
def test_one_is_away_and_the_agent_killed(node, zipkins, away):
    """The other has all of it at once; then both have the same."""
    total, name, other = 16000, ("default", "west")[away], ("west", "default")[away]
    zipkins[away].program.kill()
    start_agent(node, zipkins, session=KEEP, spool={"replay_share": 100})
    load = node.start([node.built(LOAD), "-n", total, "-r", 2000])
    for _ in range(3):
        time.sleep(2)
        node.agent.kill()
        node.start_agent_again()
    node.wait_ledger(lambda ledger: ledger.spooled > 2000, 30, "spans to be stored", name)
    zipkins[away].start()
    assert load.wait(60) == 0
    for output in (other, name):
        ledger = node.wait_ledger(
            lambda ledger: ledger.read - ledger.again == total and ledger.idle(), 60, "all to be sent", output
        )
        assert (ledger.dropped, ledger.lost, ledger.packets_lost) == (0, 0, 0), str(ledger)
    check_same(zipkins, total)
