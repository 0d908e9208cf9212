# SPDX-License-Identifier: BSD-2-Clause
"""scripts/apt-repository: a node installs from it as doc/clusters.md says, upgrades, and purges."""

import os
import re
import subprocess
from pathlib import Path

from hosts.repository import Repository

TOP = os.path.join(os.path.dirname(__file__), "../..")
OURS = ("blkin-agent", "libblkin-provider")
LISTED = "/etc/apt/sources.list.d/blkin.sources"
KEY = "/etc/apt/keyrings/blkin.gpg"
# Debian's lists stay as they are, as the host has no network.
UPDATE = ["apt-get", "-q", "update", f"-oDir::Etc::SourceList={LISTED}", "-oDir::Etc::SourceParts=-", "-oAPT::Get::List-Cleanup=0"]


def subscribe(host, key):
    """What the page has an administrator write on each node."""
    with open(os.path.join(TOP, "doc/clusters.md"), encoding="utf-8") as file:
        page = file.read()
    (lines,) = re.findall(rf"`{LISTED}`:\n\n((?:    .*\n)+)", page)
    text = re.sub("(?m)^    ", "", lines).replace("https://packages.example.org/blkin", "file:/srv/blkin")
    codename = re.search(r"VERSION_CODENAME=(\w+)", host.read("/etc/os-release"))[1]
    assert "file:" in text and f"Signed-By: {KEY}\n" in text
    host.write(LISTED, re.sub("(?m)^Suites: .*", f"Suites: {codename}", text))
    host.put(key, KEY)


def version(host, name):
    return host.run("dpkg-query", "-W", "-f=${Version}", name)


def test_install_upgrade_purge(rack, fresh, repository, earlier):
    before = fresh.files()
    repository.add(earlier)
    repository.publish(fresh)
    subscribe(fresh, f"{repository.folder}/made/blkin.gpg")
    fresh.run(*UPDATE)
    fresh.install(*OURS, recommends=False)
    fresh.wait_collecting()
    assert all(version(fresh, name).startswith("0~before") for name in OURS)
    repository.add([rack.package(name) for name in OURS])
    repository.publish(fresh)
    fresh.run(*UPDATE)
    fresh.install(*OURS, recommends=False)
    fresh.wait_collecting()
    assert not any("before" in version(fresh, name) for name in OURS)
    assert "0~before" in fresh.run("apt-cache", "madison", "blkin-agent"), "the version before can be installed still"
    fresh.run("apt-get", "-q", "-y", "purge", *OURS)
    fresh.run("apt-get", "-q", "-y", "autoremove", "--purge")
    fresh.run("rm", "-r", LISTED, KEY, "/srv/blkin")
    assert not {path for path in fresh.files() - before if "blkin" in path}


def test_signature(rack, fresh, repository, tmp_path):
    """Another key's is refused, and so are lists that somebody changed."""
    other = Repository(str(tmp_path / "other"))
    other.close()
    subprocess.run(["gpg", "--output", f"{other.folder}/key.gpg", "--export", other.key], env=other.environment, check=True)
    repository.add([rack.package(name) for name in OURS])
    repository.publish(fresh)
    subscribe(fresh, f"{other.folder}/key.gpg")
    assert fresh.code(*UPDATE) == 100
    subscribe(fresh, f"{repository.folder}/made/blkin.gpg")
    fresh.run(*UPDATE)
    for codename in ("bookworm", "trixie"):
        path = f"/srv/blkin/dists/{codename}/InRelease"
        fresh.write(path, fresh.read(path).replace("Origin: BlkKin", "Origin: Debian"))
    fresh.run("sh", "-c", "rm -f /var/lib/apt/lists/*blkin*")
    assert fresh.code(*UPDATE) == 100


def test_mistakes(rack, repository, tmp_path):
    """Each is said in a line, and what was published stays."""
    assert "there are no packages in" in repository.run("add", repository.key, str(tmp_path), f"{repository.folder}/made", code=1)
    assert not os.path.exists(f"{repository.folder}/made/dists")
    assert "usage:" in repository.run("add", repository.key, code=64)
    assert repository.run("--help").startswith("usage:")
    repository.add([rack.package("libblkin-provider")])
    name = os.path.basename(rack.package("libblkin-provider"))
    published = Path(repository.folder, "made/pool/trixie", name)
    before = published.read_bytes()
    (tmp_path / "trixie").mkdir()
    (tmp_path / "trixie" / name).write_bytes(before + b"changed")
    said = repository.run("add", repository.key, str(tmp_path), f"{repository.folder}/made", code=1)
    assert f"{name} is in the repository already, with other contents" in said
    assert published.read_bytes() == before
