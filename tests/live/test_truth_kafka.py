# SPDX-License-Identifier: BSD-2-Clause
"""
The truth table's Kafka (rig/truth.py): no library, no broker, no topic, no way in. What fails is librdkafka's mock cluster, and
here a listener that lets nobody in; the real broker is test_kafka_access.py's.
"""

import contextlib
import os
import socket
import struct
import threading

from rig.alerts import firing
from rig.collectors import Kafka
from rig.process import wait_until
from rig.sections import Sections
from test_doctor import expect, findings, start_load
from test_doctor_outputs import banner
from test_otlp_faults import write_private
from test_truth_outputs import all_kinds, go_on

DOWN = {"BlkinCollectorDown"}
HANDSHAKE, VERSIONS, AUTHENTICATE = 17, 18, 36  # requests, by Kafka's numbers
KNOWN = {0: 7, 1: 4, 3: 4, HANDSHAKE: 1, VERSIONS: 3, 22: 1, AUTHENTICATE: 0}  # and the newest version of each
DENIED = 58


def start(node, keys):
    node.write_config(1, output={**keys, "type": "kafka"})
    node.start_agent_again()
    start_load(node)


def is_over(node, before):
    wait_until(lambda: findings(node) == {}, 20, "nothing to do", 0.3)
    go_on(node, "default")
    assert firing(before, node.metrics()) == set()


def test_library_is_missing(node):
    """It is installed while the agent runs."""
    kafka, folder = Kafka(node), node.path("lib")
    os.mkdir(folder)
    path = f"{folder}/librdkafka.so.1"
    open(path, "wb").close()
    node.write_config(1, output=kafka.keys)
    path_of_libraries = f"{folder}:{node.environment['LD_LIBRARY_PATH']}"
    node.start_agent_again(LD_LIBRARY_PATH=path_of_libraries)
    start_load(node)
    before = node.metrics()
    expect(node, "output-library", "librdkafka.so.1 cannot be loaded", "apt install librdkafka1")
    assert node.collecting() and firing(before, node.metrics()) == DOWN
    os.unlink(path)
    is_over(node, before)
    kafka.close()


class Doorkeeper:
    """A broker's listener as far as SASL, which denies every login."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                stream, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(stream,), daemon=True).start()

    def _serve(self, stream):
        with contextlib.suppress(OSError, struct.error), stream, stream.makefile("rb") as file:
            while size := file.read(4):
                request = file.read(struct.unpack("!i", size)[0])
                key, version, number = struct.unpack("!hhi", request[:8])
                answer = struct.pack("!i", number) + self._answer(key, version)
                stream.sendall(struct.pack("!i", len(answer)) + answer)

    @staticmethod
    def _answer(key, version):
        if key == HANDSHAKE:
            return struct.pack("!hih5s", 0, 1, 5, b"PLAIN")
        if key == AUTHENTICATE:
            words = b"nobody comes in"
            return struct.pack(f"!hh{len(words)}si", DENIED, len(words), words, 0)
        if version < 3:
            return struct.pack("!hi", 0, len(KNOWN)) + b"".join(struct.pack("!hhh", key, 0, most) for key, most in KNOWN.items())
        known = b"".join(struct.pack("!hhhx", key, 0, most) for key, most in KNOWN.items())
        return struct.pack("!hB", 0, len(KNOWN) + 1) + known + struct.pack("!ix", 0)


def change_to(node, kafka):
    """A reload, with which the output's brokers are these."""
    file = Sections(node)
    file.keys["output"] = "".join(f"{key} = {value}\n" for key, value in kafka.keys.items())
    file.hang_up()


def test_login_is_denied(node):
    """The agent is told of brokers that let it in."""
    kafka, door = Kafka(node), Doorkeeper()
    password = node.path("password")
    write_private(password, "open barley\n")
    login = {"sasl": "plain", "sasl-user": "blkin", "sasl-password-file": password}
    start(node, {**kafka.keys, **login, "brokers": f"127.0.0.1:{door.port}"})
    before = node.metrics()
    expect(node, "output-login", "nobody comes in", "correct `sasl`, `sasl-user` and `sasl-password-file` in [output]")
    assert node.collecting() and firing(before, node.metrics()) == DOWN
    assert "barley" not in node.agent.log()
    change_to(node, kafka)
    is_over(node, before)
    kafka.close()


def test_topic_is_missing(node):
    """It is made while the agent runs."""
    kafka = Kafka(node)
    kafka.order("topic 3")  # UNKNOWN_TOPIC_OR_PARTITION
    start(node, kafka.keys)
    before = node.metrics()
    expect(node, "output-topic", "the brokers have no topic `zipkin`", "make the topic")
    assert node.collecting() and firing(before, node.metrics()) == DOWN
    kafka.mend()
    is_over(node, before)
    kafka.close()


def test_no_broker(node):
    """A web server, say."""
    kafka = Kafka(node)
    with banner(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        start(node, {**kafka.keys, "brokers": f"127.0.0.1:{port}"})
        before = node.metrics()
        expect(node, "output-protocol", "this is not a broker's listener", "check that `brokers` in [output] names the port")
        assert node.collecting() and firing(before, node.metrics()) == DOWN
        change_to(node, kafka)
        is_over(node, before)
    kafka.close()


def test_slow(node):
    """What comes meanwhile goes with the next call: nobody notices."""
    with all_kinds(node, [Kafka]) as (kafka,):
        before = node.metrics("kafka")
        kafka.slow(1)
        for _ in range(3):
            go_on(node, "kafka")
            assert findings(node) == {} and firing(before, node.metrics("kafka")) == set()
