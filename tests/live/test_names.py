# SPDX-License-Identifier: BSD-2-Clause
"""A collector by its name, by TLS: a name that is not known yet, and that moves; a certificate that is another's."""

import ssl
import subprocess

import pytest
from expect import check_load, key_of
from rig.load import LOAD
from rig.moody import Moody
from rig.names import Names
from rig.otlpsink import OtlpSink
from rig.process import wait_until

NAME = "collector.blkin.test"


@pytest.fixture
def names(node):
    with Names(node) as names:
        yield names


def openssl(node, *words):
    subprocess.run(["openssl", *words], cwd=node.folder, check=True, capture_output=True)


def make_certificate(node, name):
    """A server's context for a certificate made out to @name, which is its own authority: NAME.pem."""
    openssl(
        node, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
        "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}",
        "-keyout", f"{name}.key", "-out", f"{name}.pem",
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(node.path(f"{name}.pem"), node.path(f"{name}.key"))
    return context


def start_agent(node, names, port, ca, **output):
    usual = {"server": f"{NAME}:{port}", "tls": "yes", "tls_ca": node.path(ca), "timeout": "2s"}
    config = node.write_config(port, output=usual | output)
    node.agent = node.start(names.command(node.built("agent/blkin-agent"), "-c", config), name="blkin-agent")
    node.agent.wait_ready(node.collecting)


def test_name_that_comes_and_moves(node, names):
    with Moody(node, tls=make_certificate(node, NAME)) as server:
        start_agent(node, names, server.port, f"{NAME}.pem")
        node.run([LOAD, "-n", 1000])
        wait_until(lambda: f"no address for {NAME}: the name is not known" in node.agent.log(), 10, "the agent to say so")
        ledger = node.ledger()
        assert (ledger.sent, ledger.dropped) == (0, 0)
        names.addresses[NAME] = "127.0.0.1"
        node.wait_ledger(lambda ledger: ledger.sent == 1000, 20, "1000 spans")
        # to another host, with the same name and port
        server.stop()
        server.address = "127.0.0.2"
        server.start()
        names.addresses[NAME] = "127.0.0.2"
        node.run([LOAD, "-n", 1000])
        node.wait_ledger(lambda ledger: ledger.sent == 2000, 20, "2000 spans")
        spans = server.spans()
        check_load(spans[:1000], 1, 1, 1000)
        assert {key_of(span)[2] for span in spans[1000:]} == set(range(1000))
        node.agent.stop()


def test_certificate_of_another(node, names):
    """It is signed by whom we trust, but it is not the collector's: it gets nothing."""
    names.addresses[NAME] = "127.0.0.1"
    with Moody(node, tls=make_certificate(node, "other.blkin.test")) as server:
        start_agent(node, names, server.port, "other.blkin.test.pem")
        node.run([LOAD, "-n", 100])
        error = 'blkin_agent_output_errors_total{kind="tls"}'
        wait_until(lambda: node.metrics()[error] >= 2, 20, "two errors")
        assert f"the server's certificate is not valid for {NAME}" in node.agent.log()
        ledger = node.ledger()
        assert (ledger.sent, ledger.dropped, server.calls) == (0, 0, 0)
        node.agent.stop()


def test_name_in_full(node, names):
    """With a dot at its end, as in Kubernetes: it is looked up so, and has none for TLS and HTTP."""
    names.addresses[NAME] = "127.0.0.1"
    context = make_certificate(node, NAME)
    asked, hosts = set(), set()
    context.sni_callback = lambda _, name, __: asked.add(name)

    with OtlpSink() as sink:
        sink.judge = lambda headers, _: hosts.add(headers["Host"])  # which is None: it is good
        sink.server.socket = context.wrap_socket(sink.server.socket, server_side=True)
        start_agent(node, names, sink.port, f"{NAME}.pem", type="otlp", server=f"{NAME}.:{sink.port}")
        node.run([LOAD, "-n", 100])
        ledger = node.wait_ledger(lambda ledger: ledger.sent == 100, 20, "the spans")
        assert (asked, hosts, ledger.sent_again) == ({NAME}, {f"{NAME}:{sink.port}"}, 0)
        assert node.agent.stop() == 0
