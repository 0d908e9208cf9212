# SPDX-License-Identifier: BSD-2-Clause
"""`keep`: an output gets its share of the traces, the same everywhere, and each span that it does not get is counted."""

import collections
import gzip
import re

import pytest
from expect import BOOL, tags_of
from rig.jsonsink import JsonSink
from rig.load import LOAD
from rig.process import wait_until
from test_import import record, run_import
from test_json2 import hexadecimal
from test_outputs_reload import Sections

ERRORS = "tests/live/programs/errorload"
MASK = (1 << 64) - 1


def is_kept(trace_id, one_in):
    """As blkin-agent.conf(5) has it."""
    number = int(trace_id[-16:], 16)
    number = ((number ^ number >> 30) * 0xBF58476D1CE4E5B9) & MASK
    number = ((number ^ number >> 27) * 0x94D049BB133111EB) & MASK
    return number ^ number >> 31 <= MASK // one_in


class ThriftSink(JsonSink):
    """Of version 1 over HTTP: a list of spans in each body, which is kept as it is."""

    def take(self, request, body):
        with self.lock:
            self.spans.append(gzip.decompress(body))

    def count(self):
        return sum(int.from_bytes(body[1:5], "big") for body in self.spans)

    def tags(self, key):
        """The values of a tag, each that there is; it stands in every span."""
        tag = b"\x0b\x00\x01" + len(key).to_bytes(4, "big") + key.encode() + b"\x0b\x00\x02...(.)"
        found = re.findall(re.compile(tag + b"([^\x08]*)\x08\x00\x03\x00\x00\x00\x06", re.S), b"".join(self.spans))
        assert all(size[0] == len(value) for size, value in found)
        return collections.Counter(value.decode() for _, value in found)


@pytest.fixture
def sink():
    with JsonSink() as server:
        yield server


@pytest.fixture
def recording(node):
    """Traces of five spans each, some of them slow, and short ones with errors."""
    return record(node, [LOAD, "-p", 2, "-n", 5000, "-r", 20000], [ERRORS, 2000])


def imported(node, recording, sink, **keys):
    """What arrives under a configuration: the spans by their names, each once, and how many were left out."""
    before = len(sink.spans)
    web = dict(keys, type="http", format="json2", server=f"127.0.0.1:{sink.port}")
    done = run_import(node, "--config", node.write_config(sink.port, output=web), recording)
    assert done.returncode == 0, done.stderr
    total, sent, _, out = re.search(r"(\d+) spans: (\d+) sent, ((\d+) sampled out, )?0 refused", done.stdout).groups()
    spans = sink.spans[before:]
    assert int(total) == int(sent) + int(out or 0)
    assert len(spans) == int(sent)
    found = {(span["traceId"], span["id"]): span for span in spans}
    assert len(found) == len(spans)
    return found


def test_agents_keep_the_same_traces(node, recording, sink, receiver):
    made = imported(node, recording, sink)
    assert len(made) == 12000
    ours = {key for key in made if is_kept(key[0], 10)}
    assert 0 < len(ours) < 3000
    assert imported(node, recording, sink, keep="1/10").keys() == ours
    # each whole, as the same go to another agent, by another protocol
    config = node.write_config(receiver.port, output={"keep": "1/10"})
    done = run_import(node, "--config", config, recording)
    assert f"12000 spans: {len(ours)} sent, {12000 - len(ours)} sampled out, 0 refused" in done.stdout, done.stderr
    receiver.wait_for(len(ours), 10)
    assert {(hexadecimal(span.trace_id), hexadecimal(span.id)) for span in receiver.spans()} == {
        (trace[-16:], span) for trace, span in ours
    }
    whole = collections.Counter(trace for trace, _ in made)
    assert collections.Counter(trace for trace, _ in ours) == {trace: whole[trace] for trace, _ in ours}
    errors = {key for key, span in made.items() if "error" in span.get("tags", {})}
    slow = {key for key, span in made.items() if span.get("duration", 0) >= 1000}
    assert len(errors) == 200 and len(slow) >= 1000
    assert imported(node, recording, sink, keep="1/10", keep_errors="yes").keys() == ours | errors
    assert imported(node, recording, sink, keep="1/10", keep_slower="1ms").keys() == ours | slow
    both = imported(node, recording, sink, keep="1/1000000", keep_errors="yes", keep_slower="1ms")
    assert both.keys() == {key for key in made if is_kept(key[0], 1000000)} | errors | slow


def test_share_changes_under_load(node, receiver, sink):
    """Each span is sent or counted, whatever the share was when it was made; the other output has them all."""
    web = {"type": "http", "format": "json2", "server": f"127.0.0.1:{sink.port}", "keep": "1/100"}
    node.start_agent(receiver.port, **{"output web": web})
    load = node.start([node.built(LOAD), "-p", 2, "-n", 20000, "-r", 4000])
    sections = Sections(node)
    keys = sections.keys["output web"]
    for share in ["1/1", "1/10", "1/1", "1/2"]:
        seen = len(sink.spans)
        sections.keys["output web"] = keys.replace("1/100", share)
        sections.hang_up()
        sink.wait_for(seen + 200)
    assert load.wait(60) == 0
    ledger = node.wait_ledger(lambda ledger: ledger.taken == 40000 and ledger.idle(), 30, "delivery", "web")
    assert (ledger.sent + ledger.sampled_out, ledger.dropped, ledger.sent_again) == (40000, 0, 0), str(ledger)
    assert ledger.sampled_out > 0 and len(sink.spans) == ledger.sent
    assert node.status()["outputs"][1]["spans"]["sampled_out"] == ledger.sampled_out
    other = node.wait_ledger(lambda ledger: ledger.sent == 40000, 30, "delivery")
    assert other.sampled_out == 0
    keys = {(span["traceId"], span["id"]) for span in sink.spans}
    assert len(keys) == len(sink.spans)
    assert node.agent.stop() == 0
    said = f"output web: {ledger.sent} of {ledger.sent} spans delivered, {ledger.sampled_out} sampled out"
    assert said in node.agent.log()


def test_killed_with_a_spool(node, receiver, sink):
    """What waits on disk was chosen before, and is not chosen again: all of the share arrives, and nothing else."""
    web = {"type": "http", "format": "json2", "server": f"127.0.0.1:{sink.port}", "keep": "1/5"}
    sink.code = 503
    node.start_agent(receiver.port, **{"output web": web})
    node.run([LOAD, "-p", 2, "-n", 5000, "-r", 4000])
    node.wait_ledger(lambda ledger: ledger.spooled > 200, 30, "spans to be stored", "web")
    node.agent.kill()
    node.agent.wait()
    node.start_agent_again()
    node.run([LOAD, "-p", 2, "-n", 5000, "-r", 4000])
    sink.code = 202
    ledger = node.wait_ledger(lambda ledger: ledger.sent and ledger.idle(), 60, "delivery", "web")
    node.wait_ledger(lambda ledger: ledger.idle(), 30, "delivery")
    made = {(hexadecimal(span.trace_id), hexadecimal(span.id)) for span in receiver.spans()}
    assert len(made) == 20000
    came = {(span["traceId"][-16:], span["id"]) for span in sink.spans}
    assert came == {key for key in made if is_kept(key[0], 5)}
    assert ledger.taken + ledger.recovered == ledger.sent + ledger.sampled_out + ledger.dropped and ledger.dropped == 0
    assert ledger.sent >= len(came) and ledger.sampled_out >= 20000 - len(came)


def test_tags_are_added(node, receiver, sink):
    """By each protocol; a reload changes them for spans that are made from then on. The span's own tag stays."""
    web = {"type": "http", "format": "json2", "server": f"127.0.0.1:{sink.port}", "tags": "cluster=eu1, worker=none"}
    with ThriftSink() as old:
        thrift = {"type": "http", "server": f"127.0.0.1:{old.port}", "tags": "cluster=us2"}
        sections = {"output web": web, "output old": thrift}
        node.start_agent(receiver.port, output={"tags": "rack=r7"}, **sections)
        node.run([LOAD, "-p", 2, "-n", 500])
        receiver.wait_for(1000)
        sink.wait_for(1000)
        wait_until(lambda: old.count() >= 1000, 20, "spans in Thrift")
        assert {tags["rack"] for tags in map(tags_as_text, receiver.spans())} == {"r7"}
        assert old.tags("cluster") == {"us2": 1000}
    assert {span["tags"]["cluster"] for span in sink.spans} == {"eu1"}
    assert {span["tags"]["worker"] for span in sink.spans} == {"0.0", "1.0"}
    sections = Sections(node)
    sections.keys["output web"] = sections.keys["output web"].replace("eu1", "eu2")
    sections.hang_up()
    node.run([LOAD, "-p", 2, "-n", 500])
    sink.wait_for(2000)
    assert collections.Counter(span["tags"]["cluster"] for span in sink.spans) == {"eu1": 1000, "eu2": 1000}
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 20, "delivery", "web")
    assert (ledger.sent, ledger.dropped) == (2000, 0)


def tags_as_text(span):
    return {tag.key: tag.value.decode() for tag in tags_of(span) if tag.annotation_type != BOOL}
