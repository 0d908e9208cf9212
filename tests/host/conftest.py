# SPDX-License-Identifier: BSD-2-Clause
"""Fixtures of the tests on hosts with a real systemd. ./check --host runs them."""

import os
import re
import subprocess
import sys

import pytest

sys.dont_write_bytecode = not sys.pycache_prefix  # ./check has a folder for it
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "live")]

from hosts.collector import Collector  # noqa: E402
from hosts.rack import Rack  # noqa: E402
from hosts.repository import Repository  # noqa: E402
from rig.fixtures import tmp_path  # noqa: E402, F401


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Shows what the hosts' journals say of a test that failed."""
    outcome = yield
    report = outcome.get_result()
    if call.when == "call" and report.failed and "rack" in item.funcargs:
        report.sections += [(f"journal of {host.name}", host.last_words()) for host in item.funcargs["rack"].hosts]


@pytest.fixture(scope="session")
def rack():
    """What was prepared for the hosts, and their network."""
    with Rack(os.environ["BLKIN_HOSTS"]) as rack:
        yield rack


@pytest.fixture(scope="session")
def collector(rack):
    """A host that receives spans."""
    host = rack.installed_host("collector")
    host.run("systemctl", "disable", "--now", "blkin-agent", "blkin-relayd", "lttng-sessiond")
    return Collector(host)


@pytest.fixture(scope="session")
def earlier(rack):
    """Packages as an earlier build made them: an older version, and another configuration."""
    folder = os.path.join(rack.disks, "earlier")
    os.mkdir(folder)
    packages = []
    for name in ("blkin-agent", "libblkin-provider"):
        tree = os.path.join(folder, name)
        subprocess.run(["dpkg-deb", "-R", rack.package(name), tree], check=True)
        control = os.path.join(tree, "DEBIAN/control")
        with open(control, encoding="utf-8") as file:
            text = file.read()
        with open(control, "w", encoding="utf-8") as file:
            # what was before does not know that what came then does not go with it
            file.write(re.sub("\nBreaks: .*", "", text.replace("\nVersion: ", "\nVersion: 0~before")))
        if name == "blkin-agent":
            with open(os.path.join(tree, "etc/blkin/agent.conf"), "a", encoding="utf-8") as file:
                file.write("# the configuration that an earlier version came with\n")
        packages.append(os.path.join(folder, os.path.basename(rack.package(name)).replace("_", "_0~before", 1)))
        subprocess.run(["dpkg-deb", "-b", tree, packages[-1]], check=True, stdout=subprocess.DEVNULL)
    return packages


@pytest.fixture
def repository(tmp_path):
    made = Repository(str(tmp_path / "repository"))
    yield made
    made.close()


@pytest.fixture
def fresh(rack):
    """A Debian on which nothing of ours was ever installed."""
    host = rack.host("alpha").boot()
    yield host
    rack.remove(host)


@pytest.fixture
def node(rack, collector):
    """A host with the agent, which delivers to the collector."""
    collector.forget()
    host = rack.installed_host("alpha", server=collector.address)
    yield host
    rack.remove(host)
