# SPDX-License-Identifier: BSD-2-Clause
"""Sampling: decided at a trace's root, and changed for the whole node while programs run."""

import collections
import math
import os
import signal
import subprocess
import time

import pytest

from expect import place
from rig.process import wait_until

REQUESTS = "tests/live/programs/requests"
PROGRAMS, RATE = 20, 100


def sampling(node, *words):
    done = subprocess.run(
        [node.built("cli/blkin"), "sampling", "--page", node.path("sampling"), *words], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def sampled_roots(spans, begin, end, services):
    """How many of the roots of these services began between two wall-clock times."""
    return sum(
        span.name == "root" and begin * 1e6 <= span.timestamp < end * 1e6 and service_of(span) in services
        for span in spans
    )


def service_of(span):
    return place(span)[2]


def check_share(spans, begin, end, services, share):
    """The share, within five standard deviations of chance; a busy machine may move what 0.3 s make out of the time."""
    made = len(services) * RATE * (end - begin)
    expected = made * share
    slack = 5 * math.sqrt(made * share * (1 - share)) + 0.02 * made + 0.3 * share * RATE * len(services)
    found = sampled_roots(spans, begin, end, services)
    assert abs(found - expected) <= slack, f"{found} roots of {made:.0f}, rather than {expected:.0f} ± {slack:.0f}"


def test_share_follows_while_programs_run(node, receiver):
    node.start_agent(receiver.port, session={"memory": "128M"})
    assert sampling(node, "default") == "every service: default\n"
    services = [f"svc-{number}" for number in range(PROGRAMS)]
    programs = [
        node.start([node.built(REQUESTS), service, 120, RATE], BLKIN_SAMPLING_PAGE=node.path("sampling"))
        for service in services
    ]
    wait_until(lambda: {service_of(span) for span in receiver.spans()} == set(services), 20, "all programs to run")
    time.sleep(1.5)
    all_until = time.time()
    sampling(node, "1/10")
    tenth_from = time.time()
    time.sleep(2.5)
    tenth_until = time.time()
    sampling(node, "1/1", "--service", "svc-3")
    one_from = time.time()
    time.sleep(2.5)
    one_until = time.time()
    assert sampling(node, "off") == "every service: off\nsvc-3: 1/1\n"
    off_from = time.time()  # it holds once the command has ended, however long that took
    time.sleep(2.5)
    for program in programs:
        program.send(signal.SIGTERM)
    for program in programs:
        assert program.wait(30) == 0
    node.wait_ledger(lambda ledger: ledger.idle(), 20, "delivery")
    spans = receiver.spans()
    others = [service for service in services if service != "svc-3"]
    check_share(spans, all_until - 1, all_until, services, 1)
    check_share(spans, tenth_from + 1, tenth_until, services, 0.1)
    check_share(spans, one_from + 1, one_until, ["svc-3"], 1)
    check_share(spans, one_from + 1, one_until, others, 0.1)
    assert sampled_roots(spans, off_from + 1, off_from + 100, others) == 0
    # no trace is half sampled: a root and both of its children, or nothing
    sizes = collections.Counter(span.trace_id for span in spans)
    assert set(sizes.values()) == {3}
    node.ledger().check()


def record_hundred(node, receiver, expected, **environment):
    """Makes 100 traces, and expects the spans of so many."""
    before = len(receiver.spans())
    node.run([REQUESTS, "svc", 1, 100], **environment)
    receiver.wait_for(before + 3 * expected, 10)
    node.wait_ledger(lambda ledger: ledger.idle(), 10, "delivery")
    if expected == 0:
        time.sleep(0.5)  # several live timers: what was recorded would be here
    assert len(receiver.spans()) == before + 3 * expected


def loosen(path):
    os.chmod(path, 0o666)


def truncate(path):
    os.truncate(path, os.path.getsize(path) - 1)


def garble(path):
    with open(path, "r+b") as file:
        file.write(b"garbage!")


def link(path):
    os.rename(path, path + ".real")
    os.symlink(path + ".real", path)


def disown(path):
    os.chown(path, 12345, 12345)


@pytest.mark.parametrize("spoil", [loosen, truncate, garble, link, os.unlink, disown])
def test_page_that_cannot_be_trusted_is_ignored(node, receiver, spoil):
    node.start_agent(receiver.port)
    page = node.path("sampling")
    sampling(node, "off")
    record_hundred(node, receiver, 0, BLKIN_SAMPLING_PAGE=page)
    if spoil is disown and os.geteuid() != 0:
        spoil = loosen  # only root can give a file away
    spoil(page)
    record_hundred(node, receiver, 100, BLKIN_SAMPLING_PAGE=page)


def test_environment(node, receiver):
    node.start_agent(receiver.port)
    page = node.path("sampling")
    record_hundred(node, receiver, 0, BLKIN_SAMPLE="0", BLKIN_SAMPLING_PAGE=page)
    record_hundred(node, receiver, 100, BLKIN_SAMPLE="1/1", BLKIN_SAMPLING_PAGE=page)
    record_hundred(node, receiver, 100, BLKIN_SAMPLE="often", BLKIN_SAMPLING_PAGE=page)
    # what the administrator says outweighs it
    sampling(node, "1/1")
    record_hundred(node, receiver, 100, BLKIN_SAMPLE="0", BLKIN_SAMPLING_PAGE=page)
