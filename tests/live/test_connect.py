# SPDX-License-Identifier: BSD-2-Clause
"""`blkin validate --connect`: a span goes to each server as the agent would send it, and a line says what came of it."""

import os
import re
import ssl
import subprocess
import threading

import pytest
from rig.jsonsink import JsonSink
from rig.load import LOAD
from rig.moody import CLOSE, EXCEPTION, GARBAGE, LATER, OK, SILENT, Moody, MoodyWeb
from rig.names import Names
from rig.node import written
from rig.otlpsink import OtlpSink, messages
from rig.process import free_port

LINE = re.compile(r"\[(output.*?)\] (\S+): (.*) \([\d.]+ ms\)")
SENT = re.compile(r"each server gets a span `connection test` of service `blkin`, trace ([0-9a-f]{16})")


def connect(node, within=lambda *words: list(words)):
    """The exit code, what it says of each server, by output and server, and the trace's id."""
    command = within(node.built("cli/blkin"), "validate", "--connect", node.path("agent.conf"))
    program = node.start(command, name="validate")
    code, log = program.wait(60), program.log()
    found = {(output, server): said for output, server, said in LINE.findall(log)}
    sent = SENT.search(log)
    return code, found, sent and sent[1]


def say_of(node, server, **output):
    """What it says of the only server, which does not accept; as much as there is to one output."""
    node.write_config(1, output={"server": server, "timeout": "1s", **output})
    code, found, _ = connect(node)
    assert code == 1 and list(found) == [("output", server)], found
    return found["output", server]


TAGS = {"blkin.test": "true"}


def check_v1(span, trace):
    assert (f"{span.trace_id & (1 << 64) - 1:016x}", span.name, span.id) == (trace, "connection test", span.trace_id)
    tags = {tag.key: (tag.value, tag.host and tag.host.service_name) for tag in span.binary_annotations}
    assert tags == {"blkin.test": (b"true", "blkin")}


def test_each_way_of_an_output(bare_node):
    """Each accepts one span, which is what an agent would send it; nothing is written anywhere."""
    with Moody(bare_node) as scribe, MoodyWeb(bare_node) as web, JsonSink() as sink:
        bare_node.write_config(
            scribe.port,
            **{
                "output": {"server": f"127.0.0.1:{scribe.port}"},
                "output web": {"type": "http", "server": f"127.0.0.1:{web.port}"},
                "output json": {
                    "type": "http", "format": "json2", "compression": "zstd", "server": f"localhost:{sink.port}",
                    "tags": "cluster=eu1, rack=r7",
                },
                "output off": {"type": "none"},
            },
        )  # fmt: skip
        before = written(bare_node.folder)
        code, found, trace = connect(bare_node)
        assert code == 0
        assert found == {
            ("output", f"127.0.0.1:{scribe.port}"): "accepted",
            ("output web", f"127.0.0.1:{web.port}"): "accepted",
            ("output json", f"localhost:{sink.port}"): "accepted",
        }
        assert "[output off]: delivers nothing, as `type = none`" in bare_node.programs[-1].log()
        (old,), (other,) = scribe.spans(), web.spans()
        assert old == other
        check_v1(old, trace)
        (span,) = sink.spans
        assert sink.requests == [("/api/v2/spans", "application/json", "zstd")]
        assert (span["traceId"], span["id"], span["name"]) == (trace, trace, "connection test")
        assert (span["localEndpoint"], span["tags"]) == ({"serviceName": "blkin"}, dict(TAGS, cluster="eu1", rack="r7"))
        assert "parentId" not in span and span["timestamp"] == old.timestamp
        logs = {os.path.basename(path) for path, *_ in set(written(bare_node.folder)) - set(before)}
        assert all("validate" in name for name in logs), logs
        assert connect(bare_node)[2] != trace


def test_all_outputs_off(bare_node):
    bare_node.write_config(1, output={"type": "none"})
    assert connect(bare_node) == (0, {}, None)


@pytest.mark.parametrize(
    "mood, said",
    [
        (SILENT, "no good answer: no answer within 1 s"),
        (CLOSE, "no good answer: the server closed the connection"),
        (GARBAGE, "no good answer: the peer"),
        (EXCEPTION, "refuses the span: a span is bad"),
        (LATER, "asks to try later"),
    ],
)
def test_scribe_server_that_does_not_accept(bare_node, mood, said):
    with Moody(bare_node, lambda messages: mood) as server:
        assert say_of(bare_node, f"127.0.0.1:{server.port}").startswith(said)
        assert server.taken == [] and server.connections == 1


@pytest.mark.parametrize(
    "status, said",
    [
        (400, "refuses the span: HTTP status 400 Bad Request"),
        (403, "takes no spans: HTTP status 403 Forbidden; permission denied"),
        (404, "takes no spans: HTTP status 404 Not Found; is the output's `path` right?"),
        (415, "takes no spans: HTTP status 415 Unsupported Media Type; it does not take spans in this form"),
        (503, "asks to try later: HTTP status 503 Service Unavailable"),
    ],
)
def test_http_server_that_does_not_accept(bare_node, status, said):
    with MoodyWeb(bare_node, lambda messages: status) as server:
        assert say_of(bare_node, f"127.0.0.1:{server.port}", type="http").startswith(said)


def test_otlp_server_that_takes_the_call_only(bare_node):
    """It answers 200, and that it threw the span away."""

    def throw_away(headers, spans):
        partial = messages().ExportTracePartialSuccess(rejected_spans=len(spans), error_message="too old")
        return 200, {}, messages().ExportTraceServiceResponse(partial_success=partial)

    with OtlpSink() as sink:
        sink.judge = throw_away
        assert say_of(bare_node, f"127.0.0.1:{sink.port}", type="otlp") == "refuses the span: too old"


def test_no_server_there(bare_node):
    assert say_of(bare_node, f"127.0.0.1:{free_port()}") == "cannot connect: connection refused"


def test_name_without_an_address(bare_node):
    with Names(bare_node) as names:
        bare_node.write_config(1, output={"server": "zipkin.example.org:9410", "timeout": "5s"})
        code, found, _ = connect(bare_node, names.command)
    said = "cannot connect: no address for zipkin.example.org: the name is not known"
    assert (code, found) == (1, {("output", "zipkin.example.org:9410"): said})


def make_certificate(node, name, valid_for):
    """A server's context with a certificate of its own."""
    path = node.path(name)
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        + ["-subj", f"/CN={name}", "-addext", f"subjectAltName={valid_for}"]
        + ["-keyout", f"{path}.key", "-out", f"{path}.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{path}.pem", f"{path}.key")
    return context


def test_tls(bare_node):
    """Accepted over TLS; and what is wrong with it otherwise."""
    good, other = (make_certificate(bare_node, name, where) for name, where in [("a", "IP:127.0.0.1"), ("b", "DNS:b")])
    ca = {name: {"tls": "yes", "tls_ca": bare_node.path(f"{name}.pem")} for name in "ab"}
    with Moody(bare_node, tls=good) as server:
        bare_node.write_config(server.port, output=ca["a"])
        code, found, trace = connect(bare_node)
        assert (code, list(found.values())) == (0, ["accepted"])
        check_v1(server.spans()[0], trace)
        said = say_of(bare_node, f"127.0.0.1:{server.port}", **ca["b"])
        assert said.startswith("no TLS connection: ") and "`tls-ca`" in said
    with Moody(bare_node, tls=other) as server:
        said = say_of(bare_node, f"127.0.0.1:{server.port}", **ca["b"])
        assert said.startswith("no TLS connection: ") and "127.0.0.1" in said and "not valid for" in said
        assert server.taken == []
    with Moody(bare_node) as server:
        assert say_of(bare_node, f"127.0.0.1:{server.port}", **ca["a"]).startswith("no TLS connection: ")
    said = say_of(bare_node, "127.0.0.1:1", tls="yes", tls_ca="/nowhere.pem")
    assert said.startswith("no TLS connection: `tls-ca = /nowhere.pem` cannot be read")


def test_one_server_of_two_is_down(bare_node):
    """The agent would do well with one; but the other is there for when that one is away."""
    with Moody(bare_node) as server:
        away = free_port()
        bare_node.write_config(1, output={"server": f"127.0.0.1:{server.port}, 127.0.0.1:{away}"})
        code, found, _ = connect(bare_node)
        assert code == 1
        assert found["output", f"127.0.0.1:{server.port}"] == "accepted"
        assert found["output", f"127.0.0.1:{away}"] == "cannot connect: connection refused"


def test_side_by_side(bare_node):
    """No server answers before all are asked."""
    barrier = threading.Barrier(4)

    def mood(_):
        barrier.wait(60)
        return OK

    with Moody(bare_node, mood) as one, Moody(bare_node, mood) as two, Moody(bare_node, mood) as three:
        with Moody(bare_node, mood) as four:
            bare_node.write_config(
                1,
                output={"server": f"127.0.0.1:{one.port}, 127.0.0.1:{two.port}", "timeout": "60s"},
                **{"output b": {"server": f"127.0.0.1:{three.port}, 127.0.0.1:{four.port}", "timeout": "60s"}},
            )
            code, found, _ = connect(bare_node)
    assert code == 0 and list(found.values()) == 4 * ["accepted"]


def test_beside_the_agent(node, receiver):
    """It does not notice: its ledger has its own spans only, and the collector one more."""
    agent = node.start_agent(receiver.port)
    node.run([LOAD, "-n", 500])
    code, found, trace = connect(node)
    assert (code, list(found.values())) == (0, ["accepted"])
    node.run([LOAD, "-n", 500])
    receiver.wait_for(1001)
    ledger = node.wait_ledger(lambda ledger: ledger.read == 1000 and ledger.idle(), 20, "delivery")
    assert (ledger.sent, ledger.dropped, ledger.lost) == (1000, 0, 0)
    check_v1(*[span for span in receiver.spans() if span.name == "connection test"], trace)
    assert agent.stop() == 0


def test_printing_is_not_connecting(bare_node):
    bare_node.write_config(1)
    command = [bare_node.built("cli/blkin"), "validate", "--connect", "--print", bare_node.path("agent.conf")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (64, "") and "--print only prints" in done.stderr
