# SPDX-License-Identifier: BSD-2-Clause
"""Build systems that look for BlkKin as it was installed in 2014, or as ceph has it, find what they look for."""

import glob
import os
import subprocess
import tempfile

import pytest
from rig.node import build_dir

LIBRARIES = ["blkin", "blkin-front", "zipkin-c", "zipkin-cpp"]

# As in ntirpc: the header below blkin/, and integers
NTIRPC = """
#include <blkin/zipkin_c.h>
int main(void)
{
    struct blkin_endpoint endpoint;
    struct blkin_trace trace;

    blkin_init_endpoint(&endpoint, "127.0.0.1", 2049, "server");
    blkin_init_new_trace(&trace, "request", &endpoint);
    BLKIN_TIMESTAMP(&trace, &endpoint, "received");
    BLKIN_KEYVAL_INTEGER(&trace, &endpoint, "xid", 7);
    return trace.info.trace_id ? 0 : 1;
}
"""
# As of 2014, by its own name for the folder
OF_2014 = """
#include <blkin/blkin-front.h>
int main(void)
{
    struct blkin_endpoint endpoint;
    struct blkin_trace trace;

    blkin_init();
    blkin_init_endpoint(&endpoint, (char *)"127.0.0.1", 2049, (char *)"server");
    blkin_init_new_trace(&trace, (char *)"request", &endpoint);
    BLKIN_TIMESTAMP(&trace, &endpoint, (char *)"received");
    return 0;
}
"""
CPP = """
#include <ztracer.hpp>
int main()
{
    ZTracer::Endpoint here("127.0.0.1", 6800, "osd.0");
    ZTracer::Trace trace("op", &here);
    trace.event("started");
    return trace ? 0 : 1;
}
"""
# As ceph looks for an installed BlkKin, and as librados of that time for a library to link
CMAKE = """
cmake_minimum_required(VERSION 3.13)
project(outside CXX)
find_path(BLKIN_INCLUDE_DIR ztracer.hpp PATH_SUFFIXES blkin)
find_library(BLKIN_LIBRARY NAMES blkin)
add_executable(program program.cpp)
target_include_directories(program PRIVATE ${BLKIN_INCLUDE_DIR})
target_link_libraries(program ${BLKIN_LIBRARY} blkin-front)
"""


def tool(*command, **keys):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **keys)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed():
    """Where the headers and where the libraries are, of all that developers install."""
    with tempfile.TemporaryDirectory(prefix="blkin-") as root:
        tool("meson", "install", "-C", build_dir(), "--no-rebuild", "--tags", "devel", "--destdir", root)
        (header,) = glob.glob(f"{root}/**/include/blkin/blkin.h", recursive=True)
        (package,) = glob.glob(f"{root}/**/pkgconfig/blkin.pc", recursive=True)
        yield os.path.dirname(os.path.dirname(header)), os.path.dirname(os.path.dirname(package))


def check_needed(program):
    """No library of ours is needed when it runs, nor LTTng's."""
    needed = tool("readelf", "-d", program)
    assert "blkin" not in needed and "lttng" not in needed


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("source", [NTIRPC, OF_2014], ids=["ntirpc", "2014"])
@pytest.mark.parametrize("linker", ["bfd", "gold"])
def test_header_and_library(installed, tmp_path, source, library, linker):
    include, libraries = installed
    (tmp_path / "program.c").write_text(source)
    program = f"{tmp_path}/program"
    flags = [f"-I{include}", f"{tmp_path}/program.c", f"-L{libraries}", f"-l{library}", "-ldl", f"-fuse-ld={linker}"]
    tool("gcc", "-Wall", "-Werror", "-O2", *flags, "-o", program)
    check_needed(program)
    tool(program)


def test_shared_library(installed, tmp_path):
    include, libraries = installed
    (tmp_path / "library.c").write_text(NTIRPC.replace("int main(void)", "int work(void);\nint work(void)"))
    flags = ["-shared", "-fPIC", f"-I{include}", f"{tmp_path}/library.c", f"-L{libraries}", "-lblkin", "-Wl,-z,defs"]
    tool("gcc", *flags, "-o", f"{tmp_path}/library.so")
    check_needed(f"{tmp_path}/library.so")


def test_cmake_as_ceph(installed, tmp_path):
    include, libraries = installed
    (tmp_path / "program.cpp").write_text(CPP)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    paths = [f"-DCMAKE_INCLUDE_PATH={include}", f"-DCMAKE_LIBRARY_PATH={libraries}"]
    # what is in /usr/include needs no path
    environment = dict(os.environ, CXXFLAGS=f"-I{include}", LDFLAGS=f"-L{libraries}", PATH="/usr/bin:/bin")
    tool("cmake", "-G", "Ninja", "-S", str(tmp_path), "-B", f"{tmp_path}/build", *paths, env=environment)
    tool("ninja", "-C", f"{tmp_path}/build", env=environment)
    check_needed(f"{tmp_path}/build/program")
    tool(f"{tmp_path}/build/program")
