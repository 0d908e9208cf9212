# SPDX-License-Identifier: BSD-2-Clause
"""`blkin top`: what it says is what the same spans say, one by one; and what it is printed on."""

import collections
import json
import math
import os
import socket
import subprocess

import pytest
from rig.scribe import generated
from rig import sender
from rig.otlpsender import Grpc, Http, numbered
from rig.process import answers, free_port, wait_until
from rig.spanfiles import SpanFiles
from test_files import NONE, LOAD, quick
from test_files_otlp import OtlpFiles
from test_fakereader import kill_reader
from test_otlp_input import start_agent

ERROR = 1 / 32  # agent/stats/histogram.h
FAILING = "tests/live/programs/errorload"


def top(node, *options, **environment):
    """The exit code of `blkin top --once`, and what it prints."""
    command = [node.built("cli/blkin"), "top", "--once", "--socket", node.socket, *options]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(node.environment, **environment), check=False)
    return done.returncode, done.stdout + done.stderr


def rows(node, *options):
    code, text = top(node, "--json", *options)
    assert code == 0, text
    return json.loads(text)


@pytest.fixture
def lines(node):
    os.mkdir(node.path("spans"))
    return OtlpFiles(node.path("spans"))


def exact(lines):
    """By service and name: the durations of the spans in finished files, in µs, and how many have an error."""
    durations, errors = collections.defaultdict(list), collections.Counter()
    for line in lines.spans():
        for resource in line["resourceSpans"]:
            (service,) = (
                item["value"]["stringValue"] for item in resource["resource"]["attributes"] if item["key"] == "service.name"
            )
            for span in (span for scope in resource["scopeSpans"] for span in scope["spans"]):
                key = service, span["name"]
                durations[key].append((int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])) / 1000)
                errors[key] += any(item["key"] == "error" for item in span.get("attributes", ()))
    return durations, errors


def quantile(values, share):
    return sorted(values)[math.ceil(len(values) * share) - 1]


def check(found, durations, errors):
    """Counts and means are equal, and quantiles within the error."""
    assert {(row["service"], row["span"]): row["count"] for row in found} == {
        key: len(values) for key, values in durations.items()
    }
    total = sum(map(sum, durations.values()))
    for row in found:
        key = row["service"], row["span"]
        values = durations[key]
        assert row["errors"] == errors[key], row
        assert row["mean"] == pytest.approx(sum(values) / len(values), rel=1e-6), row
        assert row["max"] == pytest.approx(max(values), rel=1e-6), row
        assert row["share"] == pytest.approx(sum(values) / total, abs=1e-6), row
        for name, share in ("p50", 0.5), ("p99", 0.99):
            assert row[name] == pytest.approx(quantile(values, share), rel=ERROR + 1e-4, abs=0.01), (row, name)


def test_same_as_exact(node, lines):
    """Two formats, one of which keeps few: all spans are counted, and each as it is."""
    few = {"type": "file", "directory": lines.directory + "-few", "keep": "1/100"}
    os.mkdir(few["directory"])
    into = quick(lines, format="otlp-json")
    node.start_agent(free_port(), output=NONE, **{"output files": into, "output few": few})
    node.run([LOAD, "-p", 2, "-t", 2, "-n", 5000])
    node.wait_ledger(lambda ledger: ledger.sent == 20000 and ledger.idle(), 60, "20000 spans", output="files")
    found = rows(node)
    programs = rows(node, "--programs")
    assert node.agent.stop() == 0
    check(found, *exact(lines))
    assert sorted(row["count"] for row in programs) == [10000, 10000]
    assert {(row["program"], row["user"]) for row in programs} == {("spanload", os.getuid())}
    assert len({row["pid"] for row in programs}) == 2


def test_goes_on_with_another_reader(node, receiver):
    """What was counted stays; another reader has other numbers for the same names. What it reads again, and delivers again, counts
    again."""
    node.start_agent(receiver.port)
    node.run([LOAD, "-n", 500])
    node.wait_ledger(lambda ledger: ledger.sent == 500 and ledger.idle(), 30, "500 spans")
    before, pid = rows(node), node.reader_pid()
    kill_reader(node)
    wait_until(lambda: node.reader_pid() not in (None, pid) and node.collecting(), 20, "another reader")
    node.run([LOAD, "-n", 500, "-w", 20])
    ledger = node.wait_ledger(lambda ledger: ledger.read - ledger.again >= 1000 and ledger.idle(), 30, "500 more")
    after = rows(node)
    receiver.wait_for(ledger.sent, 20)
    assert sum(row["count"] for row in before) == 500
    assert sum(row["count"] for row in after) == 1000 + ledger.again == len(receiver.messages)
    assert {row["span"]: row["count"] for row in after} == collections.Counter(span.name for span in receiver.spans())


def test_not_on_the_port(node, receiver):
    """Names are for who may use the control socket."""
    node.start_agent(receiver.port)
    assert node.http_get("/spans")[0] == 404


def test_text(node, receiver):
    node.start_agent(receiver.port)
    code, text = top(node)
    assert code == 0 and text.startswith("0 spans in "), text
    node.run([LOAD, "-n", 700])
    node.wait_ledger(lambda ledger: ledger.sent == 700 and ledger.idle(), 30, "700 spans")
    assert top(node)[1].splitlines()[0].endswith(", 1 program")
    utf8, ascii_only = top(node, LC_ALL="C.UTF-8")[1], top(node, LC_ALL="C")[1]
    assert "größe" in utf8 and "µs" in utf8
    assert ascii_only.isascii() and " us" in ascii_only and "\033" not in utf8
    assert [len(line) for line in utf8.splitlines()[2:]] == [len(line) for line in ascii_only.splitlines()[2:]]
    names = [line.split()[1] for line in top(node, "--sort", "name")[1].splitlines()[4:]]
    assert names == sorted(names)
    assert len(top(node, "--filter", "LIST obj")[1].splitlines()) == 5


def test_what_is_wrong(node):
    node.write_config(free_port())
    code, text = top(node)
    assert code == 69 and "no agent runs" in text
    code, text = top(node, "--sort", "p98")
    assert code == 64 and "did you mean p9" in text, text


# What comes to the inputs

ELSEWHERE = "198.51.100.7"


@pytest.fixture
def elsewhere():
    """An address of this machine's that nobody connects to: who comes from it is taken for another node."""
    subprocess.run(["ip", "address", "add", f"{ELSEWHERE}/32", "dev", "lo"], check=True)
    yield ELSEWHERE
    subprocess.run(["ip", "address", "del", f"{ELSEWHERE}/32", "dev", "lo"], check=True)


def counted(node):
    return {(row["service"], row["span"]): row["count"] for row in rows(node)}


def hand(port, address, request):
    """From that address of ours."""
    with Http(port) as client:
        client.connection.sock.close()
        client.connection.sock = socket.create_connection(("127.0.0.1", port), 20, (address, 0))
        assert client.hand(request) == (200, 0)


def test_what_this_node_hands_over_is_counted(node, lines, elsewhere):
    """By either protocol of OTLP's, each span once, beside what the reader counts; what another node hands over is not."""
    http, grpc = start_agent(node, output=quick(lines))
    node.run([FAILING, "10"])
    wait_until(lambda: counted(node) == {("errors", "try"): 10}, 20, "the program's spans")
    for batch in range(3):
        hand(http, "127.0.0.1", numbered(1, batch, range(10)))
    hand(http, elsewhere, numbered(2, 0, range(10)))
    with Grpc(grpc) as channel:
        channel.hand(numbered(3, 0, range(10)))
    assert counted(node) == {("errors", "try"): 10, ("sender1", "sent"): 30, ("sender3", "sent"): 10}
    programs = {row["program"]: row for row in rows(node, "--programs")}
    assert programs["sender1"]["count"] == 30 and programs["sender1"]["user"] == os.getuid()


def test_calls_that_bring_messages_have_names_of_their_own(node, lines):
    """A name comes with a call that brings a message, too, and at once with others that bring none."""
    generated()
    port = free_port()
    both = quick(lines, takes="spans, messages", format="json2")
    node.start_agent(free_port(), output=both, input={"scribe": f"127.0.0.1:{port}"})
    wait_until(lambda: answers(port), 10, "it to listen")
    with sender.Client(port) as client:
        for ordinal in range(0, 40, 4):
            mixed = client.entries([(sender.message(5, 0, ordinal), "zipkin"), ("a message", "other")])
            plain = [client.entries([(sender.message(5, 0, ordinal + n), "zipkin")]) for n in (1, 2, 3)]
            assert client.log_at_once([mixed, *plain]) == [0] * 4
    assert counted(node) == {("sender5", "sent"): 40}
