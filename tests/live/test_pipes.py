# SPDX-License-Identifier: BSD-2-Clause
"""Pipes in the place of the agent's own files: nothing is waited for, and it is told."""

import os

import pytest
from rig.load import LOAD
from rig.process import free_port


def put(path):
    if os.path.exists(path):
        os.unlink(path)
    os.mkfifo(path)


@pytest.mark.parametrize("name", ["page-token", "spool.tally", "spool-gone.tally"])
def test_the_agent_starts(node, receiver, name):
    node.start_agent(receiver.port)
    node.agent.stop()
    put(node.path(f"state/{name}"))
    if name == "spool-gone.tally":
        os.rename(node.path("state/spool.db"), node.path("state/spool-gone.db"))
    node.start_agent_again()
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.sent >= 100, 30, "delivery")
    log = node.agent.log()
    if name == "page-token":
        assert "page-token is not used: it is no regular file, but a pipe or the like: remove it; a new one takes its place" in log
        assert os.path.isfile(node.path("state/page-token"))
    elif name == "spool.tally":
        assert "spool.tally: it is no regular file, but a pipe or the like: remove it" in log


def test_what_files_have(node):
    """The record of an output into files, and the rates that are kept."""
    os.mkdir(node.path("files"))
    keys = {"type": "file", "directory": node.path("files")}
    node.start_agent(free_port(), output=keys)
    node.agent.stop()
    for name in ("written-default", "written-default.old"):
        put(node.path(f"state/{name}"))
    node.start_agent_again()
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.sent >= 100, 30, "delivery")
