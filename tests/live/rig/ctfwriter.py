# SPDX-License-Identifier: BSD-2-Clause
"""CTF 1.8 by hand: metadata and packets in either byte order, bit by bit, as no tracer at hand writes them."""

import os
import struct

MAGIC = 0xC1FC1FC1
ORDERS = {"le": "<", "be": ">"}

METADATA = """/* CTF 1.8 */
typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;
typealias integer {{ size = 16; align = 8; signed = false; }} := uint16_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
typealias integer {{ size = 8; align = 8; signed = true; }} := int8_t;
typealias integer {{ size = 16; align = 8; signed = true; }} := int16_t;
typealias integer {{ size = 32; align = 8; signed = true; }} := int32_t;
typealias integer {{ size = 64; align = 8; signed = true; }} := int64_t;
typealias integer {{ size = 8; align = 8; signed = false; encoding = UTF8; }} := text_t;
typealias floating_point {{ exp_dig = 8; mant_dig = 24; align = 8; }} := float;
typealias floating_point {{ exp_dig = 11; mant_dig = 53; align = 8; }} := double;
trace {{
	major = 1; minor = 8; byte_order = {order};
	packet.header := struct {{ uint32_t magic; uint32_t stream_id; }};
}};
{env}
{clock}
stream {{
	id = 0;
	packet.context := struct {{ uint32_t content_size; uint32_t packet_size; {times} {packet} }};
	event.header := struct {{ uint16_t id; {stamp} }};
	{common}
}};
{events}
"""
CLOCK = "clock { name = test; freq = 1000000000; offset_s = 1700000000; absolute = true; };"
STAMP = "integer { size = 64; align = 8; signed = false; map = clock.test.value; } timestamp;"
TIMES = STAMP.replace("timestamp", "timestamp_begin") + STAMP.replace("timestamp", "timestamp_end")


class Bits:
    """Bits in one byte order: of a little-endian byte, the lowest comes first; of a big-endian, the highest."""

    def __init__(self, order):
        self.order = order
        self.data = bytearray()
        self.bit = 0  # of all

    def put(self, value, size):
        for i in range(size):
            if self.bit % 8 == 0:
                self.data.append(0)
            from_low = i if self.order == "le" else size - 1 - i
            at = self.bit % 8 if self.order == "le" else 7 - self.bit % 8
            self.data[-1] |= (value >> from_low & 1) << at
            self.bit += 1

    def align(self, bits):
        while self.bit % bits:
            self.put(0, 1)

    def bytes(self, data):
        self.align(8)
        self.data += data
        self.bit += 8 * len(data)

    def number(self, code, *values):
        """As struct.pack, byte by byte."""
        self.bytes(struct.pack(ORDERS[self.order] + code, *values))

    def text(self, data):
        self.bytes(data + b"\0")


class Trace:
    """
    What is in one folder: event classes, and events of them in packets. With @times, a packet says from when to when it
    is, as LTTng's do; CTF does not ask for it.
    """

    def __init__(self, order, common=None, packet="", put_packet=None, env="", clock=CLOCK, times=True):
        self.order, self.common, self.packet, self.put_packet = order, common, packet, put_packet
        self.env, self.clock, self.times = env, clock, times and bool(clock)
        self.classes, self.packets, self.count = [], [[]], 0

    def declare(self, name, fields=None, context=None, level=None):
        """Returns the number of the class; @name is quoted as in metadata, or None."""
        parts = [f"id = {len(self.classes)}; stream_id = 0;"]
        if name is not None:
            parts.append(f'name = "{name}";')
        if level is not None:
            parts.append(f"loglevel = {level};")
        if context is not None:
            parts.append(f"context := struct {{ {context} }};")
        if fields is not None:
            parts.append(f"fields := struct {{ {fields} }};")
        self.classes.append("event { " + " ".join(parts) + " };")
        return len(self.classes) - 1

    def log(self, number, *puts, align=1):
        """An event: each of @puts, called with the Bits, writes a part, contexts first."""
        self.packets[-1].append((number, puts, align))

    def begin_packet(self):
        self.packets.append([])

    def encode(self, events):
        out = Bits(self.order)
        for number, puts, align in events:
            out.align(8)
            out.number("H", number)
            if self.clock:
                out.number("Q", 1000 + self.count)
            self.count += 1
            for put in puts:
                out.align(align)
                put(out)
        return out

    def encode_packet(self, events):
        head = Bits(self.order)
        if self.put_packet:
            self.put_packet(head)
        # offsets count from the packet's begin, which is a multiple of 8 bytes here
        begin = 1000 + self.count
        body = self.encode(events)
        times = struct.pack(ORDERS[self.order] + "QQ", begin, max(begin, 999 + self.count)) if self.times else b""
        fixed = 16 + len(times) + len(head.data)
        size = 8 * fixed + body.bit
        first = struct.pack(ORDERS[self.order] + "IIII", MAGIC, 0, size, 8 * (fixed + len(body.data)))
        return first + times + bytes(head.data + body.data)

    def write(self, folder):
        os.makedirs(folder)
        text = METADATA.format(
            order=self.order, env=f"env {{ {self.env} }};" if self.env else "", clock=self.clock,
            times=TIMES if self.times else "", packet=self.packet, stamp=STAMP if self.clock else "",
            common="" if self.common is None else f"event.context := struct {{ {self.common} }};",
            events="\n".join(self.classes),
        )
        with open(os.path.join(folder, "metadata"), "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
        with open(os.path.join(folder, "stream"), "wb") as file:
            for events in self.packets:
                file.write(self.encode_packet(events))
