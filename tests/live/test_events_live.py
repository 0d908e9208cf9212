# SPDX-License-Identifier: BSD-2-Clause
"""Events of programs that know nothing of blkin, as JSON, beside spans of the same session; and the kernel's."""

import os
import re
import subprocess
import time

from expect import check_load
from rig.eventfiles import EventFiles
from rig.kerneltrace import KernelTrace
from rig.load import KEEP, LOAD
from rig.process import wait_until
from test_events_session import FOREIGN, TICKS, foreign, of

WRAPPER = "liblttng-ust-libc-wrapper.so.1"


def start(node, receiver, **sections):
    """Spans go to @receiver, events into files."""
    output = {"type": "file", "takes": "events", "directory": node.path("events"), "batch-delay": "50ms"}
    os.makedirs(node.path("events"), exist_ok=True)
    node.start_agent(receiver.port, session=KEEP, **{"output json": output}, **sections)
    return EventFiles(node.path("events"))


def finished(node, files, total, seconds=60):
    """All events, once the agent has stopped: so many are in files by then."""
    node.wait_for(lambda: node.ledger().json >= total, seconds, f"{total} events")
    node.wait_for(lambda: node.ledger().idle() and len(files.lines(parts=True)) >= total, seconds, "them in files")
    assert node.agent.stop() == 0
    return files.lines()


def ticks(events, name="foreign:tick"):
    return [event["payload"]["number"] for event in events if event["event"] == name]


def test_beside_spans(node, receiver):
    files = start(node, receiver, events=TICKS)
    load = node.start([node.built(LOAD), "-n", 2000, "-r", 2000])
    program = node.start([node.built(FOREIGN), 3000, 5000])
    assert load.wait(60) == 0 and program.wait(60) == 0
    receiver.wait_for(2000)
    events = finished(node, files, 6000)
    assert sorted(ticks(events)) == sorted(ticks(events, "foreign:whisper")) == list(range(3000))
    check_load(receiver.spans(), 1, 1, 2000)
    thread = int(program.log())
    assert {(event["process"]["pid"], event["process"]["tid"]) for event in events} == {(thread, thread)}
    assert {event["process"]["name"] for event in events} == {"foreign"}
    assert {event["domain"] for event in events} == {"ust"}
    texts = {event["payload"]["text"] for event in events if event["event"] == "foreign:tick"}
    assert texts == {f"tick {number}" for number in range(3000)}


FIELD = re.compile(r"(\w+) = (\w+)")


def oracle_calls(folder):
    """The calls of the program's first thread, in their order, as babeltrace2 prints them."""
    done = subprocess.run(["babeltrace2", folder], capture_output=True, text=True, check=True)
    calls = []
    for line in done.stdout.splitlines():
        head, context, payload = line.rsplit("{ ", 2)
        who = dict(FIELD.findall(context))
        if who["vpid"] == who["vtid"]:
            calls.append((head.split(": {")[0].split()[-1], {key: int(value, 0) for key, value in FIELD.findall(payload)}))
    return calls


def test_libc_wrapper_under_a_real_program(node, receiver):
    """
    What LTTng itself records of it in another session comes as JSON: each call, with the same values. While a program
    starts, sessions begin one after the other, and so they end.
    """
    files = start(node, receiver, events={"names": "lttng_ust_libc:*"})
    node.lttng("create", "oracle", "-o", node.path("oracle"))
    node.lttng("enable-event", "-u", "lttng_ust_libc:*", "-s", "oracle")
    node.lttng("add-context", "-u", "-s", "oracle", "-t", "vpid", "-t", "vtid")
    node.lttng("start", "oracle")
    load = node.start([node.built(LOAD), "-n", 1000, "-r", 1000])
    environment = dict(node.environment, LD_PRELOAD=WRAPPER, LTTNG_UST_REGISTER_TIMEOUT="-1")
    command = ["find", "/usr/share/doc", "-maxdepth", "2"]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    assert load.wait(60) == 0
    node.lttng("stop", "oracle")
    node.lttng("destroy", "oracle")
    wanted = oracle_calls(node.path("oracle"))
    receiver.wait_for(1000)
    events = finished(node, files, len(wanted))
    own = [event for event in events if event["process"]["pid"] == event["process"]["tid"]]
    own.sort(key=lambda event: event["timestamp"])
    # an address is declared as hexadecimal, and so is a string, "0x1f"
    calls = [(event["event"], {key: int(str(value), 0) for key, value in event["payload"].items()}) for event in own]
    assert any(isinstance(value, str) for event in own for value in event["payload"].values())
    assert len(wanted) > 1000
    middle = wanted[200:-200]
    begins = [at for at in range(400) if calls[at : at + 50] == middle[:50]]
    assert begins and calls[begins[0] : begins[0] + len(middle)] == middle
    check_load(receiver.spans(), 1, 1, 1000)


def test_killed_agent(node, receiver):
    """Killed again and again: each span and each event comes, once or again; what is read again is counted."""
    files = start(node, receiver, events=TICKS)
    spans = node.start([node.built(LOAD), "-n", 12000, "-r", 2000])
    program = node.start([node.built(FOREIGN), 12000, 2000])
    for _ in range(4):
        wait_until(node.collecting, 30, "the agent")
        time.sleep(0.8)
        node.agent.kill()
        node.start_agent_again()
    assert spans.wait(60) == 0 and program.wait(60) == 0
    ledger = node.wait_ledger(lambda ledger: ledger.read - ledger.again >= 36000 and ledger.idle(), 60, "all")
    assert (ledger.read - ledger.again, ledger.lost, ledger.packets_lost, ledger.sessions_lost) == (36000, 0, 0, 0)
    # the first agent wrote its books down or not, before it was killed; no other session was made
    assert ledger.sessions <= 1
    events = finished(node, files, 24000)
    assert set(ticks(events)) == set(ticks(events, "foreign:whisper")) == set(range(12000))
    assert len({span.id for span in receiver.spans()}) == 12000


def kernel_trace(count, since):
    trace = KernelTrace(time.time_ns() - time.monotonic_ns())
    for number in range(count):
        trace.event(number % 2, since + number, "syscall_exit_fsync", (7, 7, 7, 7, "fake"), ret=number)
    return trace


def returned(events):
    return sorted(event["payload"]["ret"] for event in events if event["event"] == "syscall_exit_fsync")


def test_kernel_files_of_a_kept_session(node, receiver):
    """What a session has of the kernel on disk, which nobody read live, is read from there, and once."""
    files = start(node, receiver, events=TICKS)
    foreign(node, 100)
    node.wait_ledger(lambda ledger: of(ledger) == 200, 20, "events")
    assert node.agent.stop() == 0
    (session,) = node.session_folders()
    kernel_trace(3000, time.monotonic_ns()).write_relayed(session)
    foreign(node, 100, 100)
    node.start_agent_again()
    node.wait_ledger(lambda ledger: of(ledger) == 3400, 30, "the kernel's events, too")
    node.agent.kill()
    node.start_agent_again()
    node.run([LOAD, "-n", 100])
    receiver.wait_for(100)
    events = finished(node, files, 3400)
    assert {number for number in returned(events)} == set(range(3000))
    assert sorted(set(ticks(events))) == list(range(200))
    assert {event["domain"] for event in events if event["event"].startswith("syscall")} == {"kernel"}


def test_kernel_files_go_with_their_session(node, receiver):
    start(node, receiver, events=TICKS)
    (session,) = node.session_folders()
    kernel_trace(10, time.monotonic_ns()).write_relayed(session)
    node.lttng("destroy", "blkin")
    wait_until(lambda: session not in node.session_folders(), 40, "the folder to be removed")
    node.wait_ledger(lambda ledger: of(ledger) == 10, 20, "what it had")
