# SPDX-License-Identifier: BSD-2-Clause
"""The log's level and format, and a configuration with variables of the environment."""

import json
import os
import re
import signal
import socket
import threading
import time

from rig.load import LOAD
from rig.process import wait_until
from test_config import CONFIG, run_agent

MEMBERS = ["time", "level", "program", "pid", "message"]


def objects(text):
    """The lines of a log in JSON. Sanitizers' and libraries' lines would fail here."""
    return [json.loads(line) for line in text.splitlines()]


def reload(node, receiver, **agent):
    """Reloads another configuration; what the log says from then on."""
    http, control, before = node.http, node.socket, len(node.agent.log())
    node.write_config(receiver.port, agent={"http": f"127.0.0.1:{http}", "socket": control, **agent})
    node.http, node.socket = http, control
    node.agent.send(signal.SIGHUP)
    return lambda: node.agent.log()[before:]


def test_json(node, receiver):
    """Of the agent and of its reader; whatever a peer says, it is one line, and an object."""
    before = time.time()
    node.start_agent(receiver.port, agent={"log-format": "json"})
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.sent == 100, 20, "100 spans")
    os.kill(node.reader_pid(), signal.SIGKILL)
    wait_until(lambda: "was killed by signal 9" in node.agent.log(), 20, "a warning")
    wait_until(node.collecting, 20, "another reader")
    assert node.agent.stop() == 0
    lines = objects(node.agent.log())
    for line in lines:
        assert list(line) == MEMBERS
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])
        assert line["level"] in ("error", "warning", "info")
        assert line["program"] == "blkin-agent"
        assert line["message"] and "\n" not in line["message"]
    assert min(line["time"] for line in lines) >= time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(before))
    assert node.agent.pid in {line["pid"] for line in lines}
    assert any(line["level"] == "warning" and "was killed by signal 9" in line["message"] for line in lines)
    assert any(line["level"] == "info" and line["message"].startswith("stopped: ") for line in lines)


def test_a_message_with_quotes_is_an_object(node):
    """What a peer says stands in quotes, and may have quotes and backslashes of its own."""
    peer = socket.create_server(("127.0.0.1", 0))

    def answer():
        while True:
            with peer.accept()[0] as connection:
                connection.sendall(b'say "\\" twice\r\n')
                connection.recv(1 << 16)

    threading.Thread(target=answer, daemon=True).start()
    node.start_agent(peer.getsockname()[1], agent={"log-format": "json"})
    node.run([LOAD, "-n", 100])
    wait_until(lambda: "twice" in node.agent.log(), 20, "what the peer says")
    told = [line["message"] for line in objects(node.agent.log())]
    assert any('the peer answers "say "\\" twice' in message for message in told), told


def test_level_and_reload(node, receiver):
    """A level hides what is less important, in both processes; a reload changes level and format."""
    node.start_agent(receiver.port, agent={"log-level": "warning"})
    assert node.agent.log() == ""
    later = reload(node, receiver, **{"log-level": "info", "log-format": "json"})
    wait_until(lambda: "configuration reloaded" in later(), 10, "the reload")
    assert [line["message"] for line in objects(later())] == ["configuration reloaded"]
    later = reload(node, receiver, **{"log-level": "error", "log-format": "text"})
    time.sleep(0.5)
    assert later() == ""
    os.kill(node.reader_pid(), signal.SIGKILL)  # a warning, no error
    wait_until(lambda: node.metrics()["blkin_agent_reader_restarts_total"] == 1 and node.collecting(), 20, "a new reader")
    assert later() == ""
    later = reload(node, receiver, **{"log-level": "loud"})
    wait_until(lambda: "configuration not reloaded" in later(), 10, "the reload to be refused")
    assert "`log-level = loud` is not valid: it must be error, warning or info" in later()


def test_variables(node, receiver):
    """The environment names the collector; without it the agent does not start, and says what is missing."""
    server = {"output": {"server": "${BLKIN_TEST_HOST}:${BLKIN_TEST_PORT:-1}"}}
    path = node.write_config(0, **server)
    code, said = run_agent(node, "-c", path)
    assert code == CONFIG
    assert (
        "the value of `server`: the environment has no variable `BLKIN_TEST_HOST`: "
        "set it, or write ${BLKIN_TEST_HOST:-DEFAULT}\n" in said
    )
    node.start_agent_again(BLKIN_TEST_HOST="127.0.0.1", BLKIN_TEST_PORT=str(receiver.port))
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.sent == 100, 20, "100 spans")
    assert node.status()["server"] == f"127.0.0.1:{receiver.port}"
