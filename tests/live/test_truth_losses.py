# SPDX-License-Identifier: BSD-2-Clause
"""
The truth table's losses (rig/truth.py): where something is too slow, or has no room, spans are lost or will be, while all answer
and nobody seems to be at fault. The status says so, and no more once it is over.
"""

import zlib

import pytest
from rig.alerts import firing
from rig.collectors import Http, Otlp, Scribe
from rig.idsink import QUICK
from rig.load import LOAD
from rig.moody import EXCEPTION, OK, Moody
from rig.node import WHOLE_STACKS
from rig.process import free_port, stopped
from rig.scribe import Receiver, generated
from rig.sender import Client
from test_doctor import start_load
from test_truth_outputs import all_kinds, go_on, wait_told

BURST = 20000  # spans, as fast as can be
SMALL = {**QUICK, "batch-size": "4K", "queue-size": "64K"}


def send_nonsense(node, port):
    """The sender is told, too."""
    generated()
    from thrift.Thrift import TApplicationException  # noqa: PLC0415 it is there only once the code is

    with Client(port) as client, pytest.raises(TApplicationException):
        client.log(["no span"])


def start(node, receiver, picky, away):
    """What each output will be told of; `default` has none of it."""
    inlet = free_port()
    others = {
        "queue": {**SMALL, "server": f"127.0.0.1:{away[0].port}", "spool-size": "0"},
        "spool": {**QUICK, "server": f"127.0.0.1:{away[1].port}", "queue-size": "4M", "spool-size": "4M"},
        "picky": {**QUICK, "server": f"127.0.0.1:{picky.port}"},
        "small": {**QUICK, "server": f"127.0.0.1:{receiver.port}", "batch-size": "4K"},
    }
    node.write_config(
        receiver.port,
        session={"memory": "1M"},
        input={"scribe": f"127.0.0.1:{inlet}"},
        **{f"output {name}": keys for name, keys in others.items()},
    )
    node.start_agent_again(**WHOLE_STACKS)
    return inlet


def test_something_is_lost(node, receiver):
    """In a ring buffer, for want of room, since a collector refuses it, as it is too large, or is no span: all at once."""
    away = [Receiver(node, free_port()).start() for _ in range(2)]
    with Moody(node, lambda messages: EXCEPTION if any(zlib.crc32(one) % 1009 == 0 for one in messages) else OK) as picky:
        send_nonsense(node, start(node, receiver, picky, away))
        for one in away:
            one.program.kill()
        load = start_load(node)
        go_on(node, "default")
        before = {name: node.metrics(name) for name in ("default", "queue", "spool", "picky", "small")}
        with stopped(node.consumer_pid()):  # so that the ring buffers have no room for it, however fast the machine reads
            node.run([LOAD, "-P", 1, "-n", BURST])
        node.run([LOAD, "-P", 2, "-n", BURST, "-r", BURST // 2])  # which comes, for the queue and the spool
        node.run(["tests/live/programs/wide", 10, 20])
        told = {
            "": {"events-lost", "input-refused"},
            "queue": {"output-refused", "queue-full", "spans-oversize"},
            "spool": {"output-refused", "spool-full"},
            "picky": {"spans-refused"},
            "small": {"spans-oversize"},
        }
        wait_told(node, told)
        go_on(node, "default")
        assert firing(before["default"], node.metrics()) == {"BlkinEventsLost"}
        for name in ("queue", "spool", "picky", "small"):
            assert "BlkinSpansLost" in firing(before[name], node.metrics(name)), name
        picky.mood = lambda messages: OK
        for one in away:
            one.start()
        wait_told(node, {}, 45)  # a loss is told of for 20 s
        for name in before:
            before[name] = node.metrics(name)
            go_on(node, name)
            assert firing(before[name], node.metrics(name)) == set()
        load.kill()


def test_collectors_are_slow(node):
    """They take spans, but fewer than come, so that these wait on disk, and longer and longer."""
    with all_kinds(node, [Scribe, Http, Otlp], **{**SMALL, "queue-size": "256K", "timeout": "10s"}) as collectors:
        for one in collectors:
            one.slow(1.5)
        wait_told(node, {one.name: {"output-slow"} for one in collectors}, 20)
        for one in collectors:
            assert node.ledger(one.name).dropped == 0
            one.mend()
        wait_told(node, {}, 20)
        for one in collectors:
            go_on(node, one.name)
            assert firing({}, node.metrics(one.name)) == set()


def test_a_queue_gets_longer(node):
    """The same with the room that a queue has by default, which would last for hours: how long spans wait tells."""
    with all_kinds(node, [Http, Otlp], **{**QUICK, "batch-size": "4K", "timeout": "10s"}) as collectors:
        for one in collectors:
            one.slow(2)
        wait_told(node, {one.name: {"output-slow"} for one in collectors}, 60)
        for one in node.status()["outputs"]:
            if one["name"] != "default":
                assert one["queue_bytes"] < 16 << 20, one  # half: nothing goes to disk yet
        for one in collectors:
            assert node.ledger(one.name).dropped == 0
            one.mend()
        wait_told(node, {}, 20)
