# SPDX-License-Identifier: BSD-2-Clause
"""
Senders of OTLP who do anything, while others deliver, the output has its moods, and the configuration changes. BLKIN_OTLP_ATTACK
is how many seconds it takes, BLKIN_SEED what it does.
"""

import os
import random
import re
import signal
import threading
import time

from rig.idsink import IdSink
from rig.otlpattack import PROCESS, Attacker
from rig.otlpsender import OtlpSender, numbered
from rig.process import exactly, free_port
from test_input import TIMID, check_came, wait_senders
from test_otlp_crowd import wait_nobody
from test_otlp_input import WAYS, client_of, start_agent

SECONDS = float(os.environ.get("BLKIN_OTLP_ATTACK", "15"))
SEED = int(os.environ.get("BLKIN_SEED", "0")) or random.randrange(1, 1 << 30)
ATTACKERS = 6


def reconfigure(node, dice):
    """What of [input] a reload may change without anybody losing a connection."""
    with open(node.path("agent.conf"), encoding="utf-8") as file:
        text = file.read()
    keys = {
        "ack": dice.choice(["spooled", "spooled", "queued"]),
        "connections": dice.choice([20, 100, 1024]),
        "memory": dice.choice(["4M", "64M"]),
        "timeout": dice.choice(["1s", "10s"]),
    }
    for key, value in keys.items():
        text = re.sub(rf"^{key} = .*", f"{key} = {value}", text, flags=re.MULTILINE)
    with open(node.path("agent.conf"), "w", encoding="utf-8") as file:
        file.write(text)
    node.agent.send(signal.SIGHUP)


def is_settled(node, ports):
    """A span on which the collector fails is given up once others beside it get through, three times, with rests in between."""
    with client_of(ports, *WAYS[0]) as client:
        client.hand(numbered(92, 0, [time.monotonic_ns() % (1 << 30)]))
    return node.ledger().idle()


def test_anything(node):
    print(f"BLKIN_SEED={SEED}")
    dice = random.Random(SEED)
    sink = IdSink(node, free_port()).start()
    keys = {"ack": "spooled", "connections": 100, "memory": "64M", "timeout": "2s"}
    ports = start_agent(node, sink.port, output=dict(TIMID, timeout="2s"), input=keys, session={"keep": "yes"})
    over = threading.Event()
    attackers = [Attacker(ports, SEED + n, over) for n in range(ATTACKERS)]
    senders = [
        OtlpSender(lambda way=way, kind=kind, packed=packed: client_of(ports, way, kind, packed), 91, t, int(20 * SECONDS), 10, rate=20)
        for t, (way, kind, packed) in enumerate(WAYS)
    ]
    for thread in attackers + senders:
        thread.start()
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        dice.choice([sink.hang, sink.put_off, sink.recover, sink.recover, lambda: reconfigure(node, dice)])()
        time.sleep(dice.choice([0.1, 0.5, 1]))
        node.agent.expect_running()
    over.set()
    sink.recover()
    for thread in attackers:
        thread.join(30)
        assert not thread.is_alive()
    wait_senders(senders, 90)
    wait_nobody(node, 60)
    ledger = node.wait_ledger(lambda _: is_settled(node, ports), 180, "all to be settled")
    again = check_came(sink, senders)
    theirs = sum(count for one, count in sink.ids().items() if one[0] == PROCESS)
    print(f"{sum(a.rounds for a in attackers)} rounds, {theirs} of their spans, {again} came again; {ledger}; {node.status()['input']}")
    # the collector fails on spans of theirs whose attributes they have changed
    exactly(ledger.given_back == 0 and ledger.dropped == ledger.dropped_for("refused"), str(ledger))
    node.agent.send(signal.SIGTERM)
    exactly(node.agent.wait(30) == 0, "it ends well")
