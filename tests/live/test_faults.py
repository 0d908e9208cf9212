# SPDX-License-Identifier: BSD-2-Clause
"""LTTng's daemons killed under load: the agent is collecting again by itself, and the program never notices."""

import time

from expect import check_span, end_load, key_of
from rig.load import LOAD
from rig.process import exactly, wait_until

BACK = 10  # seconds within which the agent must be collecting again


def start_load(node):
    """A program that records a thousand spans a second, until it is ended."""
    return node.start([node.built(LOAD), "-n", 10**6, "-r", 1000])


def fail(node, daemon, start):
    """Kills @daemon, starts it again after a while, and waits for spans that were recorded after that."""
    daemon.kill()
    wait_until(lambda: not node.collecting(), 10, "the agent to see that it collects no more")
    time.sleep(1)
    start()
    begun = time.monotonic()
    wait_until(node.collecting, BACK, "the agent to collect again")
    read = node.ledger().read
    node.wait_ledger(lambda ledger: ledger.read > read + 100, BACK - (time.monotonic() - begun), "new spans")


def check_end(node, receiver, load, times):
    time.sleep(2)
    ((_, spans),) = end_load(load).items()  # or the program noticed
    ledger = node.wait_ledger(lambda ledger: ledger.idle() and ledger.sent, 30, "everything to be sent")
    assert ledger.sessions == times + 1
    node.agent.stop()
    came = receiver.spans()
    for span in came:
        check_span(span, key_of(span))
    exactly(len(came) == len({key_of(span) for span in came}), "a span came twice")
    # what was recorded last came through, so the agent was collecting to the end
    assert max(key_of(span)[2] for span in came) == spans - 1
    log = node.agent.log()
    assert log.count("collecting again, after") == times
    assert log.count("not collecting: ") == times


def test_relayd_killed(node, receiver):
    node.start_agent(receiver.port)
    load = start_load(node)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "spans")
    fail(node, node.relayd, node.start_relayd)
    check_end(node, receiver, load, 1)


def test_sessiond_killed(node, receiver):
    node.start_agent(receiver.port)
    load = start_load(node)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "spans")
    fail(node, node.sessiond, node.start_sessiond)
    check_end(node, receiver, load, 1)


def test_relayd_then_sessiond_killed(node, receiver):
    node.start_agent(receiver.port)
    load = start_load(node)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 20, "spans")
    fail(node, node.relayd, node.start_relayd)
    fail(node, node.sessiond, node.start_sessiond)
    check_end(node, receiver, load, 2)


def test_daemons_come_after_the_agent(bare_node):
    from rig.process import free_port
    from rig.scribe import Receiver

    receiver = Receiver(bare_node, free_port()).start()
    agent = bare_node.start_agent(receiver.port, wait=False)
    agent.wait_ready(lambda: bare_node.http_get("/healthz")[0] == 200)
    assert bare_node.http_get("/readyz")[0] == 503
    wait_until(lambda: "no LTTng session daemon answers" in bare_node.http_get("/readyz")[1], BACK, "the first complaint")
    bare_node.start_sessiond()
    wait_until(lambda: "no LTTng relay daemon answers" in bare_node.http_get("/readyz")[1], BACK, "the next complaint")
    bare_node.start_relayd()
    wait_until(bare_node.collecting, BACK, "the agent to collect")
    bare_node.run([LOAD, "-n", 10])
    receiver.wait_for(10)
