# SPDX-License-Identifier: BSD-2-Clause
"""TLS and SASL, and what else is wrong between the agent and a broker: `blkin validate --connect` and the status say what."""

import contextlib
import shutil
import socket
import threading

import pytest
from rig.kafka import PASSWORD, SCRAM, USER
from rig.kafkatopic import Topic
from rig.process import exactly, free_port, wait_until
from test_connect import connect
from test_kafka import LOAD, output
from test_kafka_faults import told
from test_otlp_faults import write_private
from test_outputs_reload import Sections

TLS = {"tls": "yes"}
SPANS = 500


def login(path, kind="plain", **keys):
    return dict({"sasl": kind, "sasl_user": USER, "sasl_password_file": path}, **keys)


@contextlib.contextmanager
def banner(text):
    """A server of another kind, which says something at once; its port."""

    def serve(listener):
        with contextlib.suppress(OSError):
            while True:
                stream, _ = listener.accept()
                with stream:
                    stream.sendall(text)
                    stream.recv(65536)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def passwords(node):
    """Files with the right password, and a wrong one."""
    paths = node.path("right"), node.path("wrong")
    for path, text in zip(paths, (PASSWORD, "open barley")):
        write_private(path, text + "\n")
    return paths


def ways(kafka, passwords):
    """Each way to be let in, by a name."""
    store = kafka.node.path
    safe = dict(TLS, tls_ca=store("ca.pem"))
    own = dict(safe, tls_certificate=store("client.pem"), tls_key=store("client.key"))
    return {
        "tls": ("tls", safe),
        "certificate": ("mutual", own),
        "plain": ("login", login(passwords[0])),
        "scram-256": ("login", login(passwords[0], "scram-sha-256")),
        "both": ("tlslogin", login(passwords[0], "scram-sha-512", **safe)),
    }


def faults(kafka, passwords):
    """For each fault the listener, settings that it does not take, what is said of that, and the setting to correct."""
    store = kafka.node.path
    safe = dict(TLS, tls_ca=store("ca.pem"))
    return {
        "stranger": ("tls", dict(TLS, tls_ca=store("stranger.pem")), "no TLS connection: ", "`tls-ca`"),
        "name": ("other", safe, "no TLS connection: ", "certificate"),
        "nobody": ("mutual", safe, "no TLS connection: ", "`tls-certificate`"),
        "no-tls": ("tls", {}, "no good answer: ", "`tls`"),
        "tls-there": ("open", safe, "no TLS connection: ", "`tls = no`"),
        "plain": ("login", login(passwords[1]), "takes no spans: ", "`sasl-password-file`"),
        "scram": ("login", login(passwords[1], "scram-sha-512"), "takes no spans: ", "`sasl-password-file`"),
        "no-login": ("login", {}, "no good answer: ", "`sasl`"),
        "unreadable": ("login", login("/nowhere"), "cannot send: the password in `/nowhere`", "`sasl-password-file`"),
    }


def outputs(kafka, topic, cases):
    return {f"output {name}": output(kafka, topic, listener, **keys) for name, (listener, keys, *_) in cases.items()}


def test_each_way_in(node, receiver, kafka, passwords):
    """First `validate --connect`, whose span arrives, too; then the agent."""
    cases = ways(kafka, passwords)
    topic = Topic(kafka, kafka.create(), "thrift")
    node.start_agent(receiver.port, **outputs(kafka, topic.name, cases))
    code, found, trace = connect(node)
    assert (code, set(found.values()), len(found)) == (0, {"accepted"}, 1 + len(cases)), found
    topic.wait_for(len(cases))
    arrived = {(span.name, f"{span.trace_id & (1 << 64) - 1:016x}") for span in topic.spans()}
    exactly(arrived == {("connection test", trace)}, f"{arrived} arrived")
    node.run([LOAD, "-n", SPANS])
    topic.wait_for(len(cases) * (1 + SPANS))
    for name in cases:
        node.wait_ledger(lambda ledger: (ledger.sent, ledger.dropped) == (SPANS, 0), 20, "delivery", name)
    exactly(topic.count == len(cases) * (1 + SPANS), "nothing twice")


def finding(node, name):
    """What the doctor has found of an output, and says to do."""
    found = [found for found in node.status()["findings"] if f"of output {name} at " in found["what"]]
    return found[0]["fix"] if found else ""


def test_each_way_out(node, receiver, kafka, passwords):
    """Each has its reason, and what to do about it; once that is put right, no span is missing."""
    topic = Topic(kafka, kafka.create(), "thrift")
    with banner(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        cases = faults(kafka, passwords)
        sections = outputs(kafka, topic.name, cases)
        for name, keys, *words in (
            ("away", {"brokers": f"127.0.0.1:{free_port()}"}, "cannot connect: ", "`brokers`"),
            ("web", {"brokers": f"127.0.0.1:{port}"}, "no good answer: ", "`brokers`"),
            ("topic", {"topic": "nobody-made-it"}, "takes no spans: the brokers have no topic `nobody-made-it`", "`topic`"),
        ):
            sections[f"output {name}"] = output(kafka, topic.name) | keys
            cases[name] = ("open", {}, *words)
        for keys in sections.values():
            keys.update(timeout="3s", retry_max="1s")
        node.start_agent(receiver.port, **sections)
        code, found, _ = connect(node)
        print(node.programs[-1].log())
        assert code == 1
        for name, (_, _, words, _) in cases.items():
            (said,) = [said for (section, _), said in found.items() if section == f"output {name}"]
            assert said.startswith(words), (name, said)
        node.run([LOAD, "-n", SPANS])
        for name, (_, _, _, setting) in cases.items():
            wait_until(lambda n=name, s=setting: s in finding(node, n), 30, f"{setting} in {finding(node, name)}, of {name}")
        assert topic.read() == 0 and PASSWORD not in node.agent.log() and "barley" not in node.agent.log()
    file = Sections(node)
    for name in sections:
        keys = output(kafka, topic.name)
        file.keys[name] = "".join(f"{key.replace('_', '-')} = {value}\n" for key, value in keys.items()) + "\n"
    file.hang_up()
    topic.wait_for(len(cases) * SPANS)
    for name in cases:
        node.wait_ledger(lambda ledger: (ledger.sent, ledger.dropped) == (SPANS, 0), 30, "delivery", name)
    exactly(topic.count == len(cases) * SPANS, "nothing twice")


@pytest.mark.parametrize("kind", ["plain", *map(str.lower, SCRAM)])
def test_password_is_replaced(node, kafka, passwords, kind):
    """In the file, without a reload."""
    topic = Topic(kafka, kafka.create(), "thrift")
    _, wrong = passwords
    node.start_agent(1, output=output(kafka, topic.name, "login", retry_max="500ms", **login(wrong, kind)))
    node.run([LOAD, "-n", SPANS])
    wait_until(lambda: "uthentication" in told(node), 20, "the reason to be told")
    write_private(wrong, PASSWORD)
    topic.wait_for(SPANS)
    node.wait_ledger(lambda ledger: (ledger.sent, ledger.dropped) == (SPANS, 0) and ledger.idle(), 20, "delivery")


def test_certificate_is_replaced(node, kafka):
    """The same of the client's certificate and its key, and of the authority."""
    topic = Topic(kafka, kafka.create(), "thrift")
    store = kafka.node.path
    paths = {kind: node.path(kind) for kind in ("ca", "certificate", "key")}

    def put(**names):
        for kind, name in names.items():
            shutil.copyfile(store(name), paths[kind])

    put(ca="stranger.pem", certificate="stranger.pem", key="stranger.key")
    files = {f"tls_{kind}": path for kind, path in paths.items()}
    node.start_agent(1, output=output(kafka, topic.name, "mutual", retry_max="500ms", **TLS, **files))
    node.run([LOAD, "-n", SPANS])
    wait_until(lambda: "not signed by a trusted authority" in told(node), 20, "the authority to be missed")
    put(ca="ca.pem")
    wait_until(lambda: "tls-certificate" in told(node), 20, "the certificate to be turned down")
    put(certificate="client.pem", key="client.key")
    topic.wait_for(SPANS)
    node.wait_ledger(lambda ledger: (ledger.sent, ledger.dropped) == (SPANS, 0) and ledger.idle(), 20, "delivery")


def test_status_shows_it(node, receiver, kafka):
    topic = kafka.create()
    node.start_agent(receiver.port, **{"output bus": output(kafka, topic)})
    node.run([LOAD, "-n", SPANS])
    node.wait_ledger(lambda ledger: ledger.sent == SPANS, 20, "delivery", "bus")
    found = next(output_ for output_ in node.status()["outputs"] if output_["name"] == "bus")
    assert (found["output"], found["delivering"]) == ("kafka", True)
    assert kafka.bootstrap().replace(" ", "") in found["server"].replace(" ", "")
    program = node.start([node.built("cli/blkin"), "status", "--socket", node.socket], name="status")
    assert program.wait() == 0
    assert f"delivering  bus: yes, to {found['server']}" in program.log(), program.log()
