#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""
BlkKin as it was in 2014, in its manner: a Python loop over babeltrace's events, which makes a Zipkin span of each, and sends
each to Scribe by a call of its own.

    old.py GENERATED PORT TRACE     GENERATED: the folder with Thrift's Python code of proto/

It has what makes it faster today: babeltrace2, and Thrift's accelerated protocol. Prints how many events it sent.
"""

import base64
import socket
import struct
import sys

import bt2


def signed(port):
    return port - 65536 if port > 32767 else port


def make_span(core, event):
    """One annotation, or one tag, is a span of its own, which Zipkin puts together with its others."""
    fields = event.payload_field
    address = struct.unpack("!i", socket.inet_aton(str(fields["ip"])))[0]
    host = core.Endpoint(ipv4=address, port=signed(int(fields["port_no"])), service_name=str(fields["service_name"]))
    span = core.Span(
        trace_id=int(fields["trace_id"]),
        name=str(fields["trace_name"]),
        id=int(fields["span_id"]),
        parent_id=int(fields["parent_span_id"]) or None,
        annotations=[],
        binary_annotations=[],
    )
    kind = event.name.partition(":")[2]
    if kind == "timestamp":
        span.annotations.append(core.Annotation(timestamp=0, value=str(fields["event"]), host=host))
        return span
    value = str(fields["val"]).encode()
    tag = core.BinaryAnnotation(
        key=str(fields["key"]), value=value, annotation_type=core.AnnotationType.STRING, host=host
    )
    span.binary_annotations.append(tag)
    return span


def main():
    generated, port, trace = sys.argv[1:]
    sys.path.insert(0, generated)
    from scribe import Scribe
    from scribe.ttypes import LogEntry
    from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
    from thrift.transport.TSocket import TSocket
    from thrift.transport.TTransport import TFramedTransport, TMemoryBuffer
    from zipkincore import ttypes as core

    transport = TFramedTransport(TSocket("127.0.0.1", int(port)))
    transport.open()
    scribe = Scribe.Client(TBinaryProtocolAccelerated(transport))
    count = 0
    for message in bt2.TraceCollectionMessageIterator(trace):
        if type(message) is not bt2._EventMessageConst:
            continue
        span = make_span(core, message.event)
        if span.annotations:
            span.annotations[0].timestamp = message.default_clock_snapshot.ns_from_origin // 1000
        memory = TMemoryBuffer()
        span.write(TBinaryProtocolAccelerated(memory))
        scribe.Log([LogEntry("zipkin", base64.b64encode(memory.getvalue()).decode())])
        count += 1
    print(count)


if __name__ == "__main__":
    main()
