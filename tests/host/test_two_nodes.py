# SPDX-License-Identifier: BSD-2-Clause
"""A trace that crosses nodes: its halves come from two agents, and are one trace at the collector."""

import pytest
from rig.process import wait_until

PORT = 7001
REQUESTS = 50


@pytest.fixture
def second(rack, node, collector):
    host = rack.installed_host("beta", server=collector.address)
    yield host
    rack.remove(host)


def forward(host, listen, to):
    """The sample's programs talk on loopback; systemd's proxy carries that to the other host."""
    host.run(
        "systemd-run", "--quiet", f"--socket-property=ListenStream={listen}", "--unit=forward",
        "/lib/systemd/systemd-socket-proxyd", to,
    )


def test_traces_are_whole(rack, node, second, collector):
    for host in (node, second):
        host.wait_collecting()
    second.put(rack.program("store"), "/usr/local/bin/store")
    node.put(rack.program("gateway"), "/usr/local/bin/gateway")
    second.run("systemd-run", "--quiet", "--unit=store", "--uid=games", "store", PORT)
    wait_until(lambda: f"127.0.0.1:{PORT}" in second.run("ss", "-ltnH"), 10, "the store to listen")
    forward(second, f"{second.address}:{PORT}", f"127.0.0.1:{PORT}")
    forward(node, f"127.0.0.1:{PORT}", f"{second.address}:{PORT}")
    node.run("gateway", PORT, REQUESTS, user="games")
    traces = {}

    def whole():
        traces.clear()
        for span in collector.read():
            traces.setdefault(span["traceId"], []).append(span)
        return sum(map(len, traces.values())) >= 5 * REQUESTS

    wait_until(whole, 30, f"five spans each of {REQUESTS} traces")
    assert len(traces) == REQUESTS
    for spans in traces.values():
        check_trace(spans)


def check_trace(spans):
    assert len(spans) == 5
    kinds = {(span["name"], span.get("kind")): span for span in spans}
    root, call, served = kinds["put object", None], kinds["write", "CLIENT"], kinds["write", "SERVER"]
    assert "parentId" not in root and call["parentId"] == root["id"]
    # the two halves of one span, each told by its own node
    assert served["id"] == call["id"] and served["parentId"] == root["id"]
    assert call["localEndpoint"]["serviceName"] == "gateway" and served["localEndpoint"]["serviceName"] == "store"
    for name in ("journal", "disk write"):
        assert kinds[name, None]["parentId"] == call["id"]
