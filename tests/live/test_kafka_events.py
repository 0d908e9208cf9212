# SPDX-License-Identifier: BSD-2-Clause
"""Events and messages in a real Kafka, beside spans: the same ones as at every other output, each once."""

import collections
import glob
import json
import os
import subprocess

from expect import check_load
from rig.kafkatopic import Topic
from rig.load import LOAD
from rig.messages import MessageSink
from rig.messagesender import MessageSender
from rig.process import exactly, free_port
from test_events_live import WRAPPER
from test_input import wait_senders
from test_messages import LogSink

QUICK = {"retry-min": "50ms", "retry-max": "500ms"}


def settled(node, kind, name, count=1):
    """Waits until at least @count have come, and all are delivered; returns how many."""
    lane = node.wait_lane(kind, lambda one: one.taken >= count and one.idle(), 60, f"the {kind}", name)
    exactly((lane.sent, lane.dropped) == (lane.taken, 0), str(lane))
    return lane.sent


def lines_of(directory):
    found = []
    for path in glob.glob(f"{directory}/events-*.jsonl"):
        with open(path, encoding="utf-8", newline="\n") as file:
            found += file.read().split("\n")[:-1]
    return found


def test_a_real_program_at_every_output(node, receiver, kafka):
    """The calls of a program to the C library: at Scribe, in Kafka and in files the same texts, and as many log records."""
    sink = MessageSink(node, free_port()).start()
    topic = Topic(kafka, kafka.create(partitions=2), "events")
    os.mkdir(node.path("files"))
    with LogSink() as logs:
        outputs = {
            "output west": dict(QUICK, server=f"127.0.0.1:{sink.port}", takes="events"),
            "output kafka": {"type": "kafka", "brokers": kafka.bootstrap(), "events_topic": topic.name, "takes": "events"},
            "output files": {"type": "file", "directory": node.path("files"), "takes": "events"},
            "output logs": dict(QUICK, type="otlp", server=f"127.0.0.1:{logs.port}", takes="events"),
        }
        node.start_agent(receiver.port, events={"names": "lttng_ust_libc:*"}, **outputs)
        environment = dict(node.environment, LD_PRELOAD=WRAPPER, LTTNG_UST_REGISTER_TIMEOUT="-1")
        command = ["find", "/usr/share/doc", "-maxdepth", "2"]
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
        node.run([LOAD, "-n", 5000, "-r", 2000])  # behind them in time: once it is read, they are
        ledger = node.wait_ledger(lambda one: one.in_spans == 5000 and one.idle(), 60, "all to be read")
        count = settled(node, "events", "west")
        exactly(ledger.read == 5000 + ledger.json and ledger.lost == 0 and count == ledger.json > 1000, str(ledger))
        for name in ("kafka", "files", "logs"):
            exactly(settled(node, "events", name, count) == count, name)
        check_load(receiver.spans(), 1, 1, 5000)
        topic.wait_for(count)
        node.agent.stop()
        wanted = collections.Counter(payload.decode() for payload in sink.of(b"LTTng").elements())
        exactly(sum(wanted.values()) == count, "at Scribe")
        exactly(collections.Counter(value.decode() for _, _, value in topic.messages) == wanted, "in Kafka")
        exactly(collections.Counter(lines_of(node.path("files"))) == wanted, "in files")
        names = collections.Counter(json.loads(text)["event"] for text in wanted.elements())
        exactly(collections.Counter(record.event_name for _, record, _ in logs.spans) == names, "log records")
    topic.close()


def test_messages_by_category(node, receiver, kafka):
    """Each in the topic that its category names, or all in one with the category as the key; no byte is changed."""
    by_category = {category: Topic(kafka, kafka.create(), "messages") for category in ("app", "web")}
    together = Topic(kafka, kafka.create(partitions=3), "messages")
    port = free_port()
    keys = {"type": "kafka", "brokers": kafka.bootstrap(), "takes": "messages"}
    node.start_agent(
        receiver.port,
        input={"scribe": f"127.0.0.1:{port}"},
        **{"output each": keys, "output one": dict(keys, messages_topic=together.name)},
    )
    senders = {
        category: MessageSender(port, category, count=3000, category=topic.name.encode()) for category, topic in by_category.items()
    }
    for sender in senders.values():
        sender.start()
    wait_senders(list(senders.values()), 60)
    for name in ("each", "one"):
        exactly(settled(node, "messages", name, 6000) == 6000, name)
    found = collections.defaultdict(set)
    together.wait_for(6000)
    for _, key, value in together.messages:
        found[key.decode()].add(value)
    for category, topic in by_category.items():
        topic.wait_for(3000)
        exactly({value for _, _, value in topic.messages} == senders[category].wanted(), category)
        exactly(found[topic.name] == senders[category].wanted(), f"{category} in one topic")
        exactly(len(topic.messages) == 3000, "twice")
        topic.close()
    exactly(len(together.messages) == 6000 and len(found) == 2, "in one topic")
    together.close()


def test_broker_killed(node, receiver, kafka):
    """Events wait while the broker is away; spans are delivered meanwhile."""
    topic = Topic(kafka, kafka.create(), "events")
    keys = {"type": "kafka", "brokers": kafka.bootstrap(), "events_topic": topic.name, "takes": "events", "timeout": "5s"}
    node.start_agent(receiver.port, events={"names": "foreign:*"}, **{"output kafka": keys})
    foreign = "tests/live/programs/foreign"
    node.run([foreign, 500, 2000, 0])
    settled(node, "events", "kafka", 1000)
    kafka.brokers[0].kill()
    node.run([foreign, 500, 2000, 0])
    node.run([LOAD, "-n", 1000])
    receiver.wait_for(1000, 20)
    lane = node.lane("events", "kafka")
    exactly(lane.taken == 2000 and lane.sent == 1000 and lane.dropped == 0, str(lane))
    kafka.brokers[0].start()
    exactly(settled(node, "events", "kafka", 2000) == 2000, "events")
    topic.wait_for(2000)
    numbers = collections.Counter((one["event"], one["payload"]["number"]) for one in (json.loads(v) for _, _, v in topic.messages))
    exactly(set(numbers) == {(f"foreign:{name}", n) for name in ("tick", "whisper") for n in range(500)}, "ids")
    topic.close()
