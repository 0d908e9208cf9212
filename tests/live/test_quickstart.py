# SPDX-License-Identifier: BSD-2-Clause
"""What quickstart says to who has just begun: when it is interrupted, when Zipkin cannot be had, and where to go from there."""

import importlib.util
import json
import os
import re
import signal
import subprocess
import time

import pytest
from rig.node import TOP, build_dir
from rig.process import wait_until

# Maven's words where it finds no way out.
NO_WAY = """\
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-dependency-plugin:2.8:copy (default-cli) on project standalone-pom: \
Unable to find artifact. Could not transfer artifact io.zipkin:zipkin-server:jar:exec:3.6.1 from/to central \
(https://repo.maven.apache.org/maven2): repo.maven.apache.org: Temporary failure in name resolution -> [Help 1]
[ERROR]
[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.
"""


def shell(words, tmp_path, **how):
    """A script that has sourced lib.sh, in a checkout at @tmp_path."""
    begin = f'set -euo pipefail; top={TOP}; . "$top/scripts/lib.sh"; top={tmp_path}\n'
    return subprocess.Popen(
        ["bash", "-c", begin + words, "quickstart"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a script in the background ignores it
        **how,
    )


@pytest.fixture
def maven(tmp_path):
    """A mvn that fails with such words, and says in a file that it was called."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "mvn").write_text(f"#!/bin/sh\ncat <<'END'\n{NO_WAY}END\nexit 1\n")
    (folder / "mvn").chmod(0o755)
    return dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}")


@pytest.mark.parametrize("step", ["meson", "ninja"])
def test_interrupted(tmp_path, step):
    other = "ninja" if step == "meson" else "meson"
    words = f'{step}() {{ touch "$top/begun"; sleep 100; }}\n{other}() {{ :; }}\nbuild build\n'
    left = tmp_path / "tmp"
    left.mkdir()
    process = shell(words, tmp_path, env=dict(os.environ, TMPDIR=str(left)))
    wait_until((tmp_path / "begun").exists, 20, f"{step} to be called")
    time.sleep(0.2)  # so that it sleeps
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "-- interrupted" and "cannot" not in said, said
    assert not os.listdir(left), "the log of what was interrupted"


def test_fetch_that_fails(tmp_path, maven):
    """It is said in one sentence, with the cause, before anything is built."""
    with open(os.path.join(TOP, "quickstart"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    fetch, build = (next(i for i, line in enumerate(lines) if re.search(rf"\b{word}\b.*\"\$folder\"", line)) for word in ("fetch_zipkin", "build"))
    assert fetch < build
    process = shell("fetch_zipkin build\n", tmp_path, env=maven)
    said, _ = process.communicate(timeout=20)
    assert process.returncode == 1
    assert said.splitlines() == [
        "-- fetching Zipkin (io.zipkin:zipkin-server:3.6.1:jar:exec) through Maven",
        "quickstart: cannot fetch Zipkin from Maven Central, or from a mirror in ~/.m2/settings.xml: Could not transfer artifact "
        "io.zipkin:zipkin-server:jar:exec:3.6.1 from/to central (https://repo.maven.apache.org/maven2): repo.maven.apache.org: "
        "Temporary failure in name resolution",
    ]


def test_builds_no_tests(tmp_path):
    """What is built is what the tour runs, and what an installation has: with the options that the pages, too, have for that."""
    with open(os.path.join(TOP, "quickstart"), encoding="utf-8") as file:
        options = re.search(r'^build "\$folder"((?: -D\S+)*)', file.read(), re.MULTILINE)[1].split()
    with open(os.path.join(TOP, "doc/operate.md"), encoding="utf-8") as file:
        commands = re.findall(r"^    meson setup (.*) && ninja", file.read(), re.MULTILINE)
    assert len(commands) == 2 and all(set(options) <= set(command.split()) for command in commands), commands
    environment = dict(os.environ, PATH="/usr/bin:/bin")
    subprocess.run(["meson", "setup", *options, tmp_path, TOP], check=True, capture_output=True, env=environment)
    shown = subprocess.run(["meson", "introspect", "--targets", tmp_path], check=True, capture_output=True, text=True, env=environment).stdout
    built = {os.path.relpath(path, tmp_path) for target in json.loads(shown) if target["build_by_default"] for path in target["filename"]}
    assert not [path for path in built if path.startswith("tests/")]
    with open(os.path.join(TOP, "scripts/tour.py"), encoding="utf-8") as file:
        run = re.findall(r"(?:built\(|node\.run\(\[)\"([\w/]+)\"", file.read())
    assert len(run) >= 3 and {*run, "agent/blkin-agent", "agent/blkin-reader", "agent/blkin-canary"} <= built


def test_what_was_fetched_stays(tmp_path):
    """The build begins in the folder that has it already, also after a setup that was interrupted."""
    (tmp_path / "build/zipkin").mkdir(parents=True)
    (tmp_path / "build/zipkin/it.jar").write_text("")
    (tmp_path / "build/meson-private").mkdir()
    words = 'meson() { [ ! -e "$top/build/meson-private" ]; }\nninja() { :; }\nbuild build\nfetch_zipkin build\necho "$zipkin_jar"\n'
    process = shell(words, tmp_path)
    said, _ = process.communicate(timeout=20)
    assert process.returncode == 0 and said.splitlines()[-1] == f"{tmp_path}/build/zipkin/it.jar", said


@pytest.mark.parametrize("here", [TOP, "/"])
def test_next_steps(monkeypatch, here):
    """Each file that is named is there, and the command can be typed as it stands."""
    spec = importlib.util.spec_from_file_location("tour", os.path.join(TOP, "scripts/tour.py"))
    tour = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tour)
    monkeypatch.chdir(here)
    said = tour.next_steps(os.path.join(build_dir(), "cli/blkin"))
    files = re.findall(r"[\w./-]*/[\w./-]+\.(?:c|md|conf|1)\b", said)
    assert len(files) == 6 and all(map(os.path.exists, files)), said
    (command,) = re.findall(r"commands +(.*), man ", said)
    assert subprocess.run(["sh", "-c", command], check=True, capture_output=True, text=True).stdout.startswith("Usage: blkin")
