# SPDX-License-Identifier: BSD-2-Clause
"""
Events as doc/events.md says that they look, made of what babeltrace2's own Python bindings read: the reference.

Text in these bindings has a lone surrogate (U+DC80 to U+DCFF) for each byte that is not UTF-8.
"""

import base64
import datetime
import json
import math
import re
import sys

import bt2

DEPTH_MAX = 32
LEVELS = ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug_system", "debug_program",
          "debug_process", "debug_module", "debug_unit", "debug_function", "debug_line", "debug"]
BROKEN = re.compile("[\udc80-\udcff]")


def valid(text):
    return BROKEN.sub("\ufffd", text)


def real(value):
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def string(field):
    """Of an empty one, babeltrace2 2.0 has the length right, and gives the text of the event before it."""
    return str(field) if len(field) else ""


def labels(field):
    """The bindings' own fail where there is none."""
    value = int(field)
    return [valid(label) for label, mapping in field.cls.items()
            if any(part.lower <= value <= part.upper for part in mapping.ranges)]


class Walk:
    """One event; collects what comes last."""

    def __init__(self):
        self.bytes = {}
        self.cut = []

    def value(self, field, place, depth):
        if isinstance(field, bt2._EnumerationFieldConst):
            return {"value": int(field), "labels": labels(field)}
        if isinstance(field, bt2._BoolFieldConst):
            return bool(field)
        if isinstance(field, bt2._BitArrayFieldConst):
            return field.value_as_integer
        if isinstance(field, bt2._IntegerFieldConst):
            if field.cls.preferred_display_base == bt2.IntegerDisplayBase.HEXADECIMAL:
                return hex(int(field) & (1 << field.cls.field_value_range) - 1)
            return int(field)
        if isinstance(field, bt2._RealFieldConst):
            return real(float(field))
        if isinstance(field, bt2._StringFieldConst):
            return self.text(string(field), place)
        if depth == DEPTH_MAX:
            self.cut.append(place)
            return None
        if isinstance(field, bt2._StructureFieldConst):
            return self.members(field, place, depth + 1)
        if isinstance(field, bt2._ArrayFieldConst):
            return [self.value(part, f"{place}/{i}", depth + 1) for i, part in enumerate(field)]
        if isinstance(field, bt2._OptionFieldConst):
            return self.value(field.field, place, depth + 1) if field.has_field else None
        if isinstance(field, bt2._VariantFieldConst):
            name = field.cls.option_at_index(field.selected_option_index).name
            return {valid(name): self.value(field.selected_option, self.below(place, name), depth + 1)}
        raise TypeError(type(field))

    @staticmethod
    def below(place, name):
        return f"{place}/" + valid(name).replace("~", "~0").replace("/", "~1")

    def text(self, text, place):
        if BROKEN.search(text):
            self.bytes[place] = base64.b64encode(text.encode("utf-8", "surrogateescape")).decode()
        return valid(text)

    def members(self, structure, place, depth, taken=None):
        made = {} if taken is None else taken
        for name, field in structure.items():
            name = valid(name)
            differs, number = name, 2
            while differs in made:
                differs, number = f"{name}#{number}", number + 1
            made[differs] = self.value(field, self.below(place, differs), depth)
        return made


def iso(ns):
    second = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=ns // 10**9)
    return second.strftime("%Y-%m-%dT%H:%M:%S.") + f"{ns % 10**9:09}Z"


def moment(message):
    clock = message.default_clock_snapshot if message.event.stream.cls.default_clock_class else None
    if clock is None:
        return {}
    if not message.event.stream.cls.default_clock_class.origin_is_unix_epoch:
        return {"clock": clock.value}
    return {"timestamp": clock.ns_from_origin, "time": iso(clock.ns_from_origin)}


def environment(trace, name, kind):
    value = trace.environment.get(name)
    return None if value is None or not isinstance(value, kind) else value


def number(context, *names):
    for name in names:
        if type(context.get(name)) is int:
            return context[name]
    return None


def process(trace, context):
    per_user = environment(trace, "tracer_buffering_scheme", bt2._StringValueConst) == "uid"
    integer = bt2._SignedIntegerValueConst
    pid, user = environment(trace, "vpid", integer), environment(trace, "tracer_buffering_id", integer)
    name = context.get("procname") if isinstance(context.get("procname"), str) else None
    known = {
        "pid": number(context, "pid", "vpid"),
        "tid": number(context, "tid", "vtid"),
        "name": name or (valid(str(trace.environment["procname"])) if "procname" in trace.environment else None),
        "user": number(context, "uid", "vuid"),
    }
    if known["pid"] is None and pid is not None:
        known["pid"] = int(pid)
    if known["user"] is None and per_user:
        known["user"] = int(user)
    return {key: value for key, value in known.items() if value not in (None, "")}


def event(message):
    """A bt2._EventMessageConst as the JSON object that is expected."""
    it, walk = message.event, Walk()
    trace, made = it.stream.trace, moment(message)
    for key, name in ("host", "hostname"), ("domain", "domain"):
        if environment(trace, name, bt2._StringValueConst):
            made[key] = valid(str(trace.environment[name]))
    made["event"] = None if it.cls.name is None else valid(it.cls.name)
    if it.cls.name is None:
        made["id"] = it.cls.id
    if it.cls.log_level is not None:
        made["level"] = LEVELS[it.cls.log_level.value if hasattr(it.cls.log_level, "value") else it.cls.log_level]
    packet = {}
    if it.cls.stream_class.supports_packets and it.packet.context_field is not None:
        packet = walk.members(it.packet.context_field, "/packet", 1)
    context = {}
    for part in it.common_context_field, it.specific_context_field:
        if part is not None:
            walk.members(part, "/context", 1, context)
    who = process(trace, context)
    if who:
        made["process"] = who
    cpu = type(packet.get("cpu_id")) is int
    if cpu:
        made["cpu"] = packet["cpu_id"]
    if len(packet) > cpu:
        made["packet"] = packet
    if it.common_context_field is not None or it.specific_context_field is not None:
        made["context"] = context
    made["payload"] = {} if it.payload_field is None else walk.members(it.payload_field, "/payload", 1)
    if walk.bytes:
        made["bytes"] = walk.bytes
    if walk.cut:
        made["cut"] = walk.cut
    return made


def read(*folders):
    """What is expected of each event in the traces."""
    for message in bt2.TraceCollectionMessageIterator(list(map(str, folders))):
        if type(message) is bt2._EventMessageConst:
            yield event(message)


def differences(one, other, place=""):
    """Where two values differ, types and all: 1, 1.0 and true are not the same, nor are 0.0 and -0.0."""
    if type(one) is not type(other):
        yield f"{place}: {one!r} is not {other!r}"
    elif isinstance(one, dict):
        if list(one) != list(other):
            yield f"{place}: members {list(one)} are not {list(other)}"
        for key in one.keys() & other.keys():
            yield from differences(one[key], other[key], f"{place}/{key}")
    elif isinstance(one, list):
        if len(one) != len(other):
            yield f"{place}: {len(one)} elements are not {len(other)}"
        for index, (a, b) in enumerate(zip(one, other)):
            yield from differences(a, b, f"{place}/{index}")
    elif one != other or (isinstance(one, float) and math.copysign(1, one) != math.copysign(1, other)):
        yield f"{place}: {one!r} is not {other!r}"


if __name__ == "__main__":
    for made in read(*sys.argv[1:]):
        print(json.dumps(made))
