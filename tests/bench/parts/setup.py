# SPDX-License-Identifier: BSD-2-Clause
"""A build to measure, and namespaces to measure in."""

import os
import subprocess
import sys

from rig.process import Trouble

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
INSIDE = "BLKIN_BENCH_INSIDE"
# With lines, so that inlined functions have names in profiles; the code is the same.
RELEASE = ("--buildtype=release", "-Ddebug=true", "-Dtests=auto", "-Dfuzz=disabled")


def build(targets):
    """Builds in $BLKIN_BUILD, as that is set up, or in build-bench; what the compiler says goes to standard error."""
    if "guard-programs" in targets and not os.path.exists("/usr/include/valgrind/callgrind.h"):
        raise Trouble("instructions are counted by callgrind, which is not here: install the package valgrind")
    folder = os.environ.setdefault("BLKIN_BUILD", os.path.join(TOP, "build-bench"))
    # What a compiler cache has of another folder names that folder's sources, which are not found in profiles then.
    environment = dict(os.environ, PATH="/usr/bin:/bin", CCACHE_DISABLE="1")
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        command = ["meson", "setup", *RELEASE, folder, TOP]
        subprocess.run(command, check=True, stdout=sys.stderr, env=environment)
    subprocess.run(["ninja", "--quiet", "-C", folder, *targets], check=True, stdout=sys.stderr, env=environment)


def isolate(program):
    """Goes on, after the build, in namespaces of its own."""
    os.environ[INSIDE] = "1"
    os.execv(os.path.join(TOP, "tests/isolate"), ["isolate", sys.executable, program, *sys.argv[1:]])


def inside():
    return INSIDE in os.environ
