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
from rig.process import Trouble, answers, free_port, wait_until

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


def reported(node):
    """The reason why the page cannot be had, by the control socket; "" if there is none, or nobody to ask."""
    try:
        return {found["code"]: found for found in node.status()["findings"]}["http-port"]["what"]
    except (Trouble, KeyError):
        return ""


def test_own_name_that_is_not_answered(node, names, receiver):
    """The name service hangs while the agent starts: it delivers and answers, and listens there when it is told where."""
    names.silent = True
    names.addresses["node.blkin.test"] = "127.0.0.1"
    names.write("resolv.conf", f"nameserver {names.address}\noptions timeout:15\n")
    page, input_port = free_port(), free_port()
    own = {"agent": {"http": f"node.blkin.test:{page}"}, "input": {"scribe": f"node.blkin.test:{input_port}"}}
    config = node.write_config(receiver.port, **own)
    node.agent = node.start(names.command(node.built("agent/blkin-agent"), "-c", config), name="blkin-agent")
    wait_until(lambda: "the name service does not answer" in reported(node), 12, "the agent to say so")
    node.run([LOAD, "-n", 100])
    wait_until(lambda: node.status()["spans"]["sent"] == 100, 10, "the spans")
    names.silent = False
    wait_until(lambda: answers(page), 40, "the page")
    wait_until(lambda: node.agent.log().count("listening on") == 2, 20, "both to listen")
    assert node.agent.stop() == 0
