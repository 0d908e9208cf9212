# SPDX-License-Identifier: BSD-2-Clause
"""`blkin tail`: the spans of this node as they finish, to who wants them, at nobody's cost."""

import contextlib
import fnmatch
import json
import signal
import socket
import subprocess
import tempfile
import time

import pytest
from rig.node import paced
from rig.otlpsender import Grpc, Http, numbered
from rig.process import Trouble, free_port, wait_until
from rig.scribe import generated
from rig.sender import Client, message
from test_files import LOAD, NONE, ordinals

ERRORS = "tests/live/programs/errorload"
LEFT_OUT = "spans left out, as they came faster than they were taken"


@contextlib.contextmanager
def tail(node, *options):
    """`blkin tail`, which watches already; into files, as a pipe that nobody reads makes it slow."""
    command = [node.built("cli/blkin"), "tail", "--socket", node.socket, *options]
    time.sleep(0.3)  # an earlier one that has just gone is no longer counted then
    before = watchers(node)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
        with subprocess.Popen(command, env=dict(node.environment, LC_ALL="C.UTF-8"), stdout=out, stderr=said) as process:
            process.files = out, said
            try:
                wait_until(lambda: watchers(node) > before or process.poll() is not None, 10, "it to connect")
                for _ in range(2):  # then the agent, which answers all in one thread, has read what that asks for
                    node.http_get("/readyz")
                yield process
            finally:
                process.kill()


def watchers(node):
    """How many connections the agent's control socket has; that of this look is one."""
    with open("/proc/self/net/unix", encoding="ascii") as file:
        rows = [line.split() for line in file.readlines()[1:]]
    return sum(1 for row in rows if row[-1] == node.socket and row[5] == "03")


def texts(process):
    for file in process.files:
        file.seek(0)
        yield file.read().decode()


def lines_of(process):
    """The whole lines that it has shown."""
    return next(texts(process)).split("\n")[:-1]


def wait_lines(process, count):
    try:
        wait_until(lambda: len(lines_of(process)) >= count, 20, f"{count} lines of `blkin tail`")
    except Trouble as late:
        raise Trouble(f"{late}: it has {len(lines_of(process))}, and said {list(texts(process))[1]!r}") from None


def end(process, count=0, seconds=20):
    """Interrupts it once it has shown @count lines; gives its lines and what it said."""
    wait_lines(process, count)
    process.send_signal(signal.SIGINT)
    assert process.wait(seconds) == 0, list(texts(process))
    out, said = texts(process)
    return out.splitlines(), said


def left_out(process):
    """How many spans it told of that it did not show."""
    _, said = texts(process)
    return sum(int(line.split()[2]) for line in said.split("\n")[:-1] if LEFT_OUT in line)


def spans_of(lines):
    return [json.loads(line) for line in lines]


@pytest.fixture
def agent(node):
    """An agent of which no output takes anything."""
    return node.start_agent(free_port(), output=NONE)


def take(node, process, total):
    """What @process shows, once it has shown all of @total spans that are recorded now."""
    had = len(lines_of(process))
    node.run([LOAD, "-n", total, "-w", 20])
    return end(process, had + total)


def test_every_span(node, agent):
    """Each once, as it is, though no output has any."""
    with tail(node, "--json") as process:
        node.run([LOAD, "-n", 500, "-w", 20, "-t", 2, "-r", 500])
        lines, said = end(process, 1000)
    assert set(ordinals(spans_of(lines)).values()) == {1} and len(lines) == 1000, (len(lines), said)
    assert said == ""


def test_filters(node, agent):
    """Each shows what it says, and all of that."""
    with contextlib.ExitStack() as stack:
        watch = {
            options: stack.enter_context(tail(node, "--json", *options))
            for options in (
                (),
                ("--name", "LIST*"),
                ("--service", "load-?"),
                ("--service", "nobody"),
                ("--min-duration", "130us"),
                ("--tag", "ordinal=7"),
                ("--tag", "ordinal", "--name", "gr?ße"),
            )
        }
        node.run([LOAD, "-n", 200, "-t", 2, "-r", 500, "-w", 20])
        everything = spans_of(end(watch.pop(()), 400)[0])
        assert len(everything) == 400

        def same(options, wanted):
            ids = sorted(span["id"] for span in everything if wanted(span))
            assert sorted(span["id"] for span in spans_of(end(watch.pop(options), len(ids))[0])) == ids, options

        same(("--name", "LIST*"), lambda span: span["name"].startswith("list"))
        same(("--service", "load-?"), lambda span: fnmatch.fnmatch(span["localEndpoint"]["serviceName"], "load-?"))
        same(("--service", "nobody"), lambda span: False)
        same(("--min-duration", "130us"), lambda span: span["duration"] >= 130)
        same(("--tag", "ordinal=7"), lambda span: span["tags"]["ordinal"] == "7")
        same(("--tag", "ordinal", "--name", "gr?ße"), lambda span: span["name"] == "größe")
        assert not watch


def test_slow_reader(node, receiver):
    """It stands still: it loses spans, which are counted; the agent delivers all, and others see what they can take."""
    node.start_agent(receiver.port)
    rate, each = paced(2000, 2000), 10_000  # more than waits for a reader
    total = 1 + 2 * each
    with tail(node, "--json") as slow, tail(node, "--json") as quick:
        # whoever is connected has not asked yet
        node.run([LOAD, "-n", 1, "-w", 20])
        for process in (slow, quick):
            wait_lines(process, 1)
        slow.send_signal(signal.SIGSTOP)
        node.run([LOAD, "-t", 2, "-n", each, "-r", rate, "-w", 20])
        receiver.wait_for(total, 60)
        ledger = node.wait_ledger(lambda ledger: ledger.sent == total and ledger.idle(), 20, "all to be delivered")
        assert ledger.lost == 0
        slow.send_signal(signal.SIGCONT)
        for process in (slow, quick):
            # what waits for it ends with the latest news of what is lost
            told = lambda process=process: len(lines_of(process)) + left_out(process)
            wait_until(lambda told=told: told() >= total, 60, "all to be shown, or to be told as left out")
            lines, said = end(process)
            assert told() == total, (len(lines), said)
        # on a machine that is busy enough, the quick one loses some, too
        assert left_out(quick) < left_out(slow)


def test_agent_restarted(node, receiver):
    """It waits for the next one, and goes on."""
    node.start_agent(receiver.port)
    with tail(node, "--json") as process:
        node.run([LOAD, "-n", 100, "-w", 20])
        receiver.wait_for(100)
        wait_lines(process, 100)
        assert node.agent.stop() == 0
        wait_until(lambda: "is gone: waiting for it" in list(texts(process))[1], 10, "it to see that the agent is gone")
        node.start_agent_again()
        wait_until(lambda: watchers(node) > 0, 10, "it to watch again")
        lines, said = take(node, process, 100)
    assert len(lines) == 200, (len(lines), said)
    assert "is gone: waiting for it" in said and "is there again" in said


def test_inputs(node, receiver):
    """What comes by the inputs is shown with what the node records, and chosen as that is; several inputs at once."""
    ports = {key: free_port() for key in ("scribe", "otlp", "otlp-grpc")}
    node.start_agent(receiver.port, input={key: f"127.0.0.1:{port}" for key, port in ports.items()})
    generated()

    def send():
        with Http(ports["otlp"]) as by_http, Grpc(ports["otlp-grpc"]) as by_grpc:
            calls = [by_grpc.start(numbered(11, 0, [n]).SerializeToString()) for n in range(100)]
            assert {by_http.hand(numbered(12, 0, [n]))[0] for n in range(100)} == {200}
            assert all(call.result() is not None for call in calls)
        client = Client(ports["scribe"])
        assert client.log([message(13, 0, n) for n in range(100)]) == 0
        client.close()

    with tail(node, "--json") as everything, tail(node, "--json", "--service", "sender1?", "--name", "sen*") as named:
        node.run([LOAD, "-n", 100, "-w", 20])
        send()
        shown = spans_of(end(everything, 400)[0])
        chosen = spans_of(end(named, 300)[0])
    assert set(ordinals(shown).values()) == {1} and len(shown) == 400
    assert {span["id"] for span in chosen} == {span["id"] for span in shown if "sender1" in span["localEndpoint"]["serviceName"]}
    assert len(chosen) == 300


def heads(lines):
    return [line for line in lines if line.startswith("trace ")]


def test_trees(node, agent, run_sample):
    """Whole traces, of which a span is wanted."""
    with tail(node, "--trees", "--service", "store", "--name", "journal") as process:
        run_sample(node, 3)
        wait_until(lambda: len(heads(lines_of(process))) == 3, 20, "three traces")
        lines, said = end(process)
    assert len(heads(lines)) == 3 and all("gateway, store" in line for line in heads(lines)), lines
    assert said == ""


def test_count(node, agent):
    with tail(node, "--count", "7") as process:
        node.run([LOAD, "-n", 50, "-w", 20])
        assert process.wait(20) == 0
        assert len(next(texts(process)).splitlines()) == 7


def test_count_of_trees(node, agent):
    """Whole traces are counted, and only those that the options choose."""
    with tail(node, "--trees", "--tag", "ordinal=7", "--count", "1") as process:
        node.run([LOAD, "-n", 50, "-w", 20])
        assert process.wait(20) == 0
        printed = next(texts(process))
    assert printed.count("trace ") == 1 and "ordinal = 7\n" in printed, printed


def test_errors_and_one_trace(node, agent):
    with tail(node, "--json", "--errors") as failed, tail(node, "--json") as process:
        node.run([ERRORS, 200])
        everything = spans_of(end(process, 200)[0])
        assert len(everything) == 200
        assert {tuple(sorted(span["tags"])) for span in everything} == {("ordinal",), ("error", "ordinal")}
        wanted = {span["id"] for span in everything if "error" in span["tags"]}
        assert {span["id"] for span in spans_of(end(failed, len(wanted))[0])} == wanted
    with tail(node, "--trace", everything[5]["traceId"]) as process, tail(node, "--json") as other:
        assert len(take(node, other, 50)[0]) == 50
        assert end(process)[0] == []


@pytest.mark.parametrize("kind", ["json2", "otlp"])
def test_other_formats(node, kind, tmp_path):
    """Of the format that an output wants it reads the same."""
    node.start_agent(free_port(), output={"type": "file", "directory": tmp_path, "format": kind.replace("otlp", "otlp-json")})
    with tail(node, "--json") as process:
        lines, said = take(node, process, 300)
    assert set(ordinals(spans_of(lines)).values()) == {1} and len(lines) == 300, said


def test_line(node, agent):
    """For people: when, how long, whether it failed, and all else."""
    with tail(node) as process:
        node.run([ERRORS, 10])
        lines = end(process, 10)[0]
    assert len(lines) == 10
    failed = [line for line in lines if "✗" in line]
    assert len(failed) == 1 and "error=failed" in failed[0] and "ordinal=0" in failed[0]
    assert all("errors" in line and " try " in line for line in lines)


def test_not_too_many(node, agent):
    """So many may watch; the others are told; and who goes makes room. Questions are answered all the time."""
    with contextlib.ExitStack() as stack:
        watching = [stack.enter_context(tail(node)) for _ in range(16)]
        command = [node.built("cli/blkin"), "tail", "--socket", node.socket]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "end another `blkin tail` first" in done.stderr
        time.sleep(12)  # longer than a connection has otherwise
        assert node.status()["collecting"]
        assert all(process.poll() is None for process in watching)
        watching[3].kill()
        watching[3].wait()
        wait_until(lambda: watchers(node) == 15, 10, "it to be gone")
        with tail(node, "--json") as process:
            assert len(take(node, process, 100)[0]) == 100


def test_not_on_the_port(node, agent):
    assert node.http_get("/tail")[0] == 404


@pytest.mark.parametrize("query", ["min-duration=x", "trace=0", "what=1", "service=" + "x" * 300, "errors=2"])
def test_malformed(node, agent, query):
    with socket.socket(socket.AF_UNIX) as to:
        to.connect(node.socket)
        to.sendall(f"GET /tail?{query} HTTP/1.0\r\n\r\n".encode())
        answer = to.recv(65536)
    assert answer.split()[1] == b"400", answer


def test_what_is_wrong(node):
    node.write_config(free_port())

    def run(*options):
        command = [node.built("cli/blkin"), "tail", "--socket", node.socket, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    assert run()[0] == 69
    assert run("--min-duration", "7 apples") == (64, "blkin tail: a duration is a number and a unit, such as 250us, 20ms or 1.5s, not 7 apples\n")
    assert run("--trace", "xyz")[0] == 64
    assert run("--trees", "--json")[0] == 64
