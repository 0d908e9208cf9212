# SPDX-License-Identifier: BSD-2-Clause
"""Fixtures of the tests on hosts with a real systemd. ./check --host runs them."""

import os
import sys

import pytest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "live")]

from hosts.collector import Collector  # noqa: E402
from hosts.rack import Rack  # noqa: E402
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
