# SPDX-License-Identifier: BSD-2-Clause
"""The metrics of spans: exact, in each form, with names for those alone who may see them, and on the dashboard."""

import json
import os
import re
import time
import urllib.request

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text
from rig.load import LOAD
from rig.node import TOP, Node
from rig.othernode import OtherNode
from rig.process import exactly, free_port, wait_until
from rig.prometheus import Prometheus, promtool
from rig.scribe import Receiver

ERRORS = "tests/live/programs/errorload"
OPENMETRICS = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"


def scrape(node, token=None, accept=None):
    """The content type, and the page."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    headers |= {"Accept": accept} if accept else {}
    request = urllib.request.Request(f"http://127.0.0.1:{node.http}/metrics", headers=headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def token_of(node):
    with open(node.path("state/page-token"), encoding="ascii") as file:
        return file.read().strip()


def samples(page, name, read=read_text):
    """Amounts by service and span, and what further labels there are."""
    found = {}
    for family in read(page):
        for sample in family.samples:
            if sample.name == name:
                labels = dict(sample.labels)
                exactly(labels.keys() >= {"service", "span"}, sample)
                found[labels.pop("service"), labels.pop("span"), *labels.values()] = sample.value
    return found


def made(node, spans):
    node.wait_ledger(lambda ledger: ledger.sent == spans and ledger.idle(), 30, f"{spans} spans to be delivered")


def test_who_sees_names(node, receiver):
    node.start_agent(receiver.port)
    node.run([ERRORS, 200])
    made(node, 200)
    for token in (None, "wrong", token_of(node)[:-1]):
        _, page = scrape(node, token)
        assert samples(page, "blkin_spans_total") == {("other", "other"): 200}
        assert samples(page, "blkin_spans_errors_total") == {("other", "other"): 20}
        assert 'service="errors"' not in page and 'span="try"' not in page
    _, page = scrape(node, token_of(node))
    assert samples(page, "blkin_spans_total") == {("errors", "try"): 200}
    assert samples(page, "blkin_spans_errors_total") == {("errors", "try"): 20}
    assert samples(page, "blkin_span_duration_seconds_count") == {("errors", "try"): 200}


def test_reload_of_the_number(node, receiver):
    """With `page = open`, to all; `metrics-spans` holds from the reload on."""
    node.start_agent(receiver.port, agent={"page": "open", "metrics_spans": 0})
    node.run([ERRORS, 100])
    made(node, 100)
    assert samples(scrape(node)[1], "blkin_spans_total") == {("other", "other"): 100}
    with open(node.path("agent.conf"), encoding="utf-8") as file:
        text = file.read()
    with open(node.path("agent.conf"), "w", encoding="utf-8") as file:
        file.write(text.replace("metrics-spans = 0", "metrics-spans = 1"))
    node.agent.send(1)
    wait_until(lambda: samples(scrape(node)[1], "blkin_spans_total") == {("errors", "try"): 100}, 10, "the name")


def test_forms_and_exemplars(node, receiver):
    """Others' readers take both forms, which say the same; each exemplar is a span that was delivered, in its bucket."""
    node.start_agent(receiver.port, agent={"page": "open"})
    node.run([LOAD, "-n", 1000, "-w", 20])
    made(node, 1000)
    kind, text = scrape(node)
    assert kind == "text/plain; version=0.0.4; charset=utf-8"
    assert promtool("check", "metrics", text=text) == ""
    kind, page = scrape(node, accept=OPENMETRICS)
    assert kind == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert page.endswith("\n# EOF\n")
    for name in ("total", "errors_total"):
        assert samples(text, f"blkin_spans_{name}") == samples(page, f"blkin_spans_{name}", read_openmetrics)
    duration = "blkin_span_duration_seconds_bucket"
    buckets = samples(text, duration)
    assert {key[:2]: number for key, number in buckets.items() if key[2] == "+Inf"} == samples(text, "blkin_spans_total")
    assert buckets == samples(page, duration, read_openmetrics)
    spans = receiver.spans()
    found = 0
    for family in read_openmetrics(page):
        for sample in family.samples:
            if sample.exemplar:
                found += 1
                least = float(sample.labels["le"]) / 2 if sample.labels["le"] not in ("1.024e-06", "+Inf") else 0
                assert least <= sample.exemplar.value < float(sample.labels["le"])
                assert abs(float(sample.exemplar.timestamp) - time.time()) < 600
                trace = int(sample.exemplar.labels["trace_id"], 16)
                assert any(
                    f"{span.trace_id % 2**64:016x}" == f"{trace % 2**64:016x}"
                    and span.name == sample.labels["span"]
                    and abs(span.duration / 1e6 - sample.exemplar.value) < 2e-6
                    for span in spans
                )
    assert found >= 2


# The dashboard


def filled_in(expression):
    """As Grafana asks. What there should be nothing of is asked for without its condition."""
    for name, value in (("$job", "blkin"), ("$__rate_interval", "1m")):
        expression = expression.replace(name, value)
    expression = re.sub(r"\$(instance|output|service|span)\b", ".*", expression)
    return re.sub(r" > 0$", "", expression)


@pytest.fixture
def dashboard():
    with open(os.path.join(TOP, "conf/grafana-dashboard.json"), encoding="utf-8") as file:
        return json.load(file)


@pytest.fixture
def nodes():
    with Node() as one, OtherNode() as other:
        for node in (one, other):
            node.start_lttng()
            receiver = Receiver(node, free_port()).start()
            node.start_agent(receiver.port, agent={"page": "open"}, thresholds={"*/*": "20ms"})
        yield [one, other]


def asked_by(dashboard):
    return [(panel["title"], target["expr"]) for panel in dashboard["panels"] for target in panel.get("targets", [])]


def test_dashboard(nodes, dashboard):
    """Every panel's questions are answered over two agents, once there was something to show; and exemplars come."""
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"]) > 0
    assert not re.search(r"\$(?!job|instance|output|service|span|__rate_interval)\w", str([e for _, e in asked_by(dashboard)]))
    prometheus = Prometheus(nodes[0], nodes)
    for node in nodes:
        node.run([LOAD, "-n", 1000, "-r", 300, "-w", 20])
        node.run([ERRORS, 100])

    def silent():
        return [both for both in asked_by(dashboard) if not prometheus.query(filled_in(both[1]))]

    wait_until(lambda: not silent(), 30, f"every panel to show something: {silent()}", 1)
    by_node = 'count by (instance) (blkin_span_duration_seconds_bucket{service="errors", span="try"})'
    wait_until(lambda: len(prometheus.query(by_node)) == 2, 10, "both nodes' names")
    now = time.time()
    series = prometheus.data(
        "/api/v1/query_exemplars", query="blkin_span_duration_seconds_bucket", start=now - 60, end=now + 60
    )
    assert {one["seriesLabels"]["instance"] for one in series} == set(prometheus.instances)
    assert all(exemplar["labels"]["trace_id"] for one in series for exemplar in one["exemplars"])


def test_dashboard_without_any_agent(nodes, dashboard):
    """That no node is collected is told when no agent is left to tell it."""
    prometheus = Prometheus(nodes[0], nodes)
    of_panel = dict(asked_by(dashboard))
    uncollected, up = filled_in(of_panel["Nodes that are not collected"]), filled_in(of_panel["Agents up"])
    assert (prometheus.value(up), prometheus.value(uncollected)) == (2, 0)
    nodes[1].agent.stop()
    wait_until(lambda: prometheus.value(uncollected) == 1, 10, "one node that is not collected")
    nodes[0].agent.stop()
    wait_until(lambda: prometheus.value(uncollected) == 2, 10, "both not to be collected")
    assert prometheus.value(up) == 0


# The page that lists them

# Of what there is not always something to tell.
LABELS = {"blkin_agent_output_share": ["output"], "blkin_agent_spool_drain_seconds": ["output"], "blkin_agent_ring_bytes": ["user"]}
LIST = os.path.join(TOP, "doc/metrics.md")
GROUPS = {
    "The agent and its session": r"blkin_agent_(info|start|config|collecting|programs|registrations|users|sessions|reader|canary|clock|shm|ring|flight)",
    "What is read": r"blkin_agent_(events_(read|lost|in_spans|json|rejected|ignored)|packets|pairs|spans_(total|cut|truncated|dropped_with)|strings)",
    "Spans of others": r"blkin_agent_(input|spans_received|traces_not_told)",
    "Each output": r"blkin_agent_",
    "Spans by service and name": r"blkin_",
}


def start_all(node, receiver):
    """An agent that has one of everything, and thus each metric."""
    files = node.path("files")
    os.mkdir(files)
    node.start_agent(
        receiver.port,
        agent={"page": "open"},
        session={"canary": "yes"},
        thresholds={"*/*": "20ms"},
        input={"scribe": f"127.0.0.1:{free_port()}"},
        events={"names": "blkin_test:*"},
        **{"output files": {"type": "file", "directory": files, "takes": "spans, events, messages"}},
    )
    node.run([LOAD, "-n", 100])
    made(node, 100)
    late = ("blkin_agent_canary_timestamp_seconds", "blkin_agent_ring_bytes{", "blkin_agent_programs")
    wait_until(lambda: all(name in scrape(node)[1] for name in late), 30, "what is known a moment later")


def name_of(family):
    return f"{family.name}_total" if family.type == "counter" else family.name


def values_of(family, label):
    """What the label can be, if that is one of a few words."""
    values = sorted({sample.labels[label] for sample in family.samples if label in sample.labels})
    return f"{label} ({', '.join(values)})" if label in ("change", "kind", "reason", "result", "state", "where") else label


def row_of(family):
    labels = LABELS.get(family.name) or sorted({label for sample in family.samples for label in sample.labels} - {"le"})
    labels = ", ".join(values_of(family, label) for label in labels)
    return f"| `{name_of(family)}` | {family.type} | {labels} | {family.documentation} |\n"


def is_of_other_kind(name, names):
    """Whether it is of an output's events or messages, and there is the same of its spans."""
    return any(name.replace(word, "spans") in names - {name} for word in ("events", "messages"))


def list_of(families):
    """The tables of the page."""
    names = {family.name for family in families}
    left, text = [family for family in families if not is_of_other_kind(family.name, names)], ""
    for title, pattern in GROUPS.items():
        rows = [row_of(family) for family in left if re.match(pattern, name_of(family))]
        left = [family for family in left if not re.match(pattern, name_of(family))]
        text += f"## {title}\n\n| metric | type | labels | |\n|---|---|---|---|\n{''.join(rows)}\n"
    exactly(not left, left)
    return text.rstrip("\n") + "\n"


def test_list(node, receiver):
    """doc/metrics.md has each metric, and no other; BLKIN_WRITE=1 makes it."""
    start_all(node, receiver)
    tables = list_of(list(read_text(scrape(node)[1])))
    with open(LIST, encoding="utf-8") as file:
        head, rest = file.read().split("\n## ", 1)
    if os.environ.get("BLKIN_WRITE"):
        with open(LIST, "w", encoding="utf-8") as file:
            file.write(f"{head}\n{tables}")
        rest = tables.removeprefix("## ")
    assert "## " + rest == tables
