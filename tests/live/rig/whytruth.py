# SPDX-License-Identifier: BSD-2-Clause
"""What a thread did, by its switches and wake-ups as babeltrace2's own bindings read them: the reference for `blkin why`."""

PREEMPTED = 0xFF  # a thread whose state has none of these bits goes away though it could go on


def states(events, tid):
    """(time, state) from each change on; of the kernel's events in order of time."""
    state = None
    for event in events:
        payload, before = event["payload"], state
        if event["event"] == "sched_switch" and payload["prev_tid"] == tid:
            reason = payload["prev_state"]
            reason = reason["value"] if isinstance(reason, dict) else reason
            state = "waiting" if reason & PREEMPTED else "runnable"
        elif event["event"] == "sched_switch" and payload["next_tid"] == tid:
            state = "running"
        elif event["event"] in ("sched_waking", "sched_wakeup") and payload["tid"] == tid and state == "waiting":
            state = "runnable"
        elif state is None and event["process"].get("tid") == tid:
            state = "running"
        if state != before:
            yield event["timestamp"], state


def truth(events, tid, start, end):
    """How long the thread ran, was runnable, and waited."""
    kernel = sorted((event for event in events if event["domain"] == "kernel"), key=lambda event: event["timestamp"])
    changes = list(states(kernel, tid)) + [(kernel[-1]["timestamp"], None)]
    sums = {"running": 0, "runnable": 0, "waiting": 0}
    for (begin, state), (until, _) in zip(changes, changes[1:]):
        sums[state] += max(0, min(until, end) - max(begin, start))
    return sums


def told(line):
    """The same of what the command says."""
    parts = line["parts_ns"]
    return {
        "running": parts["cpu"] + parts["interrupted"],
        "runnable": parts["runnable"],
        "waiting": sum(parts[part] for part in ("disk", "lock", "network", "sleep", "page_fault", "other")),
    }


def agrees(events, line):
    """The command's line of a span, whose event is among @events, says the same as the reference."""
    spans = [event for event in events if event["event"].startswith("blkin:span2")]
    (end,) = [event["timestamp"] for event in spans if line["span"]["id"] in event["payload"]["text"]]
    assert line["duration_ns"] == sum(line["parts_ns"].values())
    assert told(line) == truth(events, line["tid"], end - line["duration_ns"], end)
