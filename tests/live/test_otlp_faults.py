# SPDX-License-Identifier: BSD-2-Clause
"""What a collector of OTLP may answer, as its specification has it; and the file of headers."""

import os
import re
import signal
import time

import pytest
from rig.load import LOAD
from rig.otlpsink import OtlpSink, messages
from rig.process import exactly, wait_until
from test_doctor import findings
from test_otlp import output
from test_outputs_reload import Sections


@pytest.fixture
def sink():
    with OtlpSink() as server:
        yield server


def ordinals(sink):
    return sorted((tags["worker"], tags["ordinal"]) for _, _, tags in sink.spans)


def every(processes, spans):
    return sorted((f"{process}.0", ordinal) for process in range(processes) for ordinal in range(spans))


def status(code, message):
    return messages().RpcStatus(code=code, message=message)


def problem(node):
    (output_,) = node.status()["outputs"]
    return " ".join(server["error"] or "" for server in output_["servers"])


def test_it_keeps_a_part(node, sink):
    """Partial success: what the collector threw away is counted, and is not sent again."""

    def judge(_, spans):
        partial = messages().ExportTracePartialSuccess(rejected_spans=min(3, len(spans)), error_message="too old")
        return 200, {}, messages().ExportTraceServiceResponse(partial_success=partial)

    sink.judge = judge
    node.start_agent(sink.port, output=output(sink))
    node.run([LOAD, "-n", 5000])
    ledger = node.wait_ledger(lambda ledger: ledger.made == 5000 and ledger.idle(), 30, "delivery")
    ledger.check()
    exactly(ordinals(sink) == every(1, 5000), "each span came once")
    assert ledger.dropped == ledger.dropped_for("refused") > 0
    assert (ledger.sent + ledger.dropped, ledger.sent_again) == (5000, 0)
    assert 'the server refuses a span, which is set aside and counted: "too old"' in node.agent.log()


def test_one_span_is_refused(node, sink):
    """400 for the batch that has it: it is found, counted, and the rest arrives."""

    def judge(_, spans):
        if any(tags["ordinal"] == 1234 for _, _, tags in spans):
            return 400, {}, status(3, "a span is bad")
        return None

    sink.judge = judge
    node.start_agent(sink.port, output=output(sink))
    node.run([LOAD, "-n", 3000])
    ledger = node.wait_ledger(lambda ledger: ledger.made == 3000 and ledger.idle(), 30, "delivery")
    wanted = [key for key in every(1, 3000) if key[1] != 1234]
    exactly(ordinals(sink) == wanted, "each of the others came once")
    assert (ledger.sent, ledger.dropped_for("refused")) == (2999, 1)
    assert "a span is bad" in node.agent.log()


@pytest.mark.parametrize("code", [429, 503, 500], ids=str)
def test_it_takes_nothing_for_a_while(node, sink, code):
    """They wait, and come when it takes them again; none is lost, and none is thrown away, as the fault is the server's."""
    sink.judge = lambda *_: (code, {"Retry-After": "1"} if code != 500 else {}, status(14, "no room"))
    node.start_agent(sink.port, output=output(sink, retry_max="1s"))
    node.run([LOAD, "-p", 2, "-n", 2000])
    wait_until(lambda: "no room" in problem(node), 20, "the reason to be told")
    sink.judge = None
    ledger = node.wait_ledger(lambda ledger: ledger.made == 4000 and ledger.idle(), 60, "delivery")
    # of those that the server refuses one by one, some are set aside before it is clear that it refuses everything
    assert ledger.dropped == ledger.dropped_for("refused") and (ledger.dropped == 0 or code == 500)
    exactly(len(sink.spans) == ledger.sent == 4000 - ledger.dropped, str(ledger))
    exactly(len(set(ordinals(sink))) == len(sink.spans), "none came twice")


def test_who_is_put_off_comes_back_spread(node, sink):
    """The collector asks everybody for the same time: half of it more is where they come back, at random."""
    outputs, asked = 8, 4
    calls = {}

    def judge(_, spans):
        times = calls.setdefault(spans[0][0]["way"], [])
        times.append(time.monotonic())
        return (503, {"Retry-After": str(asked)}, status(14, "no room")) if len(times) == 1 else None

    sink.judge = judge
    ways = {f"output way{i}": output(sink, server=f"127.0.0.1:{sink.port}", tags=f"way={i}") for i in range(1, outputs)}
    node.start_agent(sink.port, output=output(sink, tags="way=0"), **ways)
    node.run([LOAD, "-n", 10])
    sink.wait_for(10 * outputs)
    gaps = sorted(times[1] - times[0] for times in calls.values())
    assert len(gaps) == outputs and gaps[0] >= asked - 0.1, gaps
    assert gaps[-1] - gaps[0] > 0.1 * asked, gaps


def write_private(path, text):
    """As `install -m 600` does: there is no moment at which it is half written."""
    with open(os.open(path + ".new", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(path + ".new", path)


def test_token_is_replaced(node, sink):
    """Without a reload: the collector turns the old one down, the file has a new one, the spans come."""
    token = node.path("token")

    def judge(headers, _):
        good = headers["Authorization"] == "Bearer two" and headers["X-Scope-OrgID"] == "storage"
        return None if good else (401, {}, status(16, "token is over"))

    sink.judge = judge
    write_private(token, "# of the tracing team\n\nAuthorization: Bearer one\nX-Scope-OrgID:storage\n")
    node.start_agent(sink.port, output=output(sink, headers_file=token, retry_max="500ms"))
    node.run([LOAD, "-n", 1000])
    wait_until(lambda: "token is over" in problem(node), 20, "the reason to be told")
    assert f"permission denied: it refuses the headers in {token} (`headers-file`)" in problem(node)
    assert "Bearer" not in node.agent.log()
    write_private(token, "Authorization: Bearer two\nX-Scope-OrgID: storage\n")
    sink.wait_for(1000)
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 20, "delivery")
    assert (ledger.sent, ledger.dropped) == (1000, 0)


WRONG = {
    "missing": (None, "cannot be read: No such file or directory"),
    "no header": ("Authorization: good\nBearer secret\n", "line 2 of"),
    "ours": ("Content-Length: 5\n", "has a header that the agent sets by itself"),
    "control character": ("A: secret\x01\n", "line 1 of"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_headers_that_do_not_do(node, sink, wrong):
    """The spans wait, the reason is told without the secret, and nothing has to be done but to correct the file."""
    text, words = WRONG[wrong]
    path = node.path("headers")
    if text:
        write_private(path, text)
    node.start_agent(sink.port, output=output(sink, headers_file=path, retry_max="500ms"))
    node.run([LOAD, "-n", 100])
    wait_until(lambda: words in problem(node), 20, "the reason to be told")
    assert "secret" not in node.agent.log() + problem(node)
    wait_until(lambda: "output-headers" in findings(node), 15, "the doctor to find it", 0.3)
    assert not sink.requests
    write_private(path, "X-Token: good\n")
    sink.wait_for(100)
    node.wait_ledger(lambda ledger: ledger.sent == 100 and ledger.idle(), 20, "delivery")
    wait_until(lambda: "output-headers" not in findings(node), 15, "nothing to be said of it any more", 0.3)
    # while the connection stays, a reload says what the next one would find
    os.remove(path)
    os.kill(node.agent.pid, signal.SIGHUP)
    said = f"[output]: the headers in `{path}` cannot be read: No such file or directory: the next connection needs them"
    wait_until(lambda: said in node.agent.log(), 10, "the reload to say so")


@pytest.mark.parametrize("spool", ["100M", "0"], ids=["on disk", "in memory"])
def test_spans_that_waited_for_zipkin(node, receiver, sink, spool):
    """The administrator moves from Scribe to OTLP while spans wait."""
    receiver.program.stop()
    node.start_agent(receiver.port, output={"spool_size": spool})
    node.run([LOAD, "-p", 2, "-n", 3000])
    node.wait_ledger(lambda ledger: ledger.queued + ledger.spooled == 6000, 30, "6000 spans to wait")
    sections = Sections(node)
    sections.output("output", sink, type="otlp")
    sections.keys["output"] += f"spool-size = {spool}\n"
    sections.hang_up()
    node.run([LOAD, "-p", 2, "-n", 3000])
    sink.wait_for(12000)
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 20, "delivery")
    assert (ledger.sent, ledger.lost, ledger.dropped) == (12000, 0, 0)
    # their tags were written as text
    found = sorted((worker, int(ordinal)) for worker, ordinal in ((tags["worker"], tags["ordinal"]) for *_, tags in sink.spans))
    exactly(found == sorted(2 * every(2, 3000)), "each span came once")


def test_until_when_it_waits(node, sink):
    """A collector that names a far time is waited for, and the status says until when."""
    sink.judge = lambda *_: (503, {"Retry-After": "99999"}, status(14, "no room"))
    node.start_agent(sink.port, output=output(sink))
    node.run([LOAD, "-n", 10])
    found = []

    def is_busy():
        found[:] = [one["what"] for one in node.status()["findings"] if one["code"] == "output-busy"]
        return bool(found)

    wait_until(is_busy, 15, "output-busy")
    assert re.search(r"no room; it asked to wait, and the agent does so until \d\d:\d\d:\d\d$", found[0]), found
