# SPDX-License-Identifier: BSD-2-Clause
"""What quickstart shows: a node with LTTng, the agent, a sample of two programs, and their traces.

    tour.py (trees|zipkin) [--once] [--browser FILE PORT]

Runs within tests/isolate; BLKIN_BUILD names the build, ZIPKIN_JAR Zipkin's jar. With --browser, Zipkin's pages are
served on the UNIX socket FILE too, and reached from outside on PORT.
"""

import argparse
import os
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, os.path.join(TOP, "tests/live"))

from rig.node import Node  # noqa: E402
from rig.process import Trouble, answers, free_port, wait_until  # noqa: E402
from rig.zipkin import Zipkin  # noqa: E402

REQUESTS = 2
SPANS_A_REQUEST = 5  # both halves of a call counted
PAUSE = 5

NEXT = """
Where to go from here
  the sample     {top}examples/gateway.c and {top}examples/store.c: two short programs, traced with <blkin/blkin.h>
  your program   {top}doc/instrument.md; nothing to link and nothing to initialise
  your node      {top}doc/operate.md; {top}conf/agent.conf shows every setting
  commands       {blkin} --help, man {page}
"""


def say(text):
    print(f"-- {text}", flush=True)


def typed(path):
    """A file's name as the user may type it, where quickstart was called."""
    here = os.path.relpath(path)
    return path if here.startswith("..") else here


def next_steps(blkin):
    top = "" if os.path.samefile(TOP, ".") else os.path.join(typed(TOP), "")
    page = f"{top}doc/blkin.1"  # which man takes for a file's name, as it has a slash
    return NEXT.format(top=top, blkin=typed(blkin), page=page)


class Trees:
    """Traces as trees, printed by `blkin collect`."""

    def __init__(self, node, _):
        self.port = free_port()
        self.program = node.start(
            [node.built("cli/blkin"), "collect", "--listen", f"127.0.0.1:{self.port}"], name="collect"
        )
        self.program.wait_ready(lambda: answers(self.port))
        self.shown = 0
        say("the collector is `blkin collect`, which prints traces as trees")

    def show(self):
        """Prints what came since the last time."""
        text = self.program.log()
        sys.stdout.write(text[self.shown :])
        sys.stdout.flush()
        self.shown = len(text)

    def arrived(self, requests):
        """Whether the complete traces of that many requests are printed, with the store's half of each call."""
        self.program.expect_running()
        text = self.program.log()
        whole = re.findall(r"^trace \w+  4 spans", text, re.MULTILINE)
        halves = re.findall(r" write +store +server ", text)
        return len(whole) >= requests and len(halves) >= requests


class Browser:
    """Traces in a real Zipkin server."""

    def __init__(self, node, arguments):
        say("starting Zipkin (about ten seconds)")
        self.zipkin = Zipkin(node).start()
        self.port = self.zipkin.scribe_port
        self.url = f"http://127.0.0.1:{self.zipkin.http_port}/zipkin/"
        self.told = False
        self.once = arguments.once
        if arguments.browser:
            path, port = arguments.browser
            self.url = f"http://127.0.0.1:{port}/zipkin/"
            pages = f"TCP:127.0.0.1:{self.zipkin.http_port}"
            node.start(["socat", f"UNIX-LISTEN:{path},fork", pages]).wait_ready(lambda: answers(path))

    def arrived(self, requests):
        return self.zipkin.span_count("gateway") >= requests * SPANS_A_REQUEST

    def show(self):
        if self.told:
            return
        self.told = True
        traces = self.zipkin.traces("gateway")
        services = sorted({span["localEndpoint"]["serviceName"] for trace in traces for span in trace})
        spans = len({(span["traceId"], span["id"]) for trace in traces for span in trace})  # one that both sides record is one
        say(f"Zipkin has {len(traces)} traces, of {spans} spans, by services {', '.join(services)}")
        for trace in traces:
            print(f"   trace {trace[0]['traceId']}" if self.once else f"   {self.url}traces/{trace[0]['traceId']}", flush=True)


def run_sample(node, port):
    node.run(["examples/gateway", port, REQUESTS])


def tour(node, arguments):
    say("starting LTTng's daemons, the collector and blkin-agent")
    node.start_lttng()
    view = Trees(node, arguments) if arguments.view == "trees" else Browser(node, arguments)
    node.start_agent(view.port)
    say("running the sample: a gateway that calls a store, each a process")
    port = free_port()
    node.start([node.built("examples/store"), port]).wait_ready(lambda: answers(port))
    run_sample(node, port)
    wait_until(lambda: view.arrived(REQUESTS), 30, "the sample's traces")
    view.show()
    print(next_steps(node.built("cli/blkin")), flush=True)
    if arguments.once:
        return
    if arguments.view == "zipkin":
        say(f"Zipkin is open at {view.url}")
    say(f"the sample runs again every {PAUSE} seconds; Ctrl-C ends it all")
    while True:
        time.sleep(PAUSE)
        run_sample(node, port)
        view.show()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("view", choices=("trees", "zipkin"))
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--browser", nargs=2, metavar=("FILE", "PORT"))
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Node(quiet=KeyboardInterrupt) as node:
            tour(node, arguments)
    except KeyboardInterrupt:
        say("stopped")
        return 130 if arguments.once else 0
    except Trouble as trouble:
        print(f"quickstart: {trouble}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
