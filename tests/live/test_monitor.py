# SPDX-License-Identifier: BSD-2-Clause
"""The monitor without a browser: who may see it, what its JSON says of the spans sent, and thresholds."""

import contextlib
import hashlib
import json
import math
import os
import re
import signal
import socket
import stat
import subprocess
import time

import pytest
from rig.dictation import Dictation
from rig.node import WHOLE_STACKS, sanitized
from rig.page import ask, page_of, spans_of, token_of
from rig.process import free_port, wait_until
from test_tail import tail, texts

ERROR = 1 / 32  # agent/stats/histogram.h
HOSTILE = [
    "<script>document.title='owned'</script>",
    "\"><img src=x onerror=\"document.title='owned'\">",
    "'); alert(1); ('",
    "</td></tr></table><h1>no</h1>",
    "two\nlines\tand\x1b[31mcolours\x07",
    "\u202eevil\u202c \u2066rtl",
    "שלום",
    "&lt;b&gt; {{7*7}} ${7*7}",
    "a b/c?d=e&f=g#h%41+",
]


def test_who_may_see_it(node, receiver):
    """Nobody without the token; it comes with the address, stays in a cookie, and is nowhere else."""
    node.start_agent(receiver.port)
    denied = ask(node, "/")
    assert denied.code == 403 and "blkin page" in denied.text and "Set-Cookie" not in denied.headers
    assert [ask(node, path).code for path in ("/spans.json", "/histogram.json", "/spans.json?token=x")] == [403] * 3
    token = token_of(node)
    assert ask(node, f"/?token={token[:-1]}").code == 403
    assert ask(node, f"/?token={token[:-1]}{'A' if token[-1] != 'A' else 'B'}").code == 403
    let_in = ask(node, f"/?token={token}")
    assert (let_in.code, let_in.headers["Location"]) == (303, "/")
    cookie, *attributes = let_in.headers["Set-Cookie"].split("; ")
    name = "blkin-page-" + hashlib.sha256(token.encode()).hexdigest()[:8]
    assert cookie == f"{name}={token}" and {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(attributes)
    # another server of this host may have set one of that name, and that of another agent has another one
    several = f"a=b; {name}=x; blkin-page-01234567={'x' * 32}; {cookie}; c=d"
    for header in {"Cookie": several}, {"Authorization": f"Bearer {token}"}:
        page = ask(node, "/", **header)
        assert page.code == 200 and token not in page.text and page.text.startswith("<!DOCTYPE html>")
        assert ask(node, "/spans.json", **header).json() == []
    wrong = [{"Cookie": f"{name}={token}x"}, {"Cookie": f"{name}"}, {"Cookie": f"blkin-page={token}"}, {"Cookie": f"x{cookie}"}, {"Authorization": token}, {"Authorization": "Bearer "}]
    assert [ask(node, "/", **header).code for header in wrong] == [403] * len(wrong)
    for path in "/status.json", "/metrics", "/session":
        assert token not in ask(node, path).text, path
    assert node.agent.stop() == 0
    assert token not in node.agent.log()


def test_headers(node, receiver):
    """No browser loads anything for the page, keeps it, or frames it; its script and style are those of the policy."""
    node.start_agent(receiver.port, agent={"page": "open"})
    page = ask(node, "/")
    policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert page.headers["Cache-Control"] == "no-store" and page.headers["X-Content-Type-Options"] == "nosniff"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", page.text) and "style=\"" not in page.text


def test_token_is_kept(node, receiver):
    """Over a restart, for the owner and the group; one that others could read is replaced."""
    node.start_agent(receiver.port)
    token, path = token_of(node), node.path("state/page-token")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o640
    assert node.agent.stop() == 0
    node.start_agent_again()
    assert token_of(node) == token
    assert node.agent.stop() == 0
    os.chmod(path, 0o644)
    node.start_agent_again()
    other = token_of(node)
    assert other != token and stat.S_IMODE(os.stat(path).st_mode) == 0o640
    assert node.agent.stop() == 0
    with open(path, "w", encoding="ascii") as file:
        file.write("short\n")
    node.start_agent_again()
    assert token_of(node) not in (token, other)


def test_open_and_off(node, receiver):
    """`page` takes effect with a reload."""
    node.start_agent(receiver.port, agent={"page": "off"})
    assert node.status()["page"] == "" and ask(node, "/spans.json").code == 404
    assert page_of(node).returncode == 1 and "the agent has no page" in page_of(node).stderr
    assert ask(node, "/").code == 200 and "/metrics" in ask(node, "/").text
    config = open(node.path("agent.conf"), encoding="utf-8").read()
    with open(node.path("agent.conf"), "w", encoding="utf-8") as file:
        file.write(config.replace("page = off", "page = open"))
    node.agent.send(signal.SIGHUP)
    wait_until(lambda: ask(node, "/spans.json").code == 200, 10, "the page to be open")
    assert node.status()["page"] == f"http://127.0.0.1:{node.http}/"
    assert page_of(node).stdout == f"http://127.0.0.1:{node.http}/\n"


def test_token_is_not_in_the_status(node, receiver):
    """A status is pasted where strangers read it."""
    node.start_agent(receiver.port)
    token = token_of(node)
    command = [node.built("cli/blkin"), "status", "--socket", node.socket]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert f"page http://127.0.0.1:{node.http}/ (`blkin page` lets a browser in)\n" in shown
    assert token not in shown + json.dumps(node.status())
    assert ask(node, "/page").code == 404


def quantile(values, share):
    return sorted(values)[math.ceil(len(values) * share) - 1]


def test_exact_numbers(node, receiver):
    """What the spans say that were sent; the same over the control socket, and by `blkin top`."""
    node.start_agent(receiver.port, thresholds={"a/*": "20ms, errors 30%", "b/slow": "p99 5ms"})
    spans = [("a", "fast", 1000 + i, i % 4 == 0) for i in range(100)]
    spans += [("a", "slow", 21000, False)] * 10 + [("a", "failing", 10, i < 4) for i in range(10)]
    spans += [("b", "slow", 10 if i else 6000, False) for i in range(50)] + [("c", "größe / x", 5, False)]
    with Dictation(node) as dictation:
        dictation.deliver(spans)
    rows = spans_of(node, "?minutes=1")
    assert rows.keys() == {(service, name) for service, name, *_ in spans}
    for key, row in rows.items():
        times = [us for service, name, us, _ in spans if (service, name) == key]
        failed = sum(error for service, name, _, error in spans if (service, name) == key)
        assert (row["count"], row["errors"]) == (len(times), failed)
        assert row["mean"] == pytest.approx(sum(times) / len(times), rel=1e-6)
        assert row["max"] == pytest.approx(max(times), rel=1e-6)
        for name, share in ("p50", 0.5), ("p99", 0.99):
            assert row[name] == pytest.approx(quantile(times, share), rel=ERROR + 1e-4)
    states = {key: row["state"] for key, row in rows.items()}
    assert states == {
        ("a", "fast"): "below",
        ("a", "slow"): "above",
        ("a", "failing"): "above",
        ("b", "slow"): "above",
        ("c", "größe / x"): None,
    }
    histogram = ask(node, "/histogram.json?service=a&span=fast", Authorization=f"Bearer {token_of(node)}").json()
    assert histogram["count"] == sum(bucket["count"] for bucket in histogram["buckets"]) == 100
    for bucket in histogram["buckets"]:
        inside = sum(bucket["from"] <= us < bucket["to"] for us in range(1000, 1100))
        assert bucket["count"] == inside, bucket
    top = node.start([node.built("cli/blkin"), "top", "--once", "--json", "--socket", node.socket], name="top")
    assert top.wait() == 0
    same = {key: {name: value for name, value in row.items() if name != "rate"} for key, row in spans_of(node).items()}
    assert {(row["service"], row["span"]): {k: v for k, v in row.items() if k != "rate"} for row in json.loads(top.log())} == same


def test_questions_that_are_none(node, receiver):
    node.start_agent(receiver.port, agent={"page": "open"})
    assert ask(node, "/spans.json?minutes=2").code == 400
    assert ask(node, "/histogram.json").code == 400
    assert ask(node, "/histogram.json?service=a&span=b&minutes=1").code == 400
    for query in "?minutes=2", "?sort=x&rows=-1&filter=%ff%00", "?=&&&", "?filter=" + "x" * 5000:
        assert ask(node, "/" + query).code == 200, query


def set_thresholds(node, **lines):
    """Writes them in place of those there are, and reloads."""
    path = node.path("agent.conf")
    with open(path, encoding="utf-8") as file:
        text = file.read().split("[thresholds]")[0]
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "[thresholds]\n" + "".join(f"{key} = {value}\n" for key, value in lines.items()))
    node.agent.send(signal.SIGHUP)


def test_thresholds_are_reloaded(node, receiver):
    """At once, for what was counted before, too; a mistake leaves the old ones."""
    node.start_agent(receiver.port, thresholds={"a/b": "1s"})
    with Dictation(node) as dictation:
        dictation.deliver([("a", "b", 2000, False)])
    state = lambda: spans_of(node, "?minutes=1")[("a", "b")]["state"]  # noqa: E731
    page = lambda: ask(node, "/?service=a&span=b", Authorization=f"Bearer {token_of(node)}").text  # noqa: E731
    assert state() == "below"
    wait_until(lambda: "all is as it should be" in page(), 10, "the node to be well")
    assert re.search(r'<path class="limit" d="M\d+ 0V\d+"/><text class="limit"[^>]*>mean 1\.00 s</text>', page())
    set_thresholds(node, **{"a/?": "1ms"})
    wait_until(lambda: state() == "above", 10, "the lower limit")
    # a red banner, and no word of all being well beside it
    assert "is above it" in page() and "all is as it should be" not in page()
    assert "limit of the mean: 1.00 ms" in page()
    set_thresholds(node, **{"a/?": "1 day"})
    wait_until(lambda: "previous one stays in force" in node.agent.log(), 10, "the mistake to be seen")
    assert state() == "above" and "`mean 1 day` is not valid" in node.agent.log()
    set_thresholds(node)
    wait_until(lambda: state() is None, 10, "no limit")


def test_the_last_minute_ends(node, receiver):
    """A burst is above its limit for a minute, up to ten seconds longer, and is still there in ten."""
    node.start_agent(receiver.port, agent={"page": "open"}, thresholds={"*/*": "1ms"})
    with Dictation(node) as dictation:
        dictation.deliver([("a", "b", 2000, False)])
    begin = time.monotonic()
    metric = 'blkin_threshold_exceeded{service="a",span="b",limit="mean"} '
    assert metric + "1" in ask(node, "/metrics").text
    assert spans_of(node, "?minutes=1", x="y")[("a", "b")]["state"] == "above"
    wait_until(lambda: not spans_of(node, "?minutes=1", x="y"), 90, "the minute to be over")
    assert 50 < time.monotonic() - begin < 85
    assert metric + "0" in ask(node, "/metrics").text
    assert spans_of(node, "?minutes=10", x="y")[("a", "b")]["state"] == "above"


def test_hostile_names(node, receiver):
    """Whatever names are, they are text, in the page and in JSON; a megabyte is cut."""
    node.write_config(receiver.port, agent={"page": "open"}, thresholds={"*/*": "1s"})
    node.start_agent_again(**WHOLE_STACKS)
    with Dictation(node) as dictation:
        dictation.deliver([(name, name, 10, False) for name in HOSTILE])
        dictation.deliver([("m" * 50000, "n" * 50000, 10, False)])
        dictation.say([("M" * 1000000, "N" * 1000000, 10, False)])  # LTTng has no room for it
    rows = spans_of(node, x="y")
    assert len(rows) == len(HOSTILE) + 1 and max(len(span) for _, span in rows) <= 128
    page = ask(node, "/").text
    for tag in "<script>document", "<img", "<h1>no", "\x1b", "\u202e", "onerror=\"":
        assert tag not in page, tag
    assert page.count("<script>") == 1 and page.count("</table>") == 2
    assert "&lt;script&gt;document.title=&#39;owned&#39;&lt;/script&gt;" in page
    assert "two␊lines␉and␛[31mcolours␇" in page
    # a link to each row opens that row
    for number, link in re.findall(r'<a href="([^"]*)" id="(span-\d+)"', page):
        assert f'id="{link}" aria-expanded="true"' in ask(node, "/" + number.replace("&amp;", "&")).text, number
    assert 'limit="mean"' in ask(node, "/metrics").text


def test_names_that_look_alike(node, receiver):
    """No name changes what a terminal, a scraper or a person is shown; those that are shown alike are one series."""
    node.start_agent(receiver.port, agent={"page": "open"}, thresholds={"*/*": "1s"})
    controls = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
    alike = ["\x1b[31mred", "␛[31mred", "\x9b31mred", "\ufffd31mred", "\u202e31mred", "\u2067שלום", "\ufffdשלום"]
    with tail(node, "--json") as watcher, Dictation(node) as dictation:
        dictation.deliver([(name, name, 10, False) for name in alike])
        wait_until(lambda: next(texts(watcher)).count("\n") == len(alike), 10, "all of them")
        (out, _) = texts(watcher)
    assert not controls.search(out) and sorted(json.loads(line)["name"] for line in out.splitlines()) == sorted(alike)
    for accept in "text/plain", "application/openmetrics-text; version=1.0.0":
        page = ask(node, "/metrics", Accept=accept).text
        assert not controls.search(page)
        series = [line.rsplit(" ", 1) for line in page.splitlines() if line.startswith("blkin_span") and "_bucket" not in line]
        assert len(series) == len({labels for labels, _ in series})
        counts = {labels: value for labels, value in series if labels.startswith("blkin_spans_total")}
        for name, count in ("␛[31mred", 2), ("\ufffd31mred", 3), ("\ufffdשלום", 2):
            assert counts[f'blkin_spans_total{{service="{name}",span="{name}"}}'] == str(count)
        limits = [line.rsplit(" ", 1)[0] for line in page.splitlines() if line.startswith("blkin_threshold_exceeded")]
        assert len(limits) == len(set(limits)) == 3
    assert not controls.search(ask(node, "/spans.json").text) and not controls.search(ask(node, "/").text)
    for words in ["top", "--once"], ["top", "--once", "--json"], ["status"], ["status", "--json"]:
        assert not controls.search(node.run(["cli/blkin", words[0], "--socket", node.socket, *words[1:]])), words


def test_ten_thousand_names(node, receiver):
    """Names are bounded; the page and the JSON stay small enough, and quick."""
    node.start_agent(receiver.port, agent={"page": "open"}, thresholds={"*/*7": "1ms"})
    spans = [(f"service {i % 100}", f"name {i}", 100 + i, False) for i in range(11000)]
    with Dictation(node) as dictation:
        for i in range(0, 11000, 1000):
            dictation.deliver(spans[i : i + 1000])
    rows = ask(node, "/spans.json").json()
    assert len(rows) == 10001 and sum(row["count"] for row in rows) == 11000
    (rest,) = (row for row in rows if row["span"] is None)
    assert rest["service"] is None and rest["count"] == 1000
    page = ask(node, "/?minutes=all").text
    assert page.count('<tr id="row-') == 200 and "The first 200 of 10,001 rows" in page
    assert len(page) < 500000
    matching = sum("999" in f"{row['service']} {row['span']}" for row in rows)
    found = ask(node, "/?minutes=all&filter=NAME+999+").text
    assert found.count('<tr id="row-') == matching > 0 and f"{matching} rows of 10,001 match" in found
    everything = ask(node, "/?minutes=all&rows=10001").text
    assert everything.count('<tr id="row-') == 10001
    for path in "/", "/spans.json", "/?filter=99&sort=p99":
        times = []
        for _ in range(9):
            begin = time.monotonic()
            assert ask(node, path).code == 200
            times.append(time.monotonic() - begin)
        print(path, sorted(round(1000 * took) for took in times), "ms")
        assert min(times) < (2 if sanitized() else 0.1), path


def test_no_port_no_page(node, receiver):
    """Without a port there is no address; names are on the control socket all the same."""
    node.write_config(receiver.port, agent={"http": ""})
    node.agent = node.start([node.built("agent/blkin-agent"), "-c", node.path("agent.conf")])
    wait_until(lambda: os.path.exists(node.socket), 20, "the control socket")
    assert node.status()["page"] == ""


def test_ui_is_a_web_address(node):
    node.write_config(free_port(), agent={"ui": "javascript:alert(1)//{trace}"})
    program = node.start([node.built("agent/blkin-agent"), "-c", node.path("agent.conf")])
    assert program.wait() == 78
    assert "`ui` must be http://... or https://... with {trace} where a trace's id goes, in [agent]" in program.log()
    node.programs.remove(program)


def test_links_to_traces(node, receiver):
    """The slowest spans of a series lead to the traces that they are of."""
    node.start_agent(receiver.port, agent={"page": "open", "ui": "https://zipkin.example/zipkin/traces/{trace}?a=b&c"})
    with Dictation(node) as dictation:
        dictation.deliver([("a", "b", us, False) for us in (10, 1000, 100000)])
    sent = {f"{span.trace_id & (1 << 64) - 1:016x}" for span in receiver.spans()}
    page = ask(node, "/?service=a&span=b").text
    links = re.findall(
        r'<li>([^:<]*): <a href="/trace\?id=([0-9a-f]+)"><code>\2</code></a>'
        r' <a rel="noreferrer" href="https://zipkin.example/zipkin/traces/\2\?a=b&amp;c">',
        page,
    )
    assert [time for time, _ in links] == ["100 ms", "1.00 ms", "10.0 µs"]
    assert {trace[-16:] for _, trace in links} == sent


def test_a_crowd_blinds_nobody(node, receiver):
    """Names that take all room for histograms: what is slow is red all the same, and its metric counts on."""
    node.start_agent(receiver.port, agent={"page": "open"}, thresholds={"v/x": "p99 1ms"})
    with Dictation(node) as dictation:
        dictation.deliver([("v", "x", 100, False)] * 20)
        for base in range(0, 9000, 1000):
            crowd = [(f"crowd {i}", "n", 2**octave, False) for i in range(base, base + 1000) for octave in range(7)]
            dictation.deliver(crowd, 120)
        assert spans_of(node, x="y")[("v", "x")]["state"] == "below"
        dictation.deliver([("v", "x", 50000, False)] * 200)
    row = spans_of(node, x="y")[("v", "x")]
    assert row["state"] == "above" and 50000 / 3 < row["p99"] <= 50000
    metrics = ask(node, "/metrics").text
    assert 'blkin_span_duration_seconds_count{service="v",span="x"} 220\n' in metrics
    assert 'blkin_span_duration_seconds_sum{service="v",span="x"} 10.002000000\n' in metrics
    page = ask(node, "/?minutes=all&service=v&span=x").text
    assert "<strong>≈ 50.0 ms</strong>" in page and "known to a factor of 3" in page


def test_answers_that_nobody_takes(node, receiver):
    """Long names make long pages: whoever asks for many and reads none gets a few, and others are told to wait."""
    node.start_agent(receiver.port, agent={"page": "open"})
    spans = [(f"service {i % 100}", f"name {i}" + "<" * 100, 10, False) for i in range(10000)]
    with Dictation(node) as dictation:
        for i in range(0, 10000, 1000):
            dictation.deliver(spans[i : i + 1000])
    everything = "/?minutes=all&rows=10001"
    size = len(ask(node, everything).bytes)
    assert 32 * 2**20 / 20 < size
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            connection = stack.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            connection.connect(("127.0.0.1", node.http))
            connection.sendall(f"GET {everything} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        assert ask(node, everything).code == 503
        assert ask(node, "/healthz").code == ask(node, "/readyz").code == 200
        assert node.status()["collecting"]  # on the control socket
        wait_until(lambda: ask(node, "/").code == 200, 20, "those answers to be given up")
