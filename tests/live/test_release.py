# SPDX-License-Identifier: BSD-2-Clause
"""scripts/release: what it writes, and that the sources are the same wherever they are made. (The packages take other Debians.)"""

import hashlib
import os
import re
import shutil
import subprocess
import tarfile

import pytest
from rig.node import TOP, VERSION

WHO = {
    "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z", "GIT_CONFIG_GLOBAL": "/dev/null",
}  # fmt: skip
NEXT = "7.8.9"


def run(folder, *words, code=0):
    done = subprocess.run(
        words, cwd=folder, env=dict(os.environ, **WHO), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == code, done.stdout
    return done.stdout


@pytest.fixture
def checkout(tmp_path):
    """A checkout of git with this tree, ready for the next version."""
    folder = tmp_path / "blkin"
    leave = shutil.ignore_patterns("build*", "obj-*", ".git", "__pycache__")
    shutil.copytree(TOP, folder, ignore=lambda at, names: leave(at, names) if at == TOP else {"__pycache__"} & set(names), symlinks=True)
    changes = folder / "CHANGELOG.md"
    changes.write_text(changes.read_text().replace(f"## {VERSION} (", f"## {NEXT} (unreleased)\n\n- Something.\n\n## {VERSION} (", 1))
    run(folder, "git", "init", "-q", "-b", "main")
    run(folder, "git", "add", "-A")
    run(folder, "git", "commit", "-q", "-m", "all")
    return folder


def test_prepare(checkout):
    assert "another version than" in run(checkout, "scripts/release", "prepare", "7.8.10", code=1)
    assert "three numbers" in run(checkout, "scripts/release", "prepare", "next", code=1)
    (checkout / "new").write_text("")
    assert "has changes" in run(checkout, "scripts/release", "prepare", NEXT, code=1)
    (checkout / "new").unlink()
    run(checkout, "scripts/release", "prepare", NEXT)
    assert run(checkout, "git", "describe", "--tags", "--exact-match") == f"v{NEXT}\n"
    assert run(checkout, "git", "status", "--porcelain") == ""
    assert f"  version: '{NEXT}',\n" in (checkout / "meson.build").read_text()
    assert re.search(rf"^## {NEXT} \(\d+-\d\d-\d\d\)$", (checkout / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert (checkout / "debian/changelog").read_text().startswith(f"blkin ({NEXT}) bookworm; urgency=medium\n\n  * Something.\n")
    for name in ("README.md", "doc/instrument.md", "doc/blkin.h.3", "doc/blkin.1"):
        text = (checkout / name).read_text()
        assert NEXT in text and VERSION not in text, name
    assert "another version than" in run(checkout, "scripts/release", "prepare", NEXT, code=1)


def test_sources_are_the_same_twice(checkout, tmp_path):
    """Of another clone, of other times and permissions; they build without git."""
    run(tmp_path, "git", "clone", "-q", "blkin", "other")
    for path in (tmp_path / "other").rglob("*.c"):
        path.chmod(0o600)
    run(tmp_path / "other", "git", "config", "core.fileMode", "false")
    sums = []
    for name in ("blkin", "other"):
        out = tmp_path / f"{name}-out"
        run(tmp_path / name, "scripts/release", "sources", out)
        (made,) = out.iterdir()
        assert made.name == f"blkin-{VERSION}.tar.gz"
        sums.append(hashlib.sha256(made.read_bytes()).hexdigest())
    assert sums[0] == sums[1]
    with tarfile.open(made) as archive:
        archive.extractall(tmp_path / "unpacked")
    tree = tmp_path / "unpacked" / f"blkin-{VERSION}"
    run(tree, "env", "PATH=/usr/bin:/bin", "meson", "setup", "-Dtests=disabled", "-Dfuzz=disabled", "build")
    assert "is not empty" in run(tmp_path / "blkin", "scripts/release", "sources", tmp_path / "blkin-out", code=1)
