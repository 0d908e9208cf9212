# SPDX-License-Identifier: BSD-2-Clause
"""
onetrace.py FOLDER: the services of examples/onetrace/, built in FOLDER, and an agent. Each request to the first service is one
trace, at all outputs and in `blkin tail --trees`. See trace.

What travels between the services passes this program, which so knows the ids: those that outputs have to show.
"""

import os
import re
import sys
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../live"))

from rig.jsonsink import JsonSink  # noqa: E402
from rig.node import Node  # noqa: E402
from rig.otlpsink import OtlpSink  # noqa: E402
from rig.process import answers, exactly, free_port, wait_until  # noqa: E402
from rig.zipkin import Zipkin  # noqa: E402
from test_tail import watchers  # noqa: E402

COUNT = int(os.environ.get("BLKIN_TRACES", "50"))
MISSING = 1000  # a photo that the store does not have
CALLER = "00f067aa0ba902b7"  # the span of whoever asks the first service
KINDS = {1: None, 2: "SERVER", 3: "CLIENT"}  # OTLP's, as Zipkin has them
ERROR = 2


class Wire:
    """Passes on what a service asks the next one, and keeps the header, by the photo's number."""

    def __init__(self, port):
        self.headers = {}
        wire = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                header = self.headers["traceparent"]
                exactly(wire.headers.setdefault(self.path, header) is header, f"{self.path} came twice")
                code, body = get(port, self.path, header)
                self.send_response(code)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def ids(self, photo):
        """The trace, the caller's span, and whether it is sampled."""
        _, trace, span, flags = self.headers[f"/photos/{photo}"].split("-")
        return trace, span, int(flags, 16) & 1


def get(port, path, header):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"traceparent": header} if header else {})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


class Services:
    """All of them, and the wires between: a wire before each but the first."""

    def __init__(self, node, folder, inputs):
        self.names = ["front", "albums", "thumbnails", "store"]
        if not os.path.exists(f"{folder}/thumbnails"):
            print("opentelemetry-cpp is not here (Debian 13 has it): albums asks the store, without the service in C++")
            self.names.remove("thumbnails")
        commands = {
            "front": [f"{folder}/venv/bin/python", f"{folder}/front.py"],
            "albums": [f"{folder}/albums/albums"],
            "thumbnails": [f"{folder}/thumbnails"],
            "store": [f"{folder}/store"],
        }
        self.wires, self.programs, following = [], [], None
        for name in reversed(self.names):
            port = free_port()
            words = [*commands[name], port] + ([following.port] if following else [])
            endpoint = f"http://127.0.0.1:{inputs['otlp-grpc' if name == 'albums' else 'otlp']}"
            program = node.start(words, name, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint, OTEL_BSP_SCHEDULE_DELAY="200")
            program.wait_ready(lambda port=port: answers(port))
            self.programs.insert(0, program)
            if name != self.names[0]:
                following = Wire(port)
                self.wires.insert(0, following)
        self.port = port

    def ask(self, photo, header, code=200):
        got, body = get(self.port, f"/photos/{photo}", header)
        exactly((got, body) == (code, f"photo {photo}\n".encode() if code == 200 else b"no such photo\n"), f"{got} {body}")


def facts_of_otlp(sink):
    """By trace: (service, name, id, parent, kind, whether it failed) of each span."""
    traces = {}
    for resource, span, _ in sink.spans:
        parent = span.parent_span_id.hex() if any(span.parent_span_id) else None
        fact = (resource["service.name"], span.name, span.span_id.hex(), parent, KINDS[span.kind], span.status.code == ERROR)
        traces.setdefault(span.trace_id.hex(), []).append(fact)
    return traces


def facts_of_zipkin(spans):
    traces = {}
    for span in spans:
        service, failed = span["localEndpoint"]["serviceName"], "error" in span.get("tags", {})
        fact = (service, span.get("name"), span["id"], span.get("parentId"), span.get("kind"), failed)
        traces.setdefault(span["traceId"], []).append(fact)
    return traces


def check_trace(services, photo, spans, root, failed):
    """From the root to the leaf: each span is the child of the one before, and those that travelled have the ids they travelled with."""
    chain, parent = [], root
    for number, service in enumerate(services.names):
        incoming = services.wires[number - 1].ids(photo)[1] if number else root
        exactly(incoming == parent, f"{service} was asked in the name of {incoming}, not {parent}")
        (server,) = [span for span in spans if span[3] == parent]
        exactly((server[0], server[4]) == (service, "SERVER"), str(server))
        chain.append(server)
        if service != services.names[-1]:
            outgoing = services.wires[number].ids(photo)[1]
            (client,) = [span for span in spans if span[2] == outgoing]
            exactly((client[0], client[3], client[4]) == (service, server[2], "CLIENT"), str(client))
            chain.append(client)
            parent = client[2]
    if failed:
        exactly(chain[-1][5] and chain[-2][5], f"the store and who asked it failed: {chain}")
    else:
        (leaf,) = [span for span in spans if span[3] == chain[-1][2]]
        exactly((leaf[0], leaf[1], leaf[4]) == ("store", "disk read", None), str(leaf))
        chain.append(leaf)
        exactly(not any(span[5] for span in chain), f"a span that failed: {chain}")
    exactly(sorted(map(str, chain)) == sorted(map(str, spans)), f"there are others:\n{spans}\n{chain}")
    return chain


def trees_of(text):
    """What `blkin tail --trees` has drawn, by trace."""
    trees = {}
    for tree in re.split(r"^(?=trace )", text, flags=re.MULTILINE)[1:]:
        trees.setdefault(tree.split()[1].zfill(32), []).append(tree)
    return trees


def spans_of(text):
    return sum(map(int, re.findall(r"^trace \w+  (\d+) spans?  ", text, re.MULTILINE)))


def check_tree(text, chain):
    """What `blkin tail --trees` draws: each span deeper than the one before."""
    head, *lines = text.splitlines()
    services = list(dict.fromkeys(span[0] for span in chain))
    exactly(f"  {len(chain)} spans  " in head and head.endswith("  " + ", ".join(services)), head)
    column, found = -1, 0
    for line in lines:
        match = re.match(r"[ │├└─]*─ (?:✗ )?(.*?)  ", line)
        if match:
            exactly(found < len(chain) and match.start(1) > column, text)
            exactly(match[1].lower() == chain[found][1].lower() and f" {chain[found][0]} " in line, f"{chain[found]}\n{text}")
            column, found = match.start(1), found + 1
    exactly(found == len(chain), text)


def run(node, folder, otlp, zipkin, real):
    inputs = {"otlp": free_port(), "otlp-grpc": free_port()}
    outputs = {"output zipkin": {"type": "http", "format": "json2", "server": f"127.0.0.1:{zipkin.port}"}}
    if real:
        outputs["output real"] = {"type": "http", "format": "json2", "server": f"127.0.0.1:{real.http_port}"}
    node.start_agent(otlp.port, output={"type": "otlp"}, input={key: f"127.0.0.1:{port}" for key, port in inputs.items()}, **outputs)
    services = Services(node, folder, inputs)
    before = watchers(node)
    tail = node.start([node.built("cli/blkin"), "tail", "--trees", "--socket", node.socket], "tail", LC_ALL="C.UTF-8", NO_COLOR="1")
    wait_until(lambda: watchers(node) > before, 10, "blkin tail to watch")

    # those of a caller who has a span of his own; some whose root is the first service's; one that fails; one that is not sampled
    named = {photo: f"{photo + 1:032x}" for photo in range(COUNT)}
    photos = [*range(COUNT, 2 * COUNT), MISSING]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda photo: services.ask(photo, f"00-{named[photo]}-{CALLER}-01"), named))
        list(pool.map(lambda photo: services.ask(photo, None), photos[:-1]))
    services.ask(MISSING, None, 404)
    services.ask(999, f"00-{999:032x}-{CALLER}-00")
    exactly([wire.ids(999)[::2] for wire in services.wires] == [(f"{999:032x}", 0)] * len(services.wires), "it became sampled")

    each = 2 * len(services.names)
    total = 2 * COUNT * each + each - 1
    otlp.wait_for(total, 60)
    zipkin.wait_for(total, 60)
    wait_until(lambda: spans_of(tail.log()) == total, 20, "as many spans in trees")
    for program in services.programs:
        program.stop()
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 20, "all to be delivered")
    exactly(ledger.sent == total == len(otlp.spans) == len(zipkin.spans) and ledger.dropped == 0, f"{total}: {ledger}")

    facts = facts_of_otlp(otlp)
    exactly(len(facts) == 2 * COUNT + 1, f"{len(facts)} traces:\n" + "\n".join(map(str, facts.items())))
    trees, chains, parts = trees_of(tail.log()), {}, 0
    for photo in [*named, *photos]:
        trace = services.wires[0].ids(photo)[0]
        exactly(named.get(photo, trace) == trace, f"another trace: {trace}")
        root = CALLER if photo in named else None
        chains[trace] = check_trace(services, photo, facts[trace], root, photo == MISSING)
        if len(trees[trace]) == 1:
            check_tree(trees[trace][0], chains[trace])
        else:  # more than a second was between two of its spans
            exactly(spans_of("".join(trees[trace])) == len(chains[trace]), "".join(trees[trace]))
            parts += 1
    exactly(len(trees) == len(chains) and parts < len(chains) / 2, f"{parts} of {len(chains)} trees in parts, {len(trees)} traces")
    exactly(lower(facts_of_zipkin(zipkin.spans)) == lower(chains), "Zipkin's JSON has others than OTLP")
    if real:
        check_real(real, chains)
    if os.path.exists(f"{folder}/tracing"):
        check_wrapper(node, f"{folder}/tracing", otlp)
        print("the program in doc/ceph.md: its two spans came, too")
    print(f"{2 * COUNT + 1} requests, {total} spans: each request one trace of {', '.join(services.names)}, "
          f"as OTLP, as Zipkin's JSON{', in Zipkin' if real else ''} and in blkin tail --trees ({parts} in parts). One:\n")
    print(trees[services.wires[0].ids(COUNT)[0]][0])


def check_wrapper(node, program, otlp):
    """What doc/ceph.md has: a class that makes another processor."""
    had = len(otlp.spans)
    exactly(node.start([program], "tracing").wait() == 0, "tracing failed")
    otlp.wait_for(had + 2)
    (request,), (write,) = ([span for _, span, _ in otlp.spans[had:] if span.name == name] for name in ("osd op", "write"))
    exactly(write.parent_span_id == request.span_id and write.trace_id == request.trace_id, f"{write}\n{request}")
    exactly([resource["service.name"] for resource, _, _ in otlp.spans[had:]] == ["osd.3"] * 2, "of whom?")


def lower(traces):
    """Zipkin's servers have all names in lower case."""
    return {
        trace.zfill(32): sorted(str((span[0].lower(), (span[1] or "").lower(), *span[2:])) for span in spans)
        for trace, spans in traces.items()
    }


def check_real(real, chains):
    """What a Zipkin server answers of each trace."""
    wait_until(lambda: all(len(real.ask(f"/trace/{trace}") or []) == len(chain) for trace, chain in chains.items()), 60, "Zipkin to have all")
    found = {}
    for trace in chains:
        found.update(facts_of_zipkin(real.ask(f"/trace/{trace}")))
    exactly(lower(found) == lower(chains), "Zipkin shows others")


def main():
    with Node() as node, OtlpSink() as otlp, JsonSink() as zipkin:
        real = Zipkin(node).start() if "ZIPKIN_JAR" in os.environ else None
        run(node.start_lttng(), sys.argv[1], otlp, zipkin, real)


main()
