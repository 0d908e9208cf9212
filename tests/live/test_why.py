# SPDX-License-Identifier: BSD-2-Clause
"""`blkin why`: where a span's time went, to the nanosecond, out of traces of which it is known."""

import datetime
import json
import os
import random
import shutil
import struct
import subprocess

import pytest
from rig import bt2json
from rig.kerneltrace import INT, EVENTS, LONG, SECTOR, KernelTrace, SpanTrace
from rig.node import TOP, build_dir
from rig.process import NO_OVERRIDE
from rig.whystory import IDLE, INTERRUPTIBLE, UNINTERRUPTIBLE, Story, expect, found
from rig.whytruth import agrees

RECORDED = os.path.join(TOP, "tests/fixtures/why-6.1")
BLKIN = os.path.join(build_dir(), "cli/blkin")
OFFSET = 1_700_000_000_000_000_000
MS = 1_000_000
T0 = 50_000 * MS
THREAD = (4300, 4311, 4300, 4311, "worker")
HOG, SECOND = (900, 901, 900, 901, "hog"), (900, 902, 900, 902, "second hog")
HOLDER = (4300, 4312, 4300, 4312, "holder")
TRACE, SPAN = 0x60609AEF70AF5592, 0x1F2E3D4C5B6A7988


def run_why(*words, code=0):
    done = subprocess.run(
        [BLKIN, "why", *map(str, words)], capture_output=True, text=True, timeout=300, check=False,
        env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **{key: value for key, value in os.environ.items() if "SAN_OPTIONS" in key}})
    assert done.returncode == code, (done.stdout[-3000:], done.stderr[-3000:])
    return done


def ask(folder, number=TRACE):
    return [json.loads(line) for line in run_why("--json", f"{number:x}", folder).stdout.splitlines()]


class Made:
    """A kernel's trace, and that of the spans."""

    def __init__(self, path, **options):
        self.path = str(path)
        self.kernel = KernelTrace(OFFSET, **options)
        self.spans = SpanTrace(self.kernel)

    def story(self, thread=THREAD, time=T0 - MS):
        return Story(self.kernel, thread, time)

    def span(self, start, end, number=SPAN, thread=THREAD, **more):
        self.spans.span(thread, more.pop("trace", TRACE), number, start, end, **more)

    def write(self):
        self.kernel.write(self.path + "/kernel")
        self.spans.write(self.path + "/ust")
        return self.path


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path / "traces")


CALLS = {"lock": ["futex"], "network": ["recvfrom", "poll", "read"], "sleep": ["nanosleep"], "disk": ["fsync", "pread64"],
         "other": ["wait4"]}  # fmt: skip


def any_phase(story, chance):
    kind = chance.choice(["run", "preempted", "interrupted", "lock", "network", "disk", "other", "fault", "calls"])
    time = chance.randrange(1000, 3 * MS)
    if kind == "run":
        story.run(time)
    elif kind == "preempted":
        story.preempted(*[(chance.choice([HOG, SECOND]), chance.randrange(1, MS)) for _ in range(chance.randrange(1, 4))])
    elif kind == "interrupted":
        story.interrupted(time)
    elif kind == "calls":
        for _ in range(chance.randrange(1, 20)):
            story.enter(chance.choice(["getpid", "write", "mmap"]))
            story.run(chance.randrange(1, 1000))
            story.leave()
    elif kind == "fault":
        story.fault()
        story.wait(time, "page_fault", UNINTERRUPTIBLE, latency=chance.randrange(0, 5000), irq=(44, "disk"), disk=True)
    else:
        story.enter(chance.choice(CALLS[kind]))
        story.run(chance.randrange(1, 9000))
        how = {"irq": (44, "disk"), "disk": True, "state": UNINTERRUPTIBLE} if kind == "disk" else {"waker": HOLDER}
        story.wait(
            time, kind, latency=chance.choice([0, 700, MS]), cpu=chance.randrange(2), meanwhile=chance.choice([IDLE, HOG]), **how)
        story.run(chance.randrange(1, 9000))
        story.leave()


@pytest.mark.parametrize("seed", range(6))
def test_exact(made, seed):
    """Anything that a thread may do, in spans that begin and end anywhere, one in another or side by side."""
    chance = random.Random(seed)
    story = made.story()
    while len(story.pieces) < 200:
        any_phase(story, chance)
    story.end()
    for cpu in made.kernel.cpus:
        made.kernel.event(cpu, story.time + 1, "sched_switch", HOG)  # none is silent
    wanted = {}
    ran = [(begin, until) for begin, until, part, _, _ in story.pieces if part in ("cpu", "interrupted")]
    for number in range(1, 30):
        start, end = sorted(chance.randrange(T0, story.time) for _ in range(2))
        if number == 1:
            start, end = T0, story.time
        # it ends anywhere, and is recorded when the thread runs next
        recorded = min([max(begin, end) for begin, until in ran if until >= end] or [story.time])
        made.span(start, recorded, number, parent=number // 2, finish=end)
        wanted[number] = (start, end)
    lines = {int(line["span"]["id"], 16): line for line in ask(made.write())}
    assert len(lines) == len(wanted)
    for number, (start, end) in wanted.items():
        line = lines[number]
        assert line["duration_ns"] == end - start == sum(line["parts_ns"].values())
        assert (line["pid"], line["tid"], line["missing"]) == (4300, 4311, [])
        assert found(line) == expect(story.pieces, start, end), number


def lock_story(made):
    story = made.story()
    story.run(5 * MS)
    story.enter("futex")
    story.run(MS)
    story.wait(80 * MS, "lock", waker=HOLDER, latency=2 * MS)
    story.leave()
    story.preempted((HOG, 3 * MS), (SECOND, MS))
    story.run(4 * MS)
    story.end()
    made.span(T0, story.time, SPAN, name="put object")
    return story


def test_text(made):
    """The cause first, in a sentence; then the parts; all of it on a screen."""
    lock_story(made)
    said = run_why(f"{TRACE:x}", made.write()).stdout
    lines = said.splitlines()
    assert lines[0] == "`put object` of made: mostly waiting for a lock: futex, 80 ms of 95 ms; woken by holder (4312)".replace(
        "80 ms", "80.0 ms").replace("95 ms", "95.0 ms")
    rows = {line[2:15].strip(): line[15:].split() for line in lines if line.startswith("  ") and "%" in line}
    assert {label: row[:3] for label, row in rows.items()} == {
        "running": ["9.00", "ms", "9"], "runnable": ["6.00", "ms", "6"], "lock": ["80.0", "ms", "84"],
    }
    assert "there ran hog (901) 3.00 ms; nobody 2.00 ms; second hog (902) 1.00 ms" in " ".join(said.split())
    assert "system calls" in said and "futex 83.0 ms" in said
    assert len(lines) < 24 and max(map(len, lines)) <= 100
    # the span, by its own id, and a tree
    assert run_why(f"{SPAN:x}", made.path).stdout == said


def test_the_one_to_look_at(made):
    """Of a trace the span that has most of the time itself comes first, and all are there."""
    lock_story(made)
    made.span(T0 - MS // 2, T0 + 300 * MS, 5, thread=HOG, name="all")
    made.spans.cpus[0][0][3]["text"] = made.spans.cpus[0][0][3]["text"].replace("0" * 16 + " ", f"{5:016x} ", 1)
    said = run_why(f"{TRACE:x}", made.write()).stdout.splitlines()
    assert said[0].startswith("`all` of made: not known: ")
    (line,) = [line for line in said if line.startswith(f"  {SPAN:016x}    put object, made")]
    assert line.endswith("  lock 80.0 ms, futex")


def test_tree(made):
    """Each span once, below its parent, also where parents go round in circles."""
    lock_story(made)
    for number, parent in (0xA, 0), (0xB, 0), (0xC, 0xA), (0xD, 0xB), (0xE, 0xA), (0x21, 0x22), (0x22, 0x21), (0x23, 0x23):
        made.span(T0 + number * 1000, T0 + number * 1000 + MS, number, parent=parent, name=f"{number:x}")
    said = run_why(f"{TRACE:x}", made.write()).stdout
    lines = [(int(line[2:18], 16), len(line[20:]) - len(line[20:].lstrip())) for line in said.splitlines()[3:]
             if line.startswith("  00000000000000")]  # fmt: skip
    assert lines == [(0xA, 0), (0xC, 2), (0xE, 2), (0xB, 0), (0xD, 2), (0x23, 0), (0x21, 0), (0x22, 2)]


def test_finished_earlier(made):
    """A span that tells its own end has that one."""
    story = lock_story(made)
    made.span(T0, story.time, 9, finish=T0 + 10 * MS, trace=9)
    (line,) = ask(made.write(), 9)
    assert line["duration_ns"] == 10 * MS
    assert found(line) == expect(story.pieces, T0, T0 + 10 * MS)


@pytest.mark.parametrize("namesake", [False, True])
def test_container(tmp_path, namesake):
    """A thread that has other numbers outside; and if another container has those inside, too, nothing is said."""
    made = Made(tmp_path / "traces")
    inside = (10_300, 10_311, 300, 311, "worker")
    story = made.story(inside)
    made.kernel.event(3, T0, "syscall_entry_getpid", (311, 311, 311, 311, "stranger"))
    if namesake:
        made.kernel.event(3, T0 + 1, "syscall_entry_getpid", (20_300, 20_311, 300, 311, "worker"))
    for _ in range(5):
        any_phase(story, random.Random(3))
    story.end()
    made.span(T0, story.time, thread=inside, cpu=story.cpu)
    (line,) = ask(made.write())
    if namesake:
        assert set(found(line)["parts"]) == {"unknown"} and "threads of several containers" in line["cause"]
    else:
        assert found(line) == expect(story.pieces, T0, story.time)


def without(made, *names):
    for cpu, events in made.kernel.cpus.items():
        made.kernel.cpus[cpu] = [event for event in events if not event[1].startswith(names)]


def test_without_wake_ups(made):
    """A wait then lasts until the thread runs, and nobody is named."""
    story = lock_story(made)
    without(made, "sched_wak")
    (line,) = ask(made.write())
    assert found(line)["parts"] == {"cpu": 9 * MS, "lock": 82 * MS, "runnable": 4 * MS}
    assert line["waits"][0]["woken_by"] == {"kind": "unknown"}
    assert any("No sched_waking is recorded" in sentence for sentence in line["missing"])
    assert sum(line["parts_ns"].values()) == story.time - T0


def woken(made):
    """A story in which the thread, which was on processor 0, is woken after 10 ms; others run there and on processor 1."""
    story = made.story()
    story.enter("futex")
    story.switch(THREAD, HOG, INTERRUPTIBLE)
    story.switch(IDLE, HOLDER, 0, 7)
    story.switch(IDLE, SECOND, 0, 1)
    story.time = T0 + 10 * MS
    story.log("sched_waking", HOLDER, 7, tid=THREAD[1], target_cpu=0)
    return story


@pytest.mark.parametrize("after", [0, MS])
@pytest.mark.parametrize("told", [None, "sched_wakeup", "sched_migrate_task"])
def test_queued_elsewhere(made, told, after):
    """
    sched_waking says where the thread was, and the kernel may take another processor for it: who runs there is known by another
    event alone, from then on; who runs where it is not, is not named.
    """
    story = woken(made)
    story.time += after
    if told:
        story.log(told, HOLDER, 7, tid=THREAD[1], target_cpu=1, dest_cpu=1)
    story.time += 4 * MS
    story.switch(SECOND, THREAD, 0, 1)
    story.cpu = 1
    story.run(MS)
    story.leave()
    made.span(T0, story.time, cpu=1)
    story.end()
    (line,) = ask(made.write())
    assert found(line)["parts"] == {"lock": 10 * MS, "runnable": 4 * MS + after, "cpu": MS}
    unknown = after if told else 4 * MS + after
    runners = {("unknown", None, None): unknown, ("thread", 902, "second hog"): 4 * MS + after - unknown}
    assert found(line)["runners"] == {whom: time for whom, time in runners.items() if time}


@pytest.mark.parametrize("told", [None, "sched_wakeup"])
def test_queued_and_moved(made, told):
    """Once it is known to be queued there, who runs there is named until it is moved away; and then who runs where it is moved to."""
    story = woken(made)
    if told:
        story.log(told, HOLDER, 7, tid=THREAD[1], target_cpu=0)
    for dest, time in (1, 2 * MS), (0, 3 * MS), (1, 4 * MS):
        story.time += time
        story.log("sched_migrate_task", HOLDER, 7, tid=THREAD[1], dest_cpu=dest)
    story.time += MS
    story.switch(SECOND, THREAD, 0, 1)
    story.cpu = 1
    story.run(MS)
    story.leave()
    made.span(T0, story.time, cpu=1)
    story.end()
    (line,) = ask(made.write())
    assert found(line)["parts"] == {"lock": 10 * MS, "runnable": 10 * MS, "cpu": MS}
    hog, second = ("thread", 901, "hog"), ("thread", 902, "second hog")
    assert found(line)["runners"] == (
        {hog: 6 * MS, second: 4 * MS} if told else {("unknown", None, None): 2 * MS, hog: 4 * MS, second: 4 * MS})


def test_without_system_calls(made):
    lock_story(made)
    without(made, "syscall_")
    (line,) = ask(made.write())
    assert found(line)["parts"] == {"cpu": 9 * MS, "other": 80 * MS, "runnable": 6 * MS} and line["syscalls"] == []
    assert any("Set `syscalls = *`" in sentence for sentence in line["missing"])


def test_without_switches(made):
    """Only the system calls can be told."""
    lock_story(made)
    without(made, "sched_switch")
    (line,) = ask(made.write())
    assert found(line)["parts"] == {"unknown": 95 * MS}
    assert [(call["name"], call["ns"]) for call in line["syscalls"]] == [("futex", 83 * MS)]
    said = run_why(f"{TRACE:x}", made.path).stdout
    assert "not known: no sched_switch is recorded" in said.splitlines()[0]
    assert "put into [kernel] `events = sched_switch, sched_waking, block_rq_*" in said.replace("\n", " ")


def test_without_a_kernel(made):
    made.span(T0, T0 + MS)
    made.spans.write(made.path + "/ust")
    said = run_why(f"{TRACE:x}", made.path).stdout
    assert "not known" in said.splitlines()[0] and "There is no event of the kernel here" in said.replace("\n", " ")
    assert "or name the folder of the kernel's part, too" in said.replace("\n", " ")


def test_the_kernel_of_another_time(made):
    """No event is of the span's time: when they were is said."""
    story = lock_story(made)
    made.spans.span(THREAD, 9, 9, story.time + 1000 * MS, story.time + 1001 * MS)
    (line,) = ask(made.write(), 9)
    assert found(line)["parts"] == {"unknown": MS}
    first, last = (
        f"{datetime.datetime.fromtimestamp(time // 10**9, datetime.timezone.utc):%Y-%m-%dT%H:%M:%S}.{time % 10**9 // 1000:06}Z"
        for time in (OFFSET + T0 - MS, OFFSET + story.time))
    assert line["missing"][0].endswith(f"the kernel's events are from {first} to {last}.")


@pytest.mark.parametrize("where", ["metadata", "channel0_0"])
def test_a_damaged_kernel(made, where):
    """It is there, but cannot be read: more need not be recorded."""
    lock_story(made)
    with open(f"{made.write()}/kernel/{where}", "r+b") as file:
        file.write(b"\xff" * 50)
    for words in [], ["--json"]:
        done = run_why(f"{TRACE:x}", *words, made.path, code=1)
        said = done.stdout.replace("\n", " ")
        assert "The kernel's trace could not be read" in said and "put into [kernel]" not in said
        assert "/kernel: skipped, as babeltrace2 cannot read it" in done.stderr


def test_plain_characters(made):
    """Where the locale has ASCII alone."""
    lock_story(made)
    done = subprocess.run(
        [BLKIN, "why", f"{TRACE:x}", made.write()], capture_output=True, text=True, timeout=60, check=True,
        env={**os.environ, "LC_ALL": "C"})
    assert done.stdout.isascii() and "?" not in done.stdout and done.stdout.endswith("futex 83.0 ms\n")


def test_without_threads(made):
    """A session of spans alone has no context."""
    story = lock_story(made)
    made.spans = SpanTrace(made.kernel, thread=False)
    made.span(T0, story.time)
    (line,) = ask(made.write())
    assert found(line)["parts"] == {"unknown": 95 * MS} and "context vtid" in line["cause"]


def test_without_block_events(made):
    """What cannot be interrupted may be the disk; that this is not known is said. With them, it is another thing."""
    for recorded in False, True:
        made = Made(f"{made.path}-{recorded}")
        story = made.story()
        story.enter("fsync")
        story.wait(5 * MS, "disk", UNINTERRUPTIBLE, waker=HOLDER)
        story.leave()
        if recorded:
            story.log("block_rq_complete", HOG, 3)
        story.end()
        made.span(T0, story.time)
        (line,) = ask(made.write())
        assert found(line)["parts"]["other" if recorded else "disk"] == 4 * MS
        assert any("block_rq_complete" in sentence for sentence in line["missing"]) != recorded


@pytest.mark.parametrize("all_calls", [True, False])
def test_page_faults_that_are_not_recorded(made, all_calls):
    """Where every system call is, a thread that is in none, and cannot be interrupted, waits for a page."""
    for number in range(200 if all_calls else 100):
        for event in f"syscall_entry_call{number}", f"syscall_exit_call{number}":
            made.kernel.events[event] = []
            made.kernel.numbers[event] = len(made.kernel.numbers)
    story = made.story()
    story.enter("mmap")
    story.run(MS)
    story.leave()
    story.run(MS)
    story.wait(5 * MS, "page_fault", UNINTERRUPTIBLE, irq=(44, "disk"), disk=True)
    story.run(MS)
    story.end()
    made.span(T0, story.time)
    (line,) = ask(made.write())
    assert found(line)["parts"] == {"cpu": 2 * MS, "runnable": 1, "page_fault" if all_calls else "disk": 5 * MS}
    assert any("whether it was in another one" in sentence for sentence in line["missing"]) != all_calls


def test_page_faults_of_functions(made):
    """From the call to the return, also within a system call; behind it the thread waits for something else."""
    for function in "filemap_fault", "do_swap_page":
        for event in f"{function}_entry", f"{function}_exit":
            made.kernel.events[event] = []
            made.kernel.numbers[event] = len(made.kernel.numbers)
    story = made.story()
    story.run(MS)
    story.log("filemap_fault_entry")
    for _ in range(2):
        story.wait(5 * MS, "page_fault", UNINTERRUPTIBLE, irq=(44, "disk"), disk=True)
        story.run(MS)
    story.log("filemap_fault_exit")
    story.wait(7 * MS, "disk", UNINTERRUPTIBLE, irq=(44, "disk"), disk=True)
    story.enter("write")
    story.log("do_swap_page_entry")
    story.wait(4 * MS, "page_fault", UNINTERRUPTIBLE, irq=(44, "disk"), disk=True)
    story.log("do_swap_page_exit")
    story.wait(3 * MS, "disk", UNINTERRUPTIBLE, irq=(44, "disk"), disk=True)
    story.leave()
    story.end()
    made.span(T0, story.time)
    (line,) = ask(made.write())
    assert found(line) == expect(story.pieces, T0, story.time)


def test_sleep(made):
    """Who sleeps is woken by a timer, though it interrupts somebody."""
    for recorded in False, True:
        made = Made(f"{made.path}-{recorded}")
        story = made.story()
        story.enter("nanosleep")
        story.switch(THREAD, IDLE, INTERRUPTIBLE)
        story.switch(IDLE, HOG, 0, 5)
        story.time += 9 * MS
        if recorded:
            story.log("timer_hrtimer_expire_entry", HOG, 5)
        story.log("sched_waking", HOG, 5, tid=THREAD[1], target_cpu=0)
        if recorded:
            story.log("timer_hrtimer_expire_exit", HOG, 5)
        story.time += 1
        story.switch(IDLE, THREAD, 0)
        story.leave()
        story.end()
        made.span(T0, story.time)
        (line,) = ask(made.write())
        assert found(line)["parts"] == {"sleep": 8 * MS, "runnable": 1}
        assert line["waits"][0]["woken_by"] == {"kind": "timer" if recorded else "unknown"}


def test_discarded(made):
    """Around events that the tracer has discarded, nothing is known; and that is said."""
    story = made.story()
    made.kernel.lose(0, T0, 0)
    story.run(3 * MS)
    before = story.time
    story.enter("getpid")
    story.run(MS)
    story.leave()
    until = story.time
    story.run(5 * MS)
    made.kernel.lose(0, story.time, 77)
    story.enter("getpid")
    after = story.time
    story.run(MS)
    story.leave()
    story.run(2 * MS)
    story.end()
    made.span(T0, story.time)
    (line,) = ask(made.write())
    assert found(line)["parts"] == {"cpu": until - T0 + story.time - after, "unknown": after - until}
    assert any(sentence.startswith("77 events were discarded") for sentence in line["missing"])
    assert before < until


def test_discarded_in_a_wait(made):
    """It waits for a lock when the ring buffer is full; what it waits for when events come again is not known."""
    story = made.story()
    made.kernel.lose(0, T0, 0)
    story.run(3 * MS)
    story.enter("futex")
    story.run(MS)
    story.switch(THREAD, IDLE, INTERRUPTIBLE)
    gone = story.time
    story.time += 80 * MS
    made.kernel.lose(0, story.time, 1)
    story.log("sched_waking", HOG, 0, tid=THREAD[1], target_cpu=0)
    story.time += MS
    story.switch(IDLE, THREAD, 0)
    back = story.time
    story.run(2 * MS)
    made.span(T0, story.time)
    story.end()
    (line,) = ask(made.write())
    assert found(line)["parts"] == {"cpu": gone - T0 + 2 * MS, "unknown": back - gone}
    assert line["missing"][-1].startswith("1 event was discarded")


@pytest.mark.parametrize("woken", ["within", "behind"])
def test_discarded_on_another_processor(made, woken):
    """Meanwhile the thread may have been there, between two events of where it was."""
    made.kernel.event(0, T0 - MS, "syscall_entry_getpid", HOG)
    made.kernel.lose(0, T0, 0)
    story = made.story(time=T0)
    story.switch(THREAD, IDLE, 256)
    story.time += MS
    lost = T0 + 40 * MS if woken == "within" else T0 + 20 * MS
    made.kernel.event(0, lost, "sched_switch", IDLE, next_tid=HOG[1])
    made.kernel.lose(0, lost, 77)
    story.cpu = 1
    story.switch(IDLE, THREAD, 0)
    story.enter("futex")
    story.run(5 * MS)
    story.switch(THREAD, IDLE, INTERRUPTIBLE)
    gone = story.time
    story.time = T0 + 30 * MS
    story.log("sched_waking", HOG, 2, tid=THREAD[1], target_cpu=1)
    story.time += MS
    story.switch(IDLE, THREAD, 0)
    back = story.time
    story.run(15 * MS)
    made.span(T0, story.time, cpu=1)
    story.end()
    (line,) = ask(made.write())
    assert found(line)["parts"] == {"cpu": 5 * MS + 15 * MS, "unknown": MS + back - gone}


def test_discarded_long_ago(made):
    """A trace that begins in the middle has a sum of before, which says nothing of its time."""
    made.kernel.lose(0, T0 - 10 * MS, 77)
    made.kernel.event(0, T0 - 10 * MS, "syscall_entry_getpid", HOG)
    made.kernel.lose(0, T0 - 5 * MS, 0)
    made.kernel.event(0, T0 - 5 * MS, "syscall_entry_getpid", HOG)
    story = lock_story(made)
    (line,) = ask(made.write())
    assert found(line) == expect(story.pieces, T0, story.time) and line["missing"] == []


@pytest.mark.parametrize("gone", [1, 2])
def test_packets_are_missing(made, gone):
    """As where a ring buffer, or a file, is overwritten: that is said, too, and how many."""
    story = made.story()
    story.run(3 * MS)
    until = story.time
    for _ in range(gone):
        story.log("syscall_entry_getpid")
        story.run(2 * MS)
        made.kernel.lose(0, story.time - 2 * MS, 0)
    made.kernel.lose(0, story.time, 0)
    story.log("syscall_entry_getpid")
    after = story.time
    story.run(2 * MS)
    story.end()
    made.span(T0, story.time)
    whole = made.kernel.packets_of
    made.kernel.packets_of = lambda cpu: whole(cpu)[:1] + whole(cpu)[1 + gone:]
    (line,) = ask(made.write())
    # of the thread's coming alone nothing tells that it runs until then
    assert found(line)["parts"] == {"cpu": 2 * MS, "unknown": after - T0} and until < after
    sentence = "1 packet of events is missing" if gone == 1 else "2 packets of events are missing"
    assert line["missing"][-1].startswith(sentence)


def test_a_program_discards(made):
    """What a program's ring buffer had no room for says nothing of what the kernel did."""
    story = made.story()
    story.run(3 * MS)
    story.enter("futex")
    story.wait(4 * MS, "lock", waker=HOLDER)
    story.leave()
    middle = story.time
    story.run(5 * MS)
    story.end()
    made.span(T0, T0 + MS, SPAN + 1)
    made.spans.lose(0, middle + MS, 77)
    made.span(T0, middle + 2 * MS, SPAN + 2)
    made.span(T0, story.time)
    for line in ask(made.write()):
        assert line["missing"] == [] and "unknown" not in found(line)["parts"]


def test_before_and_behind(made):
    """Before the first event of a thread, and behind the last one of all, nothing is known."""
    story = made.story(time=T0 + 5 * MS)
    story.run(3 * MS)
    story.end()
    story.time += MS
    made.kernel.event(0, story.time, "sched_switch", IDLE, next_tid=HOG[1])
    made.span(T0, T0 + 20 * MS)
    (line,) = ask(made.write())
    assert found(line)["parts"] == {"unknown": 17 * MS, "cpu": 3 * MS}


@pytest.mark.parametrize("how", ["missing", "empty", "later"])
def test_one_processor_is_silent(made, how):
    """The thread goes on where nothing was recorded: that it waits all the time is not said."""
    story = made.story()
    story.run(2 * MS)
    story.switch(THREAD, HOG, INTERRUPTIBLE)
    story.time += MS
    story.log("sched_waking", HOG, 0, tid=THREAD[1], target_cpu=1)
    story.time += 3 * MS
    for _ in range(3):
        story.switch(HOG, SECOND, 0)
        story.time += MS
        story.switch(SECOND, HOG, 0)
        story.log("sched_waking", HOG, 0, tid=77, target_cpu=1)
    if how == "later":
        made.kernel.event(1, story.time + 9 * MS, "sched_switch", IDLE, next_tid=HOG[1])
    made.spans.span(THREAD, TRACE, SPAN, T0, story.time - 1, cpu=1)
    made.write()
    if how == "empty":
        open(made.path + "/kernel/channel0_1", "wb").close()
    (line,) = ask(made.path)
    assert found(line)["parts"] == {"cpu": MS, "other": MS, "unknown": 6 * MS - 1}
    assert line["missing"][-1].startswith("CPU 1 has no kernel events for that time")


def test_begun_on_a_silent_processor(made):
    """Where the thread was at first nothing was recorded, and where it is later, all is."""
    story = made.story()
    story.switch(THREAD, IDLE, INTERRUPTIBLE)
    story.time = T0 + 5 * MS
    story.log("sched_waking", HOG, 0, tid=THREAD[1], target_cpu=0)
    story.time += MS
    story.switch(IDLE, THREAD, 0)
    story.run(2 * MS)
    made.span(T0, story.time)
    made.spans.span(THREAD, TRACE, 5, T0, T0 + MS, cpu=1)
    story.end()
    lines = {int(line["span"]["id"], 16): line for line in ask(made.write())}
    assert found(lines[SPAN])["parts"] == {"unknown": 5 * MS, "runnable": MS, "cpu": 2 * MS}
    assert found(lines[5])["parts"] == {"unknown": MS}
    assert lines[SPAN]["missing"][-1].startswith("CPU 1 has no kernel events for that time")


def test_woken_twice(made):
    """It cannot be but that it ran in between, on a processor of which there are no events."""
    story = made.story()
    story.run(2 * MS)
    story.switch(THREAD, IDLE, INTERRUPTIBLE)
    for target in 1, 0:
        story.time += 3 * MS
        story.log("sched_waking", HOG, 7, tid=THREAD[1], target_cpu=target)
        story.log("sched_wakeup", HOG, 7, tid=THREAD[1], target_cpu=target)
    story.time += MS
    story.switch(IDLE, THREAD, 0)
    story.run(2 * MS)
    made.span(T0, story.time)
    story.end()
    (line,) = ask(made.write())
    assert found(line)["parts"] == {"cpu": MS + 2 * MS, "other": 3 * MS, "unknown": 3 * MS, "runnable": MS}
    assert line["missing"][-1].startswith("By the kernel's events a thread did not run when it recorded its span, or was woken twice")


def test_back_after_a_silent_processor(made):
    """From its next event on, what the thread does is known again; where all processors are there, that some are missing is said."""
    story = made.story()
    story.run(2 * MS)
    story.switch(THREAD, HOG, 256)
    story.time += 4 * MS
    made.span(T0 + 3 * MS, story.time, 5)
    story.time += MS
    story.switch(HOG, THREAD, INTERRUPTIBLE)
    story.run(2 * MS)
    made.span(T0, story.time, 6)
    story.end()
    inner, outer = sorted(ask(made.write()), key=lambda line: line["span"]["id"])
    assert found(inner)["parts"] == {"unknown": 2 * MS}
    assert found(outer)["parts"] == {"cpu": 3 * MS, "unknown": 5 * MS}
    assert outer["missing"][-1].startswith("By the kernel's events a thread did not run when it recorded its span")


def test_inconsistent(made):
    """A thread that goes away where it had not come: what was in between is not invented."""
    story = made.story()
    story.run(2 * MS)
    story.switch(THREAD, HOG, 1)
    story.time += 5 * MS  # it came back, unseen
    story.log("syscall_entry_getpid")
    story.time += MS
    story.switch(THREAD, HOG, 1)
    story.time += 5 * MS
    story.switch(HOG, SECOND, 0)  # fine
    story.switch(SECOND, THREAD, 0)
    story.time += MS
    story.log("syscall_entry_getpid", HOG)  # somebody else is there
    story.time += MS
    story.switch(THREAD, HOG, 1)
    story.time += MS
    story.log("syscall_entry_getpid", HOG)
    made.span(T0, story.time)
    (line,) = ask(made.write())
    # and it goes away before it records its span
    assert found(line)["parts"] == {"cpu": MS + MS, "unknown": 5 * MS + 2 * MS + MS, "other": 5 * MS}


def test_two_kernels(made):
    """Threads of two hosts have the same numbers."""
    lock_story(made)
    other = KernelTrace(OFFSET, host="other")
    other.boot = made.kernel.boot
    other.event(0, T0 + MS, "sched_switch", THREAD, prev_tid=4311, next_tid=0)
    other.write(made.write() + "/other")
    (line,) = ask(made.path)
    assert found(line)["parts"] == {"unknown": 95 * MS}
    assert "name the traces of one host" in line["missing"][0]


@pytest.mark.parametrize("host", ["node", "other"])
@pytest.mark.parametrize("alone", [True, False])
def test_the_kernel_of_another_clock(made, host, alone):
    """Of another host, or of another boot: it tells nothing of these threads."""
    story = lock_story(made)
    other = KernelTrace(OFFSET, host=host)
    other.cpus = made.kernel.cpus
    other.events, other.numbers = made.kernel.events, made.kernel.numbers
    other.write(made.path + "/other")
    if alone:
        made.spans.write(made.path + "/ust")
    else:
        # and another host's programs, which have none of the spans
        strangers = SpanTrace(other)
        strangers.span(HOG, 1, 2, T0, T0 + MS)
        strangers.write(made.write() + "/strangers")
    (line,) = ask(made.path)
    assert line["missing"][0].startswith(f"The kernel's trace of {host} is not used")
    if alone:
        assert found(line)["parts"] == {"unknown": 95 * MS} and len(line["missing"]) == 1
        assert "no event of its kernel" in line["cause"]
    else:
        assert found(line) == expect(story.pieces, T0, story.time)


@pytest.mark.parametrize("step", [3_600 * 1000 * MS, -2 * MS])
def test_the_wall_clock_was_set(made, step):
    """Between the two sessions: the clock that they share goes on."""
    story = lock_story(made)
    made.spans.offset += step
    (line,) = ask(made.write())
    assert found(line) == expect(story.pieces, T0, story.time) and line["missing"] == []
    done = subprocess.run(
        [BLKIN, "import", "--around", f"{TRACE:x}", "--json", made.path], capture_output=True, text=True, timeout=60, check=True)
    names = [event["event"] for event in json.loads(done.stdout)["events"]]
    assert names.count("syscall_entry_futex") == 1 and names.count("sched_switch") > 3


@pytest.mark.parametrize("how", ["copy", "overlap"])
def test_the_same_twice(made, how):
    """A folder and its copy; two sessions, the second of which began later, and has no contexts."""
    chance = random.Random(7)
    story = made.story()
    while len(story.pieces) < 100:
        any_phase(story, chance)
    story.end()
    made.span(T0, story.time)
    made.write()
    if how == "copy":
        shutil.copytree(made.path, made.path + "/copy")
    else:
        other = KernelTrace(OFFSET + 5000, context=False)
        other.boot, other.events, other.numbers = made.kernel.boot, made.kernel.events, made.kernel.numbers
        half = (T0 + story.time) // 2
        other.cpus = {cpu: [event for event in events if event[0] > half] for cpu, events in made.kernel.cpus.items()}
        other.cpus = {cpu: events for cpu, events in other.cpus.items() if events}
        other.write(made.path + "/other")
    (line,) = ask(made.path)
    assert found(line) == expect(story.pieces, T0, story.time) and line["missing"] == []


def test_spans_of_two_hosts(made):
    """With the kernel of one of them; a span of that one alone can be told."""
    story = lock_story(made)
    strangers = SpanTrace(KernelTrace(OFFSET, host="other"))
    strangers.span(THREAD, TRACE, 7, T0, T0 + MS)
    strangers.write(made.write() + "/strangers")
    for line in ask(made.path):
        assert set(found(line)["parts"]) == {"unknown"} and "of several hosts" in line["missing"][0]
    (line,) = ask(made.path, SPAN)
    assert found(line) == expect(story.pieces, T0, story.time) and line["missing"] == []
    (line,) = ask(made.path, 7)
    assert found(line)["parts"] == {"unknown": MS} and "kernel's trace of node is not used" in line["missing"][0]


def test_switches_alone_tell_threads(tmp_path):
    """Of a trace without contexts, who runs on a processor is known from its switches."""
    made = Made(tmp_path / "traces", context=False)
    made.spans = SpanTrace(made.kernel)
    story = lock_story(made)
    (line,) = ask(made.write())
    assert found(line)["parts"] == {"cpu": 9 * MS, "lock": 80 * MS, "runnable": 6 * MS}
    assert line["waits"][0]["woken_by"] == {"kind": "thread", "tid": 4312, "name": "holder"}
    assert sum(line["parts_ns"].values()) == story.time - T0


def test_real_kernel():
    """What LTTng recorded of a real one."""
    (line,) = ask(RECORDED, 0x7A06B825715E7FA4)
    agrees(list(bt2json.read(RECORDED)), line)
    assert line["cause"] == "mostly waiting for a lock: futex, 76.7 ms of 85.6 ms; woken by holder (533)"
    assert [(wait["ns"], wait["woken_by"]) for wait in line["waits"]] == [
        (76727703, {"kind": "thread", "name": "holder", "tid": 533, "pid": 530})]
    assert line["parts_ns"]["unknown"] == 0


ODD = {
    "missing": {name: [] for name in EVENTS},
    "texts": {name: [("string", field) for _, field in fields] for name, fields in EVENTS.items()},
    "narrow": {name: [(INT if kind == LONG else kind, field) for kind, field in fields] for name, fields in EVENTS.items()},
}


@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize("odd", ODD)
def test_odd_fields(tmp_path, odd, order):
    """Events without their fields, or with others: they say nothing, or the same."""
    made = Made(tmp_path / "traces", events=ODD[odd], order=order)
    if odd == "texts":
        plain = made.kernel.field
        made.kernel.field = lambda kind, value: plain(kind, str(value) if kind == "string" else value)
    lock_story(made)
    (line,) = ask(made.write())
    assert sum(line["parts_ns"].values()) == 95 * MS
    if odd == "narrow":
        assert found(line)["parts"] == {"cpu": 9 * MS, "lock": 80 * MS, "runnable": 6 * MS}
    else:
        assert line["waits"] == []


@pytest.mark.parametrize("seed", range(3))
def test_nonsense(made, seed):
    """Any events, in any order: the parts add up."""
    chance = random.Random(seed)
    numbers = [-1, 0, 1, 4311, 4312, 901, 2**31 - 1, -(2**31)]
    names = list(EVENTS) + ["syscall_entry_futex", "syscall_exit_futex", "syscall_entry_", "syscall_exit_read"]
    for i in range(4000):
        name = chance.choice(names)
        fields = {field: chance.choice(numbers) for kind, field in EVENTS.get(name, []) if kind in (INT, LONG)}
        threads = [THREAD, HOG, IDLE, (-1, -1, -1, -1, ""), (4300, 4312, 4300, 4311, "w" * 16)]
        made.kernel.event(chance.randrange(4), T0 + i * 1000, name, chance.choice(threads[: 4 + (seed > 1)]), **fields)
    for number in range(1, 300):
        start = T0 + chance.randrange(4000) * 1000
        made.span(start, start + chance.randrange(10**7), number, parent=chance.randrange(300))
    lines = ask(made.write())
    assert len(lines) == 299
    for line in lines:
        assert line["duration_ns"] == sum(line["parts_ns"].values())
        assert min(line["parts_ns"].values()) >= 0
    run_why(f"{TRACE:x}", made.path)


def write_flood(made, count):
    """So many events of the thread, of names and wakers that are all different, as fast as Python can: a packet."""
    kernel = made.kernel
    made.story().log("syscall_entry_getpid")
    kernel.write(made.path + "/kernel")
    name = [name for name in kernel.events if name == "sched_waking"][0]
    one = struct.Struct("<HIQiiii17s16siii")
    body = bytearray(one.size * count)
    comm = b"w" + bytes(15)
    for i in range(count):
        one.pack_into(
            body, i * one.size, 0xFFFF, kernel.numbers[name], T0 + i * 100, 5000 + i, 5000 + i, 5000 + i, 5000 + i, comm + b"\0",
            comm, 4311, 20, i % 9000)
    header = struct.pack("<I", 0xC1FC1FC1) + kernel.uuid.bytes + struct.pack("<IQ", 0, 1)
    content = (len(header) + 52 + len(body)) * 8
    context = struct.pack("<QQQQQQI", T0, T0 + count * 100, content, content, 0, 0, 1)
    with open(made.path + "/kernel/channel0_1", "wb") as file:
        file.write(header + context + body)
    return T0 + count * 100


def test_a_million_events(made):
    """In memory that does not grow with them."""
    end = write_flood(made, 1_000_000)
    made.span(T0, end)
    made.spans.write(made.path + "/ust")
    peak = (
        "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode;"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        ["/usr/bin/python3", "-c", peak, BLKIN, "why", "--json", f"{TRACE:x}", made.path], capture_output=True, text=True, timeout=300,
        check=False)
    assert done.returncode == 0, done.stderr
    line = json.loads(done.stdout)
    assert sum(line["parts_ns"].values()) == end - T0
    kilobytes = int(done.stderr.split()[-1])
    assert kilobytes < 200_000, kilobytes  # 80 MB of the trace are mapped


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_standard_output(made, words):
    """A reader that has seen enough is no failure; a full disk is, and is said."""
    lock_story(made)
    command = [BLKIN, "why", *words, f"{TRACE:x}", made.write()]
    for path, code, said in ("/dev/full", 1, "cannot write to standard output"), (None, 0, ""):
        reading, writing = os.pipe() if path is None else (None, os.open(path, os.O_WRONLY))
        if reading is not None:
            os.close(reading)
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        os.close(writing)
        assert done.returncode == code and said in done.stderr and (said or not done.stderr), done.stderr


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o100])
def test_folders_that_are_closed(made, mode):
    """What cannot be looked into is said, and what else there is, too; a failure all the same."""
    lock_story(made)
    made.spans.write(made.path + "/ust")
    made.kernel.write(made.path + "/session/kernel")
    os.chmod(made.path + "/session", mode)
    inside = [made.path + "/ust", made.path + "/session/kernel"]
    cases = ([made.path], True), ([made.path + "/session"], False), (inside, False), ([made.path + "/ust", made.path + "/session"], True)
    for folders, found_it in cases:
        if folders[-1].endswith("kernel") and mode & 0o100:
            continue
        done = subprocess.run(
            [*NO_OVERRIDE, BLKIN, "why", f"{TRACE:x}", *folders], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and f"Permission denied: {folders[-1] if not found_it else made.path + '/session'}" in done.stderr
        assert ("`put object` of made" in done.stdout) == found_it
        assert "no CTF trace" not in done.stderr


def test_waits_that_are_too_many(made):
    """The rest has no name, and is no wait in no system call."""
    story = made.story(time=T0)
    for number in range(100):
        story.enter("futex")
        story.wait(MS, "lock", waker=(900, 5000 + number, 900, 5000 + number, "holder"))
        story.leave()
    made.span(T0, story.time)
    story.end()
    (line,) = ask(made.write())
    waits = [(wait["part"], wait["count"], wait["woken_by"]["kind"]) for wait in line["waits"]]
    assert sorted(waits)[:2] == [("lock", 1, "thread")] * 2 and waits.count(("lock", 36, "others")) == 1 and len(waits) == 65
    assert line["missing"] == []
    said = run_why(f"{TRACE:x}", made.path).stdout
    assert said.splitlines()[0].endswith("; woken by holder (5000)")
    (row,) = [row for row in said.splitlines() if row.startswith("  lock")]
    assert "others 36.0 ms in 36 waits; futex 1.00 ms, woken by holder" in row


def test_more_spans_than_are_kept(made):
    """Each is counted, by both commands."""
    for number in range(1, 10_051):
        made.span(T0 + number * 1000, T0 + number * 1000 + 500, number)
    made.spans.write(made.path + "/ust")
    done = run_why("--json", f"{TRACE:x}", made.path)
    assert done.stdout.count("\n") == 1000
    assert json.loads(done.stdout.splitlines()[0])["missing"][-1] == "9050 more spans are left out."
    done = subprocess.run(
        [BLKIN, "import", "--around", f"{TRACE:x}", "--json", made.path], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and done.stdout.count("\n") == 10_000
    assert done.stderr == "blkin import: the trace has 50 spans more, which are left out: 10000 are shown\n"


def test_more_threads_than_are_kept(made):
    """A span of the classic calls may be of any number of threads."""
    texts, numbers = ("trace_name", "service_name", "ip", "key", "val"), ("trace_id", "span_id", "parent_span_id")
    name = "blkin:keyval_string"
    made.spans.events[name] = [("string", text) for text in texts] + [(SECTOR, number) for number in numbers] + [(INT, "port_no")]
    made.spans.numbers[name] = len(made.spans.numbers)
    for number in range(10_005):
        for time in (0, 500):
            made.spans.event(
                0, T0 + number * 1000 + time, name, (4300, 5000 + number, 4300, 5000 + number, "worker"),
                trace_name="work", service_name="made", key="k", val="v", trace_id=TRACE, span_id=SPAN)
    made.spans.write(made.path + "/ust")
    assert "9005 more spans are left out." in run_why(f"{TRACE:x}", made.path).stdout
    done = subprocess.run([BLKIN, "import", "--around", f"{TRACE:x}", made.path], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr == "blkin import: the trace has 5 spans more, which are left out: 10000 are shown\n"


def test_mistakes(made):
    lock_story(made)
    made.write()
    for words, message in [
        ([], "name a trace's or a span's id"),
        (["xyz", made.path], "not xyz"),
    ]:
        assert message in run_why(*words, code=64).stderr
    assert "no trace and no span abc is in these traces\n" in run_why("abc", made.path, code=1).stderr
    decimal = str(TRACE)
    assert f"no trace and no span {decimal} is in these traces (ids are hexadecimal" in run_why(decimal, made.path, code=1).stderr
    assert f"No such file or directory: {made.path}/nowhere" in run_why("abc", made.path + "/nowhere", code=1).stderr
    assert "metadata: it is a file: name the folder" in run_why("abc", made.path + "/ust/metadata", code=1).stderr
    os.makedirs(made.path + "/none")
    assert "/none: there is no CTF trace in it" in run_why("abc", made.path + "/none", code=1).stderr
    os.makedirs(made.path + "/bad")
    open(made.path + "/bad/metadata", "wb").close()
    done = run_why(f"{TRACE:x}", made.path, code=1)
    assert "skipped, as babeltrace2 cannot read it" in done.stderr and "mostly waiting for a lock" in done.stdout
