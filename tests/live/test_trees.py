# SPDX-License-Identifier: BSD-2-Clause
"""Agents that deliver to agents: node, rack, site. The ledger adds up at every level, whoever is killed."""

import socket
import struct
import threading
import time

import pytest
from rig.idsink import IdSink
from rig.load import LOAD
from rig.node import paced
from rig.othernode import OtherNode
from rig.process import answers, exactly, free_port, wait_until
from rig.sender import Client, Sender, message
from test_input import TIMID, check_came, start_agent, wait_senders, wait_up

PROCESSES, THREADS = 2, 2
KEPT = {"keep": "yes"}


@pytest.fixture
def levels(bare_node):
    """The node, the rack's and the site's; LTTng is at the first alone, as the others read nothing."""
    with OtherNode() as rack, OtherNode() as site:
        yield bare_node.start_lttng(), rack, site


def start_tree(node, rack, site, sink):
    """The site delivers to the sink, the rack to the site, the node to the rack; returns their ports."""
    keys = {"session": KEPT, "output": TIMID}
    ports = [0, 0, 0]
    ports[2] = start_agent(site, sink.port, wait=False, **keys)
    ports[1] = start_agent(rack, ports[2], wait=False, **keys)
    ports[0] = start_agent(node, ports[1], **keys)
    return ports


def check_levels(ledgers, senders):
    """
    Each level's rows add up, and between levels: all that one sent was received by the next one. What that received
    beyond was handed over again, by whoever got no OK, on the way to the level or to one below: a level that is killed
    has sent what it knows nothing of any more, but it has not said OK to it.
    """
    repeated = 0
    for level, ledger in enumerate(ledgers):
        own = [s for s in senders if s.process == 40 + level]
        repeated += sum((s.broken + s.put_off) * s.batch for s in own)
        came = sum(s.count for s in own)
        if level:
            repeated += ledgers[level - 1].sent_again
            came += ledgers[level - 1].sent
        exactly(ledger.dropped == 0 and ledger.refused == 0, str(ledger))
        exactly(ledger.taken == ledger.made + ledger.received, str(ledger))
        exactly(ledger.taken + ledger.recovered == ledger.sent + ledger.given_back, str(ledger))
        assert came <= ledger.received <= came + repeated, f"level {level}: {came}, {repeated} again: {ledger}"


def wait_idle(node, seconds=60):
    node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
    return node.wait_ledger(lambda ledger: ledger.idle(), seconds, "all to be settled")


def test_three_levels(levels):
    """Live programs at the node and python senders at each level; the middle one is killed again and again."""
    node, rack, site = levels
    sink = IdSink(node, free_port()).start()
    ports = start_tree(node, rack, site, sink)
    rate, seconds = paced(4000, 1500), 12
    spans = rate * seconds // (PROCESSES * THREADS)
    load = node.start(
        [node.built(LOAD), "-p", PROCESSES, "-t", THREADS, "-n", spans, "-r", rate // (PROCESSES * THREADS)]
    )
    senders = [Sender(ports[level], 40 + level, t, 2000, 25, t % 2 == 0, rate=200) for level in range(3) for t in range(2)]
    for sender in senders:
        sender.start()
    kills = 0
    while load.running():
        time.sleep(0.7)
        rack.agent.kill()
        time.sleep(0.2 * (kills % 3))
        rack.start_agent_again(wait=False)
        kills += 1
    assert load.wait(60) == 0
    wait_senders(senders, 120)
    total = spans * PROCESSES * THREADS
    first = node.wait_ledger(lambda ledger: ledger.made >= total and ledger.idle(), 60, "the node to be done")
    ledgers = [first, wait_idle(rack), wait_idle(site)]
    print(f"{kills} kills of the middle one, {total} + {sum(s.count for s in senders)} spans")
    for ledger in ledgers:
        print(ledger)
    exactly(first.made == total and first.lost == 0, str(first))
    again = check_came(sink, senders)
    seen = sink.ids()
    wanted = {(p, t, n) for p in range(PROCESSES) for t in range(THREADS) for n in range(spans)}
    exactly(not wanted - seen.keys(), f"{len(wanted - seen.keys())} are missing")
    exactly(len(seen) == total + sum(s.count for s in senders), "spans of nobody")
    print(f"came again: {again} of the senders', {sum(seen[one] - 1 for one in wanted)} of the programs'")
    check_levels(ledgers, senders)
    exactly(sum(seen.values()) == ledgers[2].sent, str(ledgers[2]))


def test_circle_is_noticed(levels):
    """Two agents that deliver to each other: the spans wait, and both say so; undone, they arrive, each once."""
    node, rack, site = levels
    sink = IdSink(node, free_port()).start()
    port = free_port()
    first = start_agent(rack, port, wait=False, output=TIMID)
    site.start_agent(first, wait=False, output=TIMID, input={"scribe": f"127.0.0.1:{port}"})
    wait_until(lambda: answers(port), 10, "the second one to listen")
    wait_up(rack, site)
    with Client(first) as client:
        assert client.log([message(50, 0, n) for n in range(10)]) in (0, 1)

    def codes(one):
        return [finding["code"] for finding in one.status()["findings"]]

    wait_until(lambda: "input-loop" in codes(rack) or "input-loop" in codes(site), 20, "the circle to be noticed")
    time.sleep(2)
    counts = [one.ledger() for one in (rack, site)]
    print(*counts, sep="\n")
    assert all(ledger.received <= 40 for ledger in counts), "the spans go round"
    assert "go in a circle" in rack.agent.log() + site.agent.log()
    with open(site.path("agent.conf"), encoding="utf-8") as file:
        text = file.read().replace(f"server = 127.0.0.1:{first}", f"server = 127.0.0.1:{sink.port}")
    with open(site.path("agent.conf"), "w", encoding="utf-8") as file:
        file.write(text)
    site.agent.send(1)
    wait_until(lambda: len(sink.ids()) == 10, 90, "the spans to arrive")
    for one in (rack, site):
        ledger = wait_idle(one, 90)
        exactly(ledger.dropped == 0, str(ledger))


VIA, TRAILS = 25196, 25197  # the fields of a call that only agents know


class Ear:
    """A server that says OK to each call, and keeps the calls."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.calls = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            stream = self.listener.accept()[0]
            threading.Thread(target=self._answer, args=[stream.makefile("rwb")], daemon=True).start()

    def _answer(self, stream):
        while len(head := stream.read(4)) == 4:
            call = stream.read(struct.unpack("!I", head)[0])
            self.calls.append(call)
            reply = b"\x80\x01\0\x02\0\0\0\x03Log" + call[11:15] + b"\x08\0\0\0\0\0\0\0"
            stream.write(struct.pack("!I", len(reply)) + reply)
            stream.flush()

    def number(self):
        """What the agent calls itself."""
        at = self.calls[-1].index(b"\x0f" + struct.pack("!H", VIA) + b"\x0a")
        return self.calls[-1][at + 8 : at + 16]


def log_call(texts, **fields):
    """Log() with such messages, and further fields, as strings: agents of before send them so."""
    call = b"\x80\x01\0\x01\0\0\0\x03Log\0\0\0\1" + b"\x0f\0\1\x0c" + struct.pack("!I", len(texts))
    for text in texts:
        for number, value in ((1, b"zipkin"), (2, text.encode())):
            call += struct.pack("!BHI", 11, number, len(value)) + value
        call += b"\0"
    for number, name in ((VIA, "via"), (TRAILS, "trails")):
        if name in fields:
            call += struct.pack("!BHI", 11, number, len(fields[name])) + fields[name]
    return struct.pack("!I", len(call) + 1) + call + b"\0"


def tell(port, call):
    """What the agent answers: 0 or 1."""
    with socket.create_connection(("127.0.0.1", port), 20) as stream:
        stream.sendall(call)
        reply = stream.makefile("rb")
        return struct.unpack("!I", reply.read(struct.unpack("!I", reply.read(4))[0])[-5:-1])[0]


def trail(hops, stamp=0):
    return struct.pack("!BQ", hops | 128, stamp) if stamp else struct.pack("!B", hops)


def trails_of(call):
    """What the agent has put there: hops, and the stamp, for each message."""
    at = call.find(b"\x0f" + struct.pack("!H", TRAILS) + b"\x03")
    data = call[at + 8 : at + 8 + struct.unpack("!I", call[at + 4 : at + 8])[0]] if at >= 0 else b""
    while data:
        size = 9 if data[0] & 128 else 1
        yield data[0] & 127, int.from_bytes(data[1:size], "big")
        data = data[size:]


def check_no_circle(nodes):
    for one in nodes:
        codes = [finding["code"] for finding in one.status()["findings"]]
        assert "input-loop" not in codes and one.status()["input"]["looped"] == 0, codes


def test_a_number_of_anothers(levels):
    """Who knows an agent's number cannot have that put off what other agents hand over."""
    node, rack, site = levels
    ear = Ear()
    above = start_agent(site, ear.port, wait=False, output=TIMID)
    port = start_agent(rack, above, wait=False, output=TIMID)
    with Client(port) as client:
        assert client.log([message(51, 0, 0)]) == 0
        wait_until(lambda: ear.calls, 10, "a span to arrive")
        assert tell(port, log_call([message(51, 0, 1)], via=ear.number())) == 0
        sender = Sender(port, 52, 0, 200, 10)
        sender.start()
        wait_senders([sender], 20)
    ledger = site.wait_ledger(lambda ledger: ledger.sent == 202, 10, "all to be sent")
    exactly(ledger.put_off == 0, str(ledger))
    check_no_circle([rack, site])


def test_trails_of_strangers(levels):
    """Whatever a stranger says of how his spans came, it is of those alone."""
    node, rack, site = levels
    ear = Ear()
    above = start_agent(site, ear.port, wait=False, output=TIMID)
    port = start_agent(rack, above, wait=False, output=TIMID)
    trails = [trail(hops, stamp) for hops in (0, 2, 3, 7, 63, 64, 127) for stamp in (0, 1, 2**64 - 1)]
    texts = [message(53, 0, n) for n in range(len(trails) + 5)]
    assert tell(port, log_call(texts, trails=b"".join(trails) + b"\xff\1\2")) == 0
    site.wait_ledger(lambda ledger: ledger.sent == len(texts), 10, "all to be sent")
    came = [one for call in ear.calls for one in trails_of(call)]
    assert len(came) == len(texts) and all(hops for hops, _ in came), str(came)
    stamps = {stamp for _, stamp in came if stamp not in (0, 1, 2**64 - 1)}
    assert len(stamps) > 1, str(came)
    replayed = [message(54, 0, n) for n in range(len(stamps))]
    assert tell(port, log_call(replayed, trails=b"".join(trail(1, stamp) for stamp in stamps))) == 0
    ledger = site.wait_ledger(lambda ledger: ledger.sent == len(texts) + len(stamps), 10, "all to be sent")
    exactly(ledger.put_off == 0, str(ledger))
    check_no_circle([rack, site])


def test_beside_a_circle(levels):
    """While spans are held up in a circle, those of whoever delivers past it flow on."""
    node, rack, site = levels
    sink = IdSink(node, free_port()).start()
    port = free_port()
    first = start_agent(rack, port, wait=False, output=TIMID)
    west = {"type": "http", "server": f"127.0.0.1:{sink.port}", "retry-max": "500ms"}
    keys = {"input": {"scribe": f"127.0.0.1:{port}", "ack": "queued"}, "output west": west}
    site.start_agent(first, wait=False, output=TIMID, **keys)
    wait_until(lambda: answers(port), 10, "the second one to listen")
    wait_up(rack, site)
    with Client(first) as client:
        assert client.log([message(55, 0, n) for n in range(10)]) in (0, 1)
    wait_until(lambda: rack.status()["input"]["looped"] + site.status()["input"]["looped"], 20, "the circle to be noticed")
    direct = Sender(port, 56, 0, 300, 10)
    direct.start()
    wait_senders([direct], 30)
    wait_until(lambda: len({one for one in sink.ids() if one[0] == 56}) == 300, 20, "the others' to arrive")
    exactly(direct.put_off == 0, f"{direct.put_off} calls were put off")
    for one in (rack, site):
        exactly(one.ledger().dropped == 0, str(one.ledger()))


def test_own_input(node):
    """An agent that by a name of its own delivers to itself: nothing goes round."""
    port = free_port()
    node.start_agent(1, output=dict(TIMID, server=f"127.9.9.9:{port}"), input={"scribe": f"0.0.0.0:{port}"}, wait=False)
    assert node.agent.wait(20) == 78
    assert "so its spans would come back for ever: name another server in [output]" in node.agent.log()
