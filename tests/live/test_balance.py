# SPDX-License-Identifier: BSD-2-Clause
"""
`balance = yes`: twenty nodes share two servers out among them. Real agents, each with a host name of its own, take spans by Scribe,
so that they need no LTTng.
"""

import json
import os
import subprocess
from collections import Counter

import pytest
from rig.idsink import QUICK, IdSink
from rig.process import answers, exactly, free_port, wait_until
from rig.rendezvous import in_order
from rig.scribe import generated
from rig.sender import Client, message

pytestmark = pytest.mark.as_root("host names, and names of servers, take root")

ADDRESSES = ("127.0.0.1", "127.0.0.2")
NAME = "collector.blkin.test"
EACH = 10  # nodes that prefer each server
START = 'mount --bind "$1" /etc/hosts && hostname "$2" && shift 2 && exec "$@"'


def wanted_names(servers):
    """Names of nodes, of which EACH prefer each server."""
    found = {server: [] for server in servers}
    number = 0
    while any(len(names) < EACH for names in found.values()):
        names = found[in_order(f"node{number}", servers)[0]]
        if len(names) < EACH:
            names.append(f"node{number}")
        number += 1
    return found


class Fleet:
    """Agents of nodes with these names; each hands over the spans of a process, whose number is its place in the list."""

    def __init__(self, node, names, output):
        self.node, self.names = node, names
        self.inputs = [free_port() for _ in names]
        self.rounds = 0
        with open(node.path("hosts"), "w", encoding="utf-8") as file:
            file.write("127.0.0.1 localhost\n" + "".join(f"{address} {NAME}\n" for address in ADDRESSES))
        generated()
        for name, port in zip(names, self.inputs):
            self.start(name, port, output)
        for port in self.inputs:
            wait_until(lambda: answers(port), 60, "the agents' inputs")
        self.clients = [Client(port) for port in self.inputs]

    def start(self, name, port, output):
        here = self.node.path(name)
        os.makedirs(f"{here}/state")
        sections = {
            "agent": {"http": "", "socket": f"{here}/sock", "state-directory": f"{here}/state"},
            "session": {"tracing-group": "", "relay-output": f"{here}/relay"},
            "input": {"scribe": f"127.0.0.1:{port}", "ack": "queued"},
            "output": dict(QUICK, balance="yes", **output),
        }
        with open(f"{here}/agent.conf", "w", encoding="utf-8") as file:
            for section, keys in sections.items():
                file.write(f"[{section}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()))
        command = ["unshare", "--uts", "--mount", "sh", "-c", START, "sh", self.node.path("hosts"), name]
        self.node.start(command + [self.node.built("agent/blkin-agent"), "-c", f"{here}/agent.conf"], name=name, HOME=here)

    def hand_round(self):
        """A span of each node; returns their ordinal."""
        for i, client in enumerate(self.clients):
            assert client.log([message(i, 0, self.rounds)]) == 0
        self.rounds += 1
        return self.rounds - 1

    def status(self, name, *options):
        command = [self.node.built("cli/blkin"), "status", "--socket", f"{self.node.path(name)}/sock", *options]
        done = subprocess.run(command, env=self.node.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def said(self, name):
        """What the status says of the balance."""
        words = " ".join(self.status(name).split())
        return words[words.index(" balance ") + 9 : words.index(" spans ", words.index(" balance "))]

    def wait_came(self, sinks):
        """All that was handed over came, each once."""
        wanted = {(i, 0, n) for i in range(len(self.names)) for n in range(self.rounds)}
        came = Counter()

        def complete():
            came.clear()
            for sink in sinks:
                came.update(sink.ids())
            return wanted <= came.keys()

        wait_until(complete, 60, "all spans")
        exactly(came.keys() == wanted and set(came.values()) == {1}, f"{came.most_common(5)}")


def of_node(sink, since=0):
    """The numbers of the nodes whose spans it got, of rounds from @since on."""
    return {process for process, _, ordinal in sink.ids() if ordinal >= since}


@pytest.mark.parametrize("kind, named", [("scribe", False), ("http", True)], ids=["list", "name"])
def test_nodes_share_servers(bare_node, kind, named):
    """Each server gets what the hash says; when one fails, the other gets all; when it is back, it gets the same again."""
    node, port = bare_node, free_port()
    servers = [f"{address}:{port}" for address in ADDRESSES]
    first, second = sinks = [IdSink(node, port, address).start() for address in ADDRESSES]
    names = wanted_names(servers)
    every = names[servers[0]] + names[servers[1]]
    what = "addresses" if named else "servers"
    fleet = Fleet(node, every, {"type": kind, "server": f"{NAME}:{port}" if named else ", ".join(servers), "return-interval": "1s"})
    of_first, of_second = set(range(EACH)), set(range(EACH, 2 * EACH))
    fled = every[-1]

    for _ in range(5):
        fleet.hand_round()
    fleet.wait_came(sinks)
    assert (of_node(first), of_node(second)) == (of_first, of_second)
    assert fleet.said(fled) == f"{fled} prefers {servers[1]} of 2 {what}, and uses it"

    second.kill()
    away = fleet.hand_round()
    fleet.wait_came(sinks)
    assert of_node(first, away) == of_first | of_second
    words = f"{fled} prefers {servers[1]} of 2 {what}, and uses {servers[0]} until that one works again: "
    assert fleet.said(fled).startswith(words)
    told = json.loads(fleet.status(fled, "--json"))
    assert told["delivering"] and told["balance"]["node"] == fled
    if named:
        assert told["balance"]["address"] == servers[0] and told["balance"]["preferred_address"] == servers[1]

    second.start()
    back = fleet.rounds

    def returned():
        fleet.hand_round()
        return of_node(second, back) == of_second

    wait_until(returned, 60, "all nodes to come back", promised=True)
    last = fleet.hand_round()
    fleet.wait_came(sinks)
    assert (of_node(first, last), of_node(second, last)) == (of_first, of_second)
    for client in fleet.clients:
        client.close()
