# SPDX-License-Identifier: BSD-2-Clause
"""`type = none`: an output is switched off and on while spans come; and one becomes another while calls are open."""

import threading

from expect import end_load, place
from rig.load import LOAD
from rig.otlpsink import OtlpSink
from rig.process import exactly, free_port, wait_until
from rig.spanfiles import SpanFiles, ordinals
from test_files import NONE, quick
from test_otlp import output
from test_outputs_reload import GONE, Sections


def key_of(span):
    return span.trace_id, span.id, place(span)


def test_switched_off_and_on(node, receiver):
    """Off, nothing is sent; on, everything is, and once, whenever that changes; and it can be asked at any time."""
    node.start_agent(receiver.port, output=NONE)
    node.run([LOAD, "-n", 500])
    node.wait_for(lambda: node.status()["spans"]["made"] == 500, 20, "500 spans to be made")
    assert [found["output"] for found in node.status()["outputs"]] in ([], ["none"])
    sections = Sections(node)
    off, on = sections.keys["output"], sections.keys["output"].replace("type = none\n", "")
    sections.keys["output"] = on
    sections.hang_up()
    node.run([LOAD, "-n", 500])
    receiver.wait_for(500)
    load = node.start([node.built(LOAD), "-p", 2, "-n", 10**6, "-r", 2000])
    for keys in (off, on, off, on):
        made = node.status()["spans"]["made"]
        sections.keys["output"] = keys
        sections.hang_up()
        # asked while the output goes, too
        wait_until(lambda: node.status()["spans"]["made"] > made + 200, 20, "more spans", step=0)
    recorded = sum(end_load(load).values()) + 1500
    node.run([LOAD, "-n", 500])
    ledger = node.wait_ledger(lambda ledger: ledger.made == recorded and ledger.idle(), 60, "delivery")
    gone = [tuple(map(int, found[1:3])) for found in GONE.findall(node.agent.log())]
    assert len(gone) == 2 and all(taken == sent > 0 for taken, sent in gone), gone
    total = ledger.sent
    receiver.wait_for(total)
    keys = [key_of(span) for span in receiver.spans()]
    exactly((len(keys), len(set(keys))) == (total, total), f"{len(keys)} came, {len(set(keys))} of them different; {total} were sent")
    assert 1000 < total < recorded - 500 and (ledger.lost, ledger.dropped) == (0, 0)


def test_output_becomes_files(node, tmp_path):
    """While a call is open that may have been taken: its spans are sent again, and counted so; each is in a file once."""
    release = threading.Event()
    files = SpanFiles(str(tmp_path))
    with OtlpSink() as sink:
        take = sink.answer

        def answer(request, body):
            verdict = take(request, body)
            release.wait(60)
            return verdict

        sink.answer = answer
        node.start_agent(free_port(), output=NONE, **{"output west": output(sink)})
        node.run([LOAD, "-p", 2, "-n", 1000])
        node.wait_ledger(lambda ledger: ledger.made == 2000, 20, "2000 spans to be made", "west")
        wait_until(lambda: sink.spans, 20, "a call to be taken")
        sections = Sections(node)
        sections.keys["output west"] = "".join(f"{key} = {value}\n" for key, value in quick(files).items())
        sections.hang_up()
        ledger = node.wait_ledger(lambda ledger: ledger.sent == 2000 and ledger.idle(), 30, "2000 spans in files", "west")
        release.set()
        exactly(ledger.sent_again == len(sink.spans) < 2000, f"{len(sink.spans)} may have come, {ledger.sent_again} counted")
    assert node.agent.stop() == 0
    found = ordinals(files.spans())
    assert len(found) == found.total() == 2000
