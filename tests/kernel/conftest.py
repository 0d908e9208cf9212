# SPDX-License-Identifier: BSD-2-Clause
"""Fixtures of the tests with a real kernel tracer. ./check --kernel runs them."""

import os
import sys
import tempfile

import pytest

sys.dont_write_bytecode = not sys.pycache_prefix  # ./check has a folder for it
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "live")]

from machine import Machine  # noqa: E402
from recording import Recording  # noqa: E402
from rig.fixtures import tmp_path  # noqa: E402, F401


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Shows what the machine's journal says of a test that failed."""
    outcome = yield
    report = outcome.get_result()
    if report.failed and "machine" in item.funcargs:
        report.sections.append(("journal", item.funcargs["machine"].last_words()))


@pytest.fixture(scope="session")
def machine():
    """One for all tests: it takes half a minute to boot."""
    with tempfile.TemporaryDirectory(prefix="blkin-kernel-") as folder:
        machine = Machine(os.environ["BLKIN_KERNEL"], folder)
        try:
            yield machine.boot()
        finally:
            machine.pull_the_plug()


@pytest.fixture
def recording(machine, tmp_path):
    """An agent on the machine, which is to be started."""
    return Recording(machine, str(tmp_path))
