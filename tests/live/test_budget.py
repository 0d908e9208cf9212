# SPDX-License-Identifier: BSD-2-Clause
"""`keep = auto`: the share is what a file says, or the agent that it delivers to, or what makes the budget; and others do not notice."""

import contextlib
import http.server
import json
import os
import struct
import subprocess
import threading
import time
import urllib.parse

import pytest
from rig.idsink import IdSink
from rig.node import TOP, Node
from rig.process import answers, exactly, free_port, wait_until
from rig.prometheus import FLEET, Prometheus
from rig.scribe import generated
from rig.sender import Client, Sender, frame, message
from test_input import check_came, run_senders, start_agent, wait_received
from test_keep import is_kept

SHARE_FIELD = 25198
SPANS = 2000


def trace_id(process, thread, ordinal):
    return f"{1 + process << 40 | thread << 32 | ordinal:016x}"


def sampled(process, thread, count, one_in):
    return {(process, thread, n) for n in range(count) if is_kept(trace_id(process, thread, n), one_in)}


def share(node):
    return node.status()["outputs"][0]["share"]


def wait_share(node, part, by, seconds=15):
    def reached():
        now = share(node)
        return now["by"] == by and abs(now["part"] / part - 1) < 0.001

    wait_until(reached, seconds, f"the share to be {part}")


def write(path, words):
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(words)
    os.replace(path + ".new", path)


def check_kept(sink, before, sender, one_in, rare):
    """What came since then: the share, and no more of others than rare services have."""
    came = set(sink.ids() - before)
    wanted = sampled(sender.process, sender.number, sender.count, one_in)
    exactly(wanted <= came, f"{len(wanted - came)} of {len(wanted)} spans of the share are missing")
    exactly(len(came - wanted) <= rare, f"{len(came - wanted)} spans beside the share")


@pytest.fixture
def nodes():
    """One that others deliver to, and one of these."""
    with contextlib.ExitStack() as stack:
        yield stack.enter_context(Node()), stack.enter_context(Node())


def test_told_by_the_agent_that_it_delivers_to(nodes):
    top, leaf = nodes
    sink = IdSink(top, free_port()).start()
    path = top.path("share")
    write(path, "1/10\n")
    upper = start_agent(top, sink.port, wait=False, output={"keep": "auto", "budget_file": path})
    port = start_agent(leaf, upper, wait=False, output={"keep": "auto"})
    assert share(top) == {"part": 0.1, "one_in": 10, "by": "file", "spans_per_second": 0, "error": ""}
    assert share(leaf)["by"] == "nobody"
    # all goes until the first answer is there, and then no more than the other one keeps
    run_senders([Sender(port, 7, 0, 50)])
    wait_share(leaf, 0.1, "server")
    before, sender = sink.ids(), Sender(port, 7, 1, SPANS)
    run_senders([sender])
    ledger = wait_received(leaf, 50 + SPANS)
    exactly(ledger.sent < 50 + SPANS / 5 and ledger.sampled_out == ledger.taken - ledger.sent, str(ledger))
    wait_received(top, ledger.sent)
    check_kept(sink, before, sender, 10, 10)
    # the file is read without a reload, and what is no share changes nothing
    write(path, "1/2.5\n")
    wait_share(top, 0.4, "file")
    run_senders([Sender(port, 7, 2, 200)])
    wait_share(leaf, 0.4, "server")
    write(path, "many\n")
    wait_until(lambda: "budget-file" in [finding["code"] for finding in top.status()["findings"]], 10, "the finding")
    assert abs(share(top)["part"] - 0.4) < 0.001 and path in share(top)["error"]
    assert f"{path}: it must have one line" in top.agent.log()
    page = leaf.http_get("/metrics")[1]
    assert 'blkin_agent_output_share{output="default"} 0.4\n' in page
    assert leaf.agent.stop() == 0 and top.agent.stop() == 0


def test_budget_of_one_agent(node):
    """Programs make 4,000 spans/s; 500 are wanted."""
    sink = IdSink(node, free_port()).start()
    port = start_agent(node, sink.port, wait=False, output={"keep": "auto", "budget": "500/s"})
    assert share(node)["by"] == "budget"
    sender = Sender(port, 7, 0, 20000, batch=200, rate=4000)
    sender.start()
    wait_until(lambda: share(node)["part"] < 0.2, 20, "the share to fall")
    low = share(node)["part"]
    sender.join(30)
    assert not sender.error and 0.08 < low < 0.2, low
    wait_received(node, sender.count)
    assert sink.count() < sender.count / 2
    # each kept with the share of its time: all of the smallest one
    wanted = sampled(7, 0, sender.count, 20)
    exactly(wanted <= set(sink.ids()), "the smallest share is whole")
    assert node.agent.stop() == 0


def wait_held(node):
    """Waits until nothing has left its disk for a second, within which the other agent looks; returns how many spans are there."""
    held, since = None, time.monotonic()

    def stays():
        nonlocal held, since
        now = node.ledger().spooled
        if now != held:
            held, since = now, time.monotonic()
        return time.monotonic() - since >= 1

    wait_until(stays, 20, "what waits to stay where it is")
    return held


def test_who_replays_waits_for_an_agent_that_is_behind(nodes):
    """What waits on a node's disk stays there while the next agent's collector does not take what it has itself."""
    top, leaf = nodes
    sink, above = IdSink(top, free_port()), free_port()
    port = start_agent(leaf, above, wait=False, input={"ack": "queued"}, output={"window": 1, "batch_spans": 50})
    waiting = Sender(port, 7, 0, 3000)
    run_senders([waiting])
    wait_until(lambda: leaf.ledger().spooled == waiting.count, 30, "all to be on disk")
    top.start_agent(sink.port, wait=False, input={"scribe": f"127.0.0.1:{above}"})
    wait_until(lambda: answers(above), 10, "the other one to listen")
    wait_until(lambda: top.ledger().spooled > 0, 20, "something to wait there, too")
    held = wait_held(leaf)
    time.sleep(2)
    assert held > 1000 and held - leaf.ledger().spooled <= 100, f"{held} spans wait, then {leaf.ledger().spooled}"
    # once it takes them, what is fresh brings the rest
    sink.start()
    fresh = Sender(port, 7, 1, 500, batch=50, rate=100)
    run_senders([fresh])
    wait_until(lambda: leaf.ledger().idle() and top.ledger().idle(), 30, "all to be delivered")
    exactly(check_came(sink, [waiting, fresh]) == 0, "none came twice")
    assert leaf.agent.stop() == 0 and top.agent.stop() == 0


def call(messages, share_told):
    """Log() as an agent sends it that tells its share."""
    entries = b"".join(
        b"\x0b\0\1\0\0\0\6zipkin\x0b\0\2" + struct.pack("!I", len(text)) + text.encode() + b"\0" for text in messages
    )
    told = struct.pack("!BHQ", 10, SHARE_FIELD, share_told) if share_told else b""
    head = struct.pack("!II", 0x80010001, 3) + b"Log" + struct.pack("!IBHBI", 1, 15, 1, 12, len(messages))
    return frame(head + entries + told + b"\0")


USUAL = frame(bytes.fromhex("80010002 00000003 4c6f67 00000001 080000 00000000 00"))


@pytest.mark.parametrize("keep", [{"keep": "auto", "budget": "1000/s"}, {"keep": "1/10"}, {}], ids=["auto", "fixed", "all"])
def test_other_clients_do_not_notice(node, keep):
    """Who tells no share has the answer that there always was; who does gets a field that generated code skips."""
    sink = IdSink(node, free_port()).start()
    port = start_agent(node, sink.port, wait=False, output=keep)
    generated()
    with Client(port) as client:
        stream = client.transport._TFramedTransport__trans.handle
        stream.sendall(call([message(7, 0, 0)], 0))
        assert stream.recv(1000) == USUAL
        assert client.log([message(7, 0, 1)]) == 0
        # the generated client reads the answer to a call that it did not make, and goes on
        stream.sendall(call([message(7, 0, 2)], (1 << 64) - 1))
        assert client.scribe.recv_Log() == 0
        stream.sendall(call([message(7, 0, 3)], 1 << 60))
        answer = stream.recv(1000)
        assert len(answer) == len(USUAL) + (11 if keep.get("keep") == "auto" else 0)
        assert client.log([message(7, 0, 4)]) == 0
    ledger = wait_received(node, 5)
    exactly(ledger.refused == ledger.put_off == 0, str(ledger))
    assert node.agent.stop() == 0


class Api(http.server.BaseHTTPRequestHandler):
    """A Prometheus that knows one number."""

    def do_GET(self):  # noqa: N802
        known = [] if self.server.rate is None else [{"metric": {}, "value": [1, str(self.server.rate)]}]
        self.server.asked.append(urllib.parse.parse_qs(self.path.partition("?")[2])["query"][0])
        body = json.dumps({"status": "success", "data": {"resultType": "vector", "result": known}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_publish_share(node):
    """What Prometheus says becomes the file; little changes do not, and what it does not know does not."""
    path, asked = node.path("share"), []
    with http.server.HTTPServer(("127.0.0.1", 0), Api) as api:
        api.asked = asked
        threading.Thread(target=api.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{api.server_port}"

        def publish(rate, *more):
            api.rate = rate
            command = [os.path.join(TOP, "conf/publish-share"), url, "1000", path, *more]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
            with open(path, encoding="ascii") as file:
                return done.returncode, file.read()

        write(path, "")
        assert publish(12500.5) == (0, "1/12.5005\n")
        assert publish(13000) == (0, "1/12.5005\n")
        assert publish(11500) == (0, "1/12.5005\n")
        assert publish(14000) == (0, "1/14\n")
        assert publish(12000, "site", "agents") == (0, "1/12\n")
        assert publish(None) == (1, "1/12\n")
        assert publish("NaN") == (1, "1/12\n")
        assert publish(10) == (0, "1/1\n")
        assert publish(1e12) == (0, "1/1e+06\n")
        for budget in ("50k", "50,000", "1e3", "0", "", ".", "1.2.3", "-5"):
            command = [os.path.join(TOP, "conf/publish-share"), url, budget, path]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
            assert done.returncode == 64 and "BUDGET is a number of spans a second" in done.stderr, budget
        api.shutdown()
        api.server_close()
        assert publish(5)[0] == 1
    assert os.stat(path).st_mode & 0o777 == 0o644
    command = [os.path.join(TOP, "conf/publish-share"), url, "1000", path]
    done = subprocess.run(command, env={"PATH": node.path("home")}, stderr=subprocess.PIPE, text=True, check=False, timeout=20)
    assert (done.returncode, done.stderr) == (69, f"publish-share: install curl; {path} stays as it is\n")
    assert asked[0] == 'job_output:blkin_agent_spans_taken:rate{job="blkin",output="default"}'
    assert asked[4] == 'job_output:blkin_agent_spans_taken:rate{job="agents",output="site"}'


def test_share_of_a_real_prometheus(node):
    """It asks the agent, conf/publish-share asks it, and the agent takes up what that writes."""
    sink, path = IdSink(node, free_port()).start(), node.path("share")
    write(path, "1/1\n")
    port = start_agent(node, sink.port, wait=False, output={"keep": "auto", "budget_file": path})
    command = [os.path.join(TOP, "conf/publish-share"), None, "100", path]

    def said():
        subprocess.run(command, capture_output=True, check=False, timeout=20)
        with open(path, encoding="ascii") as file:
            return float(file.read().removeprefix("1/"))

    prometheus = Prometheus(node, [node], FLEET)
    command[1] = f"http://127.0.0.1:{prometheus.port}"
    sender = Sender(port, 7, 0, 1000000, batch=100, rate=1000)
    sender.start()
    # a tenth, or more where the machine does not keep up with the sender
    one_in = wait_until(lambda: (found := said()) > 2 and found, 40, "a share to be said", 0.3)
    sender.count = 0  # it ends
    sender.join(30)
    wait_share(node, 1 / one_in, "file")
    wait_received(node, sender.done)
    before, more = sink.ids(), Sender(port, 7, 1, SPANS)
    run_senders([more])
    wait_received(node, sender.done + SPANS)
    check_kept(sink, before, more, one_in, 30)
    assert node.agent.stop() == 0
