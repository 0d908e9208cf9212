# SPDX-License-Identifier: BSD-2-Clause
"""`drop-tags`, `rename-tags` and `redact`: an output's spans are the same, but for these tags; other outputs have them as they were."""

import pytest
from rig.jsonsink import JsonSink
from rig.load import LOAD
from rig.otlpsink import OtlpSink
from rig.process import exactly, wait_until
from rig.sections import Sections
from test_json2 import hexadecimal
from test_keep import tags_as_text

REDACTED = "[redacted]"


@pytest.fixture
def sink():
    with JsonSink() as server:
        yield server


def web_to(sink, **keys):
    return {"type": "http", "format": "json2", "server": f"127.0.0.1:{sink.port}", **keys}


def as_received(receiver):
    """The tags of each span at the output without rules."""
    return {(hexadecimal(span.trace_id), hexadecimal(span.id)): tags_as_text(span) for span in receiver.spans()}


def as_sent(sink):
    """The same of the other, after a look at all that was sent more than once."""
    found = {}
    for span in list(sink.spans):
        tags = found.setdefault((span["traceId"][-16:], span["id"]), span["tags"])
        assert tags == span["tags"]
    return found


def changed(tags):
    """What the rules of the first test make of a span's tags."""
    rest = {key: value for key, value in tags.items() if key not in ("worker", "ordinal", "score")}
    return {**rest, "ordinal": REDACTED, "points": tags["score"]}


def test_killed_with_a_spool(node, receiver, sink):
    """Through the spool and a kill: the same spans at both, and the tags differ as the rules say, in each."""
    sink.code = 503
    rules = {"drop-tags": "work*", "rename-tags": "score:points", "redact": "ordinal", "tags": "site=abroad"}
    node.start_agent(receiver.port, **{"output web": web_to(sink, **rules)})
    node.run([LOAD, "-p", 2, "-n", 2500, "-r", 4000])
    node.wait_ledger(lambda ledger: ledger.spooled > 200, 30, "spans to be stored", "web")
    node.agent.kill()
    node.agent.wait()
    node.start_agent_again()
    node.run([LOAD, "-p", 2, "-n", 2500, "-r", 4000])
    sink.code = 202
    ruled = node.wait_ledger(lambda ledger: ledger.sent and ledger.idle(), 60, "delivery", "web")
    plain = node.wait_ledger(lambda ledger: ledger.idle(), 30, "delivery")
    assert (ruled.dropped, plain.dropped) == (0, 0)
    made, came = as_received(receiver), as_sent(sink)
    assert len(made) == 10000
    assert all({"worker", "ordinal", "score"} <= tags.keys() for tags in made.values())
    assert came == {key: {"site": "abroad", **changed(tags)} for key, tags in made.items()}
    # once when a span is made, and once more if that was after the checkpoint; not again when it comes from the spool
    status = node.status()
    counts = {output["name"]: output["spans"]["tags"] for output in status["outputs"]}
    count = counts["web"]["redacted"]
    assert 10000 <= count <= 10000 + status["events"]["again"]
    assert counts["web"] == {"dropped": count, "renamed": count, "redacted": count}
    assert counts["default"] == {"dropped": 0, "renamed": 0, "redacted": 0}
    samples = [line for line in node.http_get("/metrics")[1].splitlines() if line.startswith("blkin_agent_output_tags_changed_total")]
    assert any('output="web"' in line and 'change="redacted"' in line and line.endswith(f" {count}") for line in samples), samples


def test_rule_comes_while_spans_wait(node, receiver, sink):
    """What is on disk without the rule is sent with it, and so is what comes after; no value gets out."""
    sink.code = 503
    node.start_agent(receiver.port, **{"output web": web_to(sink)})
    node.run([LOAD, "-p", 2, "-n", 2500, "-r", 4000])
    node.wait_ledger(lambda ledger: ledger.spooled > 200, 30, "spans to be stored", "web")
    sections = Sections(node)
    keys = sections.keys["output web"]
    sections.keys["output web"] = f"redact = worker\n{keys}"
    sections.hang_up()
    node.run([LOAD, "-p", 2, "-n", 500, "-r", 4000])
    sink.code = 202
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 6000 and ledger.idle(), 60, "delivery", "web")
    assert ledger.dropped == 0
    receiver.wait_for(6000)
    made, came = as_received(receiver), as_sent(sink)
    assert len(made) == 6000 and REDACTED not in {tags["worker"] for tags in made.values()}
    assert came == {key: {**tags, "worker": REDACTED} for key, tags in made.items()}
    # and without the rule the values come again, for what is made from then on
    sections.keys["output web"] = keys
    sections.hang_up()
    node.run([LOAD, "-p", 2, "-n", 50])
    wait_until(lambda: len(as_sent(sink)) == 6100, 20, "the rest")
    assert sum(tags["worker"] != REDACTED for tags in as_sent(sink).values()) == 100


def test_type_changes_while_spans_wait(node, sink):
    """What waits in memory under rules that stay is sent by OTLP, which makes tags of a remote endpoint: the rules hold for these, too."""
    sink.code = 503
    rules = {"redact": "peer.service, *.address", "spool_size": "0"}
    node.start_agent(sink.port, output=web_to(sink, **rules))
    node.run([LOAD, "-n", 300])
    node.wait_ledger(lambda ledger: ledger.queued == ledger.made == 300, 30, "spans to wait")
    with OtlpSink() as other:
        sections = Sections(node)
        keys = sections.keys["output"].replace("type = http", "type = otlp").replace("format = json2\n", "")
        sections.keys["output"] = keys.replace(f":{sink.port}\n", f":{other.port}\n")
        sections.hang_up()
        other.wait_for(300)
        told = [tags for _, _, tags in other.spans if "peer.service" in tags]
    exactly(len(told) > 0 and {tags["peer.service"] for tags in told} == {REDACTED}, f"{len(told)} remote endpoints")
    exactly({value for tags in told for key, value in tags.items() if key.endswith(".address")} == {REDACTED}, "no address gets out")
