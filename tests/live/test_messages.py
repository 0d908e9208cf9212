# SPDX-License-Identifier: BSD-2-Clause
"""Messages of other categories than that of spans: outputs that take them get them as they came, each in its own lane."""

import base64
import collections
import glob
import json
import os
import socket

import pytest
from rig.idsink import IdSink
from rig.messages import MessageSink
from rig.messagesender import MessageSender, Refused, call, payload
from rig.othernode import OtherNode
from rig.otlpsink import OtlpSink, attributes
from rig.process import exactly, free_port, wait_until
from rig.sender import Sender, raw
from test_input import TIMID, check_came, run_senders, start_agent, wait_senders

BOTH = {"takes": "spans, messages"}
KEPT = {"keep": "yes"}


def wait_settled(node, count, output="default", seconds=30):
    return node.wait_lane(
        "messages", lambda lane: lane.taken >= count and lane.idle(), seconds, f"{count} messages to be settled", output
    )


def came_again(sink, senders):
    """Every message of the senders came, of its category and byte for byte; how many more than once."""
    again = 0
    for sender in senders:
        seen = sink.of(sender.category)
        missing = [one for one in sender.wanted() if not seen[one]]
        exactly(not missing, f"{len(missing)} are missing: {missing[:3]}")
        again += sum(seen[one] - 1 for one in sender.wanted())
    exactly(len(sink.messages()) == sum(sender.count for sender in senders) + again, "messages of nobody")
    return again


def test_byte_for_byte(node):
    """Of any category, and any bytes; spans beside them go their own way. The rows and the status say so."""
    sink, spans = MessageSink(node, free_port()).start(), IdSink(node, free_port()).start()
    out = dict(TIMID, server=f"127.0.0.1:{sink.port}", takes="messages")
    port = start_agent(node, spans.port, **{"output site": out})
    senders = [
        MessageSender(port, "m", 0, 1000, 7),
        MessageSender(port, "m", 1, 1000, 100, category="größe/\x01".encode()),
        MessageSender(port, "m", 2, 20, 1, category=b"\xff\0"),
        MessageSender(port, "m", 3, 20, 2, category=b"", more=100000),
    ]
    span_sender = Sender(port, 40, 0, 1000)
    run_senders([*senders, span_sender])
    lane = wait_settled(node, 2040, "site")
    exactly(lane.sent == lane.taken == 2040 and lane.dropped == 0, str(lane))
    exactly(came_again(sink, senders) == 0, "some came twice")
    exactly(check_came(spans, [span_sender]) == 0, "spans came twice")
    ledger = node.ledger()
    ledger.check()
    exactly((ledger.passed, ledger.received, ledger.refused) == (2040, 1000, 0), str(ledger))
    exactly(ledger.sent == 1000, str(ledger))
    status = node.status()
    exactly([(one["name"], one["kind"]) for one in status["outputs"]] == [("default", "spans"), ("site:messages", "messages")], status)
    exactly(status["outputs"][1]["messages"]["sent"] == 2040, status)
    shown = node.run(["cli/blkin", "status", "--socket", node.socket])
    assert f"delivering  site:messages: yes, to 127.0.0.1:{sink.port}\n  messages  2040: 2040 sent" in shown, shown
    assert "2040 taken as they are" in shown, shown


def test_one_output_for_both(node):
    """One server gets the spans, and the messages; who calls with both has one answer."""
    sink = MessageSink(node, free_port()).start()
    port = start_agent(node, sink.port, output=dict(TIMID, **BOTH))
    from rig.sender import message

    mixed = [(b"zipkin", message(41, 0, n).encode()) if n % 2 else (b"app", b"words %d" % n) for n in range(40)]
    with raw(port) as stream:
        exactly(call(stream, mixed) == 0, "not OK")
    ledger = node.wait_ledger(lambda one: one.received == 20 and one.idle(), 20, "the spans")
    lane = wait_settled(node, 20)
    exactly((ledger.sent, lane.sent) == (20, 20), f"{ledger} {lane}")
    exactly(sorted(sink.messages()) == sorted(mixed), "what came differs")


def test_nobody_takes_them(node):
    """They are refused and counted, as ever; once an output takes them by a reload, they are taken; then no more."""
    sink = MessageSink(node, free_port()).start()
    port = start_agent(node, sink.port, output=TIMID)

    def reload_with(takes):
        path = node.path("agent.conf")
        with open(path, encoding="utf-8") as file:
            lines = [line for line in file.read().split("\n") if not line.startswith("takes")]
        lines.insert(lines.index("[output]") + 1, f"takes = {takes}")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        before = node.agent.log().count("configuration reloaded")
        node.agent.send(1)
        wait_until(lambda: node.agent.log().count("configuration reloaded") > before, 10, "the reload")

    with raw(port) as stream:
        with pytest.raises(Refused, match="only spans, of category"):
            call(stream, [(b"app", b"one")])
        reload_with("spans, messages")
        wait_until(lambda: try_call(stream, [(b"app", b"two")]), 10, "messages to be taken")
        wait_settled(node, 1)
        assert b"two" in sink.of(b"app")
        reload_with("spans")
        with pytest.raises(Refused, match="only spans, of category"):
            call(stream, [(b"app", b"three")])
    exactly(set(sink.of(b"app")) == {b"two"}, "others came")
    wait_until(lambda: "output default:messages is removed: of" in node.agent.log(), 10, "the lane to end")
    ledger = node.ledger()
    ledger.check()
    assert ledger.refused_for("category") >= 2, str(ledger)


def try_call(stream, entries):
    try:
        return call(stream, entries) == 0
    except Refused:
        return False


def test_spool_and_kill(node):
    """While the server is away they are on disk before the OK; a kill -9 loses none; `blkin spool` shows them."""
    sink = MessageSink(node, free_port())
    port = start_agent(node, sink.port, output=dict(TIMID, **BOTH), session=KEPT)
    senders = [MessageSender(port, "s", t, 1000, 100, more=200) for t in range(3)]
    run_senders(senders)
    lane = node.lane("messages")
    lane.check()
    exactly(lane.spooled == 3000, str(lane))
    assert os.path.exists(node.path("state/spool.messages.db"))
    listed = node.run(["cli/blkin", "spool", "list", "--output", "default:messages", "--config", node.path("agent.conf")])
    assert "default:messages" in listed, listed
    node.run(["cli/blkin", "spool", "check", "--config", node.path("agent.conf")])
    node.agent.kill()
    sink.start()
    node.start_agent_again()
    lane = wait_settled(node, 3000)
    exactly(lane.sent == 3000, str(lane))
    exactly(came_again(sink, senders) == 0, "some came twice")


def test_discard(node):
    sink = MessageSink(node, free_port())
    port = start_agent(node, sink.port, output=dict(TIMID, **BOTH))
    senders, spans = [MessageSender(port, "s", 0, 500, 100)], Sender(port, 40, 0, 300)
    run_senders([*senders, spans])
    said = node.run(["cli/blkin", "spool", "discard", "--output", "default:messages", "--yes", "--config", node.path("agent.conf")])
    assert "output default:messages: 500 messages are discarded" in said, said
    lane = node.wait_lane("messages", lambda one: one.idle(), 10, "the discard")
    exactly(lane.dropped_for("discarded") == 500 == lane.taken, str(lane))
    exactly(node.ledger().spooled == 300, "spans are gone")
    shown = node.run(["cli/blkin", "status", "--socket", node.socket])
    assert "500  default:messages: messages discarded" in shown, shown


def test_flood_leaves_spans_alone(node):
    """Messages whose server hangs fill their lane; the spans' senders are not told to wait for long, and lose nothing."""
    spans = IdSink(node, free_port()).start()
    deaf = socket.create_server(("127.0.0.1", 0))
    small = {"queue_size": "1M", "batch_size": "256K", "spool_size": "4M"}
    out = dict(TIMID, **small, server=f"127.0.0.1:{deaf.getsockname()[1]}", takes="messages")
    port = start_agent(node, spans.port, output=TIMID, **{"output site": out}, input={"memory": "8M"})
    flood = [MessageSender(port, "f", t, 10**9, 50, more=4000) for t in range(4)]
    for sender in flood:
        sender.start()
    wait_until(lambda: all(sender.put_off > 2 for sender in flood), 60, "the messages to be put off")
    before = node.ledger()
    senders = [Sender(port, 40, t, 3000, 50) for t in range(2)]
    run_senders(senders)
    put_off = sum(sender.put_off for sender in senders)
    ledger = node.wait_ledger(lambda one: one.received >= 6000 and one.idle(), 30, "the spans")
    exactly(ledger.sent == 6000 and ledger.dropped == 0, str(ledger))
    exactly(check_came(spans, senders) == 0 and put_off == 0, f"{put_off} calls with spans were put off")
    assert sum(sender.put_off for sender in flood) > 8 and ledger.put_off > before.put_off
    lane = node.lane("messages", "site")
    lane.check()
    exactly(lane.dropped == 0, str(lane))
    for sender in flood:
        sender.stopped = True
    deaf.close()


def test_hostile(node):
    """What is no message of a call costs its sender the connection, or an answer; a well-behaved one beside is served."""
    sink = MessageSink(node, free_port()).start()
    port = start_agent(node, sink.port, output=dict(TIMID, **BOTH))
    good = MessageSender(port, "g", 0, 2000, 20, rate=500)
    good.start()
    with raw(port) as stream:
        for size in (600 << 10, 2 << 20):  # beyond `batch-size`, and beyond all
            with pytest.raises(Refused, match="batch-size"):
                call(stream, [(b"app", bytes(size))])
            with pytest.raises(Refused, match="batch-size"):
                call(stream, [(bytes(size), b"")])
        exactly(call(stream, [(b"many", b"")] * 20000) == 0, "not OK")
        exactly(call(stream, [(bytes([n % 256, n // 256]), b"") for n in range(3000)]) == 0, "not OK")
    for torn in (b"\0\0\0\x7f" + b"\xff" * 200, b"\x7f\xff\xff\xff", b"\0" * 4096, os.urandom(5000)):
        with raw(port, torn) as stream:
            stream.settimeout(1)
            try:
                stream.recv(100)
            except OSError:
                pass
    wait_senders([good])
    lane = wait_settled(node, 25000)
    exactly(lane.sent == 25000 and lane.dropped == 0, str(lane))
    exactly(all(sink.of(b"app")[one] == 1 for one in good.wanted()), "the good one's")
    exactly(node.ledger().refused_for("oversize") == 4, str(node.ledger()))


def test_files(node, tmp_path):
    """Lines in files of their own, also after a kill -9; import takes none of them for a span."""
    folder = node.path("files")
    os.mkdir(folder)
    keys = {"type": "file", "format": "json2", "directory": folder, "takes": "spans, messages"}
    port = start_agent(node, 0, output=keys, session=KEPT)
    senders = [MessageSender(port, "a", 0, 500, 10), MessageSender(port, "b", 0, 500, 10, category="ä".encode())]
    spans = Sender(port, 40, 0, 200)
    run_senders([*senders, spans])
    node.agent.kill()
    node.start_agent_again()
    more = MessageSender(port, "c", 0, 500, 10)
    run_senders([more])
    wait_settled(node, 500)
    with raw(port) as stream:
        exactly(call(stream, [(b"app", b"plain words")] * 3) == 0, "not OK")
    node.agent.stop()
    names = sorted(os.path.basename(name).split("-")[0] for name in glob.glob(f"{folder}/*"))
    exactly(set(names) == {"zipkin", "messages"}, names)
    exactly(not glob.glob(f"{folder}/.*.part"), "something is left behind")
    found = collections.Counter()
    for name in glob.glob(f"{folder}/messages-*.jsonl"):
        with open(name, encoding="utf-8", newline="\n") as file:
            for line in file:
                one = json.loads(line)
                body = base64.b64decode(one["message_base64"]) if "message_base64" in one else one["message"].encode()
                assert one["timestamp"].startswith("20") and one["timestamp"].endswith("Z")
                found[one["category"].encode(), body] += 1
    exactly(found.pop((b"app", b"plain words")) == 3, "messages that are alike")
    wanted = {(s.category, one) for s in [*senders, more] for one in s.wanted()}
    exactly(found.keys() == wanted, "others, or some are missing")
    print(f"{sum(found.values()) - len(found)} are there twice")
    printed = node.run(["cli/blkin", "import", "--print", "--json", folder])
    exactly(len([line for line in printed.split("\n") if '"traceId"' in line]) == 200, printed[:2000])


class LogSink(OtlpSink):
    """Its spans are log records: (resource, record, attributes)."""

    def answer(self, request, body):
        from rig.otlpsink import messages
        from rig.unpack import unpack

        call_ = messages().ExportLogsServiceRequest.FromString(unpack(body, request.headers["Content-Encoding"]))
        records = []
        for group in call_.resource_logs:
            resource = attributes(group.resource.attributes)
            for scope in group.scope_logs:
                records += [(resource, record, attributes(record.attributes)) for record in scope.log_records]
        verdict = self.judge and self.judge(request.headers, records)
        code, headers, message = verdict or (200, {}, messages().ExportLogsServiceResponse())
        with self.lock:
            self.requests.append((request.path, request.headers["Content-Type"], request.headers["Content-Encoding"]))
            if code == 200:
                self.spans += records
        return code, dict(headers, **{"Content-Type": "application/x-protobuf"}), message.SerializeToString()


def test_otlp_logs(node):
    """A message is a log record; what the collector takes in part, or puts off, is as with spans."""
    with LogSink() as sink:
        from rig.otlpsink import messages

        spans = IdSink(node, free_port()).start()
        out = dict(TIMID, type="otlp", server=f"127.0.0.1:{sink.port}", takes="messages")
        port = start_agent(node, spans.port, **{"output logs": out})
        later = [3]

        def judge(_, records):
            if later[0]:
                later[0] -= 1
                return 503, {"Retry-After": "0"}, messages().ExportLogsServiceResponse()
            if any(record.body.WhichOneof("value") == "string_value" for _, record, _ in records):
                answer = messages().ExportLogsServiceResponse()
                answer.partial_success.rejected_log_records = 1
                answer.partial_success.error_message = "no words"
                return 200, {}, answer
            return None

        sink.judge = judge
        senders = [MessageSender(port, "o", t, 500, 25) for t in range(2)]
        run_senders(senders)
        wait_settled(node, 1000, "logs")
        with raw(port) as stream:
            exactly(call(stream, [(b"\xff", b"words")]) == 0, "not OK")
        lane = wait_settled(node, 1001, "logs")
        exactly((lane.sent, lane.dropped_for("refused")) == (1000, 1), str(lane))
        exactly({path for path, _, _ in sink.requests} == {"/v1/logs"}, sink.requests[:3])
        found = collections.Counter()
        for resource, record, attribute in sink.spans:
            assert resource["host.name"] and record.observed_time_unix_nano > 1.7e18
            body = record.body.bytes_value or record.body.string_value.encode()
            found[attribute["scribe.category"].encode(), body] += 1
        wanted = {(b"app", one): 1 for s in senders for one in s.wanted()}
        exactly(found == collections.Counter({**wanted, ("\ufffd".encode(), b"words"): 1}), "what came differs")


def test_validate_tries_each_kind(node):
    """Each server gets one of each kind that its output takes; messages that nobody could send are noted."""
    sink = MessageSink(node, free_port()).start()
    with LogSink() as logs:
        outputs = {
            "output": {"takes": "spans, events, messages"},
            "output logs": dict(TIMID, type="otlp", server=f"127.0.0.1:{logs.port}", takes="events, messages"),
        }
        config = node.write_config(sink.port, **outputs)
        said = node.run(["cli/blkin", "validate", "--connect", config])
        for title, port, kinds in (("output", sink.port, ("", "events: ", "messages: ")), ("output logs", logs.port, ("events: ", "messages: "))):
            for kind in kinds:
                assert f"[{title}] 127.0.0.1:{port}: {kind}accepted (" in said, said
        assert "note: [output] takes messages, but none come in: set `scribe`, `otlp` or `otlp-grpc` in [input]" in said, said
        assert "note: [output logs] takes events, but none are recorded: set `names` in [events]" in said, said
        exactly([name for name, _ in sorted(sink.messages())] == [b"LTTng", b"blkin", b"zipkin"], sink.messages())
        exactly(len(logs.spans) == 2 and {path for path, _, _ in logs.requests} == {"/v1/logs"}, logs.requests)
    config = node.write_config(1, output={"type": "http", "takes": "messages"})
    program = node.start([node.built("cli/blkin"), "validate", config], name="validate")
    assert program.wait() == 78
    assert "`type = http` takes spans only, as that is all that Zipkin takes" in program.log()


def test_tree(bare_node):
    """Node, rack, site; the rack's is killed -9 again and again under load; each message is at the server."""
    with OtherNode() as rack, OtherNode() as site:
        node = bare_node.start_lttng()
        sink = MessageSink(node, free_port()).start()
        keys = {"session": KEPT, "output": dict(TIMID, **BOTH)}
        ports = [0, 0, 0]
        ports[2] = start_agent(site, sink.port, wait=False, **keys)
        ports[1] = start_agent(rack, ports[2], wait=False, **keys)
        ports[0] = start_agent(node, ports[1], **keys)
        senders = [MessageSender(ports[level], f"l{level}", t, 2000, 25, rate=300) for level in range(3) for t in range(2)]
        spans = Sender(ports[0], 40, 0, 1500, 25, rate=250)
        for sender in [*senders, spans]:
            sender.start()
        kills = 0
        while any(sender.is_alive() for sender in senders) and kills < 6:
            rack.agent.kill()
            rack.start_agent_again(wait=False)
            kills += 1
            wait_until(lambda: rack.http_get("/healthz")[0] == 200, 20, "the rack's agent")
            senders[2].join(0.8)
        wait_senders([*senders, spans], 120)
        lanes = []
        for one in (node, rack, site):
            one.agent.wait_ready(lambda one=one: one.http_get("/healthz")[0] == 200)
            one.wait_ledger(lambda ledger: ledger.idle(), 60, "the spans to be settled")
            lanes.append(one.wait_lane("messages", lambda lane: lane.idle(), 60, "all to be settled"))
        print(*lanes, sep="\n")
        total, seen = 0, collections.Counter(sink.messages())
        for sender in senders:
            missing = [one for one in sender.wanted() if not seen[sender.category, one]]
            exactly(not missing, f"{len(missing)} are missing")
            total += sender.count
        of_messages = sum(count for (category, _), count in seen.items() if category == b"app")
        print(f"{kills} kills: {of_messages - total} of {total} came again")
        for level, lane in enumerate(lanes):
            exactly(lane.dropped == 0, str(lane))
            own = [s for s in senders if s.name_ == f"l{level}"]
            least = sum(s.count for s in own) + (lanes[level - 1].sent if level else 0)
            most = least + sum((s.broken + s.put_off) * s.batch for s in own) + (lanes[level - 1].sent_again if level else 0)
            if level == 2:  # the rack's books may not have all that it sent before it was killed
                most += of_messages - total
            taken = one_ledger(node, rack, site, level).passed
            if level != 1:  # of the one that is killed, the books may be behind what it has sent
                assert least <= taken <= most + sum(one.sent_again for one in lanes[:level]), f"level {level}: {least} {most} {lane}"
        exactly(lanes[2].sent == of_messages, f"{of_messages} came: {lanes[2]}")


def one_ledger(node, rack, site, level):
    return (node, rack, site)[level].ledger()


def test_payload_has_all_bytes():
    assert b"\0\n\xff" in payload("x", 1, 2)
