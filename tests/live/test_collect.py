# SPDX-License-Identifier: BSD-2-Clause
"""`blkin collect` where something else than Scribe comes, or has its port."""

import socket
import sys

from rig.process import answers, free_port


def start(node, port):
    collector = node.start([node.built("cli/blkin"), "collect", "--listen", f"127.0.0.1:{port}"], name="collect")
    collector.wait_ready(lambda: answers(port))
    return collector


def send(port, text):
    """Returns once the other end has closed."""
    with socket.create_connection(("127.0.0.1", port), 10) as stream:
        stream.sendall(text)
        assert stream.recv(1) == b""


def test_strangers_are_told_once(bare_node):
    """They try again and again: what they are is said once a minute."""
    port = free_port()
    collector = start(bare_node, port)
    for _ in range(5):
        send(port, b"POST /api/v2/spans HTTP/1.1\r\nHost: x\r\n\r\n")
        send(port, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        send(port, b"\x7f\xff\xff\xff")
    log = collector.log()
    assert collector.stop() == 0
    for words in (
        "an HTTP request came: this port takes Scribe\n",
        "a TLS handshake came: this port takes Scribe without TLS\n",
        "a frame of 2147483647 bytes: is this framed Thrift?\n",
    ):
        assert log.count(words) == 1, log
    assert log.count("connection closed") == 3


def test_port_that_is_taken(bare_node):
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        second = bare_node.start([bare_node.built("cli/blkin"), "collect", "--listen", f"127.0.0.1:{port}"], name="collect")
        assert second.wait(10) == 1
    said = f"cannot listen on 127.0.0.1:{port}: Address already in use (another `blkin collect`, or Zipkin? --listen takes another"
    assert said in second.log()


def test_example_without_its_library(bare_node):
    """In a sentence, where Debian's package is not installed."""
    hide = "import runpy, sys; sys.modules['confluent_kafka'] = None; runpy.run_path('examples/kafka_count.py', run_name='__main__')"
    program = bare_node.start([sys.executable, "-c", hide, "b:1", "t"], name="kafka_count")
    assert program.wait(20) == 1
    assert program.log() == "kafka_count.py: the module confluent_kafka is missing: install python3-confluent-kafka\n"
