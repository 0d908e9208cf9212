# SPDX-License-Identifier: BSD-2-Clause
"""What is in a topic of Kafka: its messages, from the first one, and the spans in them."""

import json
import struct

from .otlpsink import attributes, messages
from .process import Trouble, exactly, wait_until
from .scribe import generated

STRUCT = 12  # TBinary's type


def decode_thrift(value):
    """A list of version 1, by generated code."""
    from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated  # noqa: PLC0415
    from thrift.transport.TTransport import TMemoryBuffer  # noqa: PLC0415
    from zipkincore.ttypes import Span  # noqa: PLC0415 it is there only once it is generated

    buffer = TMemoryBuffer(value)
    protocol = TBinaryProtocolAccelerated(buffer)
    kind, count = struct.unpack("!Bi", buffer.read(5))
    exactly(kind == STRUCT, "no list of structs")
    for _ in range(count):
        span = Span()
        span.read(protocol)
        yield span
    exactly(not buffer.cstringio_buf.read(1), "bytes behind the list")


def decode_otlp(value):
    """(resource, span, attributes) of each."""
    for group in messages().ExportTraceServiceRequest.FromString(value).resource_spans:
        resource = attributes(group.resource.attributes)
        for scope in group.scope_spans:
            for span in scope.spans:
                yield resource, span, attributes(span.attributes)


DECODE = {"thrift": decode_thrift, "json2": json.loads, "otlp": decode_otlp}
# much quicker than to decode them; a quote within a text of JSON has a backslash before it
COUNT = {
    "thrift": lambda value: struct.unpack("!Bi", value[:5])[1],
    "json2": lambda value: value.count(b'"traceId":"'),
    "otlp": lambda value: sum(1 for _ in decode_otlp(value)),
    "events": lambda value: 1,
    "messages": lambda value: 1,
}


class Topic:
    """Reads a topic, by a consumer that belongs to no group."""

    def __init__(self, kafka, name, format="thrift"):  # noqa: A002
        from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition  # noqa: PLC0415

        generated()
        self.name = name
        self.format = format
        self.messages = []  # (partition, key, value)
        self.count = 0
        self.consumer = Consumer(kafka.client(**{"group.id": "tests", "enable.auto.commit": False, "check.crcs": True}))
        # a broker may hear of a topic later than another
        partitions = wait_until(lambda: self.consumer.list_topics(name, timeout=20).topics[name].partitions, 20, name)
        self.consumer.assign([TopicPartition(name, partition, OFFSET_BEGINNING) for partition in partitions])

    def read(self):
        """Reads what came since; returns how many spans there are in all."""
        full = True
        while full:
            found = self.consumer.consume(1000, timeout=0.2)
            full = len(found) == 1000
            for message in found:
                if not message.error():  # which are those of connections: they come back
                    self.messages.append((message.partition(), message.key(), message.value()))
                    self.count += COUNT[self.format](message.value())
        return self.count

    def wait_for(self, count, seconds=60):
        try:
            wait_until(lambda: self.read() >= count, seconds, f"{count} spans in topic {self.name}", 0.2)
        except Trouble as trouble:
            raise Trouble(f"{trouble}: {self.count} are there") from None

    def spans(self):
        """One after the other, decoded."""
        for _, _, value in self.messages:
            yield from DECODE[self.format](value)

    def close(self):
        self.consumer.close()
