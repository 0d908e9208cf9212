# SPDX-License-Identifier: BSD-2-Clause
"""Forks, daemons, signal handlers, exec, early exits, plugins that come and go: what is finished arrives, once."""

import collections
import signal

import pytest

EDGES = "tests/live/programs/edges"


def run(node, receiver, *words, code=0, names=None, **environment):
    """Runs the program; returns the spans that came, without those of the names that have no exact number."""
    node.start_agent(receiver.port, session={"memory": "64M"})
    # A process, forked or executed, is recorded once LTTng has registered it, for which it waits some time only.
    # blkin_tracing() is true a little earlier.
    environment["LTTNG_UST_REGISTER_TIMEOUT"] = "-1"
    program = node.start([node.built(EDGES), *words], **environment)
    assert program.wait(60) == code, program.log()
    expected = int(program.log().split()[-1])
    receiver.wait_for(expected, 20)
    node.wait_ledger(lambda ledger: ledger.idle(), 20, "delivery")
    assert node.agent.stop() == 0
    spans = [span for span in receiver.spans() if span.name != "busy"]
    assert len(spans) == expected
    assert len({span.id for span in spans}) == expected
    return spans


PRELOAD = "liblttng-ust-fork.so.1"
OWN_FORK = "tests/live/programs/libownfork.so"


@pytest.mark.parametrize("preloads", [[], [PRELOAD], [OWN_FORK, PRELOAD]], ids=["alone", "with LTTng's preload", "with two preloads"])
def test_fork_in_the_middle_of_a_span(node, receiver, preloads):
    environment = {}
    if preloads:
        preloads = ":".join(node.built(library) if "/" in library else library for library in preloads)
        environment = {"LD_PRELOAD": preloads, "ASAN_OPTIONS": "verify_asan_link_order=0"}
    spans = run(node, receiver, "fork", **environment)
    [parent] = [span for span in spans if span.name == "forking"]
    assert all(span.parent_id == parent.id for span in spans if span.name == "in child")


def test_daemon(node, receiver):
    run(node, receiver, "daemon")


def test_signal_handler(node, receiver):
    spans = run(node, receiver, "signal")
    assert sum(span.name == "in handler" for span in spans) >= 2000


def test_errno_is_kept(node, receiver):
    run(node, receiver, "errno")


def test_exec(node, receiver):
    spans = run(node, receiver, "exec")
    assert collections.Counter(span.name for span in spans) == {"before exec": 10, "after exec": 10}


def test_killed(node, receiver):
    spans = run(node, receiver, "exit", code=-signal.SIGKILL)
    assert {span.name for span in spans} == {"finished"}


def test_plugin_that_comes_and_goes(node, receiver):
    run(node, receiver, "plugin", node.built("tests/live/programs/libedges_plugin.so"))
