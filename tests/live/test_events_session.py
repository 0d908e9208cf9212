# SPDX-License-Identifier: BSD-2-Clause
"""[events] and [kernel]: what the session has beside spans, what LTTng refuses, and who meddles with it."""

import os
import signal
import subprocess
import time

import pytest
from expect import check_load
from rig import lttng
from rig.load import KEEP, LOAD
from rig.process import Trouble, wait_until
from rig.sections import Sections
from test_reload import Reloader

FOREIGN = "tests/live/programs/foreign"
TICKS = {"names": "foreign:*"}


def foreign(node, count, first=0, rate=0):
    node.run([FOREIGN, count, rate, first])


def listed(node, text):
    """Whether LTTng says that of the session, which may be none at the moment."""
    try:
        return text in node.lttng("list", "blkin")
    except Trouble:
        return False


def of(ledger):
    """Events that are no span's: as JSON, if somebody takes them."""
    return ledger.ignored + ledger.json


def findings(node):
    return {finding["code"]: finding for finding in node.status()["findings"]}


def test_off_by_default(node, receiver):
    node.start_agent(receiver.port, session=KEEP)
    foreign(node, 100)
    node.run([LOAD, "-n", 100])
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 100, 20, "100 spans")
    assert (ledger.read, of(ledger)) == (100, 0)
    assert list(rings(node)) == ["spans"]


def rings(node):
    """The number and the size of each channel's sub-buffers, by its name."""
    found = {}
    for channel in lttng.listed(node, "blkin").iterfind(".//{*}channel"):
        of = [channel.find(f"{{*}}attributes/{{*}}subbuffer_{what}") for what in ("count", "size")]
        found[channel.find("{*}name").text] = tuple(int(it.text) for it in of)
    return found


@pytest.mark.parametrize("megabytes, spans", [(8, (16, 512)), (4, (16, 256)), (1, (8, 128))])
def test_rings(node, receiver, megabytes, spans):
    """Spans have large sub-buffers where a ring has many of them; other events' are never larger than 256 KiB."""
    cpus = os.sysconf("SC_NPROCESSORS_CONF")
    node.start_agent(receiver.port, session={"memory": f"{2 * megabytes * cpus}M"}, events=TICKS)
    node.run([LOAD, "-n", 1])
    count, size = spans
    assert rings(node) == {
        "spans": (count, size * 1024),
        "events": (megabytes * 1024 // min(size, 256), min(size, 256) * 1024),
    }


def test_beside_spans(node, receiver):
    node.start_agent(receiver.port, session=KEEP, events=TICKS)
    load = node.start([node.built(LOAD), "-n", 2000, "-r", 2000])
    foreign(node, 3000, rate=5000)
    assert load.wait(60) == 0
    ledger = node.wait_ledger(lambda ledger: ledger.read == 8000 and ledger.idle(), 30, "all to be read")
    assert (ledger.in_spans, of(ledger), ledger.sent, ledger.lost, ledger.again) == (2000, 6000, 2000, 0, 0)
    check_load(receiver.spans(), 1, 1, 2000)
    assert node.status()["events_error"] == ""


@pytest.mark.parametrize(
    "keys, count",
    [
        ({"names": "foreign:tick"}, 100),
        ({"names": "foreign:*", "level": "info"}, 100),
        ({"names": "foreign:*", "filter": "number >= 90"}, 20),
        ({"names": "foreign:*", "filter": 'text == "tick 9*"', "level": "warning"}, 11),
        ({"names": "other:*, foreign:whisper", "context": ""}, 100),
    ],
)
def test_names_level_and_filter(node, receiver, keys, count):
    node.start_agent(receiver.port, session=KEEP, events=keys)
    foreign(node, 100)
    node.run([LOAD, "-n", 10])
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 10, 20, "10 spans")
    ledger = node.wait_ledger(lambda ledger: of(ledger) == count, 20, f"{count} events")
    assert ledger.read == count + 10


def test_a_flood_of_events_takes_no_span(node, receiver):
    """While nothing leaves the rings, those of the events run over, and those of the spans do not."""
    node.start_agent(receiver.port, session=dict(KEEP, memory="4M"), events=TICKS)
    load = node.start([node.built(LOAD), "-n", 1000, "-r", 100])
    flood = node.start([node.built(FOREIGN), 400000, 50000])
    node.wait_ledger(lambda ledger: ledger.in_spans and of(ledger), 20, "both")
    node.relayd.send(signal.SIGSTOP)
    time.sleep(4)
    node.relayd.send(signal.SIGCONT)
    assert load.wait(60) == 0 and flood.wait(60) == 0
    ledger = node.wait_ledger(
        lambda ledger: ledger.read + ledger.lost == 801000 and ledger.idle(), 90, "all to be read or lost"
    )
    assert ledger.lost > 0
    assert (ledger.in_spans, of(ledger)) == (1000, 800000 - ledger.lost)
    check_load(receiver.spans(), 1, 1, 1000)


MEDDLING = [
    (["disable-channel", "-u", "-s", "blkin", "events"], "its channel of other events was disabled"),
    (["disable-event", "-u", "-s", "blkin", "-c", "events", "foreign:*"], "its other events were disabled"),
    (["disable-event", "-u", "-s", "blkin", "-c", "events", "--all-events"], "its other events were disabled"),
]


@pytest.mark.parametrize("words, what", MEDDLING, ids=[words[0] + words[-1] for words, _ in MEDDLING])
def test_meddled_with(node, receiver, words, what):
    node.start_agent(receiver.port, session=KEEP, events=dict(TICKS, filter="number >= 0"))
    foreign(node, 10)
    node.lttng(*words)
    wait_until(lambda: f"{what} externally" in node.agent.log(), 20, "the agent to see it")
    foreign(node, 10)
    ledger = node.wait_ledger(lambda ledger: of(ledger) == 40, 20, "20 more events")
    assert (ledger.sessions, ledger.sessions_lost) == (1, 0)
    assert node.metrics()["blkin_agent_sessions_mended_total"] >= 1


def test_reload_of_names_needs_no_new_session(node, receiver):
    """Another reader takes over; nothing is read twice, no span is lost, and no session is made."""
    reloader = Reloader(node, receiver.port, session=KEEP, events={"names": "foreign:tick"})
    load = node.start([node.built(LOAD), "-n", 20000, "-r", 4000])
    foreign(node, 100)
    node.wait_ledger(lambda ledger: of(ledger) == 100, 20, "ticks")
    reloader.edit("events", "names", "foreign:whisper")
    wait_until(lambda: listed(node, "foreign:whisper"), 20, "the new rule")
    wait_until(node.collecting, 20, "the next reader")
    foreign(node, 100, 100)
    node.wait_ledger(lambda ledger: of(ledger) == 200, 20, "whispers")
    reloader.edit("events", "filter", "number >= 290")
    wait_until(lambda: listed(node, "number >= 290"), 20, "the new filter")
    foreign(node, 100, 200)
    assert load.wait(60) == 0
    ledger = node.wait_ledger(lambda ledger: ledger.in_spans == 20000 and ledger.idle(), 30, "all spans")
    assert (ledger.read, of(ledger), ledger.again, ledger.lost) == (20210, 210, 0, 0)
    assert (ledger.sessions, ledger.sessions_lost) == (1, 0)
    assert node.metrics()["blkin_agent_reader_restarts_total"] == 0
    check_load(receiver.spans(), 1, 1, 20000)


def test_reload_of_level(node, receiver):
    """From all levels to the most important one, which LTTng's session daemon did not survive, and back."""
    reloader = Reloader(node, receiver.port, session=KEEP, events=dict(TICKS, level="debug"))
    program = node.start([node.built(FOREIGN), 100000, 1000])
    node.wait_ledger(lambda ledger: of(ledger) > 10, 20, "events of all levels")
    reloader.edit("events", "level", "emerg")
    wait_until(lambda: listed(node, "TRACE_EMERG"), 20, "the new rule")
    before = of(node.ledger())
    reloader.edit("events", "level", "debug")
    node.wait_ledger(lambda ledger: of(ledger) > before + 500, 20, "events of all levels again")
    node.sessiond.expect_running()
    program.stop()
    ledger = node.ledger()
    assert (ledger.sessions, ledger.sessions_lost) == (1, 0)


def test_reload_switches_events_on_and_off(node, receiver):
    """The channel can only be made with the session: a new one takes the old one's place, and no span is lost or doubled."""
    reloader = Reloader(node, receiver.port, session=KEEP, events={"names": ""})
    load = node.start([node.built(LOAD), "-n", 24000, "-r", 3000])
    node.wait_ledger(lambda ledger: ledger.in_spans > 1000, 20, "spans")
    reloader.edit("events", "names", "foreign:tick")
    wait_until(lambda: node.status()["session"] == "blkin-2", 30, "the new session")
    foreign(node, 100)
    node.wait_ledger(lambda ledger: of(ledger) == 100, 20, "ticks")
    reloader.edit("events", "names", "")
    wait_until(lambda: node.status()["session"] not in ("", "blkin-2"), 30, "another session")
    foreign(node, 100)
    assert load.wait(60) == 0
    ledger = node.wait_ledger(lambda ledger: ledger.idle() and ledger.in_spans >= 24000, 30, "all spans")
    assert (of(ledger), ledger.again, ledger.lost, ledger.packets_lost, ledger.sessions_lost) == (100, 0, 0, 0, 0)
    assert (ledger.in_spans, ledger.sessions) == (24000, 3)
    receiver.wait_for(24000)
    assert len(receiver.spans()) == 24000


def test_wrong_filter(node, receiver):
    """Found by `blkin validate`; the agent that has it all the same records spans, and says what is wrong."""
    events = dict(TICKS, filter="number = = 3")
    node.start_agent(receiver.port, session=KEEP, events=events)
    done = subprocess.run(
        [node.built("cli/blkin"), "validate", node.path("agent.conf")],
        env=node.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and "`filter` of [events]" in done.stderr + done.stdout, done
    node.run([LOAD, "-n", 100])
    foreign(node, 10)
    node.wait_ledger(lambda ledger: ledger.sent == 100, 20, "100 spans")
    found = wait_until(lambda: findings(node).get("events-filter"), 20, "the finding")
    assert "number = = 3" in found["what"] and "correct `filter`" in found["fix"]
    assert node.status()["events_error"] == found["what"]
    assert node.agent.log().count("LTTng does not understand `filter`") == 1
    assert of(node.ledger()) == 0


def test_name_that_is_refused(node, receiver):
    """LTTng keeps it to itself: the others are recorded, and the status says which one is not, until that is corrected."""
    node.start_agent(receiver.port, events={"names": "foreign:*, lttng_jul:*"})
    found = wait_until(lambda: findings(node).get("events-failed"), 15, "the finding")
    assert "`lttng_jul:*` of [events] are not recorded" in found["what"] and "correct `names`" in found["fix"]
    node.run([LOAD, "-n", 100])
    foreign(node, 10)
    ledger = node.wait_ledger(lambda ledger: (ledger.sent, of(ledger)) == (100, 20), 20, "spans and events")
    assert ledger.lost == 0 and node.collecting()
    file = Sections(node)
    file.keys["events"] = "names = foreign:*\n"
    file.hang_up()
    wait_until(lambda: "events-failed" not in findings(node), 15, "nothing to be said of it any more")


def test_counter_that_cannot_be_had(node, receiver):
    """
    LTTng takes it, and then programs that may not read it record nothing at all: so it is tried first. Where this
    machine has the counter, it is recorded.
    """
    node.start_agent(receiver.port, session=KEEP, events=dict(TICKS, context="vtid, perf:stalled-cycles-backend"))
    node.run([LOAD, "-n", 100])
    foreign(node, 100)
    node.wait_ledger(lambda ledger: ledger.sent == 100 and of(ledger) == 200, 20, "spans and events")
    found = findings(node).get("events-context")
    if found:
        assert "perf:stalled-cycles-backend" in found["what"] and "perf_event_paranoid" in found["fix"]
        assert "perf_thread_stalled_cycles_backend" not in node.lttng("list", "blkin")


def test_no_kernel_tracer(node, receiver):
    """What is usual in a container: the session daemon has none. Spans and events are recorded all the same."""
    node.start_agent(receiver.port, session=KEEP, events=TICKS, kernel={"events": "sched_switch", "syscalls": "openat"})
    node.run([LOAD, "-n", 100])
    foreign(node, 100)
    node.wait_ledger(lambda ledger: ledger.sent == 100 and of(ledger) == 200, 20, "spans and events")
    root = os.getuid() == 0
    found = wait_until(lambda: findings(node).get("kernel-missing" if root else "kernel-denied"), 20, "the finding")
    assert ("no kernel tracer" if root else "only root's can do it") in found["what"]
    assert ("lttng-modules" if root else "the system's session daemon") in found["fix"]
    assert node.status()["kernel_error"] == found["what"]
    assert node.agent.log().count("the kernel is not recorded") == 1
    # a restart keeps the session, as there still is none
    assert node.agent.stop() == 0
    node.start_agent_again()
    node.run([LOAD, "-n", 100])
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 200, 20, "100 spans more")
    assert (ledger.again, ledger.sessions, ledger.sessions_lost) == (0, 1, 0)
