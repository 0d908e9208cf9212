# SPDX-License-Identifier: BSD-2-Clause
"""
Collectors that are slow, put off, refuse, break off or fall silent, one after the other or all at once: every id arrives
once, or is counted. Among them what the classic Scribe server's own tests do to its clients.
"""

import itertools
import random
import threading
import time

import pytest
from expect import check_load, key_of
from rig.load import LOAD
from rig.moody import CLOSE, EXCEPTION, GARBAGE, HALF, LATER, OK, SILENT, Moody
from rig.process import PATIENCE, exactly, wait_until
from rig.scribe import decode

QUICK = {"timeout": "500ms", "retry_min": "20ms", "retry_max": "100ms", "batch_delay": "20ms"}


def start(node, server, **output):
    node.start_agent(server.port, output=dict(QUICK, **output))


def finish(node, total, seconds=60):
    """Waits until all @total spans are sent, or counted as dropped; returns the ledger."""
    ledger = node.wait_ledger(
        lambda ledger: ledger.read == total and ledger.idle() and not ledger.spooled, seconds, f"{total} spans"
    )
    assert ledger.lost == 0 and ledger.spans == total == ledger.sent + ledger.dropped
    return ledger


def check_ids(server, ledger, total, missing=()):
    """All but the @missing arrived, and no more often than the agent says that they may have."""
    ids = [key_of(span)[2] for span in server.spans()]
    exactly(set(ids) == set(range(total)) - set(missing), f"{len(set(ids))} of {total} spans came")
    assert len(ids) - len(set(ids)) <= ledger.sent_again


def errors(node, kind):
    return int(node.metrics()[f'blkin_agent_output_errors_total{{kind="{kind}"}}'])


def every(n, word):
    """OK, but for every nth call."""
    calls = itertools.count(1)
    return lambda messages: word if next(calls) % n == 0 else OK


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "classic header"])
def test_slow(node, strict):
    """A tenth of a second for each answer: pipelined, nothing times out, and nothing is sent twice."""
    with Moody(node) as server:
        server.delay, server.strict = 0.1, strict
        start(node, server)
        node.run([LOAD, "-n", 10000])
        ledger = finish(node, 10000)
        assert (ledger.sent, ledger.sent_again, server.connections) == (10000, 0, 1)
        check_load(server.spans(), 1, 1, 10000)
        node.agent.stop()


@pytest.mark.parametrize(
    "word, kind", [(LATER, "try_later"), (CLOSE, "closed"), (HALF, "closed"), (GARBAGE, "protocol"), (SILENT, "timeout")]
)
def test_every_fifth_call(node, word, kind):
    with Moody(node, every(5, word)) as server:
        start(node, server, batch_spans=50)
        node.run([LOAD, "-n", 3000, "-r", 3000])
        ledger = finish(node, 3000)
        assert ledger.dropped == 0 and errors(node, kind) >= 5
        check_ids(server, ledger, 3000)
        node.agent.stop()


def test_try_later_for_ever(node):
    """Nothing is lost, nothing arrives, the server is asked seldom; and all comes when it takes spans at last."""
    with Moody(node, lambda messages: LATER) as server:
        start(node, server)
        node.run([LOAD, "-n", 5000, "-r", 2000])
        wait_until(lambda: errors(node, "try_later") > 5, 10, "to be put off")
        calls, begin = server.calls, time.monotonic()
        time.sleep(2)
        assert server.calls - calls <= (time.monotonic() - begin) / 0.02 and server.connections == 1
        ledger = node.wait_ledger(lambda ledger: ledger.read == 5000, 20, "5000 spans")
        assert (ledger.sent, ledger.dropped, ledger.queued + ledger.spooled) == (0, 0, 5000)
        assert node.agent.log().count("the server asks to try later") == 1
        server.mood = lambda messages: OK
        ledger = finish(node, 5000)
        assert (ledger.sent, ledger.sent_again) == (5000, 0)
        check_load(server.spans(), 1, 1, 5000)
        node.agent.stop()


def bad_span(messages):
    """One span in 200 is bad, and fails the call that brings it."""
    return EXCEPTION if any(key_of(decode(message))[2] % 200 == 77 for message in messages) else OK


def test_exception_for_one_span_in_200(node):
    total = 10000
    bad = range(77, total, 200)
    with Moody(node, bad_span) as server:
        start(node, server)
        node.run([LOAD, "-n", total])
        ledger = finish(node, total)
        assert ledger.dropped == ledger.dropped_for("refused") == len(bad)
        assert ledger.sent_again == 0 and server.connections == 1
        check_ids(server, ledger, total, bad)
        # a bad span costs no more than two calls for each halving of its batch of 500
        assert errors(node, "refused") <= len(bad) * 10 and server.calls <= total / 10 + len(bad) * 20
        node.agent.stop()


def test_exception_for_everything(node):
    """A server that takes nothing from us, as with a name it does not like: no span is given up for that."""
    with Moody(node, lambda messages: EXCEPTION) as server:
        start(node, server)
        node.run([LOAD, "-n", 3000])
        wait_until(lambda: "the server refuses everything" in node.agent.log(), 20, "the agent to see it")
        time.sleep(1)
        ledger = node.wait_ledger(lambda ledger: ledger.read == 3000, 20, "3000 spans")
        assert (ledger.sent, ledger.dropped, ledger.queued + ledger.spooled) == (0, 0, 3000)
        assert node.agent.log().count("the server refuses everything") == 1
        server.mood = lambda messages: OK
        assert finish(node, 3000).sent == 3000
        check_load(server.spans(), 1, 1, 3000)
        node.agent.stop()


def test_all_moods_at_random(node):
    words = [OK] * 20 + [LATER, EXCEPTION, SILENT, CLOSE, HALF, GARBAGE]
    choose = random.Random(1).choice
    with Moody(node, lambda messages: choose(words)) as server:
        start(node, server, batch_spans=50)
        node.run([LOAD, "-p", 2, "-n", 5000, "-r", 1000])
        ledger = finish(node, 10000, 120)
        assert ledger.dropped == ledger.dropped_for("refused")
        keys = [key_of(span)[:3:2] for span in server.spans()]
        # an exception comes by chance, so that a span that is refused alone was not bad, and may even have arrived
        # when an answer was missing: but it is counted
        assert 10000 - ledger.dropped <= len(set(keys)) <= 10000
        assert len(keys) - len(set(keys)) <= ledger.sent_again
        node.agent.stop()


# The classic Scribe server's own


def test_server_restarted_under_load(node):
    total = 20000
    with Moody(node) as server:
        start(node, server)
        load = node.start([node.built(LOAD), "-n", total, "-r", 5000])
        for _ in range(4):
            time.sleep(0.6)
            server.stop()
            time.sleep(0.3)
            server.start()
        assert load.wait() == 0
        ledger = finish(node, total)
        assert ledger.sent == total
        check_ids(server, ledger, total)
        node.agent.stop()


def test_throttled(node):
    """So many messages a second, and TRY_LATER beyond them."""
    window = {"second": 0, "messages": 0}
    lock = threading.Lock()

    def throttle(messages):
        with lock:
            if int(time.monotonic() * 5) != window["second"]:
                window.update(second=int(time.monotonic() * 5), messages=0)
            window["messages"] += len(messages)
            return OK if window["messages"] <= 400 else LATER

    with Moody(node, throttle) as server:
        start(node, server, batch_spans=100)
        node.run([LOAD, "-n", 6000])
        ledger = finish(node, 6000)
        assert (ledger.sent, ledger.sent_again) == (6000, 0) and errors(node, "try_later") > 5
        check_load(server.spans(), 1, 1, 6000)
        node.agent.stop()


def test_many_senders(node):
    """Eight at once, of the same spans: all arrive from each."""
    folder = node.path("trace")
    for words in (
        ("create", "disk", "-o", folder),
        ("enable-event", "-u", "-a"),
        ("start",),
    ):
        node.lttng(*words)
    node.run([LOAD, "-n", 2000, "-r", 2000])
    node.lttng("destroy")
    with Moody(node) as server:
        command = [node.built("cli/blkin"), "import", "--server", f"127.0.0.1:{server.port}", folder]
        senders = [node.start(command) for _ in range(8)]
        assert [sender.wait() for sender in senders] == [0] * 8
        ids = [key_of(span)[2] for span in server.spans()]
        assert sorted(ids) == sorted(list(range(2000)) * 8)
        assert server.connections == 8


# Two of them


def test_second_takes_over_and_first_comes_back(node):
    total = 20000
    with Moody(node) as first, Moody(node) as second:
        node.start_agent(
            first.port,
            output=dict(QUICK, server=f"127.0.0.1:{first.port}, 127.0.0.1:{second.port}", return_interval="500ms"),
        )
        load = node.start([node.built(LOAD), "-n", total, "-r", 4000])
        first.wait_for(2000)
        first.stop()
        begin = time.monotonic()
        second.wait_for(2000)
        assert time.monotonic() - begin < 3 * PATIENCE
        servers = node.status()["servers"]
        assert [server["serving"] for server in servers] == [False, True] and servers[1]["up"]
        taken = len(first.taken)
        first.start()
        first.wait_for(taken + 2000)
        assert load.wait() == 0
        ledger = finish(node, total)
        assert ledger.sent == total
        ids = [key_of(span)[2] for span in first.spans() + second.spans()]
        assert set(ids) == set(range(total)) and len(ids) - total <= ledger.sent_again
        assert node.status()["servers"][0]["serving"]
        node.agent.stop()


def test_rate_is_capped(node):
    """Three seconds' worth of spans at the rate that is allowed takes three seconds."""
    with Moody(node) as server:
        start(node, server, rate_limit="256K", batch_size="32K")
        node.run([LOAD, "-n", 2000])
        begin = time.monotonic()
        finish(node, 2000)
        took = time.monotonic() - begin
        size = sum(len(message) + 30 for message in server.taken)
        # a call's worth goes ahead, and some of it went while the load ran
        assert took >= size / (256 * 1024) - 1.5 and size > 3 * 256 * 1024
        assert errors(node, "timeout") == 0
        check_load(server.spans(), 1, 1, 2000)
        node.agent.stop()
