# SPDX-License-Identifier: BSD-2-Clause
"""`blkin report`: one archive for who is to find out what is wrong, without secrets."""

import json
import os
import re
import stat
import subprocess
import tarfile

from rig.page import token_of
from rig.process import free_port

PARTS = {"status.txt", "status.json", "top.json", "validate.txt", "settings.txt", "config.txt", "journal.txt", "units.txt", "lttng.txt",
         "versions.txt", "disks.txt", "node.txt"}  # fmt: skip


def report(node, *options, **more):
    command = [node.built("cli/blkin"), "report", *options]
    return subprocess.run(command, env=node.environment, capture_output=True, text=True, check=False, timeout=300, **more)


def parts_of(archive):
    with tarfile.open(archive) as tar:
        return {os.path.basename(member.name): tar.extractfile(member).read().decode() for member in tar if member.isfile()}


def test_everything_but_secrets(node):
    """What is listed is what is in it, and nobody else may read it."""
    proxy = f"http://reporter:s3cr3t-word@127.0.0.1:{free_port()}"
    node.start_agent(free_port(), output={"proxy": proxy, "type": "otlp"})
    token = token_of(node)
    archive = node.path("report.tar.gz")
    done = report(node, "--config", node.path("agent.conf"), "--output", archive)
    assert done.returncode == 0, done
    parts = parts_of(archive)
    assert set(parts) == PARTS
    assert set(re.findall(r"^  (\S+) ", done.stdout, re.M)) == PARTS
    assert stat.S_IMODE(os.stat(archive).st_mode) == 0o600
    everything = "\n".join(parts.values())
    assert token not in everything and "s3cr3t-word" not in everything
    assert "reporter:REMOVED@" in parts["config.txt"]
    assert json.loads(parts["status.json"])["collecting"] is True
    assert re.search(r"Recording session .?blkin\b", parts["lttng.txt"]) and "blkin" in parts["versions.txt"]


def test_without_an_agent(node):
    """It says so in its place, and everything else is there."""
    node.write_config(free_port())
    archive = node.path("report.tar.gz")
    done = report(node, "--config", node.path("agent.conf"), "--output", archive, "--yes")
    assert done.returncode == 0, done
    parts = parts_of(archive)
    assert set(parts) == PARTS and "blkin-agent" in parts["status.txt"]


def put(folder, name, script):
    """A program of that name."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\n{script}\n")
    os.chmod(path, 0o755)


def test_what_hangs_and_what_is_in_the_environment(node):
    """What a part said before it hung is there, and a password in a unit's environment is not."""
    node.write_config(free_port())
    put(node.path("bin"), "lttng", '[ "$1" != --version ] || { echo lttng of the test; exit; }\nexec sleep 300')
    put(node.path("bin"), "systemctl", '[ "$1" = show ] || exit 0; printf "ID=1\\nEnvironment=A=b PROXY_PASSWORD=s3cr3t-word\\nEnvironmentFiles=/etc/x\\n"')
    node.environment["PATH"] = f"{node.path('bin')}:{os.environ['PATH']}"
    archive = node.path("report.tar.gz")
    done = report(node, "--config", node.path("agent.conf"), "--output", archive, "--yes")
    assert done.returncode == 0, done
    parts = parts_of(archive)
    assert parts["lttng.txt"] == "lttng of the test\nended here, as it took longer than 20 s\n"
    assert parts["units.txt"] == "ID=1\nEnvironment=REMOVED\nEnvironmentFiles=/etc/x\n"


def test_what_is_missing_and_what_crashes(node):
    """Of these it is not said that they took too long."""
    node.write_config(free_port())
    put(node.path("bin"), "journalctl", "exec nothing-of-this-name")
    put(node.path("bin"), "lttng", "exit 0")
    put(node.path("bin"), "grep", "kill -SEGV $$")
    put(node.path("bin"), "sed", "kill -KILL $$")
    put(node.path("bin"), "systemctl", "exit 0")
    node.environment["PATH"] = f"{node.path('bin')}:{os.environ['PATH']}"
    archive = node.path("report.tar.gz")
    done = report(node, "--config", node.path("agent.conf"), "--output", archive, "--yes")
    assert done.returncode == 0, done
    parts = parts_of(archive)
    assert [parts[name].splitlines()[-1] for name in ("journal.txt", "lttng.txt", "units.txt")] == [
        f"ended here, with code {code}" for code in (127, 139, 137)]  # fmt: skip
    assert "took longer" not in "\n".join(parts.values())


def test_what_is_wrong(node):
    node.write_config(free_port())
    done = report(node, "--config", node.path("agent.conf"), "--output", "/nowhere/report.tar.gz")
    assert done.returncode == 1 and "cannot write /nowhere/report.tar.gz" in done.stderr
    assert report(node, "--nonsense").returncode == 64
    assert report(node, "more").returncode == 64


HIDDEN = [
    "path = /api/v2/spans?api_key=S3CRa&sig=S3CRb",
    "server = user:S3CRc@127.0.0.1:1",
    "server = S3CRd@127.0.0.1:1",
    "server = http://user:S3CRe@127.0.0.1:1/x?key=S3CRf&other=S3CRg",
    "proxi = http://S3CRh@[::1]:1",
    "proxy = ${CRED:-http://user:S3CRi@proxy:1}",
]


def test_secrets_anywhere(node):
    """In any address, and in what is said about it: values of a query, and who comes before the host."""
    for line in HIDDEN:
        node.write_config(free_port())
        with open(node.path("agent.conf"), "a") as config:
            config.write(f"\n[output other]\ntype = http\n{line}\n")
        archive = node.path("report.tar.gz")
        done = report(node, "--config", node.path("agent.conf"), "--output", archive, "--yes")
        assert done.returncode == 0, done
        parts = parts_of(archive)
        assert [text for text in "\n".join(parts.values()).splitlines() if "S3CR" in text] == [], line
        assert "REMOVED" in parts["config.txt"], parts["config.txt"]
