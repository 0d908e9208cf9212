# SPDX-License-Identifier: BSD-2-Clause
"""
A trace of the kernel as lttng-modules would write it: CTF 1.8 with its packet headers, contexts and events. For machines
without that tracer.
"""

import os
import struct
import uuid

MAGIC = 0xC1FC1FC1
INDEX_MAGIC = 0xC1F1DCC1
EXTENDED = 0xFFFF

INT = "integer { size = 32; align = 8; signed = 1; encoding = none; base = 10; }"
LONG = "integer { size = 64; align = 8; signed = 1; encoding = none; base = 10; }"
SECTOR = "integer { size = 64; align = 8; signed = 0; encoding = none; base = 10; }"
SHORT = "integer { size = 16; align = 8; signed = 0; encoding = none; base = 8; }"
CHARACTER = "integer { size = 8; align = 8; signed = 1; encoding = UTF8; base = 10; }"

# Of each event its fields: a type and a name; "comm" is an array of 16 characters. A system call that is not here has no
# arguments.
EVENTS = {
    "sched_switch": [
        ("comm", "prev_comm"), (INT, "prev_tid"), (INT, "prev_prio"), (LONG, "prev_state"),
        ("comm", "next_comm"), (INT, "next_tid"), (INT, "next_prio"),
    ],
    "sched_wakeup": [("comm", "comm"), (INT, "tid"), (INT, "prio"), (INT, "target_cpu")],
    "sched_waking": [("comm", "comm"), (INT, "tid"), (INT, "prio"), (INT, "target_cpu")],
    "sched_migrate_task": [("comm", "comm"), (INT, "tid"), (INT, "prio"), (INT, "orig_cpu"), (INT, "dest_cpu")],
    "irq_handler_entry": [(INT, "irq"), ("string", "name")],
    "irq_handler_exit": [(INT, "irq"), (INT, "ret")],
    "irq_softirq_entry": [(INT, "vec")],
    "irq_softirq_exit": [(INT, "vec")],
    "timer_hrtimer_expire_entry": [(SECTOR, "hrtimer"), (LONG, "now")],
    "timer_hrtimer_expire_exit": [(SECTOR, "hrtimer")],
    "x86_exceptions_page_fault_user": [(SECTOR, "address"), (SECTOR, "ip"), (SECTOR, "error_code")],
    "block_rq_issue": [
        (INT, "dev"), (SECTOR, "sector"), (INT, "nr_sector"), (INT, "bytes"), (INT, "tid"), (INT, "rwbs"), ("comm", "comm"),
    ],
    "block_rq_complete": [(INT, "dev"), (SECTOR, "sector"), (INT, "nr_sector"), (INT, "error"), (INT, "rwbs")],
    "syscall_entry_openat": [(INT, "dfd"), ("string", "filename"), (INT, "flags"), (SHORT, "mode")],
    "syscall_exit_openat": [(LONG, "ret")],
    "syscall_entry_fsync": [(INT, "fd")],
    "syscall_exit_fsync": [(LONG, "ret")],
}

FORMATS = {INT: "i", LONG: "q", SECTOR: "Q", SHORT: "H"}

METADATA = """/* CTF 1.8 */

typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;
typealias integer {{ size = 16; align = 8; signed = false; }} := uint16_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := unsigned long;
typealias integer {{ size = 5; align = 1; signed = false; }} := uint5_t;
typealias integer {{ size = 27; align = 1; signed = false; }} := uint27_t;

trace {{
	major = 1;
	minor = 8;
	uuid = "{uuid}";
	byte_order = {order};
	packet.header := struct {{
		uint32_t magic;
		uint8_t  uuid[16];
		uint32_t stream_id;
		uint64_t stream_instance_id;
	}};
}};

env {{
	hostname = "{host}";
	domain = "{domain}";
	sysname = "Linux";
	kernel_release = "6.1.0-18-amd64";
	kernel_version = "#1 SMP PREEMPT_DYNAMIC";
	tracer_name = "{tracer}";
	tracer_major = 2;
	tracer_minor = 13;
	tracer_patchlevel = 8;
	trace_name = "blkin";
	trace_creation_datetime = "20261123T120000+0000";
}};

clock {{
	name = "monotonic";
	uuid = "{boot}";
	description = "Monotonic Clock";
	freq = 1000000000;
	/* clock value offset from Epoch is: offset * (1/freq) */
	offset = {offset};
}};

typealias integer {{
	size = 27; align = 1; signed = false;
	map = clock.monotonic.value;
}} := uint27_clock_monotonic_t;

typealias integer {{
	size = 32; align = 8; signed = false;
	map = clock.monotonic.value;
}} := uint32_clock_monotonic_t;

typealias integer {{
	size = 64; align = 8; signed = false;
	map = clock.monotonic.value;
}} := uint64_clock_monotonic_t;

struct packet_context {{
	uint64_clock_monotonic_t timestamp_begin;
	uint64_clock_monotonic_t timestamp_end;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	unsigned long events_discarded;
	uint32_t cpu_id;
}};

struct event_header_large {{
	enum : uint16_t {{ compact = 0 ... 65534, extended = 65535 }} id;
	variant <id> {{
		struct {{
			uint32_clock_monotonic_t timestamp;
		}} compact;
		struct {{
			uint32_t id;
			uint64_clock_monotonic_t timestamp;
		}} extended;
	}} v;
}} align(8);

stream {{
	id = 0;
	event.header := struct event_header_large;
	packet.context := struct packet_context;
	{context}
}};
"""


CONTEXT = f"""event.context := struct {{
		{INT} _pid;
		{INT} _tid;
		{INT} _vpid;
		{INT} _vtid;
		{CHARACTER} _procname[17];
	}};"""


class KernelTrace:
    """
    @offset: of CLOCK_MONOTONIC to the epoch, ns. Times of events are on that clock. @events: others than those of EVENTS.
    Without @context no event tells its thread.
    """

    domain, tracer = "kernel", "lttng-modules"

    def __init__(self, offset, host="node", order="le", packet=4096, events=None, context=True):
        self.offset, self.host, self.order, self.packet = offset, host, order, packet
        self.context = context
        self.uuid = uuid.uuid4()
        self.boot = uuid.uuid4()
        self.cpus = {}
        self.losses = {}
        self.events = dict(EVENTS if events is None else events)
        self.numbers = {name: number for number, name in enumerate(self.events)}

    def event(self, cpu, time, name, thread, /, **fields):
        """@thread: (pid, tid, vpid, vtid, procname)."""
        if name not in self.events:
            self.events[name] = [(LONG, "ret")] if name.startswith("syscall_exit_") else []
            self.numbers[name] = len(self.numbers)
        self.cpus.setdefault(cpu, []).append((time, name, thread, fields))

    def lose(self, cpu, time, count):
        """So many events were discarded on this CPU before those of this time: a packet ends there."""
        self.losses.setdefault(cpu, []).append((time, count))

    # Bytes

    def pack(self, text, *values):
        return struct.pack(("<" if self.order == "le" else ">") + text, *values)

    def field(self, kind, value):
        if kind == "comm":
            return value.encode()[:15].ljust(16, b"\0")
        if kind == "string":
            return value.encode() + b"\0"
        return self.pack(FORMATS[kind], value)

    def bytes_of(self, time, name, thread, fields):
        pid, tid, vpid, vtid, comm = thread
        head = self.pack("HIQ", EXTENDED, self.numbers[name], time)
        if self.context:
            head += self.pack("iiii", pid, tid, vpid, vtid) + comm.encode()[:16].ljust(17, b"\0")
        return head + b"".join(self.field(kind, fields.get(name, "" if kind in ("comm", "string") else 0)) for kind, name in self.events[name])

    def packet_of(self, cpu, sequence, events, end):
        """
        The packet and its entry in the relay's index, without the offset. LTTng closes it when the first event behind it comes,
        and counts what was discarded until then: a ring buffer that is full closes nothing.
        """
        body = b"".join(self.bytes_of(*event) for event in events)
        begin = events[0][0]
        lost = sum(count for time, count in self.losses.get(cpu, []) if time <= end)
        header = self.pack("I", MAGIC) + self.uuid.bytes + self.pack("IQ", 0, cpu)
        content = len(header) + 6 * 8 + 4 + len(body)
        assert content <= self.packet
        context = self.pack("QQQQQQI", begin, end, content * 8, self.packet * 8, sequence, lost, cpu)
        entry = struct.pack(">QQQQQQQQ", self.packet * 8, content * 8, begin, end, lost, 0, cpu, sequence)
        return (header + context + body).ljust(self.packet, b"\0"), entry

    def packets_of(self, cpu):
        events, packets, room = [], [], self.packet - 84
        breaks = sorted(time for time, _ in self.losses.get(cpu, []))
        for event in sorted(self.cpus[cpu], key=lambda event: event[0]):
            size = len(self.bytes_of(*event))
            lost = breaks and event[0] >= breaks[0]
            if lost:
                breaks.pop(0)
            if size > room or (lost and events):
                packets.append(events)
                events, room = [], self.packet - 84
            events.append(event)
            room -= size
        packets.append(events)
        ends = [events[0][0] for events in packets[1:]] + [packets[-1][-1][0]]
        return [self.packet_of(cpu, sequence, events, end) for sequence, (events, end) in enumerate(zip(packets, ends))]

    def metadata(self):
        text = METADATA.format(
            uuid=self.uuid, order=self.order, host=self.host, boot=self.boot, offset=self.offset, domain=self.domain,
            tracer=self.tracer, context=CONTEXT if self.context else "",
        )
        for number, (name, fields) in enumerate(self.events.items()):
            members = "".join(
                f"\t\t{CHARACTER} _{field}[16];\n" if kind == "comm" else f"\t\t{kind} _{field};\n" for kind, field in fields
            )
            text += f'\nevent {{\n\tname = "{name}";\n\tid = {number};\n\tstream_id = 0;\n'
            text += f"\tfields := struct {{\n{members}\t}};\n}};\n"
        return text

    def write(self, folder):
        """A trace on disk, as `lttng create` makes it."""
        os.makedirs(folder)
        with open(os.path.join(folder, "metadata"), "w", encoding="utf-8") as file:
            file.write(self.metadata())
        for cpu in self.cpus:
            with open(os.path.join(folder, f"channel0_{cpu}"), "wb") as file:
                file.write(b"".join(packet for packet, _ in self.packets_of(cpu)))
        return folder

    def write_relayed(self, session):
        """The same in a session's folder, as lttng-relayd writes it."""
        folder = os.path.join(session, "kernel")
        os.makedirs(os.path.join(folder, "index"))
        with open(os.path.join(folder, "metadata"), "w", encoding="utf-8") as file:
            file.write(self.metadata())
        for cpu in self.cpus:
            data, index = b"", struct.pack(">IIII", INDEX_MAGIC, 1, 1, 72)
            for packet, entry in self.packets_of(cpu):
                index += struct.pack(">Q", len(data)) + entry
                data += packet
            with open(os.path.join(folder, f"kernel_{cpu}_0"), "wb") as file:
                file.write(data)
            with open(os.path.join(folder, "index", f"kernel_{cpu}_0.idx"), "wb") as file:
                file.write(index)
        return folder


class SpanTrace(KernelTrace):
    """What a program would have recorded of its spans, in the same layout. @thread has the thread's context, vtid."""

    domain, tracer = "ust", "lttng-ust"

    def __init__(self, kernel, thread=True):
        super().__init__(
            kernel.offset, kernel.host, kernel.order, events={"blkin:span2": [("string", "text")]}, context=thread)
        self.boot = kernel.boot

    def span(self, thread, trace, span, start, end, name="work", parent=0, service="made", finish=None, cpu=0):
        """@thread records it at @end, on that clock; it may have finished at @finish already."""
        text = f"{trace:016x} {span:016x} {parent:016x} {start:016x} {len(name):02} {name}\nlocal 0 127.0.0.1 {service}\n"
        if finish is not None:
            text += f"!finish +{finish - start}\n"
        self.event(cpu, end, "blkin:span2", thread, text=text + f"&{thread[2]}={service}\n")
