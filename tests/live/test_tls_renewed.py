# SPDX-License-Identifier: BSD-2-Clause
"""
Certificates that are renewed, under the names that they have: what is there when the next connection is made is used. The
agent is neither restarted nor reloaded.
"""

import os
import shutil
import ssl

import pytest
from rig.load import LOAD
from rig.moody import Moody
from rig.process import wait_until
from test_connect import make_certificate
from test_needs import finding

WHERE = "IP:127.0.0.1"


def rename(new, old):
    os.rename(new, old)


def write(new, old):
    """In place, as `cp` does."""
    shutil.copyfile(new, old)


def lead(new, old):
    """To another file, as Kubernetes does with the link that all of a secret is behind."""
    os.symlink(new, old + ".new")
    os.rename(old + ".new", old)


WAYS = [rename, write, lead]


def put(node, name, file, way=write):
    way(node.path(name), node.path(file))


def start_agent(node, server, **files):
    output = {"tls": "yes", "retry_max": "300ms"}
    output.update({f"tls_{key}": node.path(name) for key, name in files.items()})
    return node.start_agent(server.port, output=output)


def replace(server, context):
    """The same server, with another certificate."""
    server.stop()
    server.tls = context
    server.start()


def deliver(node, total):
    """Another hundred spans, which makes @total."""
    node.run([LOAD, "-n", 100])
    ledger = node.wait_ledger(lambda ledger: ledger.sent == total, 20, "the spans")
    assert ledger.dropped == 0


def say_so(node, words):
    found = wait_until(lambda: finding(node, "output-tls"), 20, "the finding")
    assert words in found["what"]


@pytest.mark.parametrize("way", WAYS)
def test_authority(node, way):
    """The server's certificate is one of another authority, which comes to stand in `tls-ca`."""
    one, two = (make_certificate(node, name, WHERE) for name in ("one", "two"))
    put(node, "one.pem", "ca.pem")
    with Moody(node, tls=one) as server:
        agent = start_agent(node, server, ca="ca.pem")
        deliver(node, 100)
        replace(server, two)
        node.run([LOAD, "-n", 100])
        say_so(node, "not signed by an authority that `tls-ca` names")
        put(node, "two.pem", "ca.pem", way)
        node.wait_ledger(lambda ledger: ledger.sent == 200, 20, "the spans")
        wait_until(lambda: not finding(node, "output-tls"), 20, "all to be well")
        assert agent.stop() == 0


def wants_client(node, client):
    """A context of the server's, for who shows that certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(node.path("server.pem"), node.path("server.key"))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(node.path(client))
    return context


@pytest.mark.parametrize("way", WAYS)
def test_own(node, way):
    """The server takes the old certificate no more; between the new one and its key is a while."""
    for name in ("old", "new"):
        make_certificate(node, name, "DNS:node")
    for kind in ("pem", "key"):
        put(node, f"old.{kind}", f"own.{kind}")
    make_certificate(node, "server", WHERE)
    one, two = (wants_client(node, f"{name}.pem") for name in ("old", "new"))
    with Moody(node, tls=one) as server:
        agent = start_agent(node, server, ca="server.pem", certificate="own.pem", key="own.key")
        deliver(node, 100)
        replace(server, two)
        node.run([LOAD, "-n", 100])
        say_so(node, "tls-certificate")
        shutil.copyfile(node.path("new.pem"), node.path("copy.pem"))
        put(node, "copy.pem", "own.pem", way)
        half = f"`tls-key = {node.path('own.key')}` cannot be read as the key of `tls-certificate`"
        wait_until(lambda: half in agent.log(), 20, "the old key to be found not to fit")
        assert node.ledger().sent == 100
        put(node, "new.key", "own.key", way)
        node.wait_ledger(lambda ledger: ledger.sent == 200, 20, "the spans")
        assert agent.log().count(half) == 1
        assert agent.stop() == 0


def test_what_does_not_do(node):
    """The one before stays in use, which the log says once, and the status until it is over; and what does is used again."""
    one, two = (make_certificate(node, name, WHERE) for name in ("one", "two"))
    put(node, "one.pem", "ca.pem")
    with Moody(node, tls=one) as server:
        agent = start_agent(node, server, ca="ca.pem")
        deliver(node, 100)
        with open(node.path("ca.pem"), "w", encoding="utf-8") as file:
            file.write("nothing\n")
        for total in (200, 300):
            replace(server, one)
            deliver(node, total)
        said = f"`tls-ca = {node.path('ca.pem')}` cannot be read as certificates in PEM"
        assert said in finding(node, "output-tls-old")["what"]
        assert [said in line and "stays in use" in line for line in agent.log().splitlines() if said in line] == [True]
        put(node, "two.pem", "ca.pem")
        assert node.status()["findings"] == []
        replace(server, two)
        deliver(node, 400)
        assert agent.stop() == 0
