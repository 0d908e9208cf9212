# SPDX-License-Identifier: BSD-2-Clause
"""
What comes twice after a kill -9 right behind a reload or a restart, with an output that nobody serves: at a collector no more than
the agent counts, in finished files nothing. BLKIN_KILLS says how often; BLKIN_SEED repeats a run.
"""

import collections
import os
import random

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

    counts, crowded = [], []
    for _ in range(KILLS):
        again = node.ledger().again
        crowded.append(crowding())
        kill_soon(node, rng, rate, change)
        wait_until(node.collecting, 20, "the agent to collect")
        counts.append(node.ledger().again - again)
    recorded = end_load(load)
    total = sum(recorded.values())
    ledger = node.wait_ledger(lambda ledger: ledger.read - ledger.again >= total and ledger.idle(), 60, f"{total} spans")
    receiver.wait_for(ledger.sent, 20)
    times = collections.Counter(key_of(span) for span in receiver.spans())
    exactly(times.keys() == keys_of(recorded), f"{len(keys_of(recorded) - times.keys())} spans are lost")
    twice = times.total() - total
    print(f"{KILLS} kills: {twice} spans came twice, {ledger.again} were read again: {counts}")
    exactly(twice <= ledger.again, f"{twice} came twice, and {ledger.again} are counted")
    # a quarter of a second's load, or longer where other tests have the processors
    most = rate / 4 * max(SLOW, sorted(crowded)[KILLS // 2])
    assert sorted(counts)[KILLS // 2] <= most, f"too much came twice: {counts}, {crowded}"


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
