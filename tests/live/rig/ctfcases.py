# SPDX-License-Identifier: BSD-2-Clause
"""Traces of every kind that CTF 1.8 can have, by name: each makes a Trace in the byte order that it is given."""

import struct

from rig.ctfwriter import CLOCK, STAMP, Trace

CASES = {}
HARD = {}  # those that some versions of babeltrace2 cannot read


def case(make):
    CASES[make.__name__] = make
    return make


def hard(make):
    HARD[make.__name__] = make
    return make


def simple(order, fields, *puts, **options):
    """One event class, and an event for each of @puts."""
    trace = Trace(order, **options)
    number = trace.declare("test:event", fields)
    for put in puts:
        trace.log(number, put)
    return trace


EDGES = [(0, 0), (1, 1), (-1, 2), (0, 3)]


@case
def integers(order):
    def put(extreme):
        def write(out):
            for bits, code in (8, "B"), (16, "H"), (32, "I"), (64, "Q"):
                out.number(code, [0, 1, 2**bits - 1, 2 ** (bits - 1)][extreme])
                out.number(code.lower(), [0, -1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1))][extreme])

        return write

    fields = " ".join(f"uint{n}_t u{n}; int{n}_t s{n};" for n in (8, 16, 32, 64))
    return simple(order, fields, *map(put, range(4)))


@case
def bit_fields(order):
    sizes = [1, 2, 3, 5, 7, 9, 12, 13, 17, 23, 31, 33, 47, 53, 63, 64]

    def put(fill):
        def write(out):
            for size in sizes:
                out.put(fill & (1 << size) - 1, size)
                out.put(~fill & (1 << size) - 1, size)

        return write

    fields = " ".join(
        f"integer {{ size = {n}; align = 1; signed = false; }} u{n};"
        f"integer {{ size = {n}; align = 1; signed = true; }} s{n};" for n in sizes
    )
    return simple(order, fields, *map(put, (0, 2**64 - 1, 0xA5A5A5A5A5A5A5A5, 0x0123456789ABCDEF)))


@case
def integers_of_the_other_order(order):
    other = {"le": "be", "be": "le"}[order]
    code = {"le": "<", "be": ">"}[other]

    def write(out):
        for size, value in ("H", 0x1234), ("I", 0x12345678), ("Q", 0x123456789ABCDEF0), ("q", -2):
            out.bytes(struct.pack(code + size, value))
        out.number("I", 0x12345678)

    fields = "".join(
        f"integer {{ size = {size}; align = 8; signed = {signed}; byte_order = {other}; }} f{number};"
        for number, (size, signed) in enumerate([(16, "false"), (32, "false"), (64, "false"), (64, "true")])
    )
    return simple(order, fields + " uint32_t own;", write)


@case
def bases(order):
    fields = " ".join(
        f"integer {{ size = 32; align = 8; signed = false; base = {base}; }} in_{base};"
        for base in ("decimal", "hexadecimal", "octal", "binary")
    )
    return simple(order, fields, *(lambda out, n=n: out.number("IIII", *[n] * 4) for n in (0, 10, 0xFFFFFFFF)))


@case
def negative_hexadecimal(order):
    fields = "".join(
        f"integer {{ size = {size}; align = 8; signed = true; base = hexadecimal; }} of_{size};" for size in (16, 64)
    )
    return simple(order, fields, *(lambda out, n=n: out.number("hq", n, n) for n in (0, -1, 31, -32768)))


@case
def enumerations(order):
    fields = "enum : uint8_t { A = 1, B, RANGE = 10 ... 20, OVER = 15 ... 30, \"with \\\"quotes\\\"\" = 40, A = 41 } e;"
    return simple(order, fields, *(lambda out, n=n: out.number("B", n) for n in (0, 1, 2, 10, 15, 17, 30, 31, 40, 41, 255)))


@case
def signed_enumerations(order):
    fields = "enum : int64_t { MIN = -9223372036854775808, NEGATIVE = -100 ... -1, ZERO = 0, MAX = 9223372036854775807 } e;"
    numbers = (-(2**63), -101, -100, -1, 0, 1, 2**63 - 1)
    return simple(order, fields, *(lambda out, n=n: out.number("q", n) for n in numbers))


@case
def enumerations_of_bits(order):
    fields = "enum : integer { size = 3; align = 1; signed = false; } { LOW = 0 ... 3, HIGH = 4 ... 7, ODD = 1, ODD = 3, " \
        "ODD = 5, ODD = 7 } a; enum : integer { size = 5; align = 1; signed = true; } { NEGATIVE = -16 ... -1 } b;"

    def put(n):
        return lambda out: (out.put(n & 7, 3), out.put(n * 3 & 31, 5))

    return simple(order, fields, *map(put, range(12)))


@case
def reals(order):
    inf, nan = float("inf"), float("nan")
    values = [0.0, -0.0, 1.0, -1.5, 0.1, 1e10, 1e-10, 1e38, 3.4028234663852886e38, 1.401298464324817e-45, inf, -inf, nan]
    doubles = [0.0, -0.0, 1e15, 123456789012345680.0, 1 / 3, 1e308, 5e-324, 2.2250738585072014e-308, -1e-300, 1e22, inf, -inf, nan]
    return simple(order, "float f; double d;", *(
        lambda out, f=f, d=d: (out.number("f", f), out.number("d", d)) for f, d in zip(values, doubles)))


TEXTS = [b"", b"plain", b'"quotes" and \\backslash\\', bytes(range(1, 32)), b"\x7f\xc2\x80\xc2\x9f", "Zoë 雪 😀 \u2028\u2029".encode(),
         "\ufffd \uffff \U0010ffff".encode(), b"x" * 3000, b"/~%s%n{}[],:"]
BROKEN = [b"\xff", b"caf\xe9", b"\xc3", b"a\xc3(b", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"ok\xe2\x82", b"\x80\x80\x80",
          bytes(range(128, 256)), "half \u00e4".encode() + b"\xe4" * 9]


@case
def strings(order):
    return simple(order, "string a; string b;", *(
        lambda out, t=t: (out.text(t), out.text(t[::-1] if t.isascii() else t)) for t in TEXTS))


@case
def strings_that_are_not_utf8(order):
    fields = "string ok; string broken; struct { string s; } in[2]; uint8_t n; string many[n];"

    def put(text):
        def write(out):
            for piece in b"ok", text, text, b"ok":
                out.text(piece)
            out.number("B", 3)
            for piece in b"1", text, text:
                out.text(piece)

        return write

    return simple(order, fields, *map(put, BROKEN))


@case
def text_arrays(order):
    def put(text):
        return lambda out: (out.bytes(text.ljust(8, b"\0")[:8]), out.number("H", len(text)), out.bytes(text))

    return simple(order, "text_t fixed[8]; uint16_t n; text_t more[n];", *map(put, [b"", b"short", b"exactly8", b"longer than that",
                  b"nul\0in", "snö".encode(), b"\xff\xfe"]))


@case
def static_arrays(order):
    fields = "uint16_t a[3]; int8_t m[2][3]; uint8_t none[0]; float r[2]; string s[2]; enum : uint8_t { X, Y } e[3];" \
        "struct { uint8_t a; uint16_t b; } st[2]; integer { size = 3; align = 1; signed = false; } bits[7];"

    def write(out):
        out.number("HHH", 1, 2, 65535)
        out.number("6b", -3, -2, -1, 0, 1, 127)
        out.number("ff", 0.5, float("nan"))
        out.text(b"one")
        out.text(b"two")
        out.number("BBB", 0, 1, 2)
        out.number("BHBH", 1, 2, 3, 4)
        for n in range(7):
            out.put(n, 3)

    return simple(order, fields, write, write)


@case
def sequences(order):
    fields = "uint8_t n; uint32_t a[n]; uint8_t k; struct { uint8_t j; uint16_t of[j]; } nested[k]; uint8_t z; int64_t last[z];"

    def put(count):
        def write(out):
            out.number("B", count)
            out.number(f"{count}I", *range(count))
            out.number("B", count % 5)
            for j in range(count % 5):
                out.number("B", j)
                out.number(f"{j}H", *range(j))
            out.number("B", count)
            out.number(f"{count}q", *(-n for n in range(count)))

        return write

    return simple(order, fields, *map(put, (0, 1, 4, 255)))


@case
def lengths_elsewhere(order):
    """The length stands in a context, and within a structure; it is signed no less."""
    trace = Trace(order, common="uint8_t n;")
    number = trace.declare("test:event", "struct { uint8_t m; } in; uint8_t a[stream.event.context.n]; uint8_t b[in.m];")
    for n in 0, 3:
        trace.log(number, lambda out, n=n: out.number("B", n), lambda out, n=n: (out.number("B", 2), out.bytes(bytes(range(n))), out.bytes(b"ab")))
    return trace


@case
def structures(order):
    fields = "struct { uint8_t a; struct { struct { } empty; struct { string s; int16_t n[2]; } deep; } in; } s; struct { } nothing; uint8_t last;"
    return simple(order, fields, lambda out: (out.number("B", 1), out.text(b"x"), out.number("hh", -1, 2), out.number("B", 9)))


def nested(depth, kind):
    fields = "uint8_t leaf;"
    for level in range(depth):
        fields = f"struct {{ {fields} }} level{level}" + ("[1];" if kind == "array" else ";")
    return fields


@case
def deep(order):
    return simple(order, nested(29, "struct") + " uint8_t after;", lambda out: out.number("BB", 1, 2))


@case
def too_deep(order):
    fields = "uint8_t before; " + nested(45, "struct") + " uint8_t after; string s;"
    return simple(order, fields, lambda out: (out.number("BBB", 7, 1, 2), out.text(b"\xff")))


@case
def too_deep_in_arrays(order):
    return simple(order, nested(30, "array") + " uint8_t after;", lambda out: out.number("BB", 1, 2))


@case
def variants(order):
    fields = "enum : uint8_t { INT, TEXT, NONE, STRUCT = 10 ... 12, LIST } tag;" \
        "variant <tag> { uint32_t INT; string TEXT; struct { } NONE; struct { uint8_t a; float b; } STRUCT; uint8_t LIST[3]; } v; uint8_t after;"
    puts = [
        lambda out: out.number("BIB", 0, 5, 1),
        lambda out: (out.number("B", 1), out.text(b"text"), out.number("B", 1)),
        lambda out: (out.number("B", 1), out.text(b"\xff"), out.number("B", 1)),
        lambda out: out.number("BB", 2, 1),
        lambda out: out.number("BBfB", 11, 1, 2.5, 1),
        lambda out: out.number("B4B", 13, 1, 2, 3, 1),
    ]
    return simple(order, fields, *puts)


def within(order, kind, first):
    fields = f"enum : {kind} {{ A = {first}, B = 1 }} outer; enum : uint8_t {{ C, D }} inner;" \
        "struct { variant <outer> { variant <inner> { uint8_t C; string D; } A; uint64_t B; } v; } in[2];"

    def put(outer, inner, *values):
        def write(out):
            out.number("bB" if first < 0 else "BB", outer, inner)
            for value in values:
                out.text(value) if isinstance(value, bytes) else out.number("Q" if outer == 1 else "B", value)

        return write

    return simple(order, fields, put(first, 0, 1, 2), put(first, 1, b"x", b"\xfe"), put(1, 0, 2**64 - 1, 0))


@case
def variants_within(order):
    return within(order, "uint8_t", 255)


@hard
def variants_of_both_signs(order):
    """One is selected by a signed number, one by an unsigned: 2.1 finds no option."""
    return within(order, "int8_t", -1)


@hard
def packets_without_times(order):
    """Which are CTF nevertheless: 2.1 aborts."""
    return simple(order, "uint8_t n;", *(lambda out, n=n: out.number("B", n) for n in range(3)), times=False)


@case
def contexts(order):
    trace = Trace(order, common="int32_t vpid; int32_t vtid; text_t procname[17]; uint64_t perf_thread_cpu_cycles;",
                  packet="uint32_t cpu_id;", put_packet=lambda out: out.number("I", 3),
                  env='hostname = "node1"; domain = "ust"; tracer_buffering_scheme = "uid"; tracer_buffering_id = 1000;')
    number = trace.declare("lttng_ust_libc:malloc", "uint64_t size; uint64_t ptr;", level=13)
    for n in range(4):
        trace.log(number, lambda out, n=n: (out.number("ii", 100 + n, 200 + n), out.bytes(b"program".ljust(17, b"\0")), out.number("Q", n)),
                  lambda out, n=n: out.number("QQ", n, 2**63 + n))
    return trace


@case
def contexts_with_the_same_names(order):
    trace = Trace(order, common="uint8_t a; string a_b; uint8_t pid; uint8_t vpid;")
    one = trace.declare("one", "uint8_t a;", context="uint16_t a; string other; uint32_t tid; uint32_t uid; int64_t vpid;")
    two = trace.declare("two", context="struct { uint8_t a; } a;")
    common = lambda out: (out.number("B", 1), out.text(b"x"), out.number("BB", 5, 6))
    trace.log(one, common, lambda out: (out.number("H", 2), out.text(b"y\xff"), out.number("IIq", 7, 8, -9)), lambda out: out.number("B", 3))
    trace.log(two, common, lambda out: out.number("B", 4))
    return trace


@case
def contexts_that_only_look_so(order):
    """They have the names of LTTng's, and are of other types; and a number that is none of a process."""
    trace = Trace(order, common="string vpid; float vtid; uint8_t procname; uint64_t uid;", packet="string cpu_id;",
                  put_packet=lambda out: out.text(b"cpu"), env='hostname = 5; domain = "kernel"; vpid = "x"; procname = "";')
    number = trace.declare("test:event")
    trace.log(number, lambda out: (out.text(b"1"), out.number("fBQ", 2.0, 3, 5)))
    return trace


@case
def packet_contexts(order):
    trace = Trace(order, packet="uint32_t cpu_id; uint8_t other; string text; struct { uint8_t a; } in;",
                  put_packet=lambda out: (out.number("IB", 7, 8), out.text(b"\xffx\0y"[:2]), out.number("B", 9), out.bytes(b"")))
    number = trace.declare("test:event", "uint8_t a;")
    for n in range(6):
        if n == 3:
            trace.begin_packet()
        trace.log(number, lambda out, n=n: out.number("B", n))
    return trace


@case
def one_process(order):
    trace = Trace(order, env='hostname = "h\\\\o\\"st"; domain = "ust"; procname = "prog"; vpid = 4711; tracer_buffering_scheme = "pid"; tracer_buffering_id = 4711;')
    trace.log(trace.declare("test:event"))
    return trace


@case
def levels(order):
    trace = Trace(order)
    for level in [None, *range(15)]:
        trace.log(trace.declare(f"test:level{level}", level=level))
    return trace


@case
def names(order):
    trace = Trace(order)
    for name in ["plain", "", "with space", 'quote\\"d', "back\\\\slash", "tab\\tnewline\\n", "Schnee 雪", "a:b:c", "x" * 300]:
        trace.log(trace.declare(name, "uint8_t _underscore; uint8_t __two; uint8_t _int; uint8_t timestamp; uint8_t payload;"),
                  lambda out: out.number("5B", 1, 2, 3, 4, 5))
    return trace


@case
def nothing_in_it(order):
    trace = Trace(order)
    for fields in None, "", "struct { } s;", "uint8_t a[0]; text_t t[0];":
        trace.log(trace.declare("test:empty", fields))
    return trace


@case
def no_clock(order):
    return simple(order, "uint8_t a;", lambda out: out.number("B", 1), clock="")


@case
def clock_without_epoch(order):
    return simple(order, "uint8_t a;", *[lambda out: out.number("B", 1)] * 3, clock=CLOCK.replace("absolute = true", "absolute = false"))


@case
def clock_in_microseconds(order):
    clock = "clock { name = test; freq = 1000000; offset_s = 1700000000; offset = 999; absolute = true; };"
    return simple(order, "uint8_t a;", *[lambda out: out.number("B", 1)] * 3, clock=clock)


@case
def clock_before_the_epoch(order):
    return simple(order, "uint8_t a;", *[lambda out: out.number("B", 1)] * 3, clock=CLOCK.replace("1700000000", "-5"))


@case
def large_arrays(order):
    def put(count):
        return lambda out: (out.number("I", count), out.number(f"{count}H", *(n % 65536 for n in range(count))))

    return simple(order, "uint32_t n; uint16_t a[n];", put(5000), put(70000), put(0))


@case
def many_fields(order):
    return simple(order, " ".join(f"uint8_t f{n};" for n in range(500)), lambda out: out.bytes(bytes(n % 256 for n in range(500))))


@case
def types_by_name(order):
    """Typedefs and named structures, enumerations and variants, as other tracers write them."""
    trace = Trace(order)
    trace.classes.append("struct named { uint8_t a; uint8_t b; }; typedef struct named named_t; enum color : uint8_t { RED, GREEN };")
    trace.classes.append("event { id = 0; stream_id = 0; name = \"n\"; fields := struct { named_t one; struct named two[2]; enum color c; }; };")
    trace.log(0, lambda out: out.bytes(bytes([1, 2, 3, 4, 5, 6, 1])))
    return trace


assert STAMP  # what writes without a clock leaves it out
