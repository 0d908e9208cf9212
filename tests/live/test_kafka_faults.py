# SPDX-License-Identifier: BSD-2-Clause
"""What becomes of spans for Kafka when something fails there: the broker, its cluster, the topic, the size of messages."""

import collections
import json

import pytest
from rig.kafka import Kafka
from rig.kafkatopic import Topic
from rig.process import exactly, wait_until
from test_json2 import all_ordinals
from test_kafka import LOAD, WIDE, output

QUICK = {"format": "json2", "retry_max": "1s"}
ROOMY = {"memory": "256M", "disk": "2G"}
PROCESSES, SPANS = 4, 15000
TOTAL = PROCESSES * SPANS


def told(node, name="default"):
    """All that the status says of an output."""
    return json.dumps(next(output_ for output_ in node.status()["outputs"] if output_["name"] == name))


def start_load(node):
    """A load of ten seconds."""
    return node.start([node.built(LOAD), "-p", PROCESSES, "-n", SPANS, "-r", SPANS // 10])


def check_all(node, topic, load):
    """Each span of the load is there; some of them twice, but no more than the ledger says. Returns how many."""
    assert load.wait(120) == 0
    ledger = node.wait_ledger(lambda ledger: ledger.made == TOTAL and ledger.idle(), 120, "delivery")
    assert (ledger.lost, ledger.dropped, ledger.sent) == (0, 0, TOTAL), str(ledger)
    topic.wait_for(TOTAL)
    found = collections.Counter((span["tags"]["worker"], int(span["tags"]["ordinal"])) for span in topic.spans())
    exactly(sorted(found) == all_ordinals(PROCESSES, SPANS), f"{TOTAL - len(found)} are missing")
    again = topic.count - TOTAL
    print(f"{again} came twice, {ledger.sent_again} were sent again, {ledger.recovered} come from a spool of before")
    exactly(again <= ledger.sent_again, f"{again} came twice, {ledger.sent_again} were sent again")
    return again


@pytest.mark.parametrize("fault", ["kill", "hang"])
def test_broker_is_away(node, kafka, fault):
    """Killed, or silent for longer than `timeout`: spans wait in the spool, and all come when it is back."""
    topic = Topic(kafka, kafka.create(partitions=2), "json2")
    keys = output(kafka, topic.name, timeout="2s", **QUICK)
    node.start_agent(1, session=ROOMY, output=keys, spool={"replay_share": 100})
    load = start_load(node)
    topic.wait_for(5000)
    getattr(kafka.brokers[0], fault)()
    wait_until(lambda: node.ledger().spooled > 10000, 60, "spans to be in the spool")
    assert not node.status()["outputs"][0]["delivering"]
    kafka.mend()
    check_all(node, topic, load)
    assert node.status()["outputs"][0]["delivering"]


def test_stop_while_it_is_away(node, kafka):
    """What had not been delivered is on disk when the agent ends, and the next one sends it."""
    topic = Topic(kafka, kafka.create(), "json2")
    node.start_agent(1, output=output(kafka, topic.name, timeout="2s", **QUICK))
    kafka.brokers[0].kill()
    node.run([LOAD, "-p", 2, "-n", 2000])
    node.wait_ledger(lambda ledger: ledger.made == 4000, 30, "all spans to be read")
    assert node.agent.stop() == 0
    kafka.mend()
    node.start_agent_again()
    ledger = node.wait_ledger(lambda ledger: ledger.sent >= 4000 and ledger.idle(), 60, "delivery")
    assert (ledger.taken, ledger.recovered, ledger.dropped, ledger.lost) == (4000, 0, 0, 0)
    topic.wait_for(4000)
    found = sorted((span["tags"]["worker"], int(span["tags"]["ordinal"])) for span in topic.spans())
    exactly(sorted(set(found)) == all_ordinals(2, 2000), "all are there")
    exactly(len(found) - 4000 <= ledger.sent_again, f"{len(found)} came")


def test_topic_is_missing(node, kafka):
    """The spans wait, the reason is told with the topic's name, and nothing has to be done but to create it."""
    name = "created-late"
    node.start_agent(1, output=output(kafka, name, **QUICK))
    node.run([LOAD, "-n", 1000])
    wait_until(lambda: name in told(node), 30, "the reason to be told")
    topic = Topic(kafka, kafka.create(name), "json2")
    topic.wait_for(1000)
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 30, "delivery")
    assert (topic.count, ledger.sent, ledger.dropped) == (1000, 1000, 0)


@pytest.mark.parametrize("key", ["none", "trace"])
def test_messages_too_large(node, kafka, key):
    """For the topic, which is the broker's to say: they come in parts; and a span that is too large alone is refused."""
    topic = Topic(kafka, kafka.create(max_message_bytes=60000), "json2")
    node.start_agent(1, output=output(kafka, topic.name, compression="none", key=key, **QUICK))
    node.run([WIDE, 100, 20])
    node.run([WIDE, 1, 160])
    node.run([WIDE, 100, 20])
    ledger = node.wait_ledger(lambda ledger: ledger.made == 402 and ledger.idle(), 60, "delivery")
    assert (ledger.sent, ledger.dropped, ledger.dropped_for("refused")) == (400, 2, 2), str(ledger)
    topic.wait_for(400)
    ids = collections.Counter(span["id"] for span in topic.spans())
    exactly((topic.count, len(ids)) == (400, 400), f"{topic.count} came, {len(ids)} different")
    assert max(len(value) for _, _, value in topic.messages) > 10000
    assert "refuse" in node.agent.log()


@pytest.fixture
def three(bare_node):
    with Kafka(bare_node, 3) as cluster:
        yield cluster


def test_leader_moves(node, three):
    """Three brokers under load: the leader goes in order, leads again, and is killed. Nothing is lost."""
    topic = Topic(three, three.create(replication=3), "json2")
    node.start_agent(1, session=ROOMY, output=output(three, topic.name, timeout="10s", **QUICK))
    load = start_load(node)
    topic.wait_for(3000)
    first = three.leader(topic.name)
    first.stop()
    wait_until(lambda: three.leader(topic.name) is not first, 30, "another leader")
    topic.wait_for(topic.count + 1000)
    first.launch()
    wait_until(lambda: three.leader(topic.name) is first, 60, "the first leader to lead again", 0.2)
    topic.wait_for(min(topic.count + 1000, TOTAL))
    first.kill()
    check_all(node, topic, load)
