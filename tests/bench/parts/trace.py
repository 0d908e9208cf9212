# SPDX-License-Identifier: BSD-2-Clause
"""LTTng sessions to record with, babeltrace2 to compare with, and the CPU time of a process."""

import os
import re
import resource
import socket
import time

from rig.process import Trouble, reader_of, wait_until

CPUS = os.sysconf("SC_NPROCESSORS_CONF")
SUB_BUFFERS, SUB_BUFFER_MB, RELAY_FILES, RELAY_FILE_MB = 8, 4, 8, 128
LIVE_TIMER_MS = 200
EVENTS = ("blkin:*", "bench:*")

# What gives the agent's session the same rings and relay files as ours, and all else as it is by default.
AGENT = {
    "session": {
        "memory": f"{SUB_BUFFERS * SUB_BUFFER_MB * CPUS}M",
        "disk": f"{RELAY_FILES * RELAY_FILE_MB * CPUS}M",
        "live-timer": f"{LIVE_TIMER_MS}ms",
    },
    "spans": {"linger": "5s", "grace": "100ms"},
    "output": {"batch-delay": "100ms", "retry-min": "250ms", "retry-max": "5s"},
}


class Session:
    """An LTTng session that records, at the relay (live) or in a folder."""

    def __init__(self, node, live=False):
        self.node = node
        self.name = f"bench{len(node.programs)}-{time.monotonic_ns()}"
        self.live = live
        self.folder = None if live else node.path(self.name)

    def __enter__(self):
        if self.live:
            control, data, _ = self.node.relay_ports
            where = [f"--live={LIVE_TIMER_MS * 1000}", f"--set-url=net://127.0.0.1:{control}:{data}"]
        else:
            where = [f"--output={self.folder}"]
        channel = ["-u", "-s", self.name]
        size = [f"--num-subbuf={SUB_BUFFERS}", f"--subbuf-size={SUB_BUFFER_MB}M"]
        if self.live:
            size += [f"--tracefile-count={RELAY_FILES}", f"--tracefile-size={RELAY_FILE_MB}M"]
        self.node.lttng("create", self.name, *where)
        self.node.lttng("enable-channel", *channel, "--buffers-uid", *size, "spans")
        self.node.lttng("enable-event", *channel, "-c", "spans", ",".join(EVENTS))
        self.node.lttng("start", self.name)
        return self

    def stop(self):
        """Stops recording; the programs must have lost nothing, or what was measured means nothing."""
        self.node.lttng("stop", self.name)
        lost = [int(number) for number in re.findall(r"Discarded events: (\d+)", self.node.lttng("list", self.name))]
        if not lost or any(lost):
            raise Trouble(f"LTTng discarded {sum(lost) if lost else 'an unknown number of'} events: not a measurement")

    def destroy(self):
        if self.name:
            self.node.lttng("destroy", self.name)
            self.name = None

    def __exit__(self, *_):
        self.destroy()

    def url(self):
        return f"net://127.0.0.1:{self.node.relay_ports[2]}/host/{socket.gethostname()}/{self.name}"


def babeltrace2_words(source, url, muxer):
    """The command: babeltrace2's own reader of @url, into the sink that does nothing."""
    action = ',session-not-found-action="end"' if source == "lttng-live" else ""
    words = ["babeltrace2", "run", f"--component=source:source.ctf.{source}", f'--params=inputs=["{url}"]{action}']
    words += ["--component=sink:sink.utils.dummy"]
    if muxer:
        words += ["--component=muxer:filter.utils.muxer", "--connect=source:muxer", "--connect=muxer:sink"]
    else:
        words += ["--connect=source:sink"]
    return words


def babeltrace2(node, source, url, muxer):
    return node.start(babeltrace2_words(source, url, muxer))


def cpu(program):
    """
    CPU seconds so far, of all threads, ended ones too, and of the agent's reader; works until someone waits for the
    program's end.
    """
    pids = filter(None, (program.pid, reader_of(program.pid)))
    return sum(time.clock_gettime(~pid << 3 | 2) for pid in pids)  # clock_getcpuclockid(), which Python does not have


def ended(program):
    with open(f"/proc/{program.pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rpartition(") ")[2][0] == "Z"


def cpu_of_ended():
    """CPU seconds of the processes that have ended here, and of those that had ended there."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_at_end(program, seconds=300):
    """Waits for the program's end, which must be a good one, and gives its CPU seconds, with those of its processes."""
    wait_until(lambda: ended(program), seconds, f"{program.name} to end")
    before = cpu_of_ended()
    if program.wait() != 0:
        raise Trouble(f"{program.name} failed:\n{program.log()}")
    return cpu_of_ended() - before


def settle(program, seconds=0.5):
    """Waits until the program is done with starting: it uses next to no CPU any more."""

    def idle():
        before = cpu(program)
        time.sleep(seconds)
        return cpu(program) - before <= 0.05 * seconds

    program.wait_ready(idle)


def generate(node, stream, events, rate, *names):
    """Runs the generator; gives how many events and spans it recorded. @names: of how many services, and of spans."""
    return map(int, node.run(["tests/bench/generate", stream, events, rate, *names], seconds=600).split())


class Sink:
    """A collector that acknowledges everything; knows at the end how much it got."""

    def __init__(self, node, port):
        from rig.process import answers

        self.port = port
        self.program = node.start([node.built("tests/bench/sink"), port])
        self.program.wait_ready(lambda: answers(port))

    def stop(self):
        """Ends it; gives how many spans it took, and in how many bytes."""
        self.program.stop()
        return tuple(map(int, self.program.log().split()))
