# SPDX-License-Identifier: BSD-2-Clause
"""
Servers of TLS that end connections without TLS's own words for it (close_notify), as processes that are killed, Python's
and some load balancers do. It is an end as any other, whatever it comes after.
"""

import ssl

import pytest
from expect import key_of
from rig.load import LOAD
from rig.moody import CLOSE, OK, Moody
from rig.process import wait_until
from rig.scribe import decode
from test_connect import make_certificate
from test_endless import ANSWERS, Endless
from test_suspects import QUICK, RATE, SECONDS, check_end, check_flow, is_bad


@pytest.fixture
def context(node):
    return make_certificate(node, "collector", "IP:127.0.0.1")


def trusted(node, **output):
    return {"tls": "yes", "tls_ca": node.path("collector.pem"), **output}


class Abrupt(Endless):
    """It answers one call of each connection, and closes that."""

    def __init__(self, node, context, answer):
        super().__init__(node, answer, b"")
        self.context = context

    def _serve(self, stream):
        with self.context.wrap_socket(stream, server_side=True) as inner, inner.makefile("rb") as file:
            if self._take(file):
                inner.sendall(self.answer)


def errors(node):
    return {name: value for name, value in node.metrics().items() if name.startswith("blkin_agent_output_errors_total") and value}


@pytest.mark.parametrize("how", ["old", "unsaid", "cut", "chunk"])
def test_answer_that_ends_with_the_connection(node, context, how):
    """Each span is delivered once."""
    total = 500
    with Abrupt(node, context, ANSWERS[how][0] + ANSWERS[how][1]) as server:
        node.start_agent(server.port, output=trusted(node, type="http", batch_spans=100))
        node.run([LOAD, "-n", total])
        ledger = node.wait_ledger(lambda ledger: ledger.sent == total, 30, "all spans to be sent")
        assert (ledger.dropped, ledger.sent_again) == (0, 0)
        assert sorted(key_of(decode(message))[2] for message in server.taken) == list(range(total))
        assert errors(node) == {}
        assert node.agent.stop() == 0


def show_client(node, context, version):
    """The server asks for a certificate, and accepts this one."""
    make_certificate(node, "client", "DNS:node")
    context.maximum_version = version
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(node.path("client.pem"))
    return {"tls_certificate": node.path("client.pem"), "tls_key": node.path("client.key")}


@pytest.mark.parametrize("version", [None, ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["no client", "1.2", "1.3"])
def test_one_span_fails(node, context, version):
    """
    A server that dies of a certain span, also one that asks for the client's certificate: all others arrive soon, and
    that one is found out.
    """
    total = RATE * SECONDS
    files = show_client(node, context, version) if version else {}
    with Moody(node, lambda messages: CLOSE if is_bad(messages) else OK, tls=context) as server:
        node.start_agent(server.port, output=trusted(node, **QUICK, **files))
        check_flow(node, server, total)
        check_end(node, server, total)
        assert node.agent.log().count("fails each time that certain ones come") == 1
        assert node.agent.stop() == 0


def test_idle_connection(node, context):
    """It ends, which is no error, and comes back when it is needed."""
    with Moody(node, tls=context) as server:
        node.start_agent(server.port, output=trusted(node, retry_min="10s", retry_max="10s"))
        for turn in range(1, 4):
            node.run([LOAD, "-n", 100])
            node.wait_ledger(lambda ledger: ledger.sent == 100 * turn, 20, "the spans")
            server.stop()
            wait_until(lambda: not node.status()["delivering"], 20, "the end to be seen")
            assert node.status()["output_error"] == "the server closed the connection"
            server.start()
        assert (errors(node), server.connections, node.ledger().sent_again) == ({}, 3, 0)
        assert node.status()["findings"] == [] and node.agent.log().count(": connected") == 1
        assert node.agent.stop() == 0
