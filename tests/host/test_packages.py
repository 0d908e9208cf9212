# SPDX-License-Identifier: BSD-2-Clause
"""The packages as files."""

import os
import re
import subprocess

import pytest

TOP = os.path.join(os.path.dirname(__file__), "../..")
ESSENTIAL_TO_BUILD = {"g++", "gcc", "libc6-dev"}


def run(*words, **how):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **how)
    return done.returncode, done.stdout + done.stderr


def contents(rack, name):
    code, listing = run("dpkg-deb", "-c", rack.package(name))
    assert code == 0
    return {line.split()[5].lstrip(".") for line in listing.splitlines()}


def test_lintian(rack):
    code, said = run("lintian", "--pedantic", "--allow-root", "--fail-on", "error,warning,pedantic", rack.changes())
    assert (code, said) == (0, "")


def test_contents(rack):
    agent = contents(rack, "blkin-agent")
    assert {
        "/etc/blkin/agent.conf",
        "/etc/blkin/agent.conf.d/",
        "/etc/default/blkin-agent",
        "/usr/bin/blkin",
        "/usr/lib/sysusers.d/blkin-agent.conf",
        "/usr/lib/tmpfiles.d/blkin-agent.conf",
        "/usr/sbin/blkin-agent",
        "/usr/share/bash-completion/completions/blkin",
        "/usr/share/blkin/grafana-dashboard.json",
        "/usr/share/blkin/prometheus-fleet-rules.yml",
        "/usr/share/blkin/publish-share",
        "/usr/share/blkin/prometheus-rules.yml",
        "/usr/share/doc/blkin-agent/README.md",
        "/usr/share/doc/blkin-agent/doc/alerts.md",
        "/usr/share/doc/blkin-agent/doc/operate.md",
        "/usr/share/fish/vendor_completions.d/blkin.fish",
        "/usr/share/man/man1/blkin.1.gz",
        "/usr/share/man/man5/blkin-agent.conf.5.gz",
        "/usr/share/man/man8/blkin-agent.8.gz",
        "/usr/share/zsh/vendor-completions/_blkin",
    } <= agent
    # below /usr from Debian 13 on
    units = {path.removeprefix("/usr") for path in agent}
    assert {f"/lib/systemd/system/blkin-{name}.service" for name in ("agent", "relayd")} <= units
    provider = contents(rack, "libblkin-provider")
    assert any(path.endswith("/libblkin-provider.so.1") for path in provider)
    dev = contents(rack, "libblkin-dev")
    assert {"/usr/include/blkin/blkin.h", "/usr/share/man/man3/blkin.h.3.gz"} <= dev
    assert {f"/usr/share/doc/libblkin-dev/{name}" for name in ("README.md", "examples/Makefile", "examples/events.c")} <= dev
    assert sum(path.endswith(".pc") for path in dev) == 4


@pytest.mark.parametrize("name", ["blkin-agent", "libblkin-dev"])
def test_links_of_pages(rack, name, tmp_path):
    """None leads to what is not installed with it."""
    assert run("dpkg-deb", "-x", rack.package(name), str(tmp_path))[0] == 0
    pages = list((tmp_path / "usr/share/doc" / name).rglob("*.md"))
    assert len(pages) >= 2
    for page in pages:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            path = link.partition("#")[0]
            assert "://" in link or not path or (page.parent / path).exists(), f"{page.relative_to(tmp_path)}: {link}"


def test_order_of_services(rack):
    """The agent starts after the relay, and is stopped, and delivers what it reads, before that."""

    def services(script, action):
        code, text = run("dpkg-deb", "-I", rack.package("blkin-agent"), script)
        assert code == 0
        return re.findall(rf"deb-systemd-invoke {action} '(blkin-\w+)\.service'", text)

    assert services("prerm", "stop") == ["blkin-agent", "blkin-relayd"]
    assert services("postinst", r"(?:\$_dh_action|start)") == ["blkin-relayd", "blkin-agent"]


def test_build_dependencies():
    """quickstart and check install what the package's build asks for, and the other way round."""
    with open(os.path.join(TOP, "scripts/lib.sh"), encoding="utf-8") as file:
        listed = set(re.search(r"packages_build=\(([^)]*)\)", file.read()).group(1).split())
    with open(os.path.join(TOP, "debian/control"), encoding="utf-8") as file:
        field = re.search(r"Build-Depends:\n((?: .*\n)*)", file.read()).group(1)
    asked = {line.split()[0].rstrip(",") for line in field.splitlines()}
    assert listed - ESSENTIAL_TO_BUILD == {name for name in asked if not name.startswith(("debhelper", "dh-"))}
