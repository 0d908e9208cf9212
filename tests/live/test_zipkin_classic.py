# SPDX-License-Identifier: BSD-2-Clause
"""Two processes in the style of BlkKin's own examples: what a real Zipkin server makes of them."""

import pytest
from rig.process import wait_until
from rig.zipkin import Zipkin
from test_classic_compat import PAIRS, REQUESTS


@pytest.fixture
def zipkin(node):
    return Zipkin(node).start()


def check_trace(trace):
    root, child = sorted(trace, key=lambda span: span["name"])
    assert (root["name"], child["name"]) == ("process a", "process b")
    assert "parentId" not in root and child["parentId"] == root["id"] != child["id"]
    assert root["localEndpoint"] == {"serviceName": "service a", "ipv4": "10.0.0.1", "port": 5000}
    assert child["localEndpoint"] == {"serviceName": "service b", "ipv4": "10.0.0.2", "port": 40001}
    assert child["tags"] == {"text": "message"} and "tags" not in root
    for span in trace:
        assert [note["value"] for note in span["annotations"]] == ["start", "end"]
    assert root["timestamp"] <= child["timestamp"]
    assert child["timestamp"] + child["duration"] <= root["timestamp"] + root["duration"]


def test_classic_programs_join(node, zipkin):
    node.start_agent(zipkin.scribe_port)
    for count, program in enumerate(PAIRS, 1):
        node.run([f"tests/live/{program}", node.path("socket")], LTTNG_UST_REGISTER_TIMEOUT="-1")
        total = 2 * REQUESTS * count
        wait_until(lambda: zipkin.span_count("service a") >= total, 30, f"{total} spans in Zipkin")
    traces = zipkin.traces("service a")
    assert len(traces) == REQUESTS * len(PAIRS)
    for trace in traces:
        assert len(trace) == 2 and trace[0]["traceId"] == trace[1]["traceId"]
        check_trace(trace)
