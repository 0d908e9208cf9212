# SPDX-License-Identifier: BSD-2-Clause
"""Programs written against BlkKin's own headers, ceph/blkin's and those of 2014: they compile, link, and are traced."""

import os
import re
import subprocess
from collections import Counter

import pytest
from expect import STRING, address, place, tags_of
from rig.node import TOP, build_dir, sanitizer_flags

PROGRAMS = os.path.join(TOP, "tests/live/programs")
PAIRS = ["classic_pair_2014_c", "classic_pair_2014_cpp", "classic_pair_ceph_c", "classic_pair_ceph_cpp"]
REQUESTS = 10
WARNINGS = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror".split()
INCLUDE = [f"-I{TOP}/libclient", f"-I{TOP}/libclient/compat"]
CHECKS = [
    ("classic_ceph.c", []),
    ("classic_2014.c", []),
    ("classic_ztracer.cpp", []),
    ("classic_ztracer.cpp", ["-DBLKIN_CLASSIC_2014"]),
]
C, CPP = ["c11", "gnu99"], ["c++11", "c++17"]
# glibc holds dlopen and threads; the others belong to C++ itself
LIBRARIES = {"c": {"libc.so.6"}, "c++": {"libc.so.6", "libstdc++.so.6", "libm.so.6", "libgcc_s.so.1"}}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def build(folder, compiler, standard, source, flags):
    """Builds a program of two translation units of @source."""
    language = "c++" if "++" in standard else "c"
    source = source if os.path.isabs(source) else os.path.join(PROGRAMS, source)
    objects = []
    for unit in ([], ["-DSECOND"]):
        objects.append(os.path.join(folder, f"unit{len(objects)}.o"))
        run(compiler, f"-std={standard}", "-O2", *flags, *unit, "-x", language, "-c", source, "-o", objects[-1])
    program = os.path.join(folder, "program")
    linker = {"gcc": "g++", "clang": "clang++"}[compiler] if language == "c++" else compiler
    run(linker, *objects, *[flag for flag in flags if flag.startswith("-fsanitize")], "-o", program)
    return program


def check_binary(program, language):
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", program)))
    assert needed <= LIBRARIES[language] and "libc.so.6" in needed
    undefined = run("nm", "--undefined-only", program)
    assert "dlopen" in undefined and "lttng" not in undefined.lower()


def matrix():
    for source, flags in CHECKS:
        for standard in CPP if source.endswith(".cpp") else C + CPP:
            for compiler in ("gcc", "clang"):
                name = "-".join([source] + [flag[2:] for flag in flags] + [standard, compiler])
                yield pytest.param(source, flags, standard, compiler, id=name)


@pytest.mark.parametrize("source, flags, standard, compiler", matrix())
def test_compiles_without_a_warning(tmp_path, source, flags, standard, compiler):
    program = build(str(tmp_path), compiler, standard, source, WARNINGS + INCLUDE + flags)
    check_binary(program, "c++" if "++" in standard else "c")
    run(program)


@pytest.mark.parametrize("standard", ["c11", "c++17"])
def test_along_with_the_span_api(tmp_path, standard):
    """Both kinds of calls in one file; and a clear word where the order of the headers does not work."""
    source = tmp_path / "both.c"
    body = "static void all(void) { struct blkin_span span; CHECK(blkin_init() == 0); (void)span; }\nCLASSIC_MAIN\n"
    orders = {
        ("zipkin_c.h", "blkin/blkin.h"): "",
        ("blkin/blkin.h", "zipkin_c.h"): "",
        ("blkin-front.h", "blkin/blkin.h"): "",
        ("blkin/blkin.h", "blkin-front.h"): "include <blkin-front.h> before <blkin/blkin.h>",
    }
    for headers, complaint in orders.items():
        lines = [f"#include <{header}>\n" for header in headers]
        source.write_text("".join(lines) + '#include "classic_check.h"\n' + body)
        try:
            run(build(str(tmp_path), "gcc", standard, str(source), WARNINGS + INCLUDE + [f"-I{PROGRAMS}"]))
            assert not complaint
        except AssertionError as error:
            assert complaint and complaint in str(error)


def test_shared_pointers_of_boost(tmp_path):
    """Where Boost is installed they are Boost's, as in 2014: stood for by a header of its name."""
    (tmp_path / "boost").mkdir()
    stand_in = "#include <memory>\nnamespace boost { template <typename T> class shared_ptr : public std::shared_ptr<T> {\n"
    stand_in += "public: using std::shared_ptr<T>::shared_ptr; }; }\n"
    (tmp_path / "boost/smart_ptr.hpp").write_text(stand_in)
    source = tmp_path / "boost.cpp"
    source.write_text(
        """#include <ztracer.hpp>
        #include "classic_check.h"
        static void all()
        {
            boost::shared_ptr<ZTracer::ZTraceEndpoint> here = ZTracer::create_ZTraceEndpoint("10.0.0.1", 1, "here");
            boost::shared_ptr<ZTracer::ZTrace> root = ZTracer::create_ZTrace("root", here);
            ZTracer::ZTraceRef child = ZTracer::create_ZTrace("child", root);
            CHECK(child->get_endpoint() == here);
        }
        CLASSIC_MAIN
        """
    )
    flags = WARNINGS + INCLUDE + [f"-I{PROGRAMS}", f"-I{tmp_path}"]
    run(build(str(tmp_path), "gcc", "c++11", str(source), flags))


def test_pkg_config(tmp_path):
    """What is installed is found by pkg-config alone, and is enough."""
    run("meson", "install", "-C", build_dir(), "--no-rebuild", "--tags", "devel", "--destdir", str(tmp_path))
    (folder,) = [path for path, _, files in os.walk(tmp_path) if "blkin-classic.pc" in files]

    def flags(package):
        environment = dict(os.environ, PKG_CONFIG_PATH=folder, PKG_CONFIG_SYSROOT_DIR=str(tmp_path))
        command = ["pkg-config", "--cflags", "--libs", package]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

    for package, source, standard in (
        ("blkin-classic", "classic_ceph.c", "c11"),
        ("blkin-classic", "classic_2014.c", "c11"),
        ("blkin-classic", "classic_ztracer.cpp", "c++11"),
        ("blkin-2014", "classic_2014.c", "c11"),
        ("blkin-2014", "classic_ztracer.cpp", "c++11"),
    ):
        found = flags(package)
        assert any(flag.startswith(f"-I{tmp_path}") for flag in found)
        run(build(str(tmp_path), "gcc", standard, source, found))


def recorded(node, receiver, tmp_path, source, standard):
    """Runs a program of CHECKS while everything is recorded; counts (service, span, key or event, value)."""
    program = build(str(tmp_path), "gcc", standard, source, INCLUDE + sanitizer_flags())
    node.start_agent(receiver.port)
    assert node.start([program]).wait() == 0
    node.wait_ledger(lambda ledger: ledger.read and ledger.idle(), 30, "the events")
    node.agent.stop()
    seen = Counter()
    for span in receiver.spans():
        assert span.trace_id and span.id
        for note in span.annotations:
            seen[place(span)[2], span.name, note.value] += 1
        for tag in tags_of(span):
            seen[place(span)[2], span.name, tag.key, tag.value] += 1
    return seen


def test_what_ceph_calls_record(node, receiver, tmp_path):
    seen = recorded(node, receiver, tmp_path, "classic_ceph.c", "c11")
    once = [
        ("positional", "name", "key", b"val"),
        ("designated", "name", "key", b"-1"),
        ("ceph", "annotated", "key", b"val"),
        ("ceph", "nowhere", "key", b"val"),  # its own endpoint, where the trace has none
        ("ceph", "annotated", "key", b"-9223372036854775808"),
        ("ceph", "annotated", "sr"),
        ("ceph", "annotated", "cs"),
        ("ceph", "annotated", "an event"),
        ("ceph", "annotated", "text", b"value"),
        ("ceph", "annotated", "number", b"42"),
        ("ceph", "annotated", "old", b"value"),
    ]
    assert seen == Counter({item: 2 for item in once})  # by either of its two units


def test_what_calls_of_2014_record(node, receiver, tmp_path):
    seen = recorded(node, receiver, tmp_path, "classic_2014.c", "c11")
    expected = Counter(
        {
            ("of 2014", "span", "key", b"val"): 4,
            ("of 2014", "NoName", "key", b"val"): 1,
            ("of 2014", "span", "val"): 2,
            ("NoName", "span", "val"): 1,
            ("designated", "name", "event"): 1,
            ("of 2014", "span", "number", b"42"): 1,
        }
    )
    assert seen == expected + expected


def test_what_classes_record(node, receiver, tmp_path):
    seen = recorded(node, receiver, tmp_path, "classic_ztracer.cpp", "c++17")
    long_name = "a name that is too long for the string itself"
    expected = Counter(
        {
            ("ztracer", long_name, "event"): 2,
            ("ztracer", long_name, "cs"): 1,
            ("ztracer", long_name, "key", b"val"): 2,
            ("ztracer", long_name, "key", b"1"): 2,
            ("z", "root", "event"): 2,
            ("z", "root", "key", b"val"): 2,
            ("z", "lost", "here"): 1,
            ("z", "root", "here"): 1,  # with the ids of that span
        }
    )
    assert seen == expected + expected


def test_nothing_of_an_unsampled_trace(node, receiver):
    """Both processes are silent, although only the first decides."""
    node.start_agent(receiver.port)
    for program in PAIRS:
        node.run([f"tests/live/{program}", node.path("socket")], BLKIN_SAMPLE="0", LTTNG_UST_REGISTER_TIMEOUT="-1")
    node.run(["tests/live/classic_pair_ceph_c", node.path("socket")], LTTNG_UST_REGISTER_TIMEOUT="-1")
    receiver.wait_for(2 * REQUESTS)
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 30, "everything to be sent")
    assert ledger.read == 5 * REQUESTS


@pytest.mark.parametrize("program", PAIRS)
def test_traces_join_over_a_unix_socket(node, receiver, program):
    node.start_agent(receiver.port)
    node.run([f"tests/live/{program}", node.path("socket")], LTTNG_UST_REGISTER_TIMEOUT="-1")
    receiver.wait_for(2 * REQUESTS)
    spans = receiver.spans()
    roots = {span.id: span for span in spans if span.name == "process a"}
    assert len(spans) == 2 * REQUESTS == len({span.id for span in spans}) and len(roots) == REQUESTS
    assert len({span.trace_id for span in spans}) == REQUESTS
    for span in spans:
        assert [note.value for note in span.annotations] == ["start", "end"]
        if span.name == "process a":
            assert span.parent_id is None
            where = (address("10.0.0.1"), 5000, "service a", None)
        else:
            root = roots[span.parent_id]
            assert span.name == "process b" and span.trace_id == root.trace_id
            assert root.annotations[0].timestamp <= span.annotations[0].timestamp
            assert span.annotations[1].timestamp <= root.annotations[1].timestamp
            where = (address("10.0.0.2"), 40001 - 65536, "service b", None)
            tags = [(tag.key, tag.value, tag.annotation_type) for tag in span.binary_annotations]
            assert tags == [("text", b"message", STRING)]
        assert place(span) == where
    assert len({span.parent_id for span in spans}) == 1 + REQUESTS  # each root has one child
