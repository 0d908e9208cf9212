# SPDX-License-Identifier: BSD-2-Clause
"""A node: LTTng's two daemons, the agent, and programs to be traced. Run it within tests/isolate."""

import collections
import contextlib
import functools
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from .process import PATIENCE, Inexact, Program, Trouble, answers, child_of, exactly, free_port, is_unlocked, reader_of, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.realpath(os.path.join(HERE, "../../.."))
with open(os.path.join(TOP, "meson.build"), encoding="utf-8") as build:
    VERSION = re.search(r"^  version: '(.*)',$", build.read(), re.MULTILINE)[1]
SAMPLE = re.compile(r'^(\w+)(\{(?:[^"]|"(?:[^"\\]|\\.)*")*?\})? (\S+)$', re.MULTILINE)
OUTPUT = re.compile(r'output="([^"]*)",?')


def build_dir():
    return os.path.realpath(os.environ.get("BLKIN_BUILD", os.path.join(TOP, "build")))


@functools.cache
def sanitizers():
    """The sanitizers that the build is made with: `address,undefined`, `thread` or `none`."""
    with open(os.path.join(build_dir(), "meson-info/intro-buildoptions.json"), encoding="utf-8") as file:
        value = next(option["value"] for option in json.load(file) if option["name"] == "b_sanitize")
    return value if isinstance(value, str) else ",".join(value) or "none"  # which one depends on Meson


def is_ours(program):
    """Whether this project builds it: it may be a copy, and may be started by another program."""
    names = ("blkin-agent", "blkin")
    return any(word.startswith(f"{build_dir()}/") or os.path.basename(word) in names for word in program.command)


def ended(program):
    """Stops a program that runs still; what there is to say if it is ours, and hangs or has crashed, now or before."""
    try:
        code = program.stop() if program.process.returncode is None else program.process.returncode
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return str(trouble) if is_ours(program) else ""
    return f"{program.name} ended with code {code}" if program.crashed() and is_ours(program) else ""


def sanitizer_flags():
    """
    What a compiler needs for programs that go with the build: a provider with sanitizers loads in no other. With
    `thread` the provider has none.
    """
    return [] if sanitizers() in ("none", "thread") else [f"-fsanitize={sanitizers()}"]


def sanitized():
    """Whether the agent is built with sanitizers, which take memory of their own."""
    return sanitizers() != "none"


def paced(plain, under_sanitizers):
    """
    A rate that this build keeps up with, and this machine just now: ThreadSanitizer's makes programs four times slower than the
    others'.
    """
    if not sanitized():
        return plain
    return under_sanitizers // 4 if sanitizers() == "thread" else int(under_sanitizers / PATIENCE)


# What babeltrace2 keeps is known by the names in tests/lsan.supp, which are cut off a stack that is walked quickly: GLib keeps
# no frame pointers.
WHOLE_STACKS = {"ASAN_OPTIONS": "verify_asan_link_order=0:fast_unwind_on_malloc=0"}


def thread_options(folder):
    """ThreadSanitizer's; @folder: the one of tsan.supp, which a program must see to start at all."""
    return f"suppressions={folder}/tsan.supp:second_deadlock_stack=1:exitcode=66"


@functools.cache
def leak_environment():
    """
    What an agent needs under a sanitizer. It lets the leak sanitizer know babeltrace2's plugin, which keeps a little when its
    peer goes: it would be unloaded by the time that leaks are looked for, and no suppression could name it.
    """
    if "thread" in sanitizers():
        # which sees POSIX threads alone: librdkafka's would end the agent
        return {"LD_PRELOAD": os.path.join(build_dir(), "tests/live/programs/libc11threads.so")}
    if "address" not in sanitizers():
        return {}
    done = subprocess.run(
        ["pkg-config", "--variable=libdir", "babeltrace2"], check=True, capture_output=True, text=True
    )
    plugin = os.path.join(done.stdout.strip(), "babeltrace2/plugins/babeltrace-plugin-ctf.so")
    return {"LD_PRELOAD": plugin, "ASAN_OPTIONS": "verify_asan_link_order=0"}


def written(folder):
    """Sizes and times of all files in a folder, which may go while one looks."""
    found = []
    for base, _, files in os.walk(folder):
        for path in (os.path.join(base, name) for name in files):
            with contextlib.suppress(FileNotFoundError):
                status = os.stat(path)
                found.append((path, status.st_size, status.st_mtime_ns))
    return sorted(found)


def get(url, seconds=10):
    """The code and body of an HTTP answer; code 0 if there is none."""
    try:
        with urllib.request.urlopen(url, timeout=seconds) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except (OSError, urllib.error.URLError):
        return 0, ""


class Node:
    """
    Use it with `with`: at the end every program is stopped and the folder removed; had the block failed, the logs are
    shown first. Programs under sanitizers must not have complained, and ours have neither crashed nor hang when they are stopped:
    that does not depend on how fast the machine is, also where the block failed.
    """

    def __init__(self, quiet=()):
        """@quiet: exceptions that are no failure."""
        self.quiet = quiet
        self.folder = tempfile.mkdtemp(prefix="blkin-")
        self.programs = []
        self.mounts = []
        self.relay_ports = [free_port() for _ in range(3)]  # control, data, live
        os.mkdir(os.path.join(self.folder, "home"))
        for name in ("lsan.supp", "tsan.supp"):  # where other users, too, can read them: our checkout may be closed to them
            shutil.copy(os.path.join(TOP, "tests", name), self.folder)
        self.environment = dict(
            os.environ,
            HOME=os.path.join(self.folder, "home"),
            LTTNG_HOME=os.path.join(self.folder, "home"),
            LD_LIBRARY_PATH=os.path.join(build_dir(), "libclient"),
            LSAN_OPTIONS=f"suppressions={self.folder}/lsan.supp:print_suppressions=0",
            UBSAN_OPTIONS="print_stacktrace=1",
            TSAN_OPTIONS=thread_options(self.folder),
        )
        if "thread" in sanitizers():
            # GLib 2.74 hands memory from thread to thread in a way that ThreadSanitizer cannot see
            self.environment["G_SLICE"] = "always-malloc"
        self.leak_environment = leak_environment()
        self.sessiond = self.relayd = self.agent = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind and not issubclass(kind, self.quiet):
            self.show_logs()
        consumer = self.sessiond and self.consumer_pid()
        for program in self.programs:
            program.send(signal.SIGCONT)  # a block that failed may have left it stopped
        complaints = [ended(program) for program in reversed(self.programs)]
        if consumer:  # of LTTng 2.13.15, one that hangs keeps the next session daemon from starting
            with contextlib.suppress(ProcessLookupError):
                os.kill(consumer, signal.SIGKILL)
        for path in self.mounts:
            subprocess.run(["umount", "--lazy", path], check=False)
        complaints += [program.complaints() for program in self.programs]
        shutil.rmtree(self.folder, ignore_errors=True)
        if any(complaints):
            raise Inexact("programs complained:\n" + "\n".join(filter(None, complaints)))

    def show_logs(self):
        for program in self.programs:
            log = program.log()
            if log:
                print(f"---- log of {program.name} (process {program.pid}), its end:\n{log[-4000:]}", file=sys.stderr)

    def path(self, name):
        return os.path.join(self.folder, name)

    def mount(self, path, size):
        """A small disk of its own at @path, until the node goes."""
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], check=True)
        self.mounts.append(path)

    # Programs

    def start(self, command, name=None, **environment):
        """Starts a program; it is stopped with the node."""
        name = name or os.path.basename(str(command[0]))
        log = self.path(f"{name}-{len(self.programs)}.log")
        program = Program(command, log, dict(self.environment, **environment), name)
        self.programs.append(program)
        return program

    def built(self, path):
        """The path of a program that this project builds."""
        program = os.path.join(build_dir(), path)
        if not os.path.exists(program):
            raise Trouble(f"{program} is not built: run ninja -C {build_dir()}")
        return program

    def run(self, command, seconds=120, **environment):
        """Runs a program to its end, which must be a good one; returns what it printed."""
        program = self.start([self.built(command[0])] + list(command[1:]), **environment)
        code = program.wait(seconds)
        if code != 0:
            raise Trouble(f"{command} ended with code {code}:\n{program.log()}")
        return program.log()

    # LTTng

    def sessiond_file(self, name):
        home = "/var/run/lttng" if os.getuid() == 0 else self.path("home/.lttng")
        return os.path.join(home, name)

    def start_sessiond(self):
        # of one that was killed, the consumer daemons may hold it for a moment
        wait_until(lambda: is_unlocked(self.sessiond_file("lttng-sessiond.lck")), 20, "the last session daemon to be gone")
        self.sessiond = self.start(["lttng-sessiond", "--no-kernel"])
        self.sessiond.wait_ready(lambda: answers(self.sessiond_file("client-lttng-sessiond")))

    def start_relayd(self):
        ports = [f"tcp://127.0.0.1:{port}" for port in self.relay_ports]
        self.relayd = self.start(
            ["lttng-relayd", "-C", ports[0], "-D", ports[1], "-L", ports[2], "-o", self.path("relay")]
        )
        self.relayd.wait_ready(lambda: answers(self.relay_ports[2]))

    def start_lttng(self):
        self.start_sessiond()
        self.start_relayd()
        return self

    def session_folders(self):
        """What the relay has on disk: a folder for each session."""
        return sorted(glob.glob(self.path("relay/*/blkin-*")))

    def wait_quiet(self, folder, seconds):
        """Waits until nothing in a folder of this node was written for so long: many times what writes come after."""
        last, since = None, time.monotonic()

        def quiet():
            nonlocal last, since
            now = written(self.path(folder))
            if now != last:
                last, since = now, time.monotonic()
            return time.monotonic() - since >= seconds

        wait_until(quiet, 60, f"{folder} to be quiet for {seconds} s")

    def lttng(self, *words):
        """Runs LTTng's own command."""
        done = subprocess.run(
            ["lttng", "--no-sessiond"] + list(words), env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Trouble(f"lttng {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    # The agent

    def write_config(self, server, **sections):
        """
        The agent's configuration, for tests: quick, and everything on this node's ports. @sections are dictionaries
        of further keys.
        """
        self.http = free_port()
        self.socket = self.path("agent.sock")
        os.makedirs(self.path("state"), exist_ok=True)
        config = {
            "agent": {
                "http": f"127.0.0.1:{self.http}",
                "socket": self.socket,
                "state-directory": self.path("state"),
            },
            "session": {
                "tracing-group": "",
                "relay-control-port": self.relay_ports[0],
                "relay-data-port": self.relay_ports[1],
                "relay-live-port": self.relay_ports[2],
                "relay-output": self.path("relay"),
                "keep": "no",
                "live-timer": "100ms",
                "memory": "32M",
                "memory-max": "1M",  # they do not grow
                "disk": "256M",
            },
            "spans": {"linger": "1s", "grace": "100ms"},
            "output": {"server": f"127.0.0.1:{server}", "batch-delay": "50ms", "retry-min": "50ms", "retry-max": "500ms"},
            "spool": {"replay-floor": 500000},
        }
        for section, keys in sections.items():
            config.setdefault(section, {}).update({key.replace("_", "-"): value for key, value in keys.items()})
        if config["output"].get("type") in ("file", "kafka"):
            del config["output"]["server"]
        path = self.path("agent.conf")
        with open(path, "w", encoding="utf-8") as file:
            for section, keys in config.items():
                file.write(f"[{section}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()) + "\n")
        return path

    def start_agent(self, server, wait=True, **sections):
        """Starts the agent with @server, a port, as its collector, and waits until it records."""
        self.write_config(server, **sections)
        return self.start_agent_again(wait)

    def start_agent_again(self, wait=True, **environment):
        """Starts an agent with the configuration of the last one."""
        environment = dict(self.leak_environment, **environment)
        self.agent = self.start([self.built("agent/blkin-agent"), "-c", self.path("agent.conf")], **environment)
        if wait:
            self.agent.wait_ready(self.collecting)
        return self.agent

    def reader_pid(self):
        """The process that reads the session for the agent; None if there is none."""
        return reader_of(self.agent.pid)

    def consumer_pid(self):
        """The session daemon's consumer daemon; None if there is none."""
        return child_of(self.sessiond.pid, "lttng-consumerd")

    def stop_reading(self):
        """The agent and its reader stand still, as on a machine that is too busy; until read_on."""
        self.agent.send(signal.SIGSTOP)
        self.stopped_reader = self.reader_pid()
        os.kill(self.stopped_reader, signal.SIGSTOP)

    def read_on(self):
        os.kill(self.stopped_reader, signal.SIGCONT)
        self.agent.send(signal.SIGCONT)

    def collecting(self):
        return self.http_get("/readyz")[0] == 200

    def http_get(self, page):
        return get(f"http://127.0.0.1:{self.http}{page}")

    def metrics(self, output="default"):
        """
        /metrics: amounts by name and labels, as they stand there; of what each output has, those of @output,
        without that label.
        """
        code, page = self.http_get("/metrics")
        if code != 200:
            raise Trouble(f"/metrics answers {code}")
        samples = SAMPLE.findall(page)
        if len(samples) != sum(line[:1] not in ("", "#") for line in page.split("\n")):
            raise Trouble(f"/metrics has a line that is no sample:\n{page}")
        amounts = {}
        for name, labels, amount in samples:
            of = OUTPUT.search(labels)
            if not of:
                amounts[name + labels] = float(amount)
            elif of[1] == output:
                labels = labels.replace(of[0], "").replace(",}", "}").replace("{}", "")
                amounts[name + labels] = float(amount)
        return amounts

    def status(self):
        """What `blkin status --json` says."""
        program = self.start([self.built("cli/blkin"), "status", "--json", "--socket", self.socket], name="status")
        if program.wait() != 0:
            raise Trouble(f"blkin status failed:\n{program.log()}")
        return json.loads(program.log())

    def ledger(self, output="default"):
        return Ledger(self.metrics(output))

    def lane(self, kind, output="default"):
        return Lane(self.metrics(output), kind)

    def wait_lane(self, kind, condition, seconds, what, output="default"):
        """Waits until condition(lane) holds, and returns that lane, which adds up."""
        lane = None

        def holds():
            nonlocal lane
            lane = self.lane(kind, output)
            lane.check()
            return condition(lane)

        try:
            wait_until(holds, seconds, what)
        except Trouble as trouble:
            raise Trouble(f"{trouble}\n{lane}") from None
        return lane

    def wait_for(self, condition, seconds, what):
        """Waits until condition() is true; a failure shows the ledger."""
        try:
            return wait_until(condition, seconds, what)
        except Trouble as trouble:
            raise Trouble(f"{trouble}\n{self.ledger()}") from None

    def wait_ledger(self, condition, seconds, what, output="default"):
        """Waits until condition(ledger) holds at @output, and returns that ledger, which adds up."""
        ledger = None

        def holds():
            nonlocal ledger
            ledger = self.ledger(output)
            ledger.check()
            return condition(ledger)

        try:
            wait_until(holds, seconds, what)
        except Trouble as trouble:
            raise Trouble(f"{trouble}\n{ledger}") from None
        return ledger


def totals(metrics):
    """What the series of each name have together."""
    sums = collections.defaultdict(float)
    for key, value in metrics.items():
        sums[key.partition("{")[0]] += value
    return sums


class Lane:
    """What an output has of a kind of items, `events` or `messages`, from /metrics."""

    def __init__(self, metrics, kind):
        sums = totals(metrics)

        def total(name):
            return int(sums[f"blkin_agent_{kind}_{name}_total"])

        self.kind, self.metrics = kind, metrics
        for row in ("taken", "recovered", "sent", "sent_again", "given_back", "dropped"):
            setattr(self, row, total(row))
        for state in ("queued", "held", "entrusted", "spooled"):
            setattr(self, state, int(metrics[f'blkin_agent_{kind}{{state="{state}"}}']))

    def __str__(self):
        rows = ", ".join(f"{name} {value}" for name, value in vars(self).items() if name != "metrics")
        lost = {key: int(value) for key, value in self.metrics.items() if "_dropped_total" in key and value}
        return f"lane: {rows}; {lost}"

    def check(self):
        under_way = self.queued + self.held + self.entrusted + self.spooled
        exactly(self.taken + self.recovered == under_way + self.sent + self.given_back + self.dropped, str(self))

    def idle(self):
        return self.queued == self.held == self.entrusted == self.spooled == 0

    def dropped_for(self, reason):
        return int(self.metrics[f'blkin_agent_{self.kind}_dropped_total{{reason="{reason}"}}'])


class Ledger:
    """The ledger's rows, from /metrics."""

    def __init__(self, metrics):
        sums = totals(metrics)

        def total(name):
            return int(sums[name])

        def one(name, **labels):
            wanted = ",".join(f'{key}="{value}"' for key, value in labels.items())
            return int(metrics[f"{name}{{{wanted}}}"])

        self.read = total("blkin_agent_events_read_total")
        self.lost = total("blkin_agent_events_lost_total")
        self.packets_lost = total("blkin_agent_packets_lost_total")
        self.in_spans = total("blkin_agent_events_in_spans_total")
        self.json = total("blkin_agent_events_json_total")
        self.rejected = total("blkin_agent_events_rejected_total")
        self.ignored = total("blkin_agent_events_ignored_total")
        self.made = total("blkin_agent_spans_total")
        self.taken = total("blkin_agent_spans_taken_total")
        self.recovered = total("blkin_agent_spans_recovered_total")
        self.pending = one("blkin_agent_spans", state="pending")
        self.queued = one("blkin_agent_spans", state="queued")
        self.held = one("blkin_agent_spans", state="held")
        self.entrusted = one("blkin_agent_spans", state="entrusted")
        self.given_back = total("blkin_agent_spans_given_back_total")
        self.messages = total("blkin_agent_input_messages_total")
        self.refused = total("blkin_agent_input_messages_refused_total")
        self.put_off = total("blkin_agent_input_messages_put_off_total")
        self.received = total("blkin_agent_spans_received_total")
        self.passed = total("blkin_agent_input_messages_taken_total")
        self.spooled = one("blkin_agent_spans", state="spooled")
        self.undecided = one("blkin_agent_spans", state="undecided")
        self.sent = total("blkin_agent_spans_sent_total")
        self.sent_again = total("blkin_agent_spans_sent_again_total")
        self.removed = total("blkin_agent_spans_removed_total")  # of those sent
        self.sampled_out = total("blkin_agent_spans_sampled_out_total")
        self.dropped = total("blkin_agent_spans_dropped_total")
        self.sessions = total("blkin_agent_sessions_created_total")
        self.sessions_lost = total("blkin_agent_sessions_lost_total")
        self.lost_seconds = total("blkin_agent_sessions_lost_seconds_total")
        self.programs_lost = total("blkin_agent_programs_lost_total")
        self.again = total("blkin_agent_events_read_again_total")
        self.repaired = total("blkin_agent_strings_repaired_total")
        self.spans = self.taken + self.pending
        self.metrics = metrics

    def __str__(self):
        return "ledger: " + ", ".join(f"{name} {value}" for name, value in vars(self).items() if name != "metrics")

    def check(self):
        """Every event and every span of this output is in exactly one row."""
        under_way = self.pending + self.queued + self.held + self.entrusted + self.spooled + self.undecided
        exactly(self.read == self.in_spans + self.json + self.rejected + self.ignored, str(self))
        settled = self.sent + self.given_back + self.sampled_out + self.dropped
        exactly(self.spans + self.recovered == under_way + settled, str(self))
        exactly(self.messages == self.received + self.passed + self.refused + self.put_off, str(self))

    def idle(self):
        """Nothing is left to do in the agent."""
        return self.pending == self.queued == self.held == self.entrusted == self.spooled == self.undecided == 0

    def rejected_for(self, reason):
        return int(self.metrics[f'blkin_agent_events_rejected_total{{reason="{reason}"}}'])

    def refused_for(self, reason):
        return int(self.metrics[f'blkin_agent_input_messages_refused_total{{reason="{reason}"}}'])

    def dropped_for(self, reason):
        return int(self.metrics[f'blkin_agent_spans_dropped_total{{reason="{reason}"}}'])
