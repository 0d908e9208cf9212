# SPDX-License-Identifier: BSD-2-Clause
"""
Somebody stops programs that are traced: LTTng's session daemon waits for each that it asks, and of some questions it dies.
`blkin status` does not make it ask, and names those that hold it up.
"""

import contextlib
import os
import shutil
import signal
import threading
import time

import pytest
from expect import key_of
from rig.load import KEEP
from rig.node import WHOLE_STACKS
from rig.process import SLOW, exactly, stopped, wait_until
from rig.users import start_as
from test_doctor import expect, findings, start_load, status
from test_standstill import begin, is_not_ready, is_over
from test_users import share

USER = 12345
FOREVER = 10**6
STOPPED = 5  # programs, of which each takes 5 s, so that there is time to see it
NAMED = 3
TOLD = 2.5  # s

as_root = pytest.mark.as_root("becomes another user")


def start_another(node, *words, **environment):
    return start_as(node, USER, "spanload", "-n", FOREVER, "-r", 10, *words, **environment)


def connections():
    """Of programs, with the session daemon."""
    with open("/proc/net/unix", encoding="ascii") as file:
        return sum(line.split()[5] == "03" and "/lttng-ust-sock-" in line for line in file)


def has_programs(node, count):
    wait_until(lambda: node.status()["programs"] == count, 20, f"{count} programs")


@as_root
def test_stops_when_it_is_asked(node, receiver):
    """It would be, had the session daemon been asked for the tracepoints of programs: that dies of it."""
    begin(node, receiver)
    os.mkdir(node.path("shared"), 0o755)
    os.chmod(node.folder, 0o711)
    shutil.copy(node.built("libclient/libblkin-provider.so.1"), node.path("shared"))
    mute = shutil.copy(node.built("tests/live/programs/libmute.so"), node.path("shared"))
    start_another(node, LD_PRELOAD=mute, ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0")
    load = start_load(node)
    has_programs(node, 4)
    told = node.status()
    assert (told["programs"], told["programs_with_blkin"], told["findings"]) == (4, 4, [])
    recorded = node.ledger().made
    node.wait_ledger(lambda ledger: ledger.made > recorded + 100, 20, "more spans")
    assert node.sessiond.running() and load.running() and node.ledger().sessions_lost == 0


@as_root
def test_stops_and_goes_on(node, receiver):
    """Again and again, while others ask for the status: nobody waits for it, and the session daemon has no part in it."""
    begin(node, receiver)
    load, other = start_load(node), start_another(node)
    has_programs(node, 4)
    ended = threading.Event()

    def flap():
        while not ended.is_set():
            with stopped(other.pid):
                ended.wait(0.6)
            ended.wait(0.05)

    flapping = threading.Thread(target=flap)
    flapping.start()
    try:
        for _ in range(10):
            told = node.status()
            assert (told["programs"], told["programs_with_blkin"]) == (4, 4)
            assert {finding["code"] for finding in told["findings"]} <= {"program-stopped"}
    finally:
        ended.set()
        flapping.join()
    wait_until(lambda: findings(node) == {}, 10, "the doctor to be content")
    assert node.sessiond.running() and load.running() and node.ledger().sessions_lost == 0
    assert "UST app" not in node.sessiond.log(), "it has asked"


@as_root
def test_session_waits_for_them(node, receiver):
    """Some that are stopped hold up the session's start: they are to be continued, and no daemon to be restarted."""
    others = [start_another(node, "-p", 1, "-w", 120) for _ in range(STOPPED)]
    # a process, and one that it starts
    wait_until(lambda: connections() == 2 * 2 * STOPPED, 20, "all to be registered, with two connections each")
    with contextlib.ExitStack() as stack:
        for other in others:
            stack.enter_context(stopped(other.pid))
        node.write_config(receiver.port)
        node.start_agent_again(wait=False, **WHOLE_STACKS)
        node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
        found = expect(node, "program-stopped", "that is why nothing is collected now", "kill -CONT", 20)
        assert found["what"].startswith(f"{STOPPED} traced programs are stopped: spanload (")
        assert sum(f"spanload ({other.pid}) of user {USER}" in found["what"] for other in others) == NAMED
        begun = time.monotonic()
        node.status()
        assert time.monotonic() - begun < TOLD * SLOW, "the command waits with the session daemon"
        is_not_ready(node, "waits for programs that do not answer, as they are stopped")
        wait_until(node.collecting, 60, "the session daemon to give them up")
    is_over(node)
    assert "hangs" not in node.agent.log() and node.sessiond.running()


def ordinals(receiver, number):
    return sorted(key_of(span)[2] for span in receiver.spans() if key_of(span)[0] == number)


@as_root
def test_given_up(node, receiver):
    """
    One is stopped while another session takes the old one's place: LTTng gives it up, which is counted, as what it records until
    it is registered again is not. Nothing is lost of others, and it has its place again.
    """
    share(node)
    node.write_config(receiver.port, session=KEEP)
    node.start_agent_again(**WHOLE_STACKS)
    one, other = (start_as(node, USER + number, "spanload", "-P", number, "-n", FOREVER, "-r", 100, "-w", 10) for number in (1, 2))
    wait_until(lambda: ordinals(receiver, 1) and ordinals(receiver, 2), 20, "spans of both")
    with stopped(one.pid):
        node.write_config(receiver.port, session=KEEP, events={"names": "alike:*"})
        node.agent.send(signal.SIGHUP)
        wait_until(lambda: node.status()["session"] == "blkin-2", 40, "another session")
        node.wait_ledger(lambda ledger: ledger.programs_lost == 1, 20, "the program to be counted")
        assert "gave up those that did not answer for 5 s each" in node.agent.log()
        assert "that LTTng gave up, as they were stopped, say" in status(node, "--socket", node.socket)[1]
    before = len(ordinals(receiver, 1))
    wait_until(lambda: len(ordinals(receiver, 1)) > before + 200, 20, "its spans to come again")
    other.send(signal.SIGTERM)
    assert other.wait(20) == 0
    recorded = int(other.log().split()[1])
    wait_until(lambda: ordinals(receiver, 2)[-1] == recorded - 1, 20, "the other's last span")
    exactly(ordinals(receiver, 2) == list(range(recorded)), "spans of the other are missing, or came twice")
    came, ledger = ordinals(receiver, 1), node.ledger()
    print(f"of the one that was stopped {came[-1] + 1 - len(came)} of {came[-1] + 1} are missing")
    assert (ledger.lost, ledger.sessions_lost, ledger.programs_lost) == (0, 0, 1)
