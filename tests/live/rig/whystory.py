# SPDX-License-Identifier: BSD-2-Clause
"""
What a thread did, told phase by phase: as the kernel's events, and as the time that each phase took, which is what `blkin why`
has to find out of them.
"""

from collections import Counter, defaultdict

PREEMPTED, INTERRUPTIBLE, UNINTERRUPTIBLE = 256, 1, 2
IDLE = (0, 0, 0, 0, "swapper")


class Story:
    """Of @thread: (pid, tid, vpid, vtid, name). It runs on @cpu at first, from @time on."""

    def __init__(self, trace, thread, time, cpu=0):
        self.trace, self.thread, self.time, self.cpu = trace, thread, time, cpu
        self.call, self.calls = None, 0
        self.pieces = []  # (begin, end, part, (call, number) or None, whom)
        self.switch(IDLE, thread, 0)

    # Events

    def log(self, name, thread=None, cpu=None, /, **fields):
        self.trace.event(self.cpu if cpu is None else cpu, self.time, name, thread or self.thread, **fields)

    def switch(self, prev, next_, state, cpu=None):
        self.log(
            "sched_switch", prev, cpu, prev_comm=prev[4], prev_tid=prev[1], prev_state=state,
            next_comm=next_[4], next_tid=next_[1])

    def pass_time(self, ns, part, whom=None):
        self.pieces.append((self.time, self.time + ns, part, self.call and (self.call, self.calls), whom))
        self.time += ns

    # Phases

    def run(self, ns):
        self.pass_time(ns, "cpu")

    def enter(self, call):
        self.log(f"syscall_entry_{call}")
        self.call, self.calls = call, self.calls + 1

    def leave(self):
        self.log(f"syscall_exit_{self.call}")
        self.call = None

    def interrupted(self, ns, number=33, name="eth0"):
        self.log("irq_handler_entry", irq=number, name=name)
        self.pass_time(ns, "interrupted")
        self.log("irq_handler_exit", irq=number)

    def preempted(self, *runners):
        """Others run in its place: (thread, ns)."""
        before, state = self.thread, PREEMPTED
        for thread, ns in runners:
            self.switch(before, thread, state)
            self.pass_time(ns, "runnable", thread)
            before, state = thread, INTERRUPTIBLE
        self.switch(before, self.thread, state)

    def wait(self, ns, part, state=INTERRUPTIBLE, waker=None, latency=0, cpu=None, meanwhile=IDLE, disk=False, irq=None):
        """It goes away, and is woken by @waker (of @irq: an interrupt that meets it), for @cpu, where @meanwhile still runs."""
        here, there = self.cpu, self.cpu if cpu is None else cpu
        target = there if waker is None else 7
        self.switch(self.thread, meanwhile if here == there else IDLE, state)
        if here != there:
            self.switch(IDLE, meanwhile, 0, there)
        if waker:
            self.switch(IDLE, waker, 0, target)
        whom = (irq and ("irq",) + irq) or waker or ("irq", None, None)
        self.pass_time(ns, part, whom)
        waker = waker or meanwhile
        if irq:
            self.log("irq_handler_entry", waker, target, irq=irq[0], name=irq[1])
        if disk:
            self.log("block_rq_complete", waker, target)
        self.log("sched_waking", waker, target, comm=self.thread[4], tid=self.thread[1], target_cpu=there)
        if irq:
            self.log("irq_handler_exit", waker, target, irq=irq[0])
        self.cpu = there
        self.pass_time(max(latency, 1), "runnable", meanwhile)  # what two processors record of one moment has no order
        self.switch(meanwhile, self.thread, 0)

    def fault(self):
        self.log("x86_exceptions_page_fault_user", address=4096)

    def end(self):
        """Behind its last span."""
        self.switch(self.thread, IDLE, INTERRUPTIBLE)


def name_whom(whom):
    if whom is None:
        return ("unknown", None, None)
    if whom[0] == "irq":
        return ("interrupt", whom[1], whom[2])
    if whom[1] == 0:
        return ("idle", None, None)
    return ("thread", whom[1], whom[4])


WAITS = ("disk", "lock", "network", "sleep", "page_fault", "other")


def expect(pieces, start, end):
    """What is to be found out of a span of that time."""
    parts, runners = Counter(), Counter()
    waits, calls = defaultdict(list), defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for begin, until, part, call, whom in pieces:
        time = min(until, end) - max(begin, start)
        if time <= 0:
            continue
        parts[part] += time
        if part == "runnable":
            runners[name_whom(whom)] += time
        if part in WAITS:
            waits[part, call and call[0], name_whom(whom)].append(time)
        if call:
            calls[call[0]][call[1]][0] += time
            calls[call[0]][call[1]][1] += 0 if part in ("cpu", "interrupted") else time
    parts["unknown"] += end - start - sum(parts.values())
    return {
        "parts": {part: time for part, time in parts.items() if time},
        "runners": dict(runners),
        "waits": {key: (len(times), sum(times), max(times)) for key, times in waits.items()},
        "calls": {
            name: (len(each), sum(time for time, _ in each.values()), sum(off for _, off in each.values()),
                   max(time for time, _ in each.values()))
            for name, each in calls.items()
        },
    }


def whom_of(said):
    return (said["kind"], said.get("tid", said.get("number")), said.get("name"))


def found(line):
    """The same of what the command says."""
    return {
        "parts": {part: time for part, time in line["parts_ns"].items() if time},
        "runners": {whom_of(one): one["ns"] for one in line["ran_meanwhile"]},
        "waits": {
            (one["part"], one["syscall"], whom_of(one["woken_by"])): (one["count"], one["ns"], one["longest_ns"])
            for one in line["waits"]
        },
        "calls": {one["name"]: (one["count"], one["ns"], one["waited_ns"], one["longest_ns"]) for one in line["syscalls"]},
    }
