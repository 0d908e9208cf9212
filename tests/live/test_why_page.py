# SPDX-License-Identifier: BSD-2-Clause
"""
Where the time of a late trace went, on the agent's page: by an answer of `blkin why` that a real kernel's flight recorder has
kept (tests/fixtures/answer-6.1), and by files that are no answers. tests/unit/test_answer.c has what is done to a line.
"""

import html
import json
import os
import re
import shutil

import pytest
from rig.dictation import Dictation
from rig.node import TOP
from rig.page import ask
from test_monitor import HOSTILE
from test_waterfall import OPEN, late_of

FIXTURE = os.path.join(TOP, "tests/fixtures/answer-6.1")
(TRACE,) = [name.removesuffix(".jsonl") for name in os.listdir(FIXTURE) if name.endswith(".jsonl")]
FLIGHT = {"mode": "flight", "events": "sched_switch", "syscalls": "futex"}
PARTS = ["cpu", "interrupted", "runnable", "disk", "lock", "network", "sleep", "page_fault", "other", "unknown"]


def start(node, receiver, kernel=FLIGHT):
    node.start_agent(receiver.port, agent=OPEN, kernel=kernel)


def path_of(node, trace=TRACE):
    folder = os.path.join(node.path("state"), "flight")
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, trace + ".jsonl")


def keep(node, text, trace=TRACE):
    with open(path_of(node, trace), "w", encoding="utf-8") as file:
        file.write(text)


def answers():
    with open(os.path.join(FIXTURE, TRACE + ".jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def rows_of(page):
    """By the span's id: what is in its row, as HTML."""
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    rows = re.split(r"<tr(?: class=\"bad\")?><th scope=\"row\" class=\"text\">", body)[1:]
    return {re.search(r"<code>([0-9a-f]{16})</code>", row)[1]: row for row in rows}


def bars_of(row):
    """The span's own bar: from where, how wide; and of its parts the same, by their numbers."""
    own = re.search(r"<rect class=\"of\d\" [^>]* x=\"([\d.]+)\" width=\"([\d.]+)\"", row)
    (where,) = re.findall(r"<svg class=\"where\".*?</svg>", row)
    parts = re.findall(r"<rect class=\"part(\d)\" y=\"0\" height=\"10\" x=\"([\d.]+)\" width=\"([\d.]+)\"", where)
    return tuple(map(float, own.groups())), {int(number): (float(x), float(width)) for number, x, width in parts}


def text_of(markup):
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


def test_bars(node, receiver):
    """Each span has its parts below it, in their order and at the scale of its own bar, and in words; and the JSON is that of `blkin why`."""
    start(node, receiver)
    shutil.copy(os.path.join(FIXTURE, TRACE + ".jsonl"), path_of(node))
    page = ask(node, f"/trace?id={TRACE}").text
    rows = rows_of(page)
    assert rows.keys() == {answer["span"]["id"] for answer in answers()}
    for answer in answers():
        row = rows[answer["span"]["id"]]
        (begin, width), parts = bars_of(row)
        assert sorted(parts) == [i for i, name in enumerate(PARTS) if answer["parts_ns"][name]]
        at = begin
        for number, (x, part) in sorted(parts.items()):
            share = answer["parts_ns"][PARTS[number]] / answer["duration_ns"]
            assert (x, part) == (pytest.approx(at, abs=0.11), pytest.approx(share * width, abs=0.11))
            at = at + share * width
        assert at == pytest.approx(begin + width, abs=0.11)
        assert f"<details class=\"cause\"><summary><bdi>{html.escape(answer['cause'])}</bdi></summary>" in row
        label = re.search(r"<svg class=\"where\"[^>]* aria-label=\"([^\"]*)\"", row)[1]
        assert len(label.split("; ")) == len(parts)
    # who is named: the same as the text has
    words = text_of(row)
    assert re.search(r"futex [\d.]+ ms(?: in \d waits)?, woken by holder \(\d+\)", words), words
    assert re.search(r"there ran holder \(\d+\) [\d.]+ ms", words), words
    assert ask(node, f"/why.json?id={TRACE}").json() == answers()
    assert [span["id"] for span in ask(node, f"/trace.json?id={TRACE}").json()] == [answer["span"]["id"] for answer in answers()]
    assert "flight recorder" not in page


def test_what_is_wrong_is_said(node, receiver):
    """With what is kept, while the agent goes on; who may not see the page sees none of it."""
    start(node, receiver)
    (good, *_) = answers()

    def said():
        answer = ask(node, f"/trace?id={TRACE}")
        assert answer.code == 200
        ask(node, f"/why.json?id={TRACE}").json()
        return answer.text

    assert "The flight recorder has kept nothing of this trace" in said()
    keep(node, "")
    assert "has kept of this trace is damaged" in said()
    keep(node, json.dumps(good)[:-40])
    assert "has kept of this trace is damaged" in said()
    keep(node, "\0" * 5_000_000 + "\n")
    assert "has kept more of this trace than is shown here" in said()
    os.truncate(path_of(node), 1 << 36)
    assert "has kept more of this trace than is shown here" in said()
    os.remove(path_of(node))
    os.mkfifo(path_of(node))
    assert "cannot be read: it is no regular file" in said()
    os.remove(path_of(node))
    os.symlink("/dev/zero", path_of(node))
    assert "cannot be read: it is a symbolic link" in said()
    os.remove(path_of(node))
    keep(node, json.dumps(good) + "\nx\n" + json.dumps(good)[1:] + "\n")
    page = said()
    assert "2 lines are damaged, and left out" in page and len(rows_of(page)) == 1
    assert ask(node, f"/why.json?id={TRACE}").json() == [good]
    for query in "", "?id=", "?id=../../" + TRACE:
        assert ask(node, "/why.json" + query).code == 400
    # a state directory that is gone
    shutil.rmtree(os.path.dirname(path_of(node)))
    assert "The flight recorder has kept nothing of this trace" in said()


def test_hostile_names(node, receiver):
    """What programs call their threads stays text."""
    start(node, receiver)
    (good, *_) = answers()
    for name in HOSTILE:
        who = {"kind": "thread", "name": name[:15], "tid": 1}
        bad = dict(good, cause=name, missing=[name], ran_meanwhile=[dict(who, ns=5)], syscalls=[{"name": name, "count": 1, "ns": 1}])
        bad["waits"] = [{"part": "lock", "syscall": name, "count": 1, "ns": 1, "longest_ns": 1, "woken_by": dict(who, kind="interrupt", number=2)}]
        bad["parts_ns"] = dict.fromkeys(PARTS, 0) | {"lock": 1, "runnable": good["duration_ns"] - 1}
        bad["span"] = dict(good["span"], name=name, tags={name: name}, localEndpoint={"serviceName": name})
        keep(node, json.dumps(bad) + "\n")
        page = ask(node, f"/trace?id={TRACE}").text
        assert len(rows_of(page)) == 1 and "<details class=\"cause\">" in page
        assert not re.search(r"<(script|img|h1|b)\b[^>]*>(?!trace|[a-z0-9-]*</h1>)", page.partition("<main")[2]), page
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)
        assert ask(node, f"/why.json?id={TRACE}").json() == [bad]


def test_beside_spans(node, receiver):
    """A late trace is listed with what is kept of it, which stands below the span that the agent still has."""
    start(node, receiver)
    with Dictation(node) as dictation:
        dictation.deliver([("a", "b", 900000, False)])
    ((trace,),) = late_of(node, "a", "b")
    listed = ask(node, "/?service=a&span=b").text
    assert "with what the kernel did" not in listed
    (span,) = ask(node, f"/trace.json?id={trace}").json()
    trace = trace[-16:]
    parts = dict.fromkeys(PARTS, 0) | {"sleep": 600_000_000, "cpu": 300_000_000}
    keep(node, json.dumps({"span": span, "duration_ns": 900_000_000, "parts_ns": parts, "cause": "mostly asleep"}) + "\n", trace)
    assert "with what the kernel did" in ask(node, "/?service=a&span=b").text
    (row,) = rows_of(ask(node, f"/trace?id={trace}").text).values()
    assert bars_of(row) == ((0, 1000), {0: (0, 333.3), 6: (333.3, 666.7)})
    assert "asleep 600 ms, 67 %" in row and "mostly asleep" in row


def test_no_answer(node, receiver):
    """While the kernel is read as all else is, the page names the command; without the kernel it says nothing."""
    start(node, receiver, {"events": "sched_switch"})
    assert f"<code>blkin why {TRACE}</code> says that, on this node" in ask(node, f"/trace?id={TRACE}").text
    assert ask(node, f"/why.json?id={TRACE}").json() == []
    assert node.agent.stop() == 0
    node.start_agent(receiver.port, agent=OPEN)
    page = ask(node, f"/trace?id={TRACE}").text
    assert "blkin why" not in page and "kernel" not in page.partition("</style>")[2]
