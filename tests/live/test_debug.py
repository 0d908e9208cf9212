# SPDX-License-Identifier: BSD-2-Clause
"""BLKIN_DEBUG=1: a program says in exactly one line whether it is traced, whatever it finds."""

import os
import re
import shutil
import stat
import subprocess

import pytest
from rig.node import build_dir, sanitizer_flags
from test_sampling import sampling
from test_user import User

SHOP = "examples/shop"
LINE = re.compile(r"blkin: provider: (\S+), (/\S+); session daemon: (.*); session: (.*); sampling: (.*)")


PRINTED = "2 orders carried out\n"


def said(program):
    """The line that a program printed before its own."""
    assert program.wait() == 0, program.log()
    line, _, rest = program.log().partition("\n")
    assert line.startswith("blkin: ") and rest == PRINTED, program.log()
    return line


def ask(node, **environment):
    """The line's parts: provider's version, its path, session daemon, session and sampling."""
    program = node.start([node.built(SHOP), 3], **{"BLKIN_DEBUG": "1", **environment})
    return LINE.fullmatch(said(program)).groups()


def test_no_session_daemon(bare_node):
    version, path, daemon, session, sampled = ask(bare_node)
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert path == os.path.join(build_dir(), "libclient/libblkin-provider.so.1")
    assert (daemon, session, sampled) == ("none", "none records yet", "all, unless the program sets a rate")


def test_session_comes_and_goes(node, receiver):
    mine = "root's" if os.getuid() == 0 else "the user's"
    assert ask(node)[2:4] == (mine, "none records yet")
    node.start_agent(receiver.port)
    assert ask(node)[2:4] == (mine, "records")
    assert node.agent.stop() == 0
    node.start_agent(receiver.port, session={"level": "err"})
    assert ask(node)[2:4] == (mine, "records spans of level err and above")
    assert node.agent.stop() == 0
    assert ask(node)[2:4] == (mine, "none records yet")


def test_classic_annotations_alone(node):
    node.lttng("create", "classic", "--output", node.path("classic"))
    node.lttng("enable-event", "--userspace", "blkin:timestamp")
    node.lttng("start")
    assert ask(node)[3] == "records classic annotations only"
    node.lttng("destroy", "classic")


def test_users_session_daemon(bare_node):
    user = User(bare_node, programs=(SHOP,))
    user.configure("[output]\ntype = none\n[session]\nmemory = 4M\n")
    agent = user.start_agent()
    line = said(user.start(SHOP, "3", BLKIN_DEBUG="1"))
    assert LINE.fullmatch(line).groups()[2:4] == ("the user's", "records")
    assert agent.stop() == 0


@pytest.mark.parametrize("rate, words", [("1/10", "1/10"), ("100", "1/100"), ("0", "off"), ("1", "1/1")])
def test_rate_of_the_environment(bare_node, rate, words):
    assert ask(bare_node, BLKIN_SAMPLE=rate)[4] == f"{words}, by BLKIN_SAMPLE"


@pytest.mark.parametrize("rate", ["0.5", "1/", "10%", "1/-3"])
def test_no_rate_in_the_environment(bare_node, rate):
    words = "all, unless the program sets a rate (BLKIN_SAMPLE is no rate: use 1/N)"
    assert ask(bare_node, BLKIN_SAMPLE=rate)[4] == words


def test_rate_of_the_node(bare_node):
    page = bare_node.path("sampling")
    sampling(bare_node, "1/7")
    assert ask(bare_node, BLKIN_SAMPLE="1/10", BLKIN_SAMPLING_PAGE=page)[4] == "1/7, by `blkin sampling`"
    sampling(bare_node, "off")
    sampling(bare_node, "1/2", "--service", "osd.3")
    words = "off, by `blkin sampling`, and 1 service with a rate of its own"
    assert ask(bare_node, BLKIN_SAMPLING_PAGE=page)[4] == words
    sampling(bare_node, "default")
    sampling(bare_node, "1/3", "--service", "osd.4")
    words = "1/10, by BLKIN_SAMPLE, and 2 services, each with a rate of its own"
    assert ask(bare_node, BLKIN_SAMPLE="1/10", BLKIN_SAMPLING_PAGE=page)[4] == words


def test_one_line_for_all_objects(bare_node):
    """A program of several objects that include the header, with the provider and without it."""
    once, plugin = (bare_node.built(f"tests/live/programs/{name}") for name in ("once", "libonce_plugin.so"))
    for environment in ({}, {"LD_LIBRARY_PATH": libraries_without_provider(bare_node)}):
        program = bare_node.start([once, plugin], BLKIN_DEBUG="1", **environment)
        assert program.wait() == 0
        words = "not traced" if environment else "provider: "
        assert [words in line for line in program.log().splitlines() if line.startswith("blkin: ")] == [True], program.log()


def libraries_without_provider(node):
    """A folder in which programs find what they are linked with, if anything, but not the provider."""
    folder = node.path("empty")
    os.mkdir(folder)
    return folder


def test_provider_of_another_time(bare_node):
    """One that lacks what the header needs: the program says so, and runs."""
    folder = libraries_without_provider(bare_node)
    old = "const unsigned blkin_provider_1[64] = {4}; /* it ends where its size does */"
    compiler = ["gcc", *sanitizer_flags(), "-shared", "-fPIC", "-x", "c", "-", "-o", f"{folder}/libblkin-provider.so.1"]
    subprocess.run(compiler, input=old, text=True, check=True)
    line = said(bare_node.start([bare_node.built(SHOP), 3], BLKIN_DEBUG="1", LD_LIBRARY_PATH=folder))
    words = "libblkin-provider.so.1 is older than the header it was built with; upgrade libblkin-provider"
    assert line == f"blkin: this program is not traced: {words}"


def test_silent_unless_asked(node):
    program = node.start([node.built(SHOP), 3])
    assert program.wait() == 0
    assert program.log() == PRINTED


def test_nobody_reads_it(node):
    """Standard error is closed: the program does not care."""
    program = node.start(["sh", "-c", 'exec "$0" 3 2>&-', node.built(SHOP)], BLKIN_DEBUG="1")
    assert program.wait() == 0
    assert program.log() == PRINTED


@pytest.mark.as_root("takes root")
def test_setuid_program(bare_node):
    """It has no LD_LIBRARY_PATH, so no provider here, and says so; a page that the caller names is not looked at."""
    os.chmod(bare_node.folder, 0o711)
    program = shutil.copy(bare_node.built(SHOP), bare_node.path("setuid"))
    os.chmod(program, stat.S_ISUID | 0o755)
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    line = said(bare_node.start([*nobody, program, 3], BLKIN_DEBUG="1", BLKIN_SAMPLING_PAGE="/dev/null"))
    assert line.startswith("blkin: this program is not traced: libblkin-provider.so.1: cannot open")
