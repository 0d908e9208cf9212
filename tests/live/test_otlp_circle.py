# SPDX-License-Identifier: BSD-2-Clause
"""A circle of OTLP through a server that does not tell by way of whom spans have come, as the OpenTelemetry Collector does not."""

import queue
import threading

import pytest
from rig.otlpsender import Grpc, Http, numbered
from rig.otlpsink import OtlpSink, messages
from rig.process import exactly, wait_until
from rig.unpack import unpack
from test_crowd import finding
from test_input import TIMID
from test_otlp_input import KEYS, client_of, otlp, start_agent

WORDS = "taken here several times in half a minute"


class Passer(OtlpSink):
    """Takes spans, and hands them on later."""

    def __init__(self):
        super().__init__()
        self.taken = queue.Queue()

    def answer(self, request, body):
        self.taken.put(unpack(body, request.headers["Content-Encoding"]))
        return 200, {"Content-Type": "application/x-protobuf"}, b""

    def pass_on(self, ports, way):
        with client_of(ports, way) as client:
            while (request := self.taken.get()) is not None:
                client.hand(messages().ExportTraceServiceRequest.FromString(request))


@pytest.mark.parametrize("way", KEYS)
def test_circle_is_noticed(node, way):
    """It is named, whatever it does to the ledger; once it is undone, all is settled."""
    with Passer() as other:
        ports = start_agent(node, output=otlp(other.port))
        passing = threading.Thread(target=other.pass_on, args=(ports, way))
        passing.start()
        with client_of(ports, way) as client:
            exactly(client.hand(numbered(50, 0, range(100)))[0] == 200, "it is taken")
        wait_until(lambda: finding(node, "input-loop"), 20, "the circle to be noticed")
        said = finding(node, "input-loop")["what"]
        assert "spans come again and again: 127.0.0.1:" in said and "through a server that is none of ours" in said, said
        assert WORDS in node.agent.log()
        other.taken.put(None)
        passing.join(20)
        ledger = node.wait_ledger(lambda ledger: ledger.idle(), 20, "all to be settled")
        exactly(ledger.received >= 400 and ledger.received == ledger.sent, str(ledger))


def test_what_is_sent_again_is_no_circle(node):
    """Who lost its answers hands over the same once or twice more; and who has to try later, as often as it has to."""
    with OtlpSink() as sink:
        ports = start_agent(node, output=dict(TIMID, **otlp(sink.port), spool_size="0"))
        with Http(ports[0]) as http, Grpc(ports[1]) as grpc:
            for _ in range(3):
                for client in (http, grpc):
                    exactly(client.hand(numbered(50, 0, range(100)))[0] == 200, "it is taken")
        exactly(not finding(node, "input-loop") and WORDS not in node.agent.log(), node.agent.log())
