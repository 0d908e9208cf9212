# SPDX-License-Identifier: BSD-2-Clause
"""What `type = kafka` puts into a real broker: each span once, by every field, in each format; and who reads it there."""

import collections
import json
import re
import signal

from rig.kafkatopic import DECODE, Topic
from rig.load import LOAD
from rig.process import exactly, wait_until
from rig.zipkin import Zipkin
from test_json2 import by_id, converted, hexadecimal
from test_otlp import to_zipkin
from test_zipkin import check_sample

WIDE = "tests/live/programs/wide"
COMPRESSION = {"thrift": "zstd", "json2": "gzip", "otlp": "none"}
TO_ZIPKIN = {"thrift": converted, "json2": lambda span: span, "otlp": lambda found: to_zipkin(*found)}
TRACE_ID = {
    "thrift": lambda span: (hexadecimal(span.trace_id_high) if span.trace_id_high else "") + hexadecimal(span.trace_id),
    "json2": lambda span: span["traceId"],
    "otlp": lambda found: found[1].trace_id.hex().removeprefix("0" * 16),
}


def output(kafka, topic, listener="open", **keys):
    return dict({"type": "kafka", "brokers": kafka.bootstrap(listener), "topic": topic, "batch_delay": "50ms"}, **keys)


def texts(spans):
    """Spans of version 2, each as a text by its id: what is many spans in little memory."""
    return {key: json.dumps(span, sort_keys=True) for key, span in by_id(spans).items()}


def start_all(node, port, kafka, **keys):
    """An agent with an output of each format; the topics, by format."""
    topics = {format_: Topic(kafka, kafka.create(partitions=4), format_) for format_ in COMPRESSION}
    outputs = {
        f"output {format_}": output(kafka, topic.name, format=format_, compression=COMPRESSION[format_], **keys)
        for format_, topic in topics.items()
    }
    node.start_agent(port, session={"memory": "256M", "disk": "2G"}, **outputs)
    return topics


def test_every_field(node, receiver, kafka, run_classic, run_sample):
    """200,000 spans of the header, some of the classic calls and of the examples: at Scribe, and in Kafka in each format."""
    topics = start_all(node, receiver.port, kafka)
    run_classic(node, 20)
    run_sample(node, 20)
    node.run([LOAD, "-p", 4, "-n", 50000, "-r", 2500])
    receiver.wait_for(200000 + 60, 120)
    ledger = node.wait_ledger(lambda ledger: ledger.made >= 200000 + 60 and ledger.idle(), 60, "delivery")
    receiver.wait_for(ledger.made)
    old = texts(map(converted, receiver.spans()))
    exactly(len(old) == ledger.made, f"{len(old)} at Scribe, {ledger}")
    for format_, topic in topics.items():
        ledger = node.wait_ledger(lambda ledger: ledger.idle(), 120, "delivery", format_)
        assert (ledger.sent, ledger.sent_again, ledger.lost, ledger.dropped) == (len(old), 0, 0, 0), str(ledger)
        topic.wait_for(len(old))
        new = texts(map(TO_ZIPKIN[format_], topic.spans()))
        exactly((topic.count, new.keys()) == (len(old), old.keys()), f"not the same spans in {format_}")
        for key, span in new.items():
            assert span == old[key], format_
        assert {key for _, key, _ in topic.messages} == {None}
        assert len(topic.messages) < len(old) / 10, "a message is a batch"
        topic.close()


def test_a_trace_is_in_one_partition(node, receiver, kafka):
    topics = start_all(node, receiver.port, kafka, key="trace")
    node.run([LOAD, "-p", 2, "-n", 5000])
    node.run([WIDE, 100, 1])
    for format_, topic in topics.items():
        topic.wait_for(10200)
        node.wait_ledger(lambda ledger: (ledger.sent, ledger.dropped) == (10200, 0), 20, "delivery", format_)
        places = collections.defaultdict(set)
        sizes = collections.Counter()
        for partition, key, value in topic.messages:
            trace, *more = {TRACE_ID[format_](span) for span in DECODE[format_](value)}
            exactly(not more and key.decode() == trace, f"{key} is the key of {trace}, {more}")
            places[trace].add(partition)
        for span in topic.spans():
            sizes[TRACE_ID[format_](span)] += 1
        exactly({len(partitions) for partitions in places.values()} == {1}, "each is in one partition")
        assert set.union(*places.values()) == {0, 1, 2, 3}
        assert collections.Counter(sizes.values()) == {5: 2000, 2: 100}
        assert {len(trace) for trace in places} == {16, 32}
        topic.close()


def test_zipkin_behind_it(node, receiver, kafka, run_sample):
    """Zipkin's own Kafka collector takes both of its formats, and shows what Scribe would have brought."""
    topics = {"thrift": kafka.create(partitions=2), "json2": kafka.create()}
    names = ",".join(topics.values())
    zipkin = Zipkin(node, KAFKA_BOOTSTRAP_SERVERS=kafka.bootstrap().replace(" ", ""), KAFKA_TOPIC=names).start()
    for count, (format_, topic) in enumerate(topics.items(), 1):
        keys = output(kafka, topic, format=format_, compression=COMPRESSION[format_])
        node.start_agent(receiver.port, **{"output kafka": keys})
        port = run_sample(node, 3)
        node.run([LOAD, "-n", 1000])
        wait_until(lambda n=1015 * count: zipkin.collector_metrics("kafka").get("spans") == n, 30, "spans in Zipkin")
        assert node.agent.stop() == 0
        traces = [trace for trace in zipkin.traces("gateway") if port in map(port_of, trace)]
        exactly(len(traces) == 3, f"{len(traces)} traces in {format_}")
        for trace in traces:
            check_sample(trace, port)
    assert zipkin.collector_metrics("kafka")["messages_dropped"] == 0
    assert zipkin.span_count("load-0") == 2000


def port_of(span):
    return span.get("remoteEndpoint", {}).get("port")


def test_count_by_service(node, receiver, kafka, run_sample):
    """The example for those who read the topic themselves."""
    topic = kafka.create(partitions=3)
    node.start_agent(receiver.port, **{"output kafka": output(kafka, topic, format="json2")})
    command = ["/usr/bin/python3", "examples/kafka_count.py", kafka.bootstrap(), topic]
    example = node.start(command, name="kafka_count")
    run_sample(node, 10)
    node.run([LOAD, "-p", 2, "-n", 1000])
    counts = {"gateway": 20, "load-0": 1000, "load-1": 1000, "store": 30, "in all": 2050}

    def counted():
        return {service: int(count) for count, service in re.findall(r"^ *(\d+) (.*)$", example.log(), re.M)} == counts

    wait_until(counted, 60, f"the counts: {example.log()}", 0.5)
    example.send(signal.SIGTERM)  # SIGINT may be ignored, as by nohup
    assert example.wait() == -signal.SIGTERM
