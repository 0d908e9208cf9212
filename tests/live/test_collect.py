# SPDX-License-Identifier: BSD-2-Clause
"""`blkin collect`: spans over HTTP beside Scribe, and what it says where something else comes, or has its port."""

import gzip
import json
import re
import socket
import sys
import time
import urllib.error
import urllib.request

import pytest
from rig.node import TOP
from rig.process import answers, free_port, wait_until

ERRORS = "tests/live/programs/errorload"


def start(node, port, *words):
    command = [node.built("cli/blkin"), "collect", "--listen", f"127.0.0.1:{port}", *words]
    collector = node.start(command, name="collect", LC_ALL="C.UTF-8")
    collector.wait_ready(lambda: answers(port))
    return collector


def send(port, text):
    """Returns once the other end has closed."""
    with socket.create_connection(("127.0.0.1", port), 10) as stream:
        stream.sendall(text)
        while stream.recv(1000):
            pass


def test_strangers_are_told_once(bare_node):
    """They try again and again: what they are is said once a minute."""
    port = free_port()
    collector = start(bare_node, port)
    for _ in range(5):
        send(port, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        send(port, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        send(port, b"\x7f\xff\xff\xff")
    log = collector.log()
    assert collector.stop() == 0
    for words in (
        "refused an HTTP request: this is no request of HTTP/1.1: over HTTP this port takes POST /v1/traces (OTLP), "
        "/api/v1/spans or /api/v2/spans (Zipkin)\n",
        "a TLS handshake came: this port takes spans without TLS\n",
        "a frame of 2147483647 bytes: is this framed Thrift?\n",
    ):
        assert log.count(words) == 1, log
    assert log.count("connection closed") == 2


OUTPUTS = {
    "scribe": {"type": "scribe"},
    "otlp": {"type": "otlp", "compression": "none"},
    "otlp-gzip": {"type": "otlp", "compression": "gzip"},
    "otlp-zstd": {"type": "otlp", "compression": "zstd"},
    "thrift": {"type": "http"},
    "json2": {"type": "http", "format": "json2", "compression": "gzip"},
}


def collected(log):
    """Its lines of JSON, without what only version 1 adds."""
    spans = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    for span in spans:
        span.get("tags", {}).pop("otel.status_description", None)
    return sorted(spans, key=lambda span: (span["traceId"], span["id"], span.get("kind", "")))


def test_takes_what_outputs_send(node, run_sample):
    """Of every type and format that has a server: the same spans, to a port each."""
    ports = {name: free_port() for name in OUTPUTS}
    collectors = {name: start(node, port, "--json") for name, port in ports.items()}
    sections = {
        f"output {name}": dict(keys, server=f"127.0.0.1:{ports[name]}", batch_delay="50ms") for name, keys in OUTPUTS.items()
    }
    node.start_agent(1, output={"type": "none"}, **sections)
    node.run([ERRORS, 200])
    run_sample(node, 10)

    def have_all():
        return all(log.log().count('{"traceId"') == 250 for log in collectors.values())

    wait_until(have_all, 30, "all spans")
    wanted = collected(collectors["scribe"].log())
    assert len(wanted) == 250
    for name, collector in collectors.items():
        assert collected(collector.log()) == wanted, name
        assert collector.stop() == 0


def test_takes_what_the_readme_sends(node):
    """Its example of an output, with the collector's address; an error is shown once."""
    with open(f"{TOP}/README.md", encoding="utf-8") as file:
        kind, server = re.search(r"^    \[output\]\n    type = (\w+)\n    server = (\S+)$", file.read(), re.MULTILINE).groups()
    assert server.endswith(":4318")
    for output in ({"type": kind}, {"type": "scribe"}):
        port = free_port()
        collector = start(node, port)
        agent = node.start_agent(port, output=output)
        node.run([ERRORS, 1])
        wait_until(lambda: "ordinal = 0" in collector.log(), 20, "the trace")
        assert collector.log().count("failed") == 1 and "status_description" not in collector.log(), collector.log()
        assert agent.stop() == 0 and collector.stop() == 0


def post(port, path, body, **headers):
    """The status of the answer, and what it says."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, {k.replace("_", "-"): v for k, v in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


SPAN = {"traceId": "a" * 32, "id": "b" * 16, "name": "get", "timestamp": 1_000_000, "localEndpoint": {"serviceName": "web"}}
OTLP = {
    "resourceSpans": [
        {
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "web"}}]},
            "scopeSpans": [
                {"spans": [{"traceId": "c" * 32, "spanId": "d" * 16, "name": "put", "kind": 1, "startTimeUnixNano": "1000000000"}]}
            ],
        }
    ]
}


def test_takes_what_others_send(bare_node):
    """JSON of OTLP and of Zipkin, packed, and in chunks with more requests behind it on the connection."""
    port = free_port()
    collector = start(bare_node, port, "--json")
    zipkin, otlp = json.dumps([SPAN], indent=1).encode(), json.dumps(OTLP, indent=1).encode()
    assert post(port, "/api/v2/spans", zipkin, Content_Type="application/json; charset=utf-8") == (202, "")
    assert post(port, "/api/v2/spans?x=y", gzip.compress(zipkin), Content_Type="application/json", Content_Encoding="gzip") == (202, "")
    assert post(port, "/v1/traces", otlp, Content_Type="application/json") == (200, "{}")
    head = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(otlp[i : i + 50]), otlp[i : i + 50]) for i in range(0, len(otlp), 50)) + b"0\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), 10) as stream:
        for byte in head + chunks:
            stream.sendall(bytes([byte]))
        stream.sendall(head + chunks + head.replace(b"Host: x", b"Host: x\r\nConnection: close") + chunks)
        answer = b""
        while more := stream.recv(1000):
            answer += more
    assert answer.count(b"HTTP/1.1 200 OK\r\n") == 3 and answer.count(b"Connection: close") == 1, answer
    wait_until(lambda: len(collected(collector.log())) == 6, 10, "all spans")
    found = collected(collector.log())
    assert [span["name"] for span in found] == ["get"] * 2 + ["put"] * 4
    assert all(span["localEndpoint"] == {"serviceName": "web"} for span in found)
    assert collector.stop() == 0 and "refused" not in collector.log()


WRONG = [
    ("/api/v2/spans", b"[{}", {"Content_Type": "application/json"}, 400),
    ("/api/v2/spans", json.dumps([SPAN, {}]).encode(), {"Content_Type": "application/json"}, 400),
    ("/api/v1/spans", b"\x0c\0\0\0\2\0", {"Content_Type": "application/x-thrift"}, 400),
    ("/api/v1/spans", b"\x0c\x7f\xff\xff\xff", {"Content_Type": "application/x-thrift"}, 400),
    ("/v1/traces", b"\x0a\xff\xff", {"Content_Type": "application/x-protobuf"}, 400),
    ("/v1/traces", b"{}]", {"Content_Type": "application/json"}, 400),
    ("/v1/traces", gzip.compress(b"x" * 999)[:-9], {"Content_Type": "application/json", "Content_Encoding": "gzip"}, 400),
    ("/v1/traces", gzip.compress(b" " * (70 << 20)), {"Content_Type": "application/json", "Content_Encoding": "gzip"}, 400),
    ("/v1/traces", b"\x28\xb5\x2f\xfd\0", {"Content_Type": "application/json", "Content_Encoding": "zstd"}, 400),
    ("/v1/traces", b"", {"Content_Type": "application/json", "Content_Encoding": "br"}, 415),
    ("/v1/traces", b"", {"Content_Type": "text/plain"}, 415),
    ("/v1/metrics", b"", {"Content_Type": "application/x-protobuf"}, 404),
    ("/api/v2/spans", None, {}, 405),
    ("/v1/traces", b"", {"Content_Type": "application/json", "Content_Length": str(1 << 40)}, 413),
]


@pytest.mark.parametrize("path, body, headers, status", WRONG, ids=range(len(WRONG)))
def test_refuses(bare_node, path, body, headers, status):
    """With what is wrong; and goes on."""
    port = free_port()
    collector = start(bare_node, port, "--json")
    code, said = post(port, path, body, **headers)
    assert code == status and said
    assert collector.log().count(f": refused an HTTP request: {said}\n") == 1
    assert post(port, "/api/v2/spans", json.dumps([SPAN]).encode(), Content_Type="application/json") == (202, "")
    wait_until(lambda: len(collected(collector.log())) == 1, 10, "the good span")
    assert collector.stop() == 0


def test_port_that_is_taken(bare_node):
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        second = bare_node.start([bare_node.built("cli/blkin"), "collect", "--listen", f"127.0.0.1:{port}"], name="collect")
        assert second.wait(10) == 1
    said = f"cannot listen on 127.0.0.1:{port}: Address already in use (another `blkin collect`, or Zipkin? --listen takes another"
    assert said in second.log()


def test_example_without_its_library(bare_node):
    """In a sentence, where Debian's package is not installed."""
    hide = "import runpy, sys; sys.modules['confluent_kafka'] = None; runpy.run_path('examples/kafka_count.py', run_name='__main__')"
    program = bare_node.start([sys.executable, "-c", hide, "b:1", "t"], name="kafka_count")
    assert program.wait(20) == 1
    assert program.log() == "kafka_count.py: the module confluent_kafka is missing: install python3-confluent-kafka\n"


def told(port, text):
    """The first line of its answer."""
    with socket.create_connection(("127.0.0.1", port), 30) as stream:
        stream.sendall(text)
        return stream.makefile("rb").readline().decode().strip()


def json_call(text, *heads):
    lines = ["POST /api/v2/spans HTTP/1.1", "Host: x", "Content-Type: application/json", *heads]
    return "\r\n".join([*lines, "", ""]).encode() + text


def test_lengths_that_differ(bare_node):
    """Who sees another one than a proxy before it takes a part of a body for a call of its own. So with chunks."""
    port = free_port()
    collector = start(bare_node, port)
    assert told(port, json_call(b"[]", "Content-Length: 2", "Content-Length: 40")).startswith("HTTP/1.1 400 ")
    assert told(port, json_call(b"[]", "Content-Length: 2", "Content-Length: 2")).startswith("HTTP/1.1 400 ")
    assert told(port, json_call(b"2\r\n[]\r\n0\r\n\r\n", "Transfer-Encoding: chunked")).startswith("HTTP/1.1 202 ")
    assert told(port, json_call(b"2\r\n[]xx0\r\n\r\n", "Transfer-Encoding: chunked")).startswith("HTTP/1.1 400 ")
    assert told(port, json_call(b"z\r\n[]\r\n", "Transfer-Encoding: chunked")).startswith("HTTP/1.1 400 ")
    assert told(port, json_call(b"", "X: " + "x" * 17000)).startswith("HTTP/1.1 431 ")
    assert collector.stop() == 0


def test_an_empty_line_between_requests(bare_node):
    """Some clients send one behind a body; it is neither a request nor a frame, and each request has its answer."""
    port = free_port()
    collector = start(bare_node, port)
    call = json_call(b"[]", "Content-Length: 2")
    with socket.create_connection(("127.0.0.1", port), 30) as stream:
        stream.sendall(call + b"\r\n" + call + b"\r\n" + json_call(b"[]", "Content-Length: 2", "Connection: close"))
        answer = stream.makefile("rb").read()
    assert answer.count(b"HTTP/1.1 202 ") == 3, answer
    assert collector.stop() == 0 and "connection closed" not in collector.log()


CHAIN = 60000


def test_a_long_chain(bare_node):
    """Each span the child of the one before: it is drawn in no time, and others are answered meanwhile."""
    port = free_port()
    collector = start(bare_node, port)
    spans = [{"traceId": "3", "id": f"{at + 2:x}", "parentId": f"{at + 1:x}", "name": "a", "timestamp": 1} for at in range(CHAIN)]
    text = json.dumps(spans).encode()
    assert told(port, json_call(text, f"Content-Length: {len(text)}")).startswith("HTTP/1.1 202 ")
    began = time.monotonic()
    wait_until(lambda: f"{CHAIN} spans" in collector.log(), 30, "the trace")
    print(f"drawn after {time.monotonic() - began:.1f} s")
    assert told(port, json_call(b"[]", "Content-Length: 2")).startswith("HTTP/1.1 202 ")
    assert collector.stop() == 0
