# SPDX-License-Identifier: BSD-2-Clause
"""
What comes twice after a kill -9 right behind a reload or a restart, with an output that nobody serves: at a collector no more than
the agent counts, in finished files nothing. BLKIN_KILLS says how often; BLKIN_SEED repeats a run.
"""

import collections
import os
import random
import threading
import time

from expect import end_load, key_of, keys_of
from rig.load import KEEP, LOAD
from rig.process import SLOW, crowding, exactly, free_port, wait_until
from rig.spanfiles import SpanFiles
from test_files import NONE, all_once, files, lines_in, quick, wait_sent  # noqa: F401 (a fixture)
from test_outputs_reload import Sections

KILLS = int(os.environ.get("BLKIN_KILLS", "6"))
DEAD = "type = http\nserver = 127.0.0.1:%d\nspool-size = 16M\n"


def seeded():
    seed = int(os.environ.get("BLKIN_SEED", random.randrange(1 << 32)))
    print(f"BLKIN_SEED={seed}")
    return random.Random(seed)


class Disk:
    """Tells how long the disk takes at the longest, meanwhile, to keep a page: others may write much."""

    def __init__(self, path):
        self.path, self.took, self.ended = path, [0], threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def run(self):
        with open(self.path, "wb", buffering=0) as file:
            while not self.ended.wait(0.02):
                begun = time.monotonic()
                file.write(bytes(4096))
                os.fsync(file.fileno())
                self.took.append(time.monotonic() - begun)

    def longest(self):
        """In seconds, since it was asked before."""
        took, self.took = self.took, [0]
        return max(took)


def kill_soon(node, rng, rate, change, output="default"):
    """Kills the agent within a second of a reload, or of a start, by the spans that it has read since."""
    sections = Sections(node)
    if rng.random() < 0.6:
        change(sections)
        sections.hang_up()
    before, more = node.ledger(output).read, rng.randrange(1, rate)
    wait_until(lambda: node.ledger(output).read >= before + more, 20, "some spans to be read")
    node.agent.kill()
    if rng.random() < 0.5:
        change(sections)
        sections.write()
    node.start_agent_again()


def test_twice_at_a_collector(node, receiver):
    """What came twice is within what the agent counts as read again, and that is little."""
    rng, rate = seeded(), 4000
    node.start_agent(receiver.port, session=KEEP)
    load = node.start([node.built(LOAD), "-p", 2, "-t", 2, "-n", 10**8, "-r", rate // 4])
    receiver.wait_for(1000)

    def change(sections):
        """Another output that nobody serves, in the place of the one before."""
        for name in [name for name in sections.keys if name.startswith("output dead")]:
            del sections.keys[name]
        sections.keys[f"output dead{rng.randrange(1 << 20)}"] = DEAD % free_port()

    counts, times = [], []  # for each kill: what was read again, and the seconds of load that it may be
    with Disk(node.path("disk")) as disk:
        for _ in range(KILLS):
            again, crowded = node.ledger().again, crowding()
            disk.longest()
            kill_soon(node, rng, rate, change)
            # the spool and the checkpoint are each kept before what was read is not read again
            times.append(max(SLOW, crowded) / 4 + 3 * disk.longest())
            wait_until(node.collecting, 20, "the agent to collect")
            counts.append(node.ledger().again - again)
    recorded = end_load(load)
    total = sum(recorded.values())
    ledger = node.wait_ledger(lambda ledger: ledger.read - ledger.again >= total and ledger.idle(), 60, f"{total} spans")
    receiver.wait_for(ledger.sent, 20)
    came = collections.Counter(key_of(span) for span in receiver.spans())
    exactly(came.keys() == keys_of(recorded), f"{len(keys_of(recorded) - came.keys())} spans are lost")
    twice = came.total() - total
    print(f"{KILLS} kills: {twice} spans came twice, {ledger.again} were read again: {counts}")
    exactly(twice <= ledger.again, f"{twice} came twice, and {ledger.again} are counted")
    # half of the times it is within that, so that no single moment matters
    little = sum(count <= rate * seconds for count, seconds in zip(counts, times))
    assert 2 * little >= KILLS, f"too much came twice: {counts}, for {times} s of load"


def test_twice_in_files(node, files):  # noqa: F811
    """With other tags each time, a line says nothing of whether the span is there already."""
    rng, rate = seeded(), 4000
    node.start_agent(free_port(), output=NONE, session=KEEP, **{"output files": quick(files, tags="round=0")})
    load = node.start([node.built(LOAD), "-p", 2, "-t", 2, "-n", 10**8, "-r", rate // 4])
    wait_until(lambda: lines_in(files) > 1000, 20, "1000 spans")

    def change(sections):
        keys = sections.keys["output files"].splitlines()
        sections.keys["output files"] = "\n".join(
            [key for key in keys if not key.startswith("tags")] + [f"tags = round={rng.randrange(1 << 20)}", ""]
        )
        for name in [name for name in sections.keys if name.startswith("output dead")]:
            del sections.keys[name]
        sections.keys[f"output dead{rng.randrange(1 << 20)}"] = DEAD % free_port()

    for _ in range(KILLS):
        kill_soon(node, rng, rate, change, "files")
    recorded = end_load(load)
    total = sum(recorded.values())
    ledger = wait_sent(node, total)
    assert node.agent.stop() == 0
    print(f"{KILLS} kills, {total} spans in {len(files.finished())} files, {ledger.again} events read again")
    all_once(keys_of(recorded), files)
