# SPDX-License-Identifier: BSD-2-Clause
"""A collector that comes late, goes away, talks nonsense or says nothing: spans wait, and none is lost in silence."""

import contextlib
import socket
import struct
import threading
import time

import pytest
from expect import check_load, key_of
from rig.load import LOAD
from rig.process import free_port, wait_until
from rig.scribe import Receiver


def test_collector_comes_late(node):
    receiver = Receiver(node, free_port())
    node.start_agent(receiver.port)
    node.run([LOAD, "-n", 5000])
    ledger = node.wait_ledger(lambda ledger: ledger.read == 5000, 30, "5000 events read")
    assert (ledger.sent, ledger.dropped, ledger.queued + ledger.spooled) == (0, 0, 5000)
    assert node.metrics()[f'blkin_agent_output_up{{server="127.0.0.1:{receiver.port}"}}'] == 0
    receiver.start()
    node.wait_ledger(lambda ledger: ledger.sent == 5000, 30, "5000 spans sent")
    receiver.wait_for(5000)
    check_load(receiver.spans(), 1, 1, 5000)
    log = node.agent.log()
    assert log.count("spans wait, retrying") == 1 and log.count("delivering again") + log.count("connected") == 1


def test_collector_is_killed_and_comes_back(node, receiver):
    """What was acknowledged is on the receiver's disk: of the spans sent, all are there, some of them perhaps twice."""
    total = 60000
    node.start_agent(receiver.port)
    load = node.start([node.built(LOAD), "-n", total, "-r", 10000])
    for _ in range(3):
        time.sleep(1)
        receiver.program.kill()
        time.sleep(0.3)
        receiver.start()
    assert load.wait() == 0
    ledger = node.wait_ledger(lambda ledger: ledger.read >= total and ledger.idle(), 60, f"{total} spans delivered")
    spans = receiver.spans()
    assert {key_of(span)[2] for span in spans} == set(range(total))
    assert (ledger.read, ledger.spans, ledger.sent, ledger.dropped) == (total, total, total, 0)
    # only what had no answer was sent again, so the receiver has no more twice than the agent says
    assert len(spans) - total <= ledger.sent_again
    node.agent.stop()


def test_queue_is_bounded_and_drops_are_counted(node):
    receiver = Receiver(node, free_port())
    total = 20000
    node.start_agent(receiver.port, output={"queue_size": "2M", "batch_size": "64K"}, spool={"max_size": 0})
    node.run([LOAD, "-n", total])
    ledger = node.wait_ledger(lambda ledger: ledger.read == total and ledger.dropped, 30, "drops")
    assert ledger.dropped == ledger.dropped_for("queue_full") == total - ledger.queued
    receiver.start()
    ledger = node.wait_ledger(lambda ledger: ledger.queued == 0, 30, "the rest to be sent")
    assert ledger.sent + ledger.dropped == total
    receiver.wait_for(ledger.sent)
    # the oldest were dropped
    assert sorted(key_of(span)[2] for span in receiver.spans()) == list(range(total - ledger.sent, total))


class Peer:
    """A server on a port that answers every connection with @reply, and then holds or closes it."""

    def __init__(self, port, reply, hold):
        self.reply, self.hold = reply, hold
        self.connections = []
        self.socket = socket.create_server(("127.0.0.1", port), reuse_port=False)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                self.connections.append(connection)
                connection.recv(65536)
                with contextlib.suppress(OSError):
                    connection.sendall(self.reply)
                    if not self.hold:
                        connection.close()

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        for connection in self.connections:
            connection.close()


# Name, what it answers, whether it then holds the connection, and what the agent counts.
PEERS = [
    ("web server", b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", False, "protocol"),
    ("text in a frame", b"\x00\x00\x00\x05Oops!", True, "protocol"),
    ("endless frame", b"\x7f\xff\xff\xff" + b"x" * 1000, True, "protocol"),
    ("negative frame", b"\xff\xff\xff\xff", True, "protocol"),
    ("other call", struct.pack("!IIi3siBHii", 26, 0x80010002, 3, b"Foo", 1, 8, 0, 0, 0), True, "protocol"),
    ("hangs up", b"", False, "closed"),
    ("hangs", b"", True, "timeout"),
    ("stops in a reply", b"\x00\x00\x00\x20\x80\x01", True, "timeout"),
]


@pytest.mark.parametrize("name, reply, hold, error", PEERS, ids=[peer[0] for peer in PEERS])
def test_peer_is_no_collector(node, name, reply, hold, error):
    receiver = Receiver(node, free_port())
    peer = Peer(receiver.port, reply, hold)
    node.start_agent(receiver.port, output={"timeout": "1s"})
    node.run([LOAD, "-n", 100])
    errors = f'blkin_agent_output_errors_total{{kind="{error}"}}'
    wait_until(lambda: node.metrics()[errors] >= 2, 20, f"two errors ({name})")
    ledger = node.wait_ledger(lambda ledger: ledger.read == 100, 20, "100 spans")
    assert (ledger.sent, ledger.queued + ledger.spooled, ledger.dropped) == (0, 100, 0)
    assert node.http_get("/healthz")[0] == 200
    # said once, however often it happens
    assert node.agent.log().count("spans wait, retrying") == 1
    peer.close()
    receiver.start()
    node.wait_ledger(lambda ledger: ledger.sent == 100, 30, "100 spans sent")
    receiver.wait_for(100)
    check_load(receiver.spans(), 1, 1, 100)
    assert node.agent.stop() == 0
