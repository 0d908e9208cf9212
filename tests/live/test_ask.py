# SPDX-License-Identifier: BSD-2-Clause
"""`keep-traces` in a tree of agents: the one in the middle tells each node which traces the others keep, and these deliver their part."""

import base64
import collections
import contextlib
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import pytest
from rig.memory import rss
from rig.node import Node, sanitized
from rig.process import exactly, free_port, wait_until
from rig.scribe import Receiver, generated
from rig.sender import Client, frame
from test_input import start_agent
from test_keep import is_kept
from test_keep_traces import LOAD, PARTS, TRACES, nodes, sink  # noqa: F401 (two are fixtures)

WANTED_FIELD = 25195
MAX = (1 << 64) - 1

# as good as none by their share; and for longer than the test
KEEP = {"keep": "1/1000000", "keep_errors": "yes", "keep_slower": "10ms", "keep_traces": "10min"}


def start_middle(node, sink, **output):
    web = {"type": "http", "format": "json2", "server": f"127.0.0.1:{sink.port}"}
    return start_agent(node, sink.port, wait=False, session={"keep": "yes"}, output=dict(web, **output))


def trace_id(number):
    return f"{number * 0x9E3779B97F4A7C15 % 2**64:016x}"


def failed():
    return {number for number in range(1, TRACES + 1) if number % 10 == 0}


def slow():
    return {number for number in range(1, TRACES + 1) if number % 7 == 0}


def shared(one_in=1000000):
    return {number for number in range(1, TRACES + 1) if is_kept(trace_id(number), one_in)}


def came(sink):
    return collections.Counter(
        (int(span["tags"]["trace"]), span["localEndpoint"]["serviceName"], span.get("kind")) for span in list(sink.spans)
    )


def check_whole(sink, numbers):
    exactly(
        came(sink) == collections.Counter((number, *part) for number in numbers for part in PARTS), "traces that are whole, each once"
    )


def asked(node):
    return int(node.metrics()["blkin_agent_spans_asked_total"])


def untold(node):
    return int(node.metrics()["blkin_agent_traces_not_told_total"])


def words_of(node):
    """What `blkin status` prints."""
    program = node.start([node.built("cli/blkin"), "status", "--socket", node.socket], name="status")
    assert program.wait() == 0
    return program.log()


def load(node, service):
    assert node.start([node.built(LOAD), service, TRACES]).wait(60) == 0


def wait_made(node, waiting=0):
    return node.wait_ledger(
        lambda ledger: ledger.made == 2 * TRACES and ledger.queued == 0 and ledger.undecided >= waiting, 60, "all to be chosen"
    )


def test_what_two_nodes_have(nodes, sink):  # noqa: F811
    front, back, middle = nodes
    port = start_middle(middle, sink)
    for node in (front, back):
        node.start_agent(port, output=KEEP)
    # the node that is idle by then has most of it, and no error
    load(back, "back")
    wait_made(back)
    assert asked(back) == 0
    load(front, "front")
    began = time.monotonic()
    numbers = failed() | slow() | shared()
    sink.wait_for(4 * len(numbers), 30)
    print(f"all was there {time.monotonic() - began:.2f} s after the last program's end")
    for node, own, other in ((front, failed(), slow()), (back, slow(), failed())):
        ledger = wait_made(node)
        ledger.check()
        exactly(ledger.undecided == 2 * (TRACES - len(numbers)) and ledger.sent == 2 * len(numbers), str(ledger))
        exactly(asked(node) == 2 * len(other - own - shared()), f"{asked(node)} spans were asked for")
        (output,) = node.status()["outputs"]
        exactly(output["spans"]["asked"] == asked(node) and node.status()["traces_not_told"] == 0, str(output))
        assert f"  traces    {asked(node)} spans kept, as other agents keep their traces\n" in words_of(node)
    check_whole(sink, numbers)
    for node in (front, back, middle):
        exactly(untold(node) == 0, "all was told")
        assert node.agent.stop() == 0
    check_whole(sink, numbers)


def check_two_levels(leaves, sink, ports):
    front, back = leaves
    for node, port in zip(leaves, ports, strict=True):
        node.start_agent(port, output=KEEP)
    load(back, "back")
    wait_made(back)
    load(front, "front")
    numbers = failed() | slow() | shared()
    sink.wait_for(4 * len(numbers), 30)
    for node in leaves:
        ledger = wait_made(node)
        exactly(ledger.undecided == 2 * (TRACES - len(numbers)), str(ledger))
    check_whole(sink, numbers)


def test_by_way_of_the_agent_above(nodes, sink):  # noqa: F811
    """The nodes deliver to agents of their own, which deliver to one. It samples, too, by a rule that nothing here meets but the word
    of others, and by that alone it keeps all that comes."""
    front, back, top = nodes
    with Node() as left, Node() as right:
        above = start_middle(top, sink, keep="1/1000000", keep_slower="1h", keep_traces="10min")
        # they share the session daemon of a node below, and would take its session's name while it has none
        names = {left: "left", right: "right"}
        ports = [start_agent(node, above, wait=False, session={"keep": "yes", "name": name}) for node, name in names.items()]
        check_two_levels((front, back), sink, ports)
        ledger = top.ledger()
        exactly(ledger.received == ledger.sent == 4 * len(failed() | slow() | shared()), str(ledger))
        exactly(asked(top) == 4 * len((failed() | slow()) - shared()), f"{asked(top)} spans were asked for")
        for node in (front, back, left, right, top):
            exactly(untold(node) == 0, "all was told")
            assert node.agent.stop() == 0


# Of agents whose spans come by Scribe


def entry(trace, number, error=False):
    """A message: a span of that trace."""
    from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
    from thrift.transport.TTransport import TMemoryBuffer
    from zipkincore.ttypes import Annotation, AnnotationType, BinaryAnnotation, Endpoint, Span

    host = Endpoint(0x7F000001, 80, "sent")
    now = time.time_ns() // 1000
    tags = [BinaryAnnotation("error", "failed", AnnotationType.STRING)] if error else []
    span = Span(
        trace_id=trace & MAX,
        trace_id_high=trace >> 64,
        name="sent",
        id=number,
        timestamp=now,
        duration=100,
        annotations=[Annotation(now, "sr", host)],
        binary_annotations=tags,
    )
    memory = TMemoryBuffer()
    span.write(TBinaryProtocolAccelerated(memory))
    return base64.b64encode(memory.getvalue()).decode()


# 64 and 128 bits; and none of the share
IDS = [77, 78, 5 << 64 | 79, 6 << 64 | 79, 80, 81]


def hand(port, entries):
    """A sender that is told to try later does."""
    with Client(port) as client:
        wait_until(lambda: client.log(entries) == 0, 20, "the answer OK")


def ids(sink):
    return sorted(int(span["id"], 16) for span in list(sink.spans))


def start_leaf(stack, port, **keep):
    leaf = stack.enter_context(Node())
    return leaf, start_agent(leaf, port, wait=False, output=dict(KEEP, **keep))


def wait_undecided(node, count):
    return node.wait_ledger(lambda ledger: ledger.undecided == count and ledger.queued + ledger.held + ledger.entrusted == 0, 20, f"{count}")


def test_ids(node, sink):  # noqa: F811
    """Of both sizes; the lower half alone is not an id, and spans that come later go, too. The agent above is killed meanwhile."""
    with contextlib.ExitStack() as stack:
        port = start_middle(node, sink)
        one, first = start_leaf(stack, port)
        other, second = start_leaf(stack, port)
        hand(second, [entry(trace, 1 + at) for at, trace in enumerate(IDS)])
        wait_undecided(other, len(IDS))
        hand(first, [entry(IDS[0], 11, True), entry(IDS[3], 14, True)])
        sink.wait_for(4)
        exactly(ids(sink) == [1, 4, 11, 14], "two traces, of two spans each")
        hand(second, [entry(IDS[3], 24), entry(IDS[2], 23)])
        sink.wait_for(5)
        node.agent.kill()
        node.agent.wait()
        hand(first, [entry(IDS[4], 15, True)])
        node.start_agent_again(wait=False)
        sink.wait_for(7, 40)
        exactly(ids(sink) == [1, 4, 5, 11, 14, 15, 24], "what was said meanwhile is told")
        exactly((asked(one), asked(other)) == (0, 4), f"{asked(one)} and {asked(other)} were asked for")
        assert one.agent.stop() == 0 and other.agent.stop() == 0
    exactly(ids(sink) == [1, 4, 5, 11, 14, 15, 24], "no more of them")


def test_killed_before_it_tells(node, sink):  # noqa: F811
    """The agent above has heard of a trace, and is killed before anybody else asks it: the next one is told, too."""
    with contextlib.ExitStack() as stack:
        port = start_middle(node, sink)
        one, first = start_leaf(stack, port)
        other, second = start_leaf(stack, port)
        hand(second, [entry(IDS[0], 1), entry(IDS[1], 2)])
        wait_undecided(other, 2)
        other.agent.send(signal.SIGSTOP)
        hand(first, [entry(IDS[0], 11, True)])
        one.wait_ledger(lambda ledger: ledger.sent == 1, 20, "its call to be answered")
        sink.wait_for(1)
        node.agent.kill()
        node.agent.wait()
        node.start_agent_again(wait=False)
        other.agent.send(signal.SIGCONT)
        sink.wait_for(2, 40)
        exactly(ids(sink) == [1, 11], "one trace of two spans")
        assert one.agent.stop() == 0 and other.agent.stop() == 0


def test_a_reload(node, sink):  # noqa: F811
    """From then on spans wait, and the only one that does is not kept back by there being no other."""
    with contextlib.ExitStack() as stack:
        port = start_middle(node, sink)
        _, first = start_leaf(stack, port)
        other, second = start_leaf(stack, port, keep_traces="0ms")
        hand(second, [entry(IDS[0], 1)])
        other.wait_ledger(lambda ledger: ledger.sampled_out == 1, 20, "it to be left out")
        other.write_config(port, output=KEEP, input={"scribe": f"127.0.0.1:{second}"})
        other.agent.send(signal.SIGHUP)
        wait_until(lambda: "configuration reloaded" in other.agent.log(), 20, "the reload")
        hand(second, [entry(IDS[0], 2)])
        wait_undecided(other, 1)
        hand(first, [entry(IDS[0], 3, True)])
        sink.wait_for(2)
        exactly(ids(sink) == [2, 3], "one trace of two spans")
        assert other.agent.stop() == 0


def test_too_late(node, sink):  # noqa: F811
    """What has left is gone, and is counted as sampled out."""
    with contextlib.ExitStack() as stack:
        port = start_middle(node, sink)
        _, first = start_leaf(stack, port)
        other, second = start_leaf(stack, port, keep_traces="1s")
        hand(second, [entry(IDS[0], 1), entry(IDS[1], 2)])
        other.wait_ledger(lambda ledger: ledger.sampled_out == 2, 20, "them to be left out")
        hand(first, [entry(IDS[0], 11, True)])
        sink.wait_for(1)
        # by then the other one would have been told
        hand(second, [entry(IDS[2], 3)])
        other.wait_ledger(lambda ledger: ledger.sampled_out == 3, 20, "another to be left out")
        exactly(ids(sink) == [11], "nothing but the error")
        exactly(asked(other) == 0, "nobody's word has come in time")


def call(messages, wanted=None):
    """Log() as an agent sends it."""
    entries = b"".join(
        b"\x0b\0\1\0\0\0\6zipkin\x0b\0\2" + struct.pack("!I", len(text)) + text.encode() + b"\0" for text in messages
    )
    told = b""
    if wanted is not None:
        told = struct.pack("!BHBI", 15, WANTED_FIELD, 10, 2 * len(wanted))
        told += b"".join(struct.pack("!QQ", trace >> 64, trace & MAX) for trace in wanted)
    head = struct.pack("!II", 0x80010001, 3) + b"Log" + struct.pack("!IBHBI", 1, 15, 1, 12, len(messages))
    return frame(head + entries + told + b"\0")


USUAL = frame(bytes.fromhex("80010002 00000003 4c6f67 00000001 080000 00000000 00"))

# names that many traces, of which nobody here has any, and waits for each answer
LIAR = """
import os, socket, struct, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as stream:
    answers = stream.makefile("rb")
    for _ in range(int(sys.argv[2])):
        body = struct.pack("!II", 0x80010001, 3) + b"Log" + struct.pack("!IBHBI", 1, 15, 1, 12, 0)
        body += struct.pack("!BHBI", 15, 25195, 10, 20000) + os.urandom(160000) + b"\\0"
        stream.sendall(struct.pack("!I", len(body)) + body)
        answers.read(int.from_bytes(answers.read(4), "big"))
"""


@pytest.mark.as_root("becomes another user")
def test_a_leaf_that_lies(node, sink):  # noqa: F811
    """It names a million traces, while another one names one: that is told, in time."""
    with contextlib.ExitStack() as stack:
        port = start_middle(node, sink)
        one, first = start_leaf(stack, port)
        other, second = start_leaf(stack, port)
        hand(second, [entry(trace, 1 + at) for at, trace in enumerate(IDS)])
        wait_undecided(other, len(IDS))
        liar = subprocess.Popen([sys.executable, "-c", LIAR, str(port), "100"], user=65534)
        wait_until(lambda: untold(node) > 10000, 20, "its lies to be too many")
        hand(first, [entry(IDS[0], 11, True)])
        sink.wait_for(2)
        assert liar.wait(30) == 0
        exactly(ids(sink) == [1, 11], "one trace of two spans")
        lies = 100 * 10000
        # a call has a second's, and nobody has more than these in one
        wait_until(lambda: lies * 0.9 < untold(node) <= lies, 10, "all but some to be counted")
        exactly(wait_undecided(other, len(IDS) - 1).sampled_out == 0, "the rest still waits")
        # of no use: nobody has these
        exactly(asked(other) == 1 and untold(one) == 0, f"{asked(other)} were asked for")


class LyingAgent:
    """In the place of the agent above: its answers name as many traces as fit, and each says that @true is one."""

    def __init__(self, true):
        self.true, self.asked, self.spans = true, 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            stream, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(stream,), daemon=True).start()

    def serve(self, stream):
        calls = stream.makefile("rb")
        while head := calls.read(4):
            body = calls.read(int.from_bytes(head, "big"))
            asks = struct.pack("!BHB", 15, WANTED_FIELD, 10) in body
            self.asked += asks
            self.spans += int.from_bytes(body[19:23], "big")
            seqid = body[11:15]
            wanted = [random.getrandbits(128) for _ in range(3000)] if asks else []
            listed = b"".join(struct.pack("!QQ", trace >> 64, trace & MAX) for trace in [self.true, *wanted])
            answer = struct.pack("!II", 0x80010002, 3) + b"Log" + seqid + b"\x08\0\0\0\0\0\0"
            answer += struct.pack("!BHBI", 15, WANTED_FIELD, 10, len(listed) // 8) + listed + b"\0"
            stream.sendall(frame(answer))


def test_an_agent_above_that_lies(node):
    above = LyingAgent(IDS[2])
    port = start_agent(node, above.port, wait=False, output=KEEP)
    generated()
    hand(port, [entry(trace, 1 + at) for at, trace in enumerate(IDS)])
    wait_until(lambda: above.spans == 1, 20, "the one that it names truly")
    before = rss(node.agent)
    wait_until(lambda: above.asked >= 5, 20, "more lies")
    exactly(wait_undecided(node, len(IDS) - 1).sampled_out == 0, "all others wait")
    exactly(untold(node) > 1000, "too many are counted")
    exactly(above.spans == asked(node) == 1, "no other goes")
    assert sanitized() or rss(node.agent) < before + 4 * 1024, "it grows"
    # an error goes as ever
    hand(port, [entry(IDS[0], 11, True)])
    wait_until(lambda: above.spans == 3, 20, "the trace with an error")
    assert node.agent.stop() == 0


def test_a_server_of_others(node):
    """python3-thrift's, with generated code, skips what it is told, and is asked once."""
    receiver = Receiver(node, free_port()).start()
    port = start_agent(node, receiver.port, wait=False, output=KEEP)
    hand(port, [entry(IDS[0], 1), entry(IDS[1], 2)])
    wait_undecided(node, 2)
    for number in (11, 12, 13):
        hand(port, [entry(IDS[0], number, True)])
        receiver.wait_for(number - 9)
    exactly(sorted(span.id for span in receiver.spans()) == [1, 11, 12, 13], "the trace with errors")
    metrics = node.metrics()
    exactly(sum(int(amount) for name, amount in metrics.items() if "output_errors" in name) == 0, "no call failed")
    assert node.agent.stop() == 0


def test_clients_of_others(node, sink):  # noqa: F811
    """Who does not ask has the answer that there always was; generated code skips the field of one who does."""
    port = start_middle(node, sink)
    generated()
    with Client(port) as client:
        stream = client.transport._TFramedTransport__trans.handle
        stream.sendall(call([entry(IDS[0], 1)]))
        assert stream.recv(1000) == USUAL
        stream.sendall(call([entry(IDS[0], 2)], []))
        assert len(stream.recv(1000)) == len(USUAL) + 8
        with Client(port) as other:
            other.transport._TFramedTransport__trans.handle.sendall(call([], IDS[:3]))
            assert other.scribe.recv_Log() == 0
        assert client.log([entry(IDS[0], 3)]) == 0
        stream.sendall(call([entry(IDS[0], 4)], [0]))
        assert client.scribe.recv_Log() == 0
        stream.sendall(call([], IDS[4:]))
        assert stream.recv(1000) == USUAL[:3] + bytes([USUAL[3] + 8]) + USUAL[4:-1] + struct.pack("!BHBIB", 15, WANTED_FIELD, 10, 0, 0)
        with Client(port) as other:
            wire = other.transport._TFramedTransport__trans.handle
            wire.sendall(call([], []))
            listed = b"".join(struct.pack("!QQ", trace >> 64, trace & MAX) for trace in IDS[:3] + IDS[4:])
            answer = wire.recv(1000)
            assert answer.endswith(struct.pack("!BHBI", 15, WANTED_FIELD, 10, 10) + listed + b"\0")
    sink.wait_for(4)
    assert node.agent.stop() == 0


def answer_to(stream, message):
    """Whether it was put off, and the answer to a call in full."""
    stream.sendall(message)
    answers = stream.makefile("rb")
    answer = answers.read(int.from_bytes(answers.read(4), "big"))
    return answer[19:22] == b"\0\0\1", answer


def test_no_room_for_its_spans(node, sink):  # noqa: F811
    """Who is told to try later, as there are too many senders, has told all the same: the answer says that he was heard."""
    port = start_agent(node, sink.port, wait=False, input={"connections": "2"}, output={"type": "http", "server": f"127.0.0.1:{sink.port}"})
    with contextlib.ExitStack() as stack:
        members = []
        for number in range(2):
            members.append(stack.enter_context(socket.create_connection(("127.0.0.1", port))))
            assert not answer_to(members[-1], call([entry(IDS[0], 1 + number)], []))[0]
        third = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
        put_off, answer = answer_to(third, call([entry(IDS[1], 3)], [IDS[3]]))
        assert put_off and struct.pack("!BHB", 15, WANTED_FIELD, 10) in answer
        listed = struct.pack("!QQ", IDS[3] >> 64, IDS[3] & MAX)
        exactly(answer_to(members[0], call([], []))[1].endswith(listed + b"\0"), "another one is told")
