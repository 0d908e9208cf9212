# SPDX-License-Identifier: BSD-2-Clause
"""Programs outside this project: what is installed is all they need. And blkin.h(3) names what the headers have."""

import glob
import itertools
import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from rig.node import HERE, TOP, build_dir

OUTSIDE = os.path.realpath(os.path.join(HERE, "../outside"))
HEADERS = os.path.join(TOP, "libclient/blkin")
PAGE = os.path.join(TOP, "doc/blkin.h.3")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
OPTIMIZED = ["-O0", "-O2"]
C_COMPILERS = {"gcc": "g++", "clang": "clang++"}
LIBRARIES = {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
CPP_LIBRARIES = LIBRARIES | {"libstdc++.so.6", "libm.so.6", "libgcc_s.so.1"}
PRINTED = "0 0 7 0\n"  # not traced; all seven contexts came back, no classic call failed


def tool(*command, **keys):
    """Runs a command that must succeed, with the tools of the system; returns what it printed."""
    keys["env"] = dict(keys.get("env", os.environ), PATH="/usr/bin:/bin")
    done = subprocess.run(list(command), capture_output=True, text=True, check=False, **keys)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def all_of(function, cases):
    """Calls the function for each case, a few at a time; raises what the first one to fail raised."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda case: function(*case), cases))


@pytest.fixture(scope="module")
def installed():
    """The environment in which pkg-config finds this project, installed into a folder."""
    with tempfile.TemporaryDirectory(prefix="blkin-") as root:
        tool("meson", "install", "-C", build_dir(), "--no-rebuild", "--quiet", "--destdir", root)
        (found,) = glob.glob(f"{root}/**/pkgconfig/blkin.pc", recursive=True)
        yield dict(os.environ, PKG_CONFIG_SYSROOT_DIR=root, PKG_CONFIG_LIBDIR=os.path.dirname(found))


@pytest.fixture(scope="module")
def flags(installed):
    """What pkg-config says about a package."""
    return lambda package: tool("pkg-config", "--cflags", "--libs", package, env=installed).split()


def check_program(program, libraries=LIBRARIES):
    """It runs, and has nothing of LTTng's in it, nor a library but those."""
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", tool("readelf", "-d", program)))
    assert needed and needed <= libraries, program
    assert "lttng" not in tool("nm", program), program
    assert tool(program, env={}) == PRINTED, program


def compile_units(compiler, options, sources, folder):
    """Each source on its own, as a build does; returns the objects."""
    objects = []
    for source in sources:
        objects.append(os.path.join(folder, os.path.basename(source) + ".o"))
        tool(compiler, *options, "-c", os.path.join(OUTSIDE, source), "-o", objects[-1])
    return objects


def test_c_programs(flags, tmp_path):
    blkin = flags("blkin")

    def build(compiler, standard, optimized):
        folder = tmp_path / f"{compiler}{standard}{optimized}"
        folder.mkdir()
        options = [standard, optimized, *WARNINGS, *blkin]
        objects = compile_units(compiler, options, ["program.c", "unit.c"], folder)
        tool(compiler, *objects, "-o", f"{folder}/program")
        check_program(f"{folder}/program")

    all_of(build, itertools.product(C_COMPILERS, ["-std=c11", "-std=gnu11"], OPTIMIZED))


def test_cpp_programs(flags, tmp_path):
    """Of a unit in C++ and one in C; also without exceptions and type information, and in a newer C++."""
    blkin = flags("blkin")

    def build(compiler, standard, optimized):
        folder = tmp_path / f"{compiler}{'-'.join(standard)}{optimized}"
        folder.mkdir()
        options = [optimized, *WARNINGS, *blkin]
        objects = compile_units(C_COMPILERS[compiler], standard + options, ["program.cpp"], folder)
        objects += compile_units(compiler, ["-std=c11"] + options, ["unit.c"], folder)
        tool(C_COMPILERS[compiler], *objects, "-o", f"{folder}/program")
        check_program(f"{folder}/program", CPP_LIBRARIES)

    standards = [["-std=c++17"], ["-std=c++20", "-fno-exceptions", "-fno-rtti"]]
    all_of(build, itertools.product(C_COMPILERS, standards, OPTIMIZED))


def test_c_as_cpp(flags, tmp_path):
    """What is said in C about blkin.h is good C++ too."""
    blkin = flags("blkin")

    def build(compiler):
        folder = tmp_path / compiler
        folder.mkdir()
        objects = compile_units(compiler, ["-x", "c++", "-std=c++17", *WARNINGS, *blkin], ["unit.c"], folder)
        assert all(map(os.path.getsize, objects))

    all_of(build, zip(C_COMPILERS.values()))


@pytest.mark.x86("an assembler with two syntaxes is x86's")
def test_either_assembler_syntax(flags, tmp_path):
    """A program may choose how its assembler is written."""
    for compiler in C_COMPILERS:
        options = ["-std=c11", "-O2", "-masm=intel", *WARNINGS, *flags("blkin")]
        (tmp_path / compiler).mkdir()
        assert compile_units(compiler, options, ["program.c"], str(tmp_path / compiler))


@pytest.mark.x86("a compiler for 32 bits, which x86's is, too")
def test_large_time_on_32_bits(tmp_path):
    """Where time_t has 64 bits and a long 32, a strict C11, which hides the clock, calls the same one as others do."""
    (tmp_path / "gnu").mkdir()
    (tmp_path / "gnu/stubs-32.h").touch()  # which only a libc for 32 bits has
    (tmp_path / "now.c").write_text("#include <blkin/ticks.h>\nuint64_t now(void);\nuint64_t now(void) { return blkin_kernel_now_(); }\n")
    options = ["-m32", "-S", "-o", "-", *WARNINGS, f"-I{tmp_path}", "-I/usr/include/x86_64-linux-gnu", f"-I{TOP}/libclient"]
    large = ["-D_TIME_BITS=64", "-D_FILE_OFFSET_BITS=64"]
    for compiler, standard, more in itertools.product(C_COMPILERS, ["-std=c11", "-std=gnu11"], [[], large]):
        (called,) = re.findall(r"call\S*\s+(\w*clock_gettime\w*)", tool(compiler, standard, *more, *options, f"{tmp_path}/now.c"))
        assert called == ("__clock_gettime64" if more else "clock_gettime"), (compiler, standard)


def test_each_header_alone(flags, tmp_path):
    """Each header brings what it needs, in any order, and may be included twice."""
    blkin, classic = flags("blkin"), flags("blkin-classic")
    names = sorted(os.listdir(HEADERS))
    compat = sorted(os.listdir(os.path.join(TOP, "libclient/compat")))

    def build(compiler, standard, options, name):
        source = tmp_path / f"{compiler}-{os.path.basename(name)}.{'cpp' if '+' in standard else 'c'}"
        source.write_text(f"#include <{name}>\n#include <{name}>\n", encoding="utf-8")
        tool(compiler, standard, "-fsyntax-only", *WARNINGS, *options, str(source))

    if not os.path.exists("/usr/include/opentelemetry/sdk/trace/recordable.h"):  # tests/live/test_bridge.py has it
        names.remove("otel.hpp")
    cases = [(f"blkin/{name}", blkin) for name in names] + [(name, classic) for name in compat]
    assert len(cases) >= 8
    languages = [("gcc", "-std=c11"), ("clang", "-std=c11"), ("g++", "-std=c++17"), ("clang++", "-std=c++17")]
    all_of(
        build,
        [
            (compiler, standard, options, name)
            for (compiler, standard), (name, options) in itertools.product(languages, cases)
            if "+" in standard or not name.endswith(".hpp")
        ],
    )


def test_beside_tracepoints_of_their_own(flags, tmp_path):
    """A program with tracepoints needs LTTng for these; ours add nothing, whichever header comes first."""
    blkin = flags("blkin")

    def build(compiler, order, optimized):
        program = f"{tmp_path}/{compiler}{'-'.join(order)}{optimized}"
        source = os.path.join(OUTSIDE, "with_tracepoints.c")
        warnings = [option for option in WARNINGS if option != "-Wpedantic"]  # LTTng's macros are GNU's C
        tool(compiler, "-std=gnu11", optimized, *warnings, *order, "-I", OUTSIDE, source, *blkin, "-llttng-ust", "-o", program)
        assert "blkin" not in tool("nm", "-D", "--undefined-only", program)
        tool(program, env={})

    all_of(build, itertools.product(C_COMPILERS, [[], ["-DLTTNG_FIRST"]], OPTIMIZED))


def test_library_and_link_time_optimization(flags, tmp_path):
    """A shared library may include the header: nothing of it is seen outside."""
    blkin = flags("blkin")
    options = ["-std=c11", "-O2", "-fPIC", *WARNINGS, *blkin]
    for compiler in C_COMPILERS:
        library = f"{tmp_path}/{compiler}.so"
        objects = compile_units(compiler, options, ["unit.c"], tmp_path)
        tool(compiler, "-shared", "-Wl,-z,defs", *objects, "-o", library)
        exported = set(re.findall(r" [A-Z] (\w+)", tool("nm", "-D", "--defined-only", library)))
        assert exported == {"contexts", "classic"}
    objects = compile_units("gcc", ["-flto", *options], ["program.c", "unit.c"], tmp_path)
    tool("gcc", "-flto", "-O2", *objects, "-o", f"{tmp_path}/program")
    check_program(f"{tmp_path}/program")


def test_examples(flags, tmp_path):
    """The examples compile without warnings."""
    blkin = flags("blkin")

    def build(compiler, source):
        cpp = source.endswith(".cpp")
        options = ["-std=c++17"] if cpp else ["-std=gnu11", "-D_GNU_SOURCE"]
        compile_units(C_COMPILERS[compiler] if cpp else compiler, ["-O2", *options, *WARNINGS, *blkin], [source], tmp_path)

    sources = [path for kind in ("*.c", "*.cpp", "onetrace/*.c") for path in glob.glob(os.path.join(TOP, "examples", kind))]
    assert len(sources) >= 8
    for compiler in C_COMPILERS:
        all_of(lambda source: build(compiler, source), zip(sources))


def test_with_cmake(installed, tmp_path):
    environment = dict(installed, CFLAGS="-Wall -Wextra -Werror", CXXFLAGS="-Wall -Wextra -Werror")
    tool("cmake", "-G", "Ninja", "-S", OUTSIDE, "-B", str(tmp_path), env=environment)
    tool("ninja", "-C", str(tmp_path))
    check_program(f"{tmp_path}/program")
    check_program(f"{tmp_path}/program_cpp", CPP_LIBRARIES)


def test_with_meson(installed, tmp_path):
    tool("meson", "setup", str(tmp_path), OUTSIDE, env=installed)
    tool("ninja", "-C", str(tmp_path))
    check_program(f"{tmp_path}/program")
    check_program(f"{tmp_path}/program_cpp", CPP_LIBRARIES)


def public_names():
    """All that programs may use: functions, macros, structs, enumerators, and the methods of blkin::Span."""
    names = set()
    for path in glob.glob(f"{HEADERS}/*.h"):
        if os.path.basename(path) in ("marks.h", "provider.h", "record.h"):  # the table between the header and the provider
            continue
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
        names |= set(re.findall(r"^static inline [^(]*?(blkin_\w+)\(", text, re.MULTILINE))
        names |= set(re.findall(r"^#define (BLKIN_\w+)", text, re.MULTILINE))
        names |= set(re.findall(r"^struct (blkin_\w+) \{", text, re.MULTILINE))
        names |= set(re.findall(r"^enum (blkin_\w+) \{", text, re.MULTILINE))
        names |= set(re.findall(r"^typedef [^;]*\} (blkin_\w+);", text, re.MULTILINE))
        for body in re.findall(r"enum \w* ?\{(.*?)\}", text, re.DOTALL):
            names |= set(re.findall(r"\b([A-Z]\w+)", body))
    return {name for name in names if not name.endswith("_")}


def methods():
    with open(f"{HEADERS}/span.hpp", encoding="utf-8") as file:
        public = file.read().split("public:")[1].split("private:")[0]
    return set(re.findall(r"^\t(?:static )?[\w ]+?[ *&](\w+)\(", public, re.MULTILINE))


def test_manual_page_is_complete():
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    words = set(re.findall(r"\w+", page))
    names = public_names()
    # the patterns above find something of each sort
    assert {"blkin_span_start", "blkin_record", "BLKIN_SPAN", "BLKIN_EMERG", "blkin_context", "ANNOT_STRING"} <= names
    assert {"join", "annotate", "context", "finish", "get"} <= methods()
    assert names - words == set()
    assert methods() - words == set()
    # and it names nothing that is not there
    variables = {"BLKIN_CLOCK", "BLKIN_DEBUG", "BLKIN_SAMPLE", "BLKIN_SAMPLING_PAGE", "BLKIN_CLASSIC_2014"}
    assert set(re.findall(r"\b(?:blkin_[a-z_0-9]+|BLKIN_[A-Z_0-9]+)\b", page)) - names == variables - names
