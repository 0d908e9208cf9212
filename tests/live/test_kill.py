# SPDX-License-Identifier: BSD-2-Clause
"""
The agent killed -9 at random moments: nothing is lost, and what is delivered again stays within the bound that
blkin-agent(8) states. BLKIN_KILLS says how often; BLKIN_SEED repeats a run.
"""

import collections
import os
import random
import shutil
import time

from expect import check_span, end_load, key_of
from rig.load import KEEP, LOAD, finish
from rig.process import exactly, wait_until

KILLS = int(os.environ.get("BLKIN_KILLS", "6"))
# What is delivered twice was read in this time before the kill: blkin-agent(8).
BOUND = 2.0


def kill_rounds(node, receiver, rng, rate, toggle=False):
    """Kills the agent again and again; some rounds so soon that it is still recovering from the last one."""
    down = 0
    for _ in range(KILLS):
        time.sleep(rng.choice([rng.uniform(0, 0.3), rng.uniform(0.3, 2)]))
        if toggle and rng.random() < 0.3:
            if receiver.program.running():
                receiver.program.kill()
            else:
                receiver.start()
        node.agent.kill()
        pause = rng.choice([0, rng.uniform(0, 1)])
        down += pause
        time.sleep(pause)
        node.start_agent_again(wait=False)
    if not receiver.program.running():
        receiver.start()
    node.agent.wait_ready(node.collecting)


def check_kills(node, receiver, ledger, total, rate):
    times = collections.Counter()
    for span in receiver.spans():
        key = key_of(span)
        check_span(span, key)
        times[key] += 1
    exactly(len(times) == total, f"{total - len(times)} spans are lost")
    again = sum(times.values()) - total
    assert again <= KILLS * rate * BOUND, f"{again} spans came again after {KILLS} kills at {rate} a second"
    print(f"{KILLS} kills, {total} spans: {again} came again ({again / KILLS:.0f} a kill), {ledger.again} read again")


def test_metadata_come_late(node, receiver):
    """The relay has packets of a user, and no metadata yet: they are read once it has."""
    user = os.getuid()
    node.start_agent(receiver.port, session=KEEP)
    node.run([LOAD, "-n", 1000])
    node.wait_ledger(lambda ledger: ledger.sent == 1000, 20, "1000 spans")
    node.agent.kill()
    # the same spans as another user's, who is new to the agent
    users = node.session_folders()[0] + "/ust/uid"
    shutil.copytree(f"{users}/{user}", f"{users}/{user + 1}")
    with open(f"{users}/{user + 1}/64-bit/metadata", "r+b") as file:
        metadata = file.read().replace(b"tracer_buffering_id = %d;" % user, b"tracer_buffering_id = %d;" % (user + 1))
        file.truncate(0)
        node.start_agent_again(wait=False)
        wait_until(node.reader_pid, 20, "a reader")
        time.sleep(2)  # it waits for five seconds
        file.seek(0)
        file.write(metadata)
    ledger = node.wait_ledger(lambda ledger: ledger.read - ledger.again == 2000 and ledger.idle(), 20, "all spans")
    assert (ledger.lost, ledger.packets_lost) == (0, 0), str(ledger)
    # it may have read them from files, and attach only then
    wait_until(lambda: node.collecting() and node.ledger().sessions == 1, 10, "the agent to collect, one session")


def run(node, receiver, toggle):
    seed = int(os.environ.get("BLKIN_SEED", random.randrange(1 << 32)))
    print(f"BLKIN_SEED={seed}")
    rng = random.Random(seed)
    processes, threads, rate = 2, 2, 2000
    node.start_agent(receiver.port, session=KEEP, output={"timeout": "1s"})
    load = node.start([node.built(LOAD), "-p", processes, "-t", threads, "-n", 10**8, "-r", rate])
    kill_rounds(node, receiver, rng, processes * threads * rate, toggle)
    time.sleep(1)
    total = sum(end_load(load).values())
    ledger = finish(node, receiver, total)
    check_kills(node, receiver, ledger, total, processes * threads * rate)


def test_killed_while_the_collector_is_up(node, receiver):
    run(node, receiver, toggle=False)


def test_killed_while_the_collector_comes_and_goes(node, receiver):
    run(node, receiver, toggle=True)
