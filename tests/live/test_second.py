# SPDX-License-Identifier: BSD-2-Clause
"""A second agent on a node says in one line why it does not start, and leaves the first one alone."""

import os
import subprocess

import pytest
from rig.process import wait_until
from test_doctor import LOAD

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
FAILED = 1


def second(node, prefix=(), **changes):
    """Starts one with the first one's configuration, but for these values; returns its code and its log."""
    with open(node.path("agent.conf"), encoding="utf-8") as file:
        text = file.read()
    for key, value in changes.items():
        text = "".join(
            f"{key.replace('_', '-')} = {value}\n" if line.startswith(key.replace("_", "-") + " ") else line
            for line in text.splitlines(keepends=True)
        )
    path = node.path("second.conf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    program = node.start(list(prefix) + [node.built("agent/blkin-agent"), "-c", path], name="second")
    return program.wait(20), program.log()


def check_first(node, receiver):
    """It has its socket, its port and its session."""
    sent = node.ledger().sent
    node.run([LOAD, "-n", 100])
    wait_until(lambda: node.ledger().sent == sent + 100, 20, "the first one's delivery")
    assert node.status()["collecting"] and len(receiver.spans()) == sent + 100


def test_same_configuration(node, receiver):
    node.start_agent(receiver.port)
    assert second(node) == (
        FAILED, f"blkin-agent: another blkin-agent runs already: it has the control socket {node.socket}; stop it first, or "
        "give this one another `socket`, and another `state-directory`, in [agent]\n"
    )
    check_first(node, receiver)


@pytest.mark.as_root("becomes another user")
def test_as_another_user(node, receiver):
    """Who may neither use the first one's socket, nor its folder."""
    node.start_agent(receiver.port)
    os.chmod(node.folder, 0o711)
    os.chmod(node.path("state"), 0o700)
    code, log = second(node, NOBODY)
    assert code == FAILED and log.count("\n") == 1 and f"another blkin-agent runs already: it has the control socket {node.socket}" in log
    check_first(node, receiver)


def test_same_state(node, receiver):
    node.start_agent(receiver.port)
    code, log = second(node, socket=node.path("second.sock"))
    assert code == FAILED and log == (
        f"blkin-agent: another blkin-agent runs with `state-directory` {node.path('state')}: stop it, or give this one another "
        "in [agent]\n"
    )
    check_first(node, receiver)


def test_socket_of_a_dead_one(node, receiver):
    """It is no agent."""
    node.start_agent(receiver.port)
    node.agent.kill()
    node.start_agent_again()
    assert "another" not in node.agent.log()
    check_first(node, receiver)


def test_as_a_user(bare_node):
    own = {name: bare_node.path(name) for name in ("XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME")}
    os.mkdir(own["XDG_RUNTIME_DIR"])
    command = [bare_node.built("agent/blkin-agent"), "--user"]
    first = bare_node.start(command, **own)
    first.wait_ready(lambda: "started lttng-relayd" in first.log())
    code = bare_node.start(command, name="second", **own)
    assert code.wait(20) == FAILED and code.log().count("\n") == 1 and "another blkin-agent runs already" in code.log()
    status = subprocess.run(
        [bare_node.built("cli/blkin"), "status", "--user"], env=dict(bare_node.environment, **own), capture_output=True,
        text=True, check=True,
    )
    assert f"pid {first.pid}, " in status.stdout
