# SPDX-License-Identifier: BSD-2-Clause
"""Fixtures of the live tests. ./check runs them, or: tests/isolate /usr/bin/python3 -m pytest tests/live"""

import os
import platform
import sys

import pytest

sys.dont_write_bytecode = not sys.pycache_prefix  # ./check has a folder for it
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from rig.fixtures import tmp_path  # noqa: E402, F401
from rig.kafka import Kafka  # noqa: E402
from rig.lttng import HEALS  # noqa: E402
from rig.node import Node, build_dir, sanitizers  # noqa: E402
from rig.process import answers, free_port  # noqa: E402
from rig.scribe import Receiver  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--zipkin", action="store_true", help="run the suite against a real Zipkin server, and only it")
    parser.addoption("--otel", action="store_true", help="the same with a real OpenTelemetry Collector")
    parser.addoption("--kafka", action="store_true", help="the same with a real Apache Kafka")
    parser.addoption("--browser", action="store_true", help="the same with a real Chromium")


def pytest_configure(config):
    for name in LEFT_OUT:
        config.addinivalue_line("markers", f"{name}(reason): left out where it cannot run, see LEFT_OUT")


# What a test may be marked with, and whether it is left out here: of a build with ThreadSanitizer, for a user who is not
# root, on another processor, with an LTTng that heals what it is about, and where OpenTelemetry's SDK for C++ was not there
# when the programs were built. Nothing is skipped, so that a skipped test is always a mistake.
LEFT_OUT = {
    "no_threads": sanitizers() == "thread",
    "as_root": os.getuid() != 0,
    "stuck": HEALS,
    "otel_sdk": not os.path.exists(os.path.join(build_dir(), "tests/live/programs/otelspans")),
    "x86": platform.machine() != "x86_64",
}
SUITES = ("zipkin", "otel", "kafka", "browser")


def suite_of(item):
    """By the name of its file; None: the live tests that need no receiver."""
    return next((suite for suite in SUITES if item.path.name.split(".")[0].split("_")[1] == suite), None)


def why_left_out(item):
    """The reason of the first mark that leaves it out here, or its name; None: it runs."""
    marks = (item.get_closest_marker(name) for name, left in LEFT_OUT.items() if left)
    return next(("".join(mark.args) or mark.name for mark in marks if mark), None)


def pytest_collection_modifyitems(config, items):
    """The suites with real receivers run when asked for, and then alone; of the others, what can run here."""
    wanted = next((suite for suite in SUITES if config.getoption(f"--{suite}")), None)
    other = [item for item in items if suite_of(item) != wanted]
    config.left_out = [item for item in items if item not in other and why_left_out(item)]
    other += config.left_out
    config.hook.pytest_deselected(items=other)
    items[:] = [item for item in items if item not in other]


def pytest_report_collectionfinish(config):
    """./check counts these lines."""
    return [f"left out: {item.nodeid}: {why_left_out(item)}" for item in config.left_out]


def pytest_sessionfinish(session, exitstatus):
    """A file of which nothing can run here is no failure."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and session.config.left_out:
        session.exitstatus = pytest.ExitCode.OK


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Lets fixtures know whether the test failed, so that they show the logs."""
    outcome = yield
    if call.when == "call":
        item.failed = outcome.get_result().failed


@pytest.fixture
def bare_node(request):
    """A node on which nothing runs yet."""
    with Node() as node:
        yield node
        if getattr(request.node, "failed", False):
            node.show_logs()


@pytest.fixture
def node(bare_node):
    """A node with LTTng running."""
    return bare_node.start_lttng()


@pytest.fixture
def receiver(node):
    """An independent Scribe server, running."""
    return Receiver(node, free_port()).start()


@pytest.fixture(scope="session")
def only_kafka():
    """Apache Kafka, one broker, with TLS and SASL."""
    with Node() as home, Kafka(home, listeners=("tls", "other", "mutual", "login", "tlslogin")) as cluster:
        yield cluster


@pytest.fixture
def kafka(request, only_kafka):
    """The same one for all tests, as it takes its time to start: it is as before when a test is over."""
    only_kafka.mend()
    yield only_kafka
    if getattr(request.node, "failed", False):
        only_kafka.node.show_logs()


@pytest.fixture
def run_sample():
    return run_pair("examples/store", "examples/gateway")


@pytest.fixture
def run_classic():
    return run_pair("examples/classic_server", "examples/classic_client")


def run_pair(server, client):
    """A function that runs the two programs of an example, and returns the server's port."""

    def run(node, requests):
        port = free_port()
        node.start([node.built(server), port]).wait_ready(lambda: answers(port))
        node.run([client, port, requests])
        return port

    return run
