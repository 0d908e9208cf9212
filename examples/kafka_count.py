#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""
Counts spans by service, from a topic of Kafka that an output with `type = kafka` and `format = json2` fills.

    kafka_count.py BROKERS TOPIC

Prints the counts each time it has read all there is, until Ctrl-C. It starts with the oldest message. Several of them share the
topic's partitions, as they are of one group. Needs Debian's python3-confluent-kafka.
"""

import collections
import json
import sys

try:
    from confluent_kafka import Consumer
except ModuleNotFoundError:
    sys.exit("kafka_count.py: the module confluent_kafka is missing: install python3-confluent-kafka")


def show(spans):
    for service, count in sorted(spans.items()):
        print(f"{count:9} {service}")
    print(f"{sum(spans.values()):9} in all", flush=True)


def main(brokers, topic):
    settings = {"bootstrap.servers": brokers, "group.id": "span-count"}
    consumer = Consumer(settings | {"auto.offset.reset": "earliest", "enable.auto.commit": False})
    consumer.subscribe([topic])
    spans = collections.Counter()
    shown = 0
    while True:
        message = consumer.poll(1)
        if message is None:
            if shown != spans.total():
                show(spans)
                shown = spans.total()
        elif message.error():
            print(message.error(), file=sys.stderr)
        else:
            # a message is a list of spans, as Zipkin's API takes it
            for span in json.loads(message.value()):
                spans[span.get("localEndpoint", {}).get("serviceName", "(no name)")] += 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        pass
