# SPDX-License-Identifier: BSD-2-Clause
"""What is packaged beside the programs: units and texts."""

import glob
import os
import re
import subprocess

from rig.node import TOP, VERSION, build_dir


def read(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as file:
        return file.read()


def test_units_use_variables_that_are_set():
    """Or else systemd of Debian 13 complains of them at each start."""
    units = glob.glob(os.path.join(TOP, "systemd/*.service.in"))
    assert units
    for unit in units:
        text = read(unit)
        used = set(re.findall(r"(?<!\$)\$\{?(\w+)", "\n".join(re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE))))
        assert used <= set(re.findall(r"^Environment=(\w+)=", text, re.MULTILINE)), unit


def test_changelogs():
    """One is made of the other, and both begin with the version that is built."""
    made = subprocess.run([os.path.join(TOP, "scripts/debian-changelog")], capture_output=True, text=True, check=True).stdout
    assert made == read("debian/changelog"), "run: scripts/debian-changelog >debian/changelog.new, and move it"
    assert made.startswith(f"blkin ({VERSION}) ")
    assert all(len(line) <= 80 for line in made.splitlines() if not line.startswith(" --"))


def test_samples_are_of_this_version():
    """scripts/release renews them."""
    pages = ["README.md"] + [os.path.relpath(path, TOP) for path in glob.glob(os.path.join(TOP, "doc/*.[1358m]*"))]
    shown = [(page, found) for page in pages for found in re.findall(r"(?:blkin: provider: |blkin-agent )(\d+[\d.]+)[,;]", read(page))]
    assert len(shown) >= 4
    assert {found for _, found in shown} == {VERSION}, shown
    assert f'"blkin {VERSION}"' in read("doc/blkin.1").splitlines()[1]


def listed(*words):
    """What --help lists of a kind: commands, or options."""
    shown = subprocess.run([os.path.join(build_dir(), "cli/blkin"), *words, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^  (--[a-z-]+|[a-z]+)\b", shown, re.MULTILINE)) - {"--help", "--version"}


def test_the_commands_page_has_all():
    """Each command has a section, and each of its options is in that and in the synopsis."""
    page = read("doc/blkin.1").replace("\\-", "-")
    synopsis, rest = page.split(".SH DESCRIPTION\n")
    commands = listed()
    assert len(commands) > 9 and set(re.findall(r"^\.SS blkin (\w+)$", rest, re.MULTILINE)) == commands
    for command in commands:
        section = re.split(r"^\.S[SH] ", rest.split(f".SS blkin {command}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]
        usage = "".join(part for part in re.split(r"^\.br$", synopsis, flags=re.MULTILINE) if f".B blkin {command}" in part)
        options = listed(command)
        assert {option for option in options if option not in section} == set(), command
        assert {option for option in options if option not in usage} == set(), command


def test_the_configurations_page_has_all():
    """Each key has its place, and no other."""
    rows = re.findall(r'^\t(?:AGENT\("[a-z]+", |OUTPUT\()"([a-z-]+)"', read("agent/config/keys.c"), re.MULTILINE)
    rows += re.findall(r'^\tTYPE\([A-Z_]+, [a-z_]+, "([a-z-]+)"', read("agent/config/inputtypes.h"), re.MULTILINE)
    assert len(rows) > 80
    assert set(re.findall(r"^\.It Ic ([a-z-]+)", read("doc/blkin-agent.conf.5"), re.MULTILINE)) == set(rows)
