# SPDX-License-Identifier: BSD-2-Clause
"""What a real Zipkin server makes of our spans, asked of its own HTTP API."""

import time

import pytest
from expect import NAMES
from rig.load import LOAD
from rig.process import wait_until
from rig.zipkin import Zipkin

KINDS = [None, "CLIENT", "SERVER", "PRODUCER", "CONSUMER"]


@pytest.fixture
def zipkin(node):
    return Zipkin(node).start()


def one(spans, **wanted):
    found = [span for span in spans if all(span.get(key) == value for key, value in wanted.items())]
    assert len(found) == 1, (wanted, spans)
    return found[0]


def notes(span):
    return [note["value"] for note in span.get("annotations", [])]


def check_sample(trace, port):
    gateway = {"serviceName": "gateway", "ipv4": "10.0.0.1", "port": 8080}
    store = {"serviceName": "store", "ipv4": "127.0.0.1", "port": port}
    root = one(trace, name="put object")
    client = one(trace, name="write", kind="CLIENT")
    server = one(trace, name="write", kind="SERVER")
    journal, disk = one(trace, name="journal"), one(trace, name="disk write")

    assert len(trace) == 5 and {span["traceId"] for span in trace} == {root["id"]}
    assert "parentId" not in root and client["parentId"] == root["id"]
    # the two halves are one span
    assert client["id"] == server["id"] and server["shared"] is True and "shared" not in client
    assert journal["parentId"] == disk["parentId"] == server["id"]
    assert [span["localEndpoint"] for span in (root, client)] == [gateway] * 2
    assert [span["localEndpoint"] for span in (server, journal, disk)] == [store] * 3
    assert client["remoteEndpoint"] == store
    number = int(root["tags"]["object"].split("-")[1])
    size = 4096 * (number + 1)
    assert root["tags"] == {"object": f"object-{number}", "bytes": str(size)}
    assert server["tags"] == {"object": f"object-{number}"}
    assert disk["tags"] == {"device": "sda", "blocks": str(size // 512)}
    assert (notes(root), notes(journal), notes(disk)) == (["placed on store"], ["journal committed"], ["flushed"])
    assert notes(client) == notes(server) == []
    for inner, outer in ((client, root), (server, client), (journal, server), (disk, server)):
        assert outer["timestamp"] <= inner["timestamp"]
        assert inner["timestamp"] + inner["duration"] <= outer["timestamp"] + outer["duration"]
    assert journal["duration"] >= 500 and disk["duration"] >= 1000


def test_sample_of_two_processes(node, zipkin, run_sample):
    node.start_agent(zipkin.scribe_port)
    port = run_sample(node, 3)
    wait_until(lambda: zipkin.span_count("gateway") >= 15, 30, "15 spans in Zipkin")
    traces = zipkin.traces("gateway")
    assert len(traces) == 3
    for trace in traces:
        check_sample(trace, port)
        assert sorted(zipkin.ask(f"/trace/{trace[0]['traceId']}"), key=str) == sorted(trace, key=str)
    assert zipkin.ask("/services") == ["gateway", "store"]
    assert zipkin.ask("/remoteServices", serviceName="gateway") == ["store"]


def test_classic_calls(node, zipkin, run_classic):
    node.start_agent(zipkin.scribe_port)
    port = run_classic(node, 1)
    wait_until(lambda: zipkin.span_count("classic client") >= 3, 30, "3 spans in Zipkin")
    ((*trace,),) = zipkin.traces("classic client")
    root, client, server = one(trace, name="read"), one(trace, kind="CLIENT"), one(trace, kind="SERVER")
    assert len(trace) == 3 and client["id"] == server["id"] and client["parentId"] == root["id"]
    assert (client["name"], client["tags"]) == ("fetch", {"object": "motd"})
    assert (server["name"], server["tags"]) == ("fetch", {"bytes": "1234"})
    assert (root["tags"], notes(root)) == ({"number": "0"}, ["read done"])
    assert client["localEndpoint"] == {"serviceName": "classic client", "ipv4": "10.0.0.2", "port": 5000}
    assert server["localEndpoint"] == {"serviceName": "classic server", "ipv4": "127.0.0.1", "port": port}
    assert client["timestamp"] <= server["timestamp"]
    assert all(span["duration"] >= 1 for span in trace)


def check_load_span(span):
    """As expect.check_span, in Zipkin's words: names in lower case, annotations in order of time."""
    process, thread = map(int, span["tags"]["worker"].split("."))
    n = int(span["tags"]["ordinal"])
    at = span["timestamp"]
    assert span["name"] == NAMES[n % len(NAMES)].lower()
    assert span.get("kind") == KINDS[n % 5]
    assert span["duration"] == 100 + n % 1000
    assert span["tags"]["score"] == str(-n * n * 31)
    assert span["localEndpoint"] == {
        "serviceName": f"load-{process}",
        "ipv4": f"10.1.{process}.{thread}",
        "port": 7000 + thread,
    }
    assert [(note["timestamp"] - at, note["value"]) for note in span["annotations"]] == [
        (1 + n % 50, f"step {n % 100} of a request"),
        (60 + n % 7, "done" if n % 3 else "erledigt ✓"),
    ]
    assert ("remoteEndpoint" in span) == (span.get("kind") == "CLIENT")
    return at * 1000 - int(span["tags"]["start"])


def test_times_to_the_microsecond(node, zipkin):
    node.start_agent(zipkin.scribe_port)
    node.run([LOAD, "-p", 2, "-n", 1000])
    wait_until(lambda: sum(zipkin.span_count(f"load-{process}") for process in range(2)) == 2000, 30, "2000 spans")
    spans = [span for process in range(2) for trace in zipkin.traces(f"load-{process}") for span in trace]
    clocks = [check_load_span(span) for span in spans]
    assert max(clocks) - min(clocks) < 1000
    assert len({span["id"] for span in spans}) == 2000
    now = time.time_ns() // 1000
    assert all(now - 60_000_000 < span["timestamp"] < now for span in spans)


def test_zipkin_restarted_during_a_run(node, zipkin):
    """Zipkin forgets what it held, so what arrived is counted before it goes, and after it came back."""
    total = 30000
    node.start_agent(zipkin.scribe_port)
    load = node.start([node.built(LOAD), "-n", total, "-r", 2000])
    node.wait_ledger(lambda ledger: ledger.sent > 4000, 30, "4000 spans")
    zipkin.program.stop()
    first = node.ledger()
    zipkin.start()
    assert load.wait(60) == 0
    ledger = node.wait_ledger(lambda ledger: ledger.read >= total and ledger.idle(), 60, "everything to be sent")
    assert (ledger.read, ledger.spans, ledger.lost) == (total, total, 0)
    # every span was acknowledged, or is counted as dropped
    assert ledger.sent + ledger.dropped == total and ledger.dropped == 0
    after = ledger.sent - first.sent
    wait_until(lambda: zipkin.collector_metrics()["spans"] >= after, 30, f"{after} spans in the new Zipkin")
    spans = [span for trace in zipkin.traces("load-0", 100000) for span in trace]
    arrived = {int(span["tags"]["ordinal"]) for span in spans}
    # all that the old Zipkin did not acknowledge is in the new one
    assert len(arrived) >= after and max(arrived) == total - 1
    assert set(range(min(arrived), total)) == arrived
    assert zipkin.collector_metrics()["spans_dropped"] == 0
    log = node.agent.log()
    assert log.count("spans wait, retrying") == 1 and log.count("delivering again") == 1


def test_one_bad_message_does_not_hold_up_the_others(node, zipkin):
    """Garbage from a program, delivered as well as it can be: Zipkin takes all of it."""
    node.start_agent(zipkin.scribe_port)
    node.run(["tests/live/programs/badspans"])
    node.run([LOAD, "-n", 100])
    wait_until(lambda: zipkin.span_count("load-0") == 100, 30, "100 spans in Zipkin")
    ledger = node.wait_ledger(lambda ledger: ledger.idle() and ledger.read == 137, 30, "137 events")
    assert (ledger.dropped, ledger.sent) == (0, ledger.spans)
    counted = zipkin.collector_metrics()
    assert (counted["spans"], counted["spans_dropped"], counted["messages_dropped"]) == (ledger.sent, 0, 0)
    ((span,),) = zipkin.traces("negative port")
    assert span["localEndpoint"]["port"] == 65535
