# SPDX-License-Identifier: BSD-2-Clause
"""The trace behind a late span, on the page: its spans as they were delivered, also long after others have come."""

import html
import json
import re
from urllib.parse import quote

import pytest
from rig.dictation import Dictation
from rig.page import ask, token_of
from rig.process import free_port
from rig.sender import Client, message
from test_input import start_agent
from test_monitor import HOSTILE
from test_tail import end, spans_of, tail

OPEN = {"page": "open"}


def late_of(node, service, span):
    """The ids of the traces that the page lists for a row, and the last one that failed."""
    page = ask(node, f"/?service={quote(service)}&span={quote(span)}").text
    parts = page.split("The last one that failed")
    return [re.findall(r'<a href="/trace\?id=([0-9a-f]+)"', part) for part in parts]


def rows_of(page):
    """Name, service, start, duration of each row as text."""
    body = page.partition("<tbody>")[2].partition('</tbody>')[0]
    rows = []
    for row in re.split(r"<tr(?: class=\"bad\")?><th scope=\"row\" class=\"text\">", body)[1:]:
        name = re.search(r"<summary>(.*?)</summary>", row, re.S)[1]
        cells = re.findall(r"<td class=\"(?:text|number wide|number)\">(.*?)</td>", row, re.S)
        rows.append([html.unescape(re.sub(r"<[^>]*>", "", text)).strip() for text in (name, *cells)])
    return rows


def test_late_and_failed(node, receiver):
    """A late span's and a failed span's traces are shown after ten thousand others, with what makes them so."""
    node.start_agent(receiver.port, agent=OPEN | {"page-traces": "64K"})
    with Dictation(node) as dictation:
        dictation.deliver([("a", "b", 10, False)])
        dictation.deliver([("a", "b", 900000, False), ("a", "b", 11, True)])
        for _ in range(10):
            dictation.deliver([("a", "b", 10 + i % 50, False) for i in range(1000)])
    late, failed = late_of(node, "a", "b")
    (slow,) = [s for s in receiver.spans() if s.duration == 900000]
    (bad,) = [s for s in receiver.spans() if any(b.key == "error" for b in s.binary_annotations)]
    assert int(late[0][-16:], 16) == slow.trace_id & (1 << 64) - 1
    assert [int(trace[-16:], 16) for trace in failed] == [bad.trace_id & (1 << 64) - 1]
    page = ask(node, f"/trace?id={late[0]}").text
    assert rows_of(page) == [["b", "a", "+0.00 µs", "900 ms"]]
    page = ask(node, f"/trace?id={failed[0]}").text
    (row,) = rows_of(page)
    assert row[0].startswith("✗") and row[0].endswith("failed") and row[3] == "11.0 µs"


OUTPUTS = {
    "thrift": {},
    "json2": {"type": "http", "format": "json2"},
    "otlp": {"type": "otlp"},
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_equals_what_tail_shows(node, run_sample, output):
    """Each listed trace has all of its spans, each field as `blkin tail` has it, in the order of its tree."""
    node.start_agent(free_port(), agent=OPEN, output=OUTPUTS[output])
    with tail(node, "--json") as watch:
        run_sample(node, 20)
        lines, _ = end(watch, 100)
    traces = {}
    for span in spans_of(lines):
        traces.setdefault(span["traceId"], []).append(json.dumps(span, sort_keys=True))
    late, _ = [*late_of(node, "gateway", "put object"), []]
    assert late
    for trace in late:
        found = [json.dumps(span, sort_keys=True) for span in ask(node, f"/trace.json?id={trace}").json()]
        assert sorted(found) == sorted(traces[trace])
        rows = rows_of(ask(node, f"/trace?id={trace}").text)
        assert [row[0] for row in rows] == ["put object", "write", "write", "journal", "disk write"]
        assert [row[1] for row in rows] == ["gateway", "gateway client", "store server", "store", "store"]


def test_of_others(node, receiver):
    """Spans that came in by Scribe are found, too, while they are among the latest."""
    port = start_agent(node, receiver.port, agent=OPEN)
    with Client(port) as client:
        assert client.log([message(7, 0, 1)]) == 0
    trace = f"{1 + 7 << 40 | 1:016x}"
    (span,) = ask(node, f"/trace.json?id={trace}").json()
    assert (span["traceId"], span["name"], span["tags"]["worker"]) == (trace, "sent", "7.0")


def test_who_may_see_it(node, receiver):
    node.start_agent(receiver.port)
    assert [ask(node, path + "?id=" + "1" * 16).code for path in ("/trace", "/trace.json", "/why.json")] == [403] * 3
    access = {"Authorization": f"Bearer {token_of(node)}"}
    page = ask(node, "/trace?id=" + "1" * 16, **access)
    assert page.code == 200 and "No span of this trace is here" in page.text
    assert ask(node, "/trace.json?id=" + "1" * 32, **access).json() == []
    for query in "", "?id=", "?id=1", "?id=<b>", "?id=" + "g" * 16, "?id=" + "1" * 33:
        answer = ask(node, "/trace" + query, **access)
        assert (answer.code, answer.text) == (400, "`id` must be a trace's id, 16 or 32 hexadecimal digits\n")


def test_none_are_kept(node, receiver):
    node.start_agent(receiver.port, agent=OPEN | {"page-traces": "0"})
    with Dictation(node) as dictation:
        dictation.deliver([("a", "b", 900000, False)])
    ((trace,),) = late_of(node, "a", "b")
    assert "No span of this trace is here" in ask(node, f"/trace?id={trace}").text


def test_hostile_texts(node, receiver):
    """What programs call their spans stays text."""
    node.start_agent(receiver.port, agent=OPEN)
    with Dictation(node) as dictation:
        dictation.deliver([(text, text, 1000 * (i + 1), True) for i, text in enumerate(HOSTILE)])
    for span in receiver.spans():
        page = ask(node, f"/trace?id={span.trace_id & (1 << 64) - 1:016x}").text
        assert len(rows_of(page)) == 1
        assert not re.search(r"<(script|img|h1|b)\b[^>]*>(?!trace|[a-z0-9-]*</h1>)", page.partition("<main")[2]), page
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)
