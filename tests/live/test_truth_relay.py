# SPDX-License-Identifier: BSD-2-Clause
"""
The truth table's relay daemon (rig/truth.py) that lies, or whose files the agent may not read: what it recorded arrives from its
files meanwhile, or later, and the status says what is wrong for as long as it is.
"""

import os

import pytest
from rig.alerts import firing
from rig.load import KEEP
from rig.process import wait_until
from rig.proxy import Proxy
from test_doctor import NO_OVERRIDE, expect, findings, start_load

NEXT_INDEX, METADATA = (number.to_bytes(4, "big") for number in (4, 6))  # the viewer's commands
RETRY = bytes(56) + bytes((0, 0, 0, 2, 0, 0, 0, 0))  # an answer to the first one
NOT_LEAKS = {"ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}  # babeltrace2's, when it fails


class Starving(Proxy):
    """A proxy to the relay's viewer port: of no stream there is anything yet. The relay is not asked, as it would go on to the
    packet behind the one that it answered with."""

    def __init__(self, server):
        self.server, self.lies = server, False
        super().__init__(server)

    def forward(self, data, one, other):
        asks = other.getpeername()[1] == self.server and data[8:12] == NEXT_INDEX
        if asks and self.lies:
            one.sendall(RETRY)
        else:
            other.sendall(data)


class Garbling(Proxy):
    """The same: what the metadata say is nonsense."""

    def __init__(self, server):
        self.server, self.lies = server, False
        self.asked = {}  # what was asked last, by the connection that is answered
        super().__init__(server)

    def forward(self, data, one, other):
        if other.getpeername()[1] == self.server:
            self.asked[other] = data[8:12]
        elif self.lies and self.asked.get(one) == METADATA:
            data = data[:12] + b"?" * (len(data) - 12)
        other.sendall(data)


def start(node, receiver, proxy):
    node.write_config(receiver.port, session=dict(KEEP, relay_live_port=proxy.port))
    node.start_agent_again(**NOT_LEAKS)


def go_on(node, seconds=15):
    sent = node.ledger().sent
    node.wait_ledger(lambda ledger: ledger.sent > sent + 100, seconds, "spans")


def is_over(node, seconds=15):
    wait_until(lambda: node.collecting() and findings(node) == {}, seconds, "nothing to do", 0.3)
    go_on(node)


def test_viewer_is_starved(node, receiver):
    """What comes to its files does not come to the agent."""
    proxy = Starving(node.relay_ports[2])
    start(node, receiver, proxy)
    start_load(node)
    go_on(node)
    before = node.metrics()
    proxy.lies = True
    expect(node, "relay-stalls", "lttng-relayd does not send what it has recorded", "systemctl restart blkin-relayd")
    assert firing(before, node.metrics()) <= {"BlkinNotCollecting"}
    proxy.lies = False
    is_over(node, 60)
    assert firing(before, node.metrics()) == set()


def test_metadata_are_garbled(node, receiver):
    """It cannot be read live then, and is read from files, until it is tried again."""
    proxy = Garbling(node.relay_ports[2])
    proxy.lies = True
    node.write_config(receiver.port, session=dict(KEEP, relay_live_port=proxy.port))
    node.start_agent_again(wait=False, **NOT_LEAKS)
    node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
    start_load(node)
    expect(node, "session-unreadable", "", "journalctl -u blkin-agent")
    go_on(node)
    expect(node, "session-unreadable", "it is read from lttng-relayd's files", "journalctl -u blkin-agent")
    assert node.collecting() and firing({}, node.metrics()) == set()
    proxy.lies = False
    is_over(node, 60)


@pytest.mark.as_root("gives up what only root may")
def test_files_may_not_be_read(node, receiver):
    """It is read live all the same, but a restart would lose what is recorded meanwhile."""
    config = node.write_config(receiver.port, session=KEEP)
    os.chmod(node.path("relay"), 0)
    node.agent = node.start([*NO_OVERRIDE, node.built("agent/blkin-agent"), "-c", config])
    node.agent.wait_ready(node.collecting)
    start_load(node)
    before = node.metrics()
    expect(node, "files-unreadable", f"{node.path('relay')}: Permission denied", "check rights and room of `relay-output`")
    go_on(node)
    assert node.collecting() and firing(before, node.metrics()) == set()
    os.chmod(node.path("relay"), 0o755)
    is_over(node)


@pytest.mark.as_root("gives up what only root may")
def test_neither_live_nor_from_files(node, receiver):
    """Nothing is collected then, until it can be read in one of the two ways."""
    proxy = Garbling(node.relay_ports[2])
    proxy.lies = True
    config = node.write_config(receiver.port, session=dict(KEEP, relay_live_port=proxy.port))
    os.chmod(node.path("relay"), 0)
    node.agent = node.start([*NO_OVERRIDE, node.built("agent/blkin-agent"), "-c", config], **NOT_LEAKS)
    node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
    before = node.metrics()
    start_load(node)
    expect(node, "files-unreadable", "the session cannot be read live, nor from lttng-relayd's files", "check rights and room", 30)
    assert node.http_get("/readyz")[0] == 503 and firing(before, node.metrics()) >= {"BlkinNotCollecting"}
    os.chmod(node.path("relay"), 0o755)
    expect(node, "session-unreadable", "it is read from lttng-relayd's files", "journalctl -u blkin-agent")
    go_on(node)
    assert node.collecting()
    os.chmod(node.path("relay"), 0)
    expect(node, "files-unreadable", "the session cannot be read live, nor from lttng-relayd's files", "check rights and room")
    proxy.lies = False
    os.chmod(node.path("relay"), 0o755)
    is_over(node, 60)


def test_neither_live_nor_elsewhere(node, receiver):
    """The files of a session of which nothing was ever read are not where they should be: it has streams, so there must be some."""
    proxy = Garbling(node.relay_ports[2])
    proxy.lies = True
    elsewhere = node.path("elsewhere")
    os.mkdir(elsewhere)
    node.write_config(receiver.port, session=dict(KEEP, relay_live_port=proxy.port, relay_output=elsewhere))
    node.start_agent_again(wait=False, **NOT_LEAKS)
    node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
    start_load(node)
    expect(node, "files-unreadable", f"nor from lttng-relayd's files: {elsewhere}/", "check rights and room", 30)
    assert not node.collecting()
    proxy.lies = False
    expect(node, "files-unreadable", "what is recorded while the agent restarts will be lost", "check rights and room", 60)
    go_on(node)
    assert node.collecting()
