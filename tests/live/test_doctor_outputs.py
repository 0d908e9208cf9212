# SPDX-License-Identifier: BSD-2-Clause
"""What `blkin status` finds wrong with the outputs: collectors that take no spans, and spools that nobody empties."""

import contextlib
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from rig.moody import CLOSE, EXCEPTION, GARBAGE, LATER, SILENT, Moody
from rig.process import answers, free_port, wait_until
from rig.scribe import Receiver
from test_doctor import LOAD, expect, findings, start_load, status
from test_statedisk import fill

SCRIBE_PORT, HTTP_PORT = "its Scribe port (Zipkin: 9410)", "its HTTP port (Zipkin: 9411)"


@contextlib.contextmanager
def web(code, page=b"", close=False):
    """
    An HTTP server that answers every call with this status, and a web page or none; its port. @close: each connection is
    for one call.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0" if close else "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(code)
            self.send_header("Content-Length", str(len(page)))
            if page:
                self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@contextlib.contextmanager
def banner(text):
    """A server that says something at once, and then nothing; its port."""
    streams = []

    def serve(listener):
        with contextlib.suppress(OSError):
            while True:
                stream, _ = listener.accept()
                streams.append(stream)
                stream.sendall(text)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    for stream in streams:
        stream.close()


def test_refuses_connections(node):
    port = free_port()
    node.start_agent(port)
    start_load(node)
    what = f"the collector at 127.0.0.1:{port} takes no spans: connection refused"
    fix = ("start the collector there (Zipkin: COLLECTOR_SCRIBE_ENABLED=true; an agent: `scribe` in its [input]), "
           "or correct `server` in [output]: ")
    found = expect(node, "output-refused", what, fix)
    assert found["fix"].endswith(SCRIBE_PORT)
    for _ in range(20):  # it does not come and go with the queue
        assert list(findings(node)) == ["output-refused"]
    Receiver(node, port).start()
    wait_until(lambda: findings(node) == {}, 10, "the doctor to be content")


def test_all_is_spooled(node):
    """Nothing waits in memory: the collector is as much away as before."""
    node.start_agent(free_port())
    node.run([LOAD, "-n", 300])
    node.wait_ledger(lambda ledger: (ledger.spooled, ledger.queued) == (300, 0), 20, "all spans in the spool")
    wait_until(lambda: set(findings(node)) == {"output-refused"}, 15, "the doctor to find it")


def test_idle(node):
    """It is known before there is anything to send."""
    node.start_agent(free_port())
    wait_until(lambda: set(findings(node)) == {"output-refused", "no-program"}, 15, "the doctor to find it")


def test_no_address(node):
    node.start_agent(1, output={"server": "collector.invalid:9410", "timeout": "2s"})
    start_load(node)
    expect(node, "output-dns", "the collector at collector.invalid:9410 takes no spans", "the name service", 30)


def test_no_route(node):
    node.start_agent(1, output={"server": "192.0.2.1:9410"})
    start_load(node)
    expect(node, "output-unreachable", "at 192.0.2.1:9410 takes no spans: network is unreachable", "a route to it")


def test_connect_times_out(node):
    """Its queue of connections is full, so the kernel drops ours."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
        address = server.getsockname()
        before = [socket.socket() for _ in range(4)]
        for one in before:
            one.setblocking(False)
            one.connect_ex(address)
        node.start_agent(address[1], output={"timeout": "1s"})
        start_load(node)
        expect(node, "output-timeout", "takes no spans: connection timed out", "no firewall drops the packets", 20)
        for one in before:
            one.close()


@pytest.mark.parametrize(
    "mood, code, what, fix",
    [
        (SILENT, "output-timeout", "no answer within 1 s", f"names {SCRIBE_PORT}"),
        (CLOSE, "output-closed", "the server closed the connection", f"names {SCRIBE_PORT}"),
        (GARBAGE, "output-protocol", "the peer", f"host and {SCRIBE_PORT}"),
        (LATER, "output-busy", "the server asks to try later", "the collector or its storage is overloaded"),
        (EXCEPTION, "output-refuses-all", 'the server refuses everything: "a span is bad"', "check `category` in [output]"),
    ],
)
def test_answers_badly(node, mood, code, what, fix):
    with Moody(node, lambda messages: mood) as server:
        node.start_agent(server.port, output={"timeout": "1s"})
        start_load(node)
        expect(node, code, f"the collector at 127.0.0.1:{server.port} takes no spans: {what}", fix, 30)
        for _ in range(10):  # nor does it come and go when there is nothing to try with
            assert list(findings(node)) == [code]
        node.agent.stop()


@pytest.mark.parametrize(
    "kind, status_code, code, fix",
    [
        ("http", 404, "output-path", "correct `path` in [output] (Zipkin: /api/v1/spans)"),
        ("otlp", 405, "output-path", "correct `path` in [output] (OpenTelemetry: /v1/traces)"),
        ("otlp", 403, "output-permission", "into the file that `headers-file` in [output] names; otherwise allow this node"),
        ("http", 415, "output-format", "set `compression = none` in [output], or a `format`"),
        ("otlp", 415, "output-format", "set `compression` in [output] to gzip or none, and check"),
        ("otlp", 302, "output-unfit", "host and its HTTP port (OpenTelemetry: 4318; 4317 is gRPC's)"),
        ("http", 503, "output-busy", "overloaded"),
        ("http", 400, "output-refuses-all", "check `path`, `compression` and `tls` in [output]"),
    ],
)
def test_http_status(node, kind, status_code, code, fix):
    with web(status_code) as port:
        node.start_agent(port, output={"type": kind})
        start_load(node)
        expect(node, code, f"HTTP status {status_code}", fix, 30)
        node.agent.stop()


def test_web_page(node):
    """A web server says 200 to anything; no span counts as sent for that."""
    with web(200, b"<!DOCTYPE html>\n<title>Welcome</title>") as port:
        node.start_agent(port, output={"type": "otlp"})
        start_load(node)
        fix = "its HTTP port (OpenTelemetry: 4318; 4317 is gRPC's), `path` where it takes spans (OpenTelemetry: /v1/traces)"
        expect(node, "output-path", "it is a web page", fix, 20)
        assert node.ledger().sent == 0
        node.agent.stop()


def test_grpc_where_http_is_meant(node):
    """What gRPC's servers say first: their settings."""
    with banner(b"\0\0\6\4\0\0\0\0\0\0\5\0\0\x40\0") as port:
        node.start_agent(port, output={"type": "otlp"})
        start_load(node)
        fix = "correct `server` in [output], so that it names its HTTP port (OpenTelemetry: 4318"
        expect(node, "output-protocol", "the peer speaks HTTP/2 only, as gRPC does", fix, 20)
        node.agent.stop()


def test_http_where_scribe_is_meant(node):
    """Zipkin's other port, say."""
    with banner(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        node.start_agent(port)
        start_load(node)
        fix = f"names {SCRIBE_PORT}, or set `type = http`"
        expect(node, "output-protocol", "the peer speaks HTTP, not Scribe", fix, 20)
        node.agent.stop()


def test_other_than_http(node):
    with banner(b"220 mail.example.org ESMTP\r\n") as port:
        node.start_agent(port, output={"type": "http"})
        start_load(node)
        fix = f"names {HTTP_PORT}, or set `type = scribe`"
        expect(node, "output-protocol", "which is not HTTP", fix, 20)
        node.agent.stop()


def test_scribe_where_http_is_meant(node):
    """It takes our request for the beginning of a very long call."""
    with Moody(node) as server:
        node.start_agent(server.port, output={"type": "http", "timeout": "1s"})
        start_load(node)
        expect(node, "output-timeout", "no answer within 1 s", f"names {HTTP_PORT}", 20)
        node.agent.stop()


def test_no_tls(node):
    with banner(b"220 mail.example.org ESMTP\r\n") as port:
        node.start_agent(port, output={"tls": "yes"})
        start_load(node)
        expect(node, "output-tls", "the server does not speak TLS on this port", "set `tls = no`", 20)
        node.agent.stop()


def make_certificate(path):
    """A key at @path, and beside it, as .crt, a certificate that nobody else has signed."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        + ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", path, "-out", path + ".crt"],
        check=True, capture_output=True,
    )


def test_certificate_of_nobody(node):
    path = node.path("server.pem")
    make_certificate(path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path + ".crt", path)
    with Moody(node, tls=context) as server:
        node.start_agent(server.port, output={"tls": "yes"})
        start_load(node)
        expect(node, "output-tls", "is not signed by an authority that this system trusts: name its authority in `tls-ca`", "`tls-ca` of [output]", 20)
        node.agent.stop()


@pytest.mark.parametrize("kind", ["scribe", "http", "otlp"])
def test_tls_where_none_is_meant(node, kind):
    """A real server of TLS, which ends what is none."""
    path = node.path("server.pem")
    make_certificate(path)
    port = free_port()
    node.start(["openssl", "s_server", "-accept", str(port), "-cert", path + ".crt", "-key", path, "-quiet", "-www"])
    wait_until(lambda: answers(port), 10, "the server")
    node.start_agent(port, output={"type": kind, "timeout": "2s"})
    start_load(node)
    found = expect(node, "output-closed", "takes no spans", "; if it is a port with TLS, set `tls = yes`", 20)
    assert ("Scribe" in found["fix"]) == (kind == "scribe")
    node.agent.stop()


def test_one_of_two_outputs(node, receiver):
    port = free_port()
    node.start_agent(receiver.port, **{"output b": {"type": "http", "server": f"127.0.0.1:{port}"}})
    start_load(node)
    what = f"the collector of output b at 127.0.0.1:{port} takes no spans: connection refused"
    found = expect(node, "output-refused", what, "start the collector there, or correct `server` in [output b]: ")
    assert found["fix"].endswith(HTTP_PORT)
    wait_until(lambda: node.ledger().sent, 20, "spans at the other output")
    text = status(node, "--socket", node.socket)[1]
    assert f"delivering  default: yes, to 127.0.0.1:{receiver.port}\n" in text
    assert f"delivering  b: NO, to 127.0.0.1:{port}\n  connection refused\n" in text
    told = node.status()
    assert [output["name"] for output in told["outputs"]] == ["default", "b"]
    assert {key: told[key] for key in ("server", "delivering", "output")} == {
        "server": f"127.0.0.1:{receiver.port}", "delivering": True, "output": "scribe"
    }
    assert (told["outputs"][1]["delivering"], told["outputs"][1]["output_error"]) == (False, "connection refused")


def test_own_ports(node, receiver):
    """What is no collector for certain is named before there is anything to send; and nothing is said to be delivered."""
    port = free_port()
    node.write_config(
        receiver.port,
        **{
            "agent": {"http": f"127.0.0.1:{port}"},
            "output web": {"type": "http", "server": f"localhost:{port}"},
            "output relay": {"server": f"127.0.0.1:{node.relay_ports[2]}"},
        },
    )
    node.http = port
    node.start_agent_again()

    def found():
        told = node.status()["findings"]
        return [one["what"] for one in told if one["code"] == "output-own-port"]

    wait_until(lambda: len(found()) == 2, 10, "the doctor to find both")
    assert f"[output web] sends to localhost:{port}, which is the agent's own page and metrics" in found()[0]
    assert f"[output relay] sends to 127.0.0.1:{node.relay_ports[2]}, which is LTTng's relay daemon" in found()[1]
    text = status(node, "--socket", node.socket)[1]
    assert f"delivering  default: connected, nothing sent there yet, to 127.0.0.1:{receiver.port}\n" in text
    assert ": yes, to " not in text and node.status()["servers"][0]["acknowledged"] is False
    node.run([LOAD, "-n", 10])
    wait_until(lambda: node.ledger().sent == 10, 20, "spans at the right one")
    assert f"delivering  default: yes, to 127.0.0.1:{receiver.port}\n" in status(node, "--socket", node.socket)[1]
    node.agent.stop()


def test_preferred_server(node, receiver):
    port = free_port()
    servers = f"127.0.0.1:{port}, 127.0.0.1:{receiver.port}"
    node.start_agent(1, output={"server": servers, "return-interval": "1s"})
    start_load(node)
    wait_until(lambda: node.ledger().sent, 20, "spans at the second server")
    what = (
        f"the preferred collector at 127.0.0.1:{port} takes no spans, and 127.0.0.1:{receiver.port} gets them: "
        "connection refused"
    )
    expect(node, "output-preferred", what, "start the collector there")
    Receiver(node, port).start()
    wait_until(lambda: findings(node) == {}, 15, "the doctor to be content")


def test_no_server_of_several(node):
    ports = free_port(), free_port()
    node.start_agent(1, output={"server": f"127.0.0.1:{ports[0]}, 127.0.0.1:{ports[1]}"})
    start_load(node)
    what = (
        f"the collector at 127.0.0.1:{ports[0]} takes no spans: connection refused; "
        f"nor does 127.0.0.1:{ports[1]}: connection refused"
    )
    expect(node, "output-refused", what, "start the collector there")


def test_only_others_are_configured(node, receiver):
    """Then [output] delivers to its default address, though nobody asked for it: what switches it off is named."""
    path = node.write_config(free_port(), **{"output zipkin": {"server": f"127.0.0.1:{receiver.port}"}})
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"(\[output\]\n)server = .*\n", r"\1", file.read())
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    node.start_agent_again()
    start_load(node)
    what = "the collector of output default at 127.0.0.1:9410 takes no spans: connection refused"
    expect(node, "output-refused", what, "; or set `type = none` in [output], if only the others are to deliver")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("[output]\n", "[output]\ntype = none\n"))
    node.agent.send(signal.SIGHUP)
    wait_until(lambda: "output-refused" not in findings(node), 20, "the doctor to say it no more")


def test_no_output(node):
    node.start_agent(1, output={"type": "none"})
    start_load(node)
    expect(node, "no-output", "every output has `type = none`", "set `type` and `server` in [output]")


def test_spool_without_an_output(node, receiver):
    """
    The section is gone, and its spans are still there. Its remedy is run as it stands: what other outputs and kinds have, with
    names that begin like this one's, is left alone.
    """
    away = {"output b": {"server": f"127.0.0.1:{free_port()}"}}
    node.start_agent(receiver.port, **away)
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.spooled == 100, 20, "spans in b's spool", "b")
    assert node.agent.stop() == 0
    beside = [node.path(f"state/spool-b.{rest}") for rest in ("events.db", "events.tally", "messages.db", "messages.tally")]
    for file in beside:
        shutil.copy(node.path("state/spool-b" + os.path.splitext(file)[1]), file)
    node.start_agent(receiver.port)
    start_load(node)
    what = f"100 spans wait in {node.path('state/spool-b')}.db, and no output delivers them"
    wait_until(lambda: any(found["what"] == what for found in node.status()["findings"]), 20, "the doctor to find it")
    fix = next(found["fix"] for found in node.status()["findings"] if found["what"] == what)
    delivers, _, discards = fix.partition("; to give them up: ")
    assert delivers == "to deliver them, put section [output b] back, and reload the agent"
    assert discards == "blkin spool discard --output b"
    command = [node.built("cli/blkin"), *discards.split()[1:], "--yes", "--config", node.path("agent.conf")]
    done = subprocess.run(command, env=node.environment, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "output b: 100 spans are discarded, with the spool's files\n"
    wait_until(lambda: all(found["what"] != what for found in node.status()["findings"]), 20, "the doctor to be content")
    assert all(os.path.exists(file) for file in beside)


def test_spool_of_an_output_that_is_none(node, receiver):
    node.start_agent(free_port())
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.spooled == 100, 20, "spans in the spool")
    assert node.agent.stop() == 0
    node.start_agent(1, output={"type": "none"}, **{"output b": {"server": f"127.0.0.1:{receiver.port}"}})
    start_load(node)
    expect(node, "spool-left", "100 spans wait in", "set `type` in [output] again", 20)


def test_spool_stores_nothing(node):
    node.write_config(1)
    node.mount(node.path("state"), "1M")
    port = free_port()
    node.start_agent(port)
    fill(node.path("state"))
    start_load(node)
    found = {}

    def is_found():
        nonlocal found
        found = findings(node)
        return set(found) == {"output-refused", "spool-failing"}

    wait_until(is_found, 30, "the doctor to find the full disk", 0.3)
    assert "the spool stores no spans: " in found["spool-failing"]["what"]
    assert "make room on it" in found["spool-failing"]["fix"]
