# SPDX-License-Identifier: BSD-2-Clause
"""Zipkin's HTTP: a real Zipkin makes the same of it as of Scribe, and it is delivered as surely."""

import contextlib

import pytest
from rig.process import wait_until
from rig.zipkin import Zipkin
from test_connect import connect
from test_doctor import findings
from test_import import run_import
from test_outputs_reload import Sections
from test_zipkin import LOAD, check_load_span, check_sample

SERVICES = ["load-0", "load-1", "gateway", "store", "classic client", "classic server", "negative port"]


@pytest.fixture
def zipkin(node):
    return Zipkin(node).start()


@contextlib.contextmanager
def recorded(node):
    """What programs record meanwhile is in the folder afterwards."""
    folder = node.path("trace")
    node.lttng("create", "disk", "-o", folder)
    node.lttng("enable-channel", "-u", "--subbuf-size", "1M", "--num-subbuf", "16", "c")
    node.lttng("enable-event", "-u", "-a", "-c", "c")
    node.lttng("start")
    yield folder
    node.lttng("stop")
    node.lttng("destroy")


@pytest.fixture
def recording(node, run_sample, run_classic):
    """A trace on disk of all that a program can record: spans of every kind, classic ones, and garbage."""
    with recorded(node) as folder:
        node.run([LOAD, "-p", 2, "-n", 1000])
        run_sample(node, 3)
        run_classic(node, 2)
        node.run(["tests/live/programs/badspans"])
    return folder


def spans_of(zipkin):
    """Every span that it has, by what tells spans apart."""
    found = {}
    for service in zipkin.ask("/services"):
        for trace in zipkin.traces(service, 100000):
            for span in trace:
                key = (span["traceId"], span["id"], span.get("shared", False), str(span.get("localEndpoint")))
                assert found.setdefault(key, span) == span
    return found


def import_into(node, zipkin, recording, port, **output):
    """Imports the recording into a Zipkin that is empty, and returns all that it has then."""
    config = node.write_config(port, output=output)
    done = run_import(node, "--config", config, recording)
    assert done.returncode == 0, done.stderr
    assert " 0 refused, 0 too large, 0 not sent" in done.stdout
    wait_until(lambda: len(zipkin.traces("load-1", 100000)) == 200, 30, "the last of the load")
    return spans_of(zipkin), done.stdout.splitlines()[-1]


def test_same_spans_as_by_scribe(node, zipkin, recording):
    by_scribe, said = import_into(node, zipkin, recording, zipkin.scribe_port)
    assert set(SERVICES) <= set(zipkin.ask("/services"))
    assert len(by_scribe) >= 2000 + 15 + 6
    for form, compression in (("thrift", "gzip"), ("thrift", "none"), ("json2", "gzip")):
        zipkin.program.stop()
        zipkin.start()
        assert zipkin.ask("/services") == []
        by_http, said_then = import_into(
            node, zipkin, recording, zipkin.http_port, type="http", format=form, compression=compression
        )
        assert said_then == said
        assert by_http.keys() == by_scribe.keys()
        for key, span in by_scribe.items():
            assert by_http[key] == span, f"{form}, {compression}"


def test_each_character(node, zipkin):
    """Zipkin unpacks a body in parts, and loses the character at the edge of one, unless it is ASCII."""
    with recorded(node) as folder:
        node.run([LOAD, "-p", 2, "-n", 5000])
    config = node.write_config(zipkin.http_port, output={"type": "http", "format": "json2", "compression": "gzip"})
    done = run_import(node, "--config", config, folder)
    assert "10000 sent" in done.stdout, done.stdout + done.stderr
    wait_until(lambda: zipkin.span_count("load-1", 100000) == 5000, 30, "the last of the load")
    for service in ("load-0", "load-1"):
        for trace in zipkin.traces(service, 100000):
            for span in trace:
                check_load_span(span)


def test_live(node, zipkin, run_sample):
    node.start_agent(zipkin.http_port, output={"type": "http"})
    port = run_sample(node, 3)
    node.run([LOAD, "-n", 1000])
    wait_until(lambda: zipkin.span_count("gateway") >= 15 and zipkin.span_count("load-0") >= 1000, 30, "all spans")
    for trace in zipkin.traces("gateway"):
        check_sample(trace, port)
    spans = [span for trace in zipkin.traces("load-0") for span in trace]
    clocks = [check_load_span(span) for span in spans]
    assert len(spans) == 1000 and max(clocks) - min(clocks) < 1000
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 10, "all to be sent")
    assert ledger.sent == node.metrics()['blkin_agent_spans_sent_total'] == 1015
    assert node.status()["output"] == "http"


def test_restarted_during_a_run(node, zipkin):
    """As by Scribe: what the old Zipkin did not acknowledge is in the new one."""
    total = 30000
    node.start_agent(zipkin.http_port, output={"type": "http"})
    load = node.start([node.built(LOAD), "-n", total, "-r", 2000])
    node.wait_ledger(lambda ledger: ledger.sent > 4000, 30, "4000 spans")
    zipkin.program.stop()
    first = node.ledger()
    zipkin.start()
    assert load.wait(60) == 0
    ledger = node.wait_ledger(lambda ledger: ledger.read >= total and ledger.idle(), 60, "everything to be sent")
    assert (ledger.spans, ledger.sent, ledger.dropped) == (total, total, 0)
    wait_until(lambda: zipkin.span_count("load-0", 100000) >= ledger.sent - first.sent, 30, "spans in the new Zipkin")
    arrived = {int(s["tags"]["ordinal"]) for trace in zipkin.traces("load-0", 100000) for s in trace}
    assert set(range(min(arrived), total)) == arrived
    log = node.agent.log()
    assert log.count("spans wait, retrying") == 1 and log.count("delivering again") == 1


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"type": "http"},
        {"type": "http", "compression": "none"},
        {"type": "http", "format": "json2"},
    ],
    ids=["scribe", "thrift", "thrift, not compressed", "json2"],
)
def test_connection_test(node, zipkin, keys):
    """`blkin validate --connect` says what Zipkin says, and the span is found there by the trace's id that it prints."""
    node.write_config(zipkin.http_port if keys else zipkin.scribe_port, output=keys)
    code, found, trace = connect(node)
    assert (code, list(found.values())) == (0, ["accepted"])
    (span,) = wait_until(lambda: zipkin.ask(f"/trace/{trace}"), 20, "the span")
    assert (span["name"], span["localEndpoint"]["serviceName"]) == ("connection test", "blkin")
    assert span["tags"] == {"blkin.test": "true"}


def test_zstd(node, zipkin):
    """Zipkin does not take it, and takes it for bad spans; none is set aside, and with gzip all arrive."""
    node.start_agent(zipkin.http_port, output={"type": "http", "compression": "zstd"})
    code, found, _ = connect(node)
    said = "refuses the span: HTTP status 400 Bad Request: Expected a THRIFT encoded list"
    assert (code, list(found.values())) == (1, [said])
    node.run([LOAD, "-n", 1000])
    wait_until(lambda: "output-refuses-all" in findings(node), 30, "the status to say so")
    assert "`compression`" in findings(node)["output-refuses-all"]["fix"]
    ledger = node.ledger()
    assert (ledger.sent, ledger.dropped, ledger.queued + ledger.spooled) == (0, 0, 1000)
    sections = Sections(node)
    sections.keys["output"] = sections.keys["output"].replace("zstd", "gzip")
    sections.hang_up()
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 30, "delivery")
    assert (ledger.sent, ledger.dropped, ledger.lost) == (1000, 0, 0)
    wait_until(lambda: zipkin.span_count("load-0") == 1000, 30, "all in Zipkin")


def test_what_is_no_span_list(node, zipkin):
    """A wrong path: the spans wait, and the log says why."""
    node.start_agent(zipkin.http_port, output={"type": "http", "path": "/api/v1/span"})
    node.run([LOAD, "-n", 100])
    error = 'blkin_agent_output_errors_total{kind="refused"}'
    wait_until(lambda: node.metrics()[error] >= 2, 20, "two refusals")
    ledger = node.ledger()
    assert (ledger.sent, ledger.dropped, ledger.queued + ledger.spooled) == (0, 0, 100)
    assert "HTTP status 404" in node.agent.log() and "is the output's `path` right?" in node.agent.log()
