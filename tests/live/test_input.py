# SPDX-License-Identifier: BSD-2-Clause
"""The intake: python3-thrift's own client hands over spans; each is at the collector, and the ledger says so."""

import json
import os
import re
import signal
import socket
import time

import pytest
from rig.idsink import IdSink, wanted_ids
from rig.moody import LATER, OK, Moody
from rig.process import answers, exactly, free_port, wait_until
from rig.scribe import Receiver, generated
from rig.sender import Client, Sender, frame, message, raw

SPANS = 2000
TIMID = {"retry_min": "50ms", "retry_max": "500ms"}


def wait_up(*nodes):
    """Until each of their outputs is connected: as long as one is not, what comes may be put off."""

    def up():
        outputs = [output for node in nodes for output in node.status()["outputs"]]
        return all(server["up"] for output in outputs for server in output["servers"])

    wait_until(up, 20, "all outputs to be connected")


def start_agent(node, server, wait=True, **sections):
    """An agent with an intake, whose port is returned."""
    generated()
    port = free_port()
    sections["input"] = dict({"scribe": f"127.0.0.1:{port}"}, **sections.get("input", {}))
    node.start_agent(server, wait=wait, **sections)
    wait_until(lambda: answers(port), 10, "the intake to listen")
    return port


def run_senders(senders, seconds=60):
    for sender in senders:
        sender.start()
    wait_senders(senders, seconds)


def wait_senders(senders, seconds=60):
    end = time.monotonic() + seconds
    for sender in senders:
        sender.join(max(0.1, end - time.monotonic()))
        assert not sender.is_alive(), f"after {seconds} s {sender.done} of {sender.count} are done"
        assert not sender.error


def wait_received(node, spans, seconds=30):
    """Waits until the intake has taken so many, and all of it is settled."""
    return node.wait_ledger(
        lambda ledger: ledger.received >= spans and ledger.idle(), seconds, f"{spans} spans to be settled"
    )


def check_came(sink, senders):
    """Every span of the senders came; returns how many more than once."""
    seen = sink.ids()
    wanted = {(s.process, s.number, n) for s in senders for n in range(s.count)}
    missing = wanted - seen.keys()
    exactly(not missing, f"{len(missing)} spans are missing: {sorted(missing)[:10]}")
    return sum(seen[one] - 1 for one in wanted)


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "old"])
@pytest.mark.parametrize("framed", [True, False], ids=["framed", "unframed"])
def test_spans_arrive(node, framed, strict):
    sink = IdSink(node, free_port()).start()
    port = start_agent(node, sink.port)
    senders = [Sender(port, 40, t, SPANS, 7 + 50 * t, framed, strict) for t in range(4)]
    run_senders(senders)
    ledger = wait_received(node, 4 * SPANS)
    exactly(ledger.received == ledger.messages == 4 * SPANS == ledger.sent, str(ledger))
    exactly(ledger.refused == ledger.put_off == ledger.given_back == ledger.dropped == 0, str(ledger))
    assert check_came(sink, senders) == 0
    assert all(s.put_off == s.broken == 0 for s in senders)


def test_sender_that_has_said_all(node):
    """It closes its half of the connection with many calls under way: each has its answer, and then ours closes, too."""
    sink = IdSink(node, free_port()).start()
    port = start_agent(node, sink.port)
    with Client(port) as client:
        for n in range(200):
            client.scribe.send_Log(client.entries([(message(40, 0, n), "zipkin")]))
        client.wire.handle.shutdown(socket.SHUT_WR)
        assert [client.scribe.recv_Log() for _ in range(200)] == 200 * [0]
        assert client.wire.handle.recv(1) == b""
    ledger = wait_received(node, 200)
    exactly(ledger.received == ledger.messages == ledger.sent == 200, str(ledger))
    exactly(sorted(sink.ids().elements()) == [(40, 0, n) for n in range(200)], "each came once")
    wait_until(lambda: node.status()["input"]["connections"] == 0, 10, "the connection to be gone")


def test_fb303(node):
    from thrift.Thrift import TApplicationException

    sink = IdSink(node, free_port()).start()
    port = start_agent(node, sink.port)
    with Client(port) as client:
        client.log([message(41, 0, 0)])
        assert client.scribe.getName() == "blkin-agent"
        assert client.scribe.getStatus() == 2
        assert client.scribe.getStatusDetails() == "taking spans"
        assert client.scribe.getVersion().startswith("0.")
        assert client.scribe.getCounters()["spans"] == 1
        assert abs(client.scribe.aliveSince() - time.time()) < 60
        assert client.log([]) == 0
        for method in ("setOption", "nothing"):
            ask(client, method, CALL)
            _, kind, _ = client.scribe._iprot.readMessageBegin()
            assert kind == 3
            error = TApplicationException()
            error.read(client.scribe._iprot)
            client.scribe._iprot.readMessageEnd()
            assert error.type == (1 if method == "nothing" else 6), method
        assert client.log([message(41, 0, 1)]) == 0


CALL, ONEWAY = 1, 4  # types of messages: clients of before Thrift 0.5 have none for oneway calls


def ask(client, method, kind):
    """A call without arguments, whatever the client's interface has."""
    client.scribe._oprot.writeMessageBegin(method, kind, 0)
    client.scribe._oprot.writeByte(0)
    client.scribe._oprot.writeMessageEnd()
    client.transport.flush()


@pytest.mark.parametrize("kind", [CALL, ONEWAY], ids=["old", "oneway"])
@pytest.mark.parametrize("framed", [True, False], ids=["framed", "unframed"])
def test_oneway_calls(node, framed, kind):
    """fb303's oneway calls are refused without an answer: those of the calls that follow are not one late."""
    receiver = Receiver(node, free_port()).start()
    port = start_agent(node, receiver.port)
    with Client(port, framed) as client:
        for n, method in enumerate(("reinitialize", "shutdown")):
            ask(client, method, kind)
            assert client.log([message(41, 0, n)]) == 0
            ask(client, method, kind)
            assert client.scribe.getName() == "blkin-agent"
            assert client.scribe.getCounters()["spans"] == n + 1
    receiver.wait_for(2)
    assert node.agent.running()
    assert "refused its call of reinitialize()" in node.agent.log()


def test_messages_that_are_no_spans(node):
    """They are refused, counted and logged; good ones beside them are taken."""
    from thrift.Thrift import TApplicationException

    receiver = Receiver(node, free_port()).start()
    port = start_agent(node, receiver.port)
    good = message(42, 0, 7)
    with Client(port) as client:
        assert client.log([good, "!", "AAAA", good]) == 0
        for bad, category, words in (
            ("nothing", "zipkin", "is no span"),
            (good, "app", 'is of category "app"; only spans, of category "zipkin", are taken'),
            ("A" * (2 << 20), "zipkin", "larger than 1 MiB"),
            (good[: len(good) // 2], "zipkin", "is no span"),
        ):
            with pytest.raises(TApplicationException, match=words):
                client.log([bad], category)
    receiver.wait_for(2)
    ledger = wait_received(node, 2)
    exactly((ledger.messages, ledger.received, ledger.refused) == (8, 2, 6), str(ledger))
    exactly(ledger.refused_for("malformed") == 3, str(ledger))
    exactly(ledger.refused_for("category") == ledger.refused_for("oversize") == ledger.refused_for("id") == 1, str(ledger))
    exactly([text for _, text in receiver.messages] == 2 * [good.encode()], "what was sent on differs")
    log = node.agent.log()
    assert "input: 127.0.0.1:" in log and "refused 2 of 4 messages: message 2 of 4 is no span" in log


@pytest.mark.parametrize("batch", ["512K", "800K"])
def test_span_larger_than_a_batch(node, batch):
    """No OK for one that an output would have to drop: it is refused; one that is small enough is taken beside it, and comes."""
    from thrift.Thrift import TApplicationException

    receiver = Receiver(node, free_port()).start()
    port = start_agent(node, receiver.port, output={"batch_size": batch})
    large, small = message(43, 0, 1, 600 << 10), message(43, 0, 2)
    fits = batch == "800K"
    with Client(port) as client:
        assert client.log([large, small]) == 0
        if fits:
            assert client.log([large]) == 0
        else:
            with pytest.raises(TApplicationException, match="than an output's `batch-size`"):
                client.log([large])
    receiver.wait_for(3 if fits else 1)
    ledger = wait_received(node, 3 if fits else 1)
    exactly((ledger.received, ledger.refused_for("oversize"), ledger.dropped) == ((3, 0, 0) if fits else (1, 2, 0)), str(ledger))
    came = sorted(text.decode() for _, text in receiver.messages)
    exactly(came == sorted([large, small, large] if fits else [small]), "what was sent on differs")


def test_collector_is_away(node):
    """What waits is on disk before anybody is told OK; it survives a kill, and comes once."""
    sink = IdSink(node, free_port()).start()
    port = start_agent(node, sink.port, session={"keep": "yes"}, output=TIMID)
    first = Sender(port, 40, 0, 100)
    run_senders([first])
    sink.kill()
    senders = [Sender(port, 41, t, SPANS, 200, framed=t % 2 == 0) for t in range(3)]
    run_senders(senders)
    ledger = node.ledger()
    ledger.check()
    exactly(ledger.received == 100 + 3 * SPANS, str(ledger))
    exactly(ledger.spooled == 3 * SPANS, str(ledger))
    node.agent.kill()
    sink.start()
    node.start_agent_again()
    ledger = wait_received(node, 100 + 3 * SPANS)
    exactly(ledger.received == ledger.sent == 100 + 3 * SPANS, str(ledger))
    assert check_came(sink, [first, *senders]) == 0


def test_everything_is_full(node):
    """Senders are told to try later, and nothing that had its OK is lost."""
    sink = IdSink(node, free_port())
    small = {"queue_size": "256K", "batch_size": "64K", "batch_spans": 100}
    port = start_agent(node, sink.port, output=dict(TIMID, **small), spool={"max_size": "2M"})
    senders = [Sender(port, 40, t, 4000, 100) for t in range(4)]
    for sender in senders:
        sender.start()
    wait_until(lambda: all(s.put_off > 3 for s in senders), 30, "all to be told to try later")
    told = node.status()
    assert told["input"]["putting_off"] and "input-full" in [finding["code"] for finding in told["findings"]]
    ledger = node.ledger()
    ledger.check()
    assert ledger.dropped == 0 and ledger.spooled > 1000, str(ledger)
    done = sum(s.done for s in senders)
    with Client(port) as client:
        assert client.scribe.getStatus() == 5
    assert done < 4 * 4000
    # a collector that comes for a moment makes little room; what takes that must not be what drives out others
    for _ in range(5):
        sent = node.ledger().sent
        sink.start()
        wait_until(lambda sent=sent: node.ledger().sent > sent, 30, "some to be delivered")
        sink.kill()
    sink.start()
    wait_senders(senders, 120)
    ledger = wait_received(node, 4 * 4000)
    exactly(ledger.dropped == 0, str(ledger))
    exactly(ledger.messages == ledger.received + ledger.put_off, str(ledger))
    again = check_came(sink, senders)
    print(f"{sum(s.put_off for s in senders)} calls were put off; {again} spans came again; {ledger}")
    wait_until(lambda: "input-full" not in [finding["code"] for finding in node.status()["findings"]], 15, "it to be over")


@pytest.mark.parametrize("kills", [5])
def test_killed_under_load(node, kills):
    """kill -9, again and again: what had its OK is at the collector, the rest comes again by its sender."""
    sink = IdSink(node, free_port()).start()
    port = start_agent(node, sink.port, session={"keep": "yes"}, output=TIMID)
    senders = [Sender(port, 40, t, 3000, 20, framed=t % 2 == 0, rate=400) for t in range(4)]
    for sender in senders:
        sender.start()
    for turn in range(kills):
        time.sleep(0.5 + 0.3 * turn)
        if turn % 2:
            sink.kill()
        time.sleep(0.3)
        node.agent.kill()
        node.start_agent_again(wait=False)
        if turn % 2:
            sink.start()
    wait_senders(senders, 120)
    # on a busy machine they may have been through before the last kill
    node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
    total = sum(s.count for s in senders)
    ledger = wait_received(node, total)
    again = check_came(sink, senders)
    print(f"{kills} kills: {again} of {total} came again; {sum(s.broken for s in senders)} calls were broken; {ledger}")
    broken = sum(s.batch * s.broken for s in senders)
    assert total <= ledger.received <= total + broken, str(ledger)
    exactly(ledger.dropped == 0, str(ledger))
    assert again <= broken


def test_status_gives_it_lines_of_its_own(node):
    sink = IdSink(node, free_port()).start()
    port = start_agent(node, sink.port)
    said = node.run(["cli/blkin", "status", "--socket", node.socket])
    lines = rf"\ntaking in   yes, at 127.0.0.1:{port}, from \d connections?\n  messages  0: .*\n  memory    .* of 64 MiB\ndelivering  connected, nothing sent there yet, "
    assert re.search(lines, said), said


def is_closed(stream):
    """Whether the agent closes it; for want of room maybe before it has read what was sent."""
    stream.settimeout(5)
    try:
        return stream.recv(1) == b""
    except ConnectionResetError:
        return True


def test_garbage_beside_a_good_sender(node):
    sink = IdSink(node, free_port()).start()
    keys = {"connections": 40, "memory": "8M", "timeout": "1s"}
    port = start_agent(node, sink.port, input=keys)
    good = [Sender(port, 40, t, 1500, 30, framed=t % 2 == 0, rate=300) for t in range(2)]
    for sender in good:
        sender.start()
    before = node.status()["input"]
    open_ones = [raw(port) for _ in range(60)]  # more than there is room for
    bad = [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\xff" * 64,
        frame(b"\x80\x01\x00\x01\x7f\xff\xff\xff"),
        frame(b"\x80\x01\x00\x01\0\0\0\x03Log\0\0\0\1\x0f\0\1\x0c\x7f\xff\xff\xff"),
        frame(b"\x80\x01\x00\x02\0\0\0\x03Log\0\0\0\1\0"),
        b"\x80\x01\x00\x01\0\0\0\x03Log\0\0\0\1\x10",
        b"\0\0\0\0",
    ]

    def throw():
        for data in bad:
            raw(port, data).close()
            assert is_closed(raw(port, data)), data
        return node.status()["input"]["closed"]["garbage"] >= 5 * len(bad)

    wait_until(throw, 30, "the idle ones to make room")
    half = [raw(port, b"\0\xf0\0\0" + b"\x80\x01\x00\x01" + bytes(1 << 20)) for _ in range(12)]
    slow = raw(port, b"\0\0\1\0\x80\x01")
    assert is_closed(slow)
    wait_senders(good)
    ledger = wait_received(node, 3000)
    assert check_came(sink, good) <= sum(s.batch * s.broken for s in good)
    status = node.status()["input"]
    print(status, before, ledger)
    assert status["closed"]["silent"] >= 1
    assert status["closed"]["crowded"] >= 20 and status["turned_away"] >= 20
    assert status["connections"] <= 40
    for stream in open_ones + half:
        stream.close()
    wait_until(lambda: node.status()["input"]["bytes"] == 0, 10, "the memory to be given back")


def test_reload_moves_it(node):
    sink = IdSink(node, free_port()).start()
    port = start_agent(node, sink.port)
    other = free_port()
    client = Client(port)
    assert client.log([message(43, 0, 0)]) == 0

    def change(old, new):
        path = node.path("agent.conf")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))
        node.agent.send(1)

    change(f"scribe = 127.0.0.1:{port}", f"scribe = 127.0.0.1:{other}")
    wait_until(lambda: answers(other) and not answers(port), 10, "the other address")
    assert client.log([message(43, 0, 1)]) == 0, "who is connected stays"
    with Client(other) as second:
        assert second.log([message(43, 0, 2)]) == 0
    change(f"scribe = 127.0.0.1:{other}", "scribe =")
    wait_until(lambda: not answers(other), 10, "it to be off")
    assert sorted(n for _, _, n, _ in sink.records()) == [0, 1, 2]
    assert node.status()["input"]["connections"] == 0


def test_every_format(node):
    """Two servers, files of Zipkin's JSON and of OpenTelemetry's: the same spans, each in the output's format."""
    sink, web = IdSink(node, free_port()).start(), IdSink(node, free_port()).start()
    outputs = {
        "output west": {"type": "http", "server": f"127.0.0.1:{web.port}", "tags": "rack=r7"},
        "output lines": {"type": "file", "directory": node.path("lines"), "batch-delay": "50ms"},
        "output otlp": {"type": "file", "format": "otlp-json", "directory": node.path("otlp"), "batch-delay": "50ms"},
    }
    os.makedirs(node.path("lines"))
    os.makedirs(node.path("otlp"))
    port = start_agent(node, sink.port, **outputs)
    sender = Sender(port, 40, 0, 500)
    run_senders([sender])
    for name in ("default", "west", "lines", "otlp"):
        ledger = node.wait_ledger(lambda ledger: ledger.idle(), 20, "all to be settled", output=name)
        exactly((ledger.taken, ledger.sent, ledger.dropped) == (500, 500, 0), f"{name}: {ledger}")
    assert check_came(sink, [sender]) == check_came(web, [sender]) == 0
    lines = [line for name in os.listdir(node.path("lines")) for line in open(node.path(f"lines/{name}"))]
    spans = [json.loads(line) for line in lines]
    spans = [span for one in spans for span in (one if isinstance(one, list) else [one])]
    assert sorted(int(span["tags"]["ordinal"]) for span in spans) == list(range(500))
    assert all((s["kind"], s["duration"], s["localEndpoint"]["serviceName"]) == ("CLIENT", 100, "sender40") for s in spans)
    text = "".join(open(node.path(f"otlp/{name}")).read() for name in os.listdir(node.path("otlp")))
    assert text.count('"spanId"') == 500 and "sender40" in text


def test_stopped_under_load(node):
    """SIGTERM, again and again: nothing is lost; what comes again was not answered, and the rows say so."""
    sink = IdSink(node, free_port()).start()
    port = start_agent(node, sink.port, session={"keep": "yes"}, output=TIMID)
    senders = [Sender(port, 40, t, 3000, 20, rate=500) for t in range(4)]
    for sender in senders:
        sender.start()
    for turn in range(4):
        time.sleep(1)
        if turn % 2:
            sink.kill()
            time.sleep(0.3)
        node.agent.send(signal.SIGTERM)
        assert node.agent.wait(20) == 0
        node.start_agent_again(wait=False)
        if turn % 2:
            sink.start()
    wait_senders(senders, 120)
    node.agent.wait_ready(node.collecting)  # the last one may have nothing left to take
    total = sum(s.count for s in senders)
    ledger = wait_received(node, total)
    again = check_came(sink, senders)
    broken = sum(s.batch * s.broken for s in senders)
    print(f"{again} of {total} came again; {ledger}")
    assert total <= ledger.received <= total + broken, str(ledger)
    exactly(ledger.dropped == 0, str(ledger))
    exactly(ledger.received == ledger.sent + ledger.given_back, str(ledger))
    assert again <= broken


def test_outputs_change_under_load(node):
    """Outputs come and go while senders hand over: nobody is held up, and the first one has every span."""
    sink, web = IdSink(node, free_port()).start(), IdSink(node, free_port()).start()
    port = start_agent(node, sink.port, output=TIMID)
    with open(node.path("agent.conf"), encoding="utf-8") as file:
        alone = file.read()
    both = alone + f"\n[output west]\ntype = http\nserver = 127.0.0.1:{web.port}\nbatch-delay = 50ms\n"
    senders = [Sender(port, 40, t, 3000, 20, rate=500) for t in range(4)]
    for sender in senders:
        sender.start()
    for text in (both, alone, both, alone):
        time.sleep(1)
        with open(node.path("agent.conf"), "w", encoding="utf-8") as file:
            file.write(text)
        node.agent.send(signal.SIGHUP)
    wait_senders(senders)
    ledger = wait_received(node, 12000)
    again = check_came(sink, senders)
    print(f"{again} came again, {sum(s.put_off for s in senders)} calls were put off, {web.count()} at west; {ledger}")
    exactly(ledger.dropped == 0 and ledger.received == ledger.sent, str(ledger))
    assert again == ledger.received - 12000
    assert web.count() > 1000 and "output west is removed" in node.agent.log()
    assert " 0 are dropped" in node.agent.log()
