# SPDX-License-Identifier: BSD-2-Clause
"""An agent that starts, or has another configuration, while much waits for it, and more comes."""

from rig.load import KEEP, LOAD
from rig.lttng import rules_of
from rig.node import sanitized, written
from rig.process import wait_until
from test_events_session import FOREIGN, TICKS, of

# what this build takes some seconds for
MANY = 50_000 if sanitized() else 500_000
ENOUGH = 10**9


def restart(node, receiver, events, **session):
    node.write_config(receiver.port, session=dict(KEEP, **session), events=events)
    return node.start_agent_again(wait=False)


def test_rules_come_first(node, receiver):
    """What is recorded from now on is what the new configuration says, before the reader has read what there is."""
    room = {"memory": "64M", "disk": "1G"}
    node.start_agent(receiver.port, session=dict(KEEP, **room), events=TICKS)
    node.agent.stop()
    node.run([FOREIGN, MANY, 0])
    restart(node, receiver, {"names": "foreign:tick"}, **room)
    wait_until(lambda: rules_of(node, "blkin").items() >= {("foreign:*", False), ("foreign:tick", True)}, 60, "the new rules")
    assert of(node.ledger()) < 2 * MANY, "all that there was is read already"
    node.run([FOREIGN, 10, 0, MANY])
    node.run([LOAD, "-n", 10])
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 10 and of(ledger) + ledger.lost >= 2 * MANY + 10, 120, "all")
    assert (of(ledger) + ledger.lost, ledger.sessions) == (2 * MANY + 10, 1)
    assert node.metrics()["blkin_agent_sessions_mended_total"] == 0


def test_flood_ends_no_catching_up(node, receiver):
    """More is recorded than can be read, for ever: the session is read live all the same."""
    room = {"memory": "64M", "disk": "128M"}
    node.start_agent(receiver.port, session=dict(KEEP, **room), events=TICKS)
    node.agent.stop()
    floods = [node.start([node.built(FOREIGN), ENOUGH, 0]) for _ in range(2)]
    node.wait_for(lambda: sum(size for _, size, _ in written(node.path("relay"))) > 32 * 2**20, 30, "much to be there")
    restart(node, receiver, TICKS, **room)
    node.agent.wait_ready(node.collecting, 60)
    for flood in floods:
        flood.kill()
