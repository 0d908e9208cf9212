# SPDX-License-Identifier: BSD-2-Clause
"""Traces by babeltrace2's own writer, sink.ctf.fs, of events that a source in Python makes."""

import random
import sys

import bt2

EVENTS = 200
CASES = {}


def case(make):
    CASES[make.__name__] = make
    return make


class Iterator(bt2._UserMessageIterator):
    def __init__(self, config, port):
        self.messages = self._make(port.user_data)

    def _make(self, it):
        trace_class, stream_class, event_class, put = it
        stream = trace_class(name="made", environment={"hostname": "maker", "domain": "ust", "vpid": -3}).create_stream(stream_class)
        chance = random.Random(7)
        packet = stream.create_packet()
        yield self._create_stream_beginning_message(stream)
        yield self._create_packet_beginning_message(packet, 0)
        for number in range(EVENTS):
            message = self._create_event_message(event_class, packet, default_clock_snapshot=number * 1000)
            put(message.event, chance)
            yield message
        yield self._create_packet_end_message(packet, EVENTS * 1000)
        yield self._create_stream_end_message(stream)

    def __next__(self):
        return next(self.messages)


class Source(bt2._UserSourceComponent, message_iterator_class=Iterator):
    def __init__(self, config, params, obj):
        trace_class = self._create_trace_class()
        clock = self._create_clock_class(frequency=10**9, offset=bt2.ClockClassOffset(1700000000, 5))
        self._add_output_port("out", (trace_class, *CASES[str(params["case"])](trace_class, clock)))


def write(folder, name):
    graph = bt2.Graph()
    source = graph.add_component(Source, "source", params={"case": name})
    params = {"path": folder, "assume-single-trace": True}
    if not bt2.__version__.startswith("2.0."):
        params["ctf-version"] = "1.8"  # 2.0 knows no other, and not this word
    sink = graph.add_component(bt2.find_plugin("ctf").sink_component_classes["fs"], "sink", params=params)
    graph.connect_ports(source.output_ports["out"], sink.input_ports["in"])
    graph.run()


def stream_class(trace_class, clock, common=None):
    """With packets that say from when to when they are: 2.1 aborts on those without, its own sink's, too."""
    return trace_class.create_stream_class(
        default_clock_class=clock, event_common_context_field_class=common, supports_packets=True,
        packets_have_beginning_default_clock_snapshot=True, packets_have_end_default_clock_snapshot=True)


def event_class(stream_class, trace_class, fields, context=()):
    def structure(members):
        made = trace_class.create_structure_field_class()
        for name, field_class in members:
            made.append_member(name, field_class)
        return made

    return stream_class.create_event_class(
        name="made:event", log_level=bt2.EventClassLogLevel.NOTICE, payload_field_class=structure(fields),
        specific_context_field_class=structure(context) if context else None)


@case
def integers(tc, clock):
    stream = stream_class(tc, clock)
    sizes = [8, 16, 32, 64]  # others make it abort when they are mixed (2.0.4); ctfcases has them
    fields = [(f"u{n}", tc.create_unsigned_integer_field_class(n)) for n in sizes]
    fields += [(f"s{n}", tc.create_signed_integer_field_class(n)) for n in sizes]

    def put(event, chance):
        for n in sizes:
            event.payload_field[f"u{n}"] = chance.getrandbits(n)
            event.payload_field[f"s{n}"] = chance.getrandbits(n) - (1 << n - 1)

    return stream, event_class(stream, tc, fields), put


@case
def reals(tc, clock):
    stream = stream_class(tc, clock)
    fields = [("f", tc.create_single_precision_real_field_class()), ("d", tc.create_double_precision_real_field_class())]

    def put(event, chance):
        import struct

        event.payload_field["f"] = struct.unpack("=f", struct.pack("=I", chance.getrandbits(32)))[0]
        event.payload_field["d"] = struct.unpack("=d", struct.pack("=Q", chance.getrandbits(64)))[0]

    return stream, event_class(stream, tc, fields), put


@case
def texts(tc, clock):
    stream = stream_class(tc, clock)

    def put(event, chance):
        for name in "one", "two":
            size = chance.randrange(60)
            event.payload_field[name] = "".join(
                chr(chance.choice([chance.randrange(1, 128), chance.randrange(160, 0xD7FF), chance.randrange(0x10000, 0x110000)]))
                for _ in range(size))

    return stream, event_class(stream, tc, [(name, tc.create_string_field_class()) for name in ("one", "two")]), put


@case
def enumerations(tc, clock):
    stream = stream_class(tc, clock)
    unsigned, signed = tc.create_unsigned_enumeration_field_class(8), tc.create_signed_enumeration_field_class(64)
    for number in range(40):
        unsigned.add_mapping(f"label {number}", bt2.UnsignedIntegerRangeSet([(number * 5, number * 5 + 9)]))
        signed.add_mapping(f"Label{number}", bt2.SignedIntegerRangeSet([(-number * 2**57, -number * 2**57 + 2**58 - 1)]))

    def put(event, chance):
        event.payload_field["u"] = chance.getrandbits(8)
        event.payload_field["s"] = chance.getrandbits(64) - 2**63

    return stream, event_class(stream, tc, [("u", unsigned), ("s", signed)]), put


@case
def arrays(tc, clock):
    stream = stream_class(tc, clock)
    length = tc.create_unsigned_integer_field_class(16)
    pair = tc.create_structure_field_class()
    pair.append_member("name", tc.create_string_field_class())
    pair.append_member("values", tc.create_static_array_field_class(tc.create_signed_integer_field_class(13), 3))
    fields = [("n", length), ("list", tc.create_dynamic_array_field_class(pair, length)),
              ("own", tc.create_dynamic_array_field_class(tc.create_double_precision_real_field_class()))]

    def put(event, chance):
        count = chance.randrange(20)
        event.payload_field["n"] = count
        event.payload_field["list"].length = count
        for number, part in enumerate(event.payload_field["list"]):
            part["name"] = f"part {number}"
            for k in range(3):
                part["values"][k] = chance.randrange(-4096, 4096)
        event.payload_field["own"] = [chance.uniform(-1e9, 1e9) for _ in range(chance.randrange(9))]

    return stream, event_class(stream, tc, fields), put


@case
def variants(tc, clock):
    stream = stream_class(tc, clock)
    tag = tc.create_unsigned_enumeration_field_class(8)
    variant = tc.create_variant_field_class(tag)
    of = [("number", tc.create_signed_integer_field_class(32)), ("text", tc.create_string_field_class()),
          ("real", tc.create_double_precision_real_field_class())]
    for number, (name, field_class) in enumerate(of):
        ranges = bt2.UnsignedIntegerRangeSet([(number, number)])
        tag.add_mapping(name, ranges)
        variant.append_option(name, field_class, ranges)

    def put(event, chance):
        choice = chance.randrange(3)
        event.payload_field["tag"] = choice
        event.payload_field["v"].selected_option_index = choice
        event.payload_field["v"].value = [chance.getrandbits(31), f"text {choice}", chance.random()][choice]

    return stream, event_class(stream, tc, [("tag", tag), ("v", variant)]), put


@case
def contexts(tc, clock):
    common = tc.create_structure_field_class()
    for name in "vpid", "vtid":
        common.append_member(name, tc.create_signed_integer_field_class(32))
    common.append_member("procname", tc.create_string_field_class())
    stream = stream_class(tc, clock, common)
    one = event_class(stream, tc, [("n", tc.create_unsigned_integer_field_class(64))], [
        ("vpid", tc.create_unsigned_integer_field_class(8)), ("extra", tc.create_string_field_class())])

    def put(event, chance):
        event.common_context_field["vpid"] = chance.getrandbits(22)
        event.common_context_field["vtid"] = chance.getrandbits(22)
        event.common_context_field["procname"] = "made"
        event.specific_context_field["vpid"] = chance.getrandbits(8)
        event.specific_context_field["extra"] = "ü"
        event.payload_field["n"] = chance.getrandbits(64)

    return stream, one, put


@case
def structures(tc, clock):
    stream = stream_class(tc, clock)
    inner = tc.create_unsigned_integer_field_class(3)
    for depth in range(20):
        outer = tc.create_structure_field_class()
        outer.append_member(f"in{depth}", inner)
        outer.append_member("beside", tc.create_unsigned_integer_field_class(5))
        inner = outer

    def put(event, chance):
        field = event.payload_field["top"]
        for depth in reversed(range(20)):
            field["beside"] = depth
            if depth:
                field = field[f"in{depth}"]
        field["in0"] = chance.getrandbits(3)

    return stream, event_class(stream, tc, [("top", inner)]), put


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2])
