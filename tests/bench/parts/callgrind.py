# SPDX-License-Identifier: BSD-2-Clause
"""Instructions by function, which do not depend on how busy the machine is: programs under callgrind, and what it wrote."""

import bisect
import functools
import glob
import os
import re
from collections import Counter

from rig.process import Trouble

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
NAMED = re.compile(r"(fl|fi|fe|fn|ob|cfi|cfl|cfn|cob)=\((\d+)\)(?: (.*))?$")
COST = re.compile(r"(\+\d+|-\d+|\*|\d+) (\d+)$")
DEFINED = re.compile(r"^[A-Za-z_].*?(\w+)\s*\(")
ASIDE = ("#", "/", "\t", " ", "{", "}", ")")


@functools.cache
def functions_of(path):
    """
    Where each function of a source of ours begins, and its name: inlined ones are not in the profile, but their lines
    are. The house's style puts what is no part of a function's head or end elsewhere than in the first column.
    """
    starts, names, head = [0], [""], (0, "")
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("{"):
                starts.append(head[0])
                names.append(head[1])
            elif not line.startswith(ASIDE) and (match := DEFINED.match(line.replace("__attribute__((", "["))):
                head = (number, match[1])
    return starts, names


@functools.cache
def ours(path, folder):
    """A file's path in this project; None if it is none of ours. Those of what is built are relative to the build's folder."""
    path = os.path.relpath(os.path.realpath(os.path.join(folder, path)), TOP)
    made = path.startswith((os.pardir, "build")) or not os.path.exists(os.path.join(TOP, path))
    return None if made else path


class Reading:
    """One file that callgrind wrote: what each function took by itself."""

    def __init__(self, path, folder):
        self.folder = folder
        self.names = {}
        self.place = {"ob": "", "fl": "", "fn": ""}
        self.title = None
        self.costs = Counter()
        self.line = 0
        self.called = False
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                self.take(line.rstrip("\n"))

    def take(self, line):
        if match := NAMED.match(line):
            self.name(*match.groups())
        elif match := COST.match(line):
            self.count(match[1], int(match[2]))
        elif line.startswith("calls="):
            self.called = True
        elif line.startswith("desc: Trigger: Client Request: "):
            self.title = line.removeprefix("desc: Trigger: Client Request: ")

    def name(self, kind, number, text):
        """Names are written once, and after that are their number; a call's are not those of what is counted."""
        table = {"c": kind[1:], "f": kind}.get(kind[0], kind) if kind != "ob" else "ob"
        table = {"fi": "fl", "fe": "fl"}.get(table, table)
        if text is not None:
            self.names[table, number] = text
        if not kind.startswith("c"):
            self.place[table] = self.names[table, number]

    def count(self, line, cost):
        """The line behind `calls=` has what the called function took."""
        self.line = self.line + int(line) if line[0] in "+-" else self.line if line == "*" else int(line)
        if not self.called:
            self.costs[self.function()] += cost
        self.called = False

    def function(self):
        """`FILE:FUNCTION` of ours, or `PROGRAM:FUNCTION` where others' headers are in it; of others, the library's name."""
        path = ours(self.place["fl"], self.folder) if self.place["fl"] != "???" else None
        if not path:
            library = os.path.basename(self.place["ob"]) or "unknown"
            return f"{library}:{self.place['fn']}" if self.place["ob"].startswith(self.folder) else library
        starts, names = functions_of(os.path.join(TOP, path))
        return f"{path}:{names[bisect.bisect_right(starts, self.line) - 1] or self.place['fn']}"


def run(node, command, **environment):
    """Runs a program to its good end; gives what was counted, by the titles that it gave; by "" what has none."""
    out = node.path(f"callgrind-{len(node.programs)}")
    valgrind = ["valgrind", "--tool=callgrind", "--quiet", "--trace-children=yes", f"--callgrind-out-file={out}.%p"]
    program = node.start(valgrind + list(command), name=os.path.basename(command[0]), **environment)
    if program.wait(300) != 0:
        raise Trouble(f"{' '.join(map(str, command))} failed under callgrind:\n{program.log()}")
    found = {}
    for path in glob.glob(f"{out}.*"):
        reading = Reading(path, os.environ["BLKIN_BUILD"])
        found.setdefault(reading.title or "", Counter()).update(reading.costs)
        os.unlink(path)
    if not found:
        raise Trouble(f"callgrind wrote nothing about {command[0]}")
    return found
