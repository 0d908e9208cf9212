# SPDX-License-Identifier: BSD-2-Clause
"""
A long steady load with faults at random: the ledger stays exact, memory and descriptors flat.

BLKIN_SOAK is its length in seconds, BLKIN_SOAK_RATE the load in events a second, BLKIN_SEED repeats the faults.
"""

import os
import random
import signal
import time

from rig.counter import PARTS, Counter
from rig.node import sanitized
from rig.process import Trouble, free_port, reader_of

SECONDS = int(os.environ.get("BLKIN_SOAK", "20"))
RATE = int(os.environ.get("BLKIN_SOAK_RATE", "30000")) // len(PARTS)  # spans
MEMORY = 128 << 20  # blkin-agent(8), with the collector down


def resources(program):
    """Resident bytes and open descriptors of the agent and its reader; sanitizers keep memory of their own."""
    resident = descriptors = 0
    for pid in filter(None, (program.pid, reader_of(program.pid))):
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            resident += int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        descriptors += len(os.listdir(f"/proc/{pid}/fd"))
    return resident, descriptors


class Faults:
    """What happens to the agent and its collector."""

    def __init__(self, node, counter, rng):
        self.node, self.counter, self.rng = node, counter, rng
        self.done = {}

    def kill_agent(self):
        self.node.agent.kill()
        time.sleep(self.rng.uniform(0, 1))
        self.node.start_agent_again(wait=False)

    def restart_agent(self):
        # ready: before, a SIGTERM is nothing that the agent has asked for yet
        self.node.agent.wait_ready(self.node.collecting)
        if self.node.agent.stop() != 0:
            raise Trouble(f"the agent stopped badly:\n{self.node.agent.log()}")
        self.node.start_agent_again(wait=False)

    def lose_collector(self):
        self.counter.program.kill()
        time.sleep(self.rng.uniform(0.5, 5))
        self.counter.start()

    def hang_collector(self):
        self.counter.program.send(signal.SIGSTOP)
        time.sleep(self.rng.uniform(0.5, 5))
        self.counter.program.send(signal.SIGCONT)

    def next(self):
        name = self.rng.choice(["kill_agent", "restart_agent", "lose_collector", "hang_collector"])
        self.done[name] = self.done.get(name, 0) + 1
        getattr(self, name)()


def test_soak(node):
    seed = int(os.environ.get("BLKIN_SEED", random.randrange(1 << 32)))
    print(f"BLKIN_SEED={seed}")
    rng = random.Random(seed)
    counter = Counter(node, free_port(), RATE * (SECONDS + 600)).start()
    node.start_agent(
        counter.port, session={"keep": "yes", "disk": "2G"}, output={"timeout": "2s"}, spool={"replay-share": "80"}
    )
    faults = Faults(node, counter, rng)
    load = node.start([node.built("tests/live/programs/soakload"), RATE])
    used = []
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        time.sleep(rng.uniform(0.5, 4))
        faults.next()
        node.agent.wait_ready(node.collecting)
        used.append(resources(node.agent))
    spans = stop(load)
    node.agent.wait_ready(node.collecting)
    events = spans * len(PARTS)
    ledger = node.wait_ledger(
        lambda ledger: ledger.read - ledger.again >= events and ledger.idle() and not ledger.spooled,
        60 + SECONDS,
        f"{events} events read and delivered",
    )
    whole, partial, none, again = counter.result(spans)
    print(f"{spans} spans, {faults.done}: {again} came again; {ledger}; memory and descriptors at most {max(used)}")
    assert (ledger.lost, ledger.packets_lost, ledger.sessions_lost, ledger.dropped) == (0, 0, 0, 0)
    assert ledger.read - ledger.again == events
    assert (whole, partial, none) == (spans, 0, 0)
    check_flat(used)


def stop(load):
    """Ends the load; returns how many spans it recorded."""
    assert load.running(), "the load ended by itself"
    load.send(signal.SIGTERM)
    assert load.wait() == 0
    return int(load.log())


def check_flat(used):
    resident, descriptors = zip(*used)
    half = len(used) // 2
    assert max(descriptors[half:]) <= max(descriptors[:half]) + 8, descriptors
    if not sanitized():
        assert max(resident) <= MEMORY, resident
