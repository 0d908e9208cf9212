# SPDX-License-Identifier: BSD-2-Clause
"""The examples that run alone: a thread pool, events, C++. What they are to show is what arrives, and all of it."""

from collections import Counter

from expect import BOOL, STRING, address, host, place

POOL = (address("10.0.0.3"), 7000, "pool", None)
SHOP = (address("10.0.0.4"), 8000, "shop", None)
BANK = (address("10.0.0.5"), 443, "bank", None)
FRONTEND = (address("10.0.0.6"), 8080, "frontend", None)
CACHE = (address("10.0.0.7"), 11211, "cache", None)
DATABASE = (address("10.0.0.8"), 5432, "database", None)


def run(node, receiver, command, spans):
    """Runs an example; returns what it printed, and its spans, exactly as many as it should record."""
    node.start_agent(receiver.port)
    printed = node.run(command)
    receiver.wait_for(spans)
    node.agent.stop()
    found = receiver.spans()
    assert len(found) == len({span.id for span in found}) == spans
    return printed, found


def tags(span):
    """Tags of text, which all stand at the span's own service; without an error's copy, which is for OpenTelemetry."""
    found = {tag.key: tag.value.decode() for tag in span.binary_annotations if tag.annotation_type == STRING}
    assert found.pop("otel.status_description", None) == found.get("error")
    return found


def notes(span):
    return [note.value for note in span.annotations]


def remote(span):
    """The endpoint at the other end of a client's span."""
    return [host(tag.host) for tag in span.binary_annotations if tag.annotation_type == BOOL and tag.key == "sa"]


def check_local(spans, here):
    """Everything but the other end is said to happen in the program's own service."""
    assert {place(span) for span in spans} == {here}


def end(span):
    return span.timestamp + span.duration


def traces_of(spans, name):
    """{number: {span name: span}} of traces whose root has this name, and in which no name comes twice."""
    traces = {}
    for root in (span for span in spans if span.parent_id is None):
        members = [span for span in spans if span.trace_id == root.id]
        by_name = {span.name: span for span in members}
        assert root.name == name and root.trace_id == root.id and len(by_name) == len(members)
        traces[int(tags(root)["number"])] = by_name
    assert sum(map(len, traces.values())) == len(spans)
    return traces


def test_thread_pool(node, receiver):
    jobs = 40
    _, spans = run(node, receiver, ["examples/pool", 4, jobs], 1 + 2 * jobs)
    (batch,) = [span for span in spans if span.name == "batch"]
    job = {span.id: span for span in spans if span.name == "job"}
    compress = {span.parent_id: span for span in spans if span.name == "compress"}

    assert Counter(span.name for span in spans) == {"batch": 1, "job": jobs, "compress": jobs}
    assert batch.parent_id is None and all(span.trace_id == batch.id for span in spans)
    assert all(span.parent_id == batch.id for span in job.values())
    assert compress.keys() == job.keys()
    assert sorted(int(tags(span)["number"]) for span in job.values()) == list(range(jobs))
    check_local([span for span in spans if span is not batch], POOL)
    for number, span in job.items():
        child = compress[number]
        assert notes(span) == ["taken by a worker"]
        assert tags(child) == {"level": str(int(tags(span)["number"]) % 9 + 1)}
        assert batch.timestamp <= span.timestamp <= span.annotations[0].timestamp <= child.timestamp
        # times are cut to microseconds, start and duration each
        assert child.duration >= 500 and end(child) <= end(span) + 1 and end(span) <= end(batch) + 1
    # the spans of four threads overlap, or handing them over would show nothing
    starts = sorted(compress.values(), key=lambda span: span.timestamp)
    assert any(later.timestamp < end(earlier) for earlier, later in zip(starts, starts[1:]))


def check_order(number, trace):
    order, reserve, charge, bank = (trace[name] for name in ("order", "reserve", "charge", "ask the bank"))
    failed = number % 3 == 2

    assert (reserve.parent_id, charge.parent_id, bank.parent_id) == (order.id, order.id, charge.id)
    assert tags(reserve) == {"items": str(number % 4 + 1)} and notes(reserve) == ["stock locked"]
    assert notes(order) == ["sr", "ss"] and notes(bank) == ["cs", "cr"] and remote(bank) == [BANK]
    assert end(reserve) <= charge.timestamp + 1 and end(bank) <= end(charge) + 1
    if failed:
        assert tags(order) == {"number": str(number), "error": "card declined"}
        assert tags(charge) == {"price": "9.75", "error": "exception"} and notes(charge) == []
        assert tags(bank) == {"card": f"card-{number}", "error": "card declined"}
    else:
        assert tags(order) == {"number": str(number), "express": "false" if number % 2 else "true"}
        assert tags(charge) == {"price": "9.75"} and notes(charge) == ["charged"]
        assert tags(bank) == {"card": f"card-{number}"}


def test_cpp_scopes_and_exceptions(node, receiver):
    orders = 12
    printed, spans = run(node, receiver, ["examples/shop", orders], 4 * orders)
    assert printed == "8 orders carried out\n"
    check_local(spans, SHOP)
    traces = traces_of(spans, "order")
    assert traces.keys() == set(range(orders))
    for number, trace in traces.items():
        check_order(number, trace)


def check_get(number, trace):
    get, lookup, query = trace["get"], trace["lookup"], trace.get("query")
    hit, lost = number % 2 == 0, number % 6 == 5

    assert len(trace) == (2 if hit else 3)
    assert lookup.parent_id == get.id and remote(lookup) == [CACHE] and notes(lookup) == ["cs", "cr"]
    assert tags(lookup) == {"hit": "true" if hit else "false"} and lookup.duration >= 2000
    assert notes(get) == ["sr", "cache hit" if hit else "cache miss", "ss"]
    assert tags(get) == {"number": str(number), **({"error": "the database does not answer"} if lost else {})}
    if not hit:
        assert query.parent_id == get.id and remote(query) == [DATABASE] and notes(query) == ["cs", "cr"]
        assert tags(query) == ({"error": "no answer"} if lost else {"rows": "1"})
        assert query.duration >= (10000 if lost else 4000)
        assert end(lookup) <= query.timestamp + 1 and end(query) <= end(get) + 1


def test_callbacks(node, receiver):
    requests = 24
    _, spans = run(node, receiver, ["examples/events", requests], 2 * requests + requests // 2)
    check_local(spans, FRONTEND)
    traces = traces_of(spans, "get")
    assert traces.keys() == set(range(requests))
    for number, trace in traces.items():
        check_get(number, trace)
    # all requests are in progress at once, in one thread
    roots = [trace["get"] for trace in traces.values()]
    assert max(span.timestamp for span in roots) < min(map(end, roots))
