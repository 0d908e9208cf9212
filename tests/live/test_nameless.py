# SPDX-License-Identifier: BSD-2-Clause
"""
A collector by its name while no name server answers: the node's network comes up late, or a name server hangs. The agent
stays at hand, costs next to nothing and keeps every span; what it kept goes out when the name is known.
"""

import os
import time

import pytest
from expect import key_of
from rig.load import LOAD
from rig.moody import Moody
from rig.names import Names
from rig.node import sanitized
from rig.process import PATIENCE, crowding, wait_until

NAME = "collector.blkin.test"
NOWHERE = "192.0.2.1"  # no route leads there
RATE = 50
FILL = "max_free_fill_size=1048576:free_fill_byte=85"  # a library without sanitizers that uses freed memory falls


@pytest.fixture
def names(node):
    with Names(node) as names:
        yield names


@pytest.fixture
def server(node):
    with Moody(node) as server:
        yield server


def start_agent(node, names, port, timeout):
    config = node.write_config(
        port,
        agent={"stop_timeout": "1s"},
        output={"server": f"{NAME}:{port}", "timeout": timeout},
    )
    environment = dict(node.leak_environment, MALLOC_PERTURB_="85")
    environment["ASAN_OPTIONS"] = ":".join([FILL, *filter(None, [environment.get("ASAN_OPTIONS")])])
    node.agent = node.start(
        names.command(node.built("agent/blkin-agent"), "-c", config), name="blkin-agent", **environment
    )
    node.agent.wait_ready(node.collecting)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def threads_of(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def bear(node, seconds):
    """Spans come for so long: returns how many. The agent answers at once, as far as others leave it a processor."""
    spans = seconds * RATE
    load = node.start([node.built(LOAD), "-n", spans, "-r", RATE])
    began, used = time.monotonic(), cpu_seconds(node.agent.pid)
    slowest = most = 0
    while load.running():
        asked = time.monotonic()
        assert node.http_get("/healthz")[0] == 200
        slowest = max(slowest, (time.monotonic() - asked) / crowding())
        most = max(most, threads_of(node.agent.pid))
        assert not node.status()["delivering"]
        time.sleep(0.5)
    assert load.wait() == 0
    share = (cpu_seconds(node.agent.pid) - used) / (time.monotonic() - began)
    print(f"{spans} spans: slowest answer {slowest:.2f} s, {share:.1%} of a core, {most} threads")
    assert slowest < 1 and share < 0.1 and most <= 4 + 4
    return spans


def expect_all(node, server, spans, seconds):
    node.wait_ledger(lambda ledger: ledger.sent == spans and ledger.idle(), seconds, f"{spans} spans")
    assert sorted(key_of(span)[2] for span in server.spans()) == list(range(spans))


@pytest.mark.parametrize("cure", ["name server", "hosts"])
def test_no_route_to_a_name_server(node, names, server, cure):
    """
    libevent's resolver spun for ever after 25 s, or fell after 11 s where the memory that it
    had freed is filled.
    """
    seconds = {"hosts": 3, "name server": 16 if sanitized() else 40}[cure]
    names.ask(NOWHERE)
    start_agent(node, names, server.port, "10s")
    spans = bear(node, seconds)
    node.wait_ledger(lambda ledger: ledger.spooled == spans, 20, "all to be in the spool")
    assert f"no address for {NAME}: no name server answers" in node.agent.log()
    names.addresses[NAME] = "127.0.0.1"
    if cure == "hosts":
        names.write("hosts", f"127.0.0.1 localhost {NAME}\n")
    else:
        names.ask(names.address)
    expect_all(node, server, spans, 20)
    assert node.agent.stop() == 0


def test_name_server_that_hangs(node, names, server):
    names.silent = True
    start_agent(node, names, server.port, "2s")
    spans = bear(node, 12)
    assert f"no address for {NAME}: the name service does not answer within 2 s" in node.agent.log()
    names.addresses[NAME] = "127.0.0.1"
    names.silent = False
    expect_all(node, server, spans, 20)
    assert node.agent.stop() == 0


def test_stop_while_a_name_server_hangs(node, names, server):
    """The next run delivers what this one has stored."""
    names.silent = True
    start_agent(node, names, server.port, "1min")
    node.run([LOAD, "-n", 500])
    node.wait_ledger(lambda ledger: ledger.spooled == 500, 20, "500 spans in the spool")
    wait_until(lambda: threads_of(node.agent.pid) > 4, 5, "a question under way")
    began = time.monotonic()
    assert node.agent.stop() == 0
    assert time.monotonic() - began < 4 * PATIENCE
    assert "500 spans are in the spool: the next start delivers them" in node.agent.log()
    names.addresses[NAME] = "127.0.0.1"
    names.silent = False
    start_agent(node, names, server.port, "1min")
    expect_all(node, server, 500, 20)
    assert node.agent.stop() == 0
