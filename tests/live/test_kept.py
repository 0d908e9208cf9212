# SPDX-License-Identifier: BSD-2-Clause
"""What is kept over a restart, and what happens when it cannot be."""

import collections
import glob
import os
import re
import time

import pytest
from expect import check_load, key_of
from rig.load import KEEP, LOAD, finish
from rig.node import WHOLE_STACKS
from rig.process import free_port, wait_until
from rig.scribe import Receiver

CLASSIC = "tests/live/programs/classicload"
ANNOTATIONS = ["cs", "step 1", "step 2", "step 3", "step 4", "cr"]


def checkpoints(node):
    return [node.path("state/checkpoint.0"), node.path("state/checkpoint.1")]


def check_classic(receiver, count):
    """Every span came once, in one piece, with every annotation."""
    ordinals = collections.Counter()
    for span in receiver.spans():
        assert [note.value for note in span.annotations] == ANNOTATIONS
        (tag,) = span.binary_annotations
        ordinals[int(tag.value)] += 1
    assert ordinals == collections.Counter(range(count))


def test_spans_in_assembly(node, receiver):
    """Stopped and started while hundreds of classic spans are open: each arrives whole."""
    count = 12000
    node.start_agent(receiver.port, session=KEEP, spans={"linger": "30s"})
    load = node.start([node.built(CLASSIC), count, 700, 7000])
    for _ in range(5):
        time.sleep(1.5)
        assert node.agent.stop() == 0
        node.start_agent_again()
    assert load.wait(60) == 0
    ledger = node.wait_ledger(lambda ledger: ledger.read == count * 7 and ledger.idle(), 60, "all to be delivered")
    assert (ledger.again, ledger.spans, ledger.sent) == (0, count, count)
    check_classic(receiver, count)


def test_spans_in_assembly_of_a_killed_agent(node, receiver):
    """Killed: what comes again comes with the same ids, and together nothing is missing."""
    count = 12000
    node.start_agent(receiver.port, session=KEEP, spans={"linger": "30s"})
    load = node.start([node.built(CLASSIC), count, 700, 7000])
    for _ in range(5):
        time.sleep(1.5)
        node.agent.kill()
        node.start_agent_again()
    assert load.wait(60) == 0
    ledger = node.wait_ledger(
        lambda ledger: ledger.read - ledger.again >= count * 7 and ledger.idle(), 60, "all to be delivered"
    )
    assert ledger.read - ledger.again == count * 7
    whole = set()
    for span in receiver.spans():
        assert [note.value for note in span.annotations] == ANNOTATIONS, "a span came in part"
        whole.add(int(span.binary_annotations[0].value))
    assert whole == set(range(count))


@pytest.mark.parametrize("spool", ["0", "64M"])
def test_collector_away_at_the_stop(node, spool):
    """What was not taken is neither lost nor dropped, nor delivered twice: the next start has it, or reads it again."""
    receiver = Receiver(node, free_port())
    node.start_agent(receiver.port, session=KEEP, agent={"stop_timeout": "500ms"}, spool={"max_size": spool})
    node.run([LOAD, "-n", 3000, "-r", 10000])
    node.wait_ledger(lambda ledger: ledger.read == 3000, 20, "3000 spans")
    assert node.agent.stop() == 0
    without = spool == "0"
    said = "3000 spans are not delivered yet: the next start reads them again" in node.agent.log()
    assert said == without
    receiver.start()
    node.start_agent_again()
    ledger = node.wait_ledger(lambda ledger: ledger.sent == 3000, 20, "3000 spans")
    again = 3000 if without else 0
    assert (ledger.read, ledger.again, ledger.spans, ledger.dropped) == (3000 + again, again, 3000, 0)
    receiver.wait_for(3000)
    check_load(receiver.spans(), 1, 1, 3000)


def test_no_event_since_the_start(node, receiver):
    """What earlier runs read is no event of this one."""
    node.start_agent(receiver.port, session=KEEP)
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.read == 100 and ledger.idle(), 20, "delivery")
    assert node.agent.stop() == 0
    node.start_agent_again()
    # it looks for events every two seconds
    told = wait_until(lambda: node.status()["up_seconds"] > 4 and node.status(), 20, "it to have looked")
    assert (told["events"]["read"], told["last_event_seconds"]) == (100, None)
    # programs may come and go, as before
    assert "no-program" not in [finding["code"] for finding in told["findings"]]


def test_session_without_an_agent(node, receiver):
    """All of a load that ran while no agent did, in several slices."""
    total = 350000  # three slices of 32 MiB
    node.start_agent(receiver.port, session=KEEP)
    node.agent.stop()
    node.run([LOAD, "-p", 2, "-n", total // 2, "-r", 50000], seconds=200)
    node.start_agent_again()
    ledger = finish(node, receiver, total)
    assert (ledger.read, ledger.dropped) == (total, 0)
    check_load(receiver.spans(), 2, 1, total // 2)
    assert not os.path.exists(node.path("state/scratch"))


def test_settings_change(node, receiver):
    """The previous session is read to its end, and a new one is created."""
    node.start_agent(receiver.port, session=KEEP)
    node.agent.stop()
    node.run([LOAD, "-n", 1000])
    node.start_agent(receiver.port, session=dict(KEEP, memory="16M"))
    wait_until(lambda: node.collecting() and node.ledger().sessions == 2, 20, "a new session")
    node.run([LOAD, "-n", 1000, "-p", 2])
    ledger = finish(node, receiver, 3000)
    assert (ledger.sessions, ledger.read) == (2, 3000)
    wait_until(lambda: len(node.session_folders()) == 1, 10, "the old session's folder to be removed")


def test_keep_changes_to_no(node, receiver):
    """Then a stop ends the session that was kept, and leaves nothing but the counts."""
    node.start_agent(receiver.port, session=KEEP)
    node.agent.stop()
    assert "blkin" in node.lttng("list")
    node.run([LOAD, "-n", 1000])
    node.start_agent(receiver.port, session={"keep": "no"})
    assert node.agent.stop() == 0
    receiver.wait_for(1000)
    check_load(receiver.spans(), 1, 1, 1000)
    assert node.session_folders() == []
    assert "blkin" not in node.lttng("list")
    node.start_agent_again()
    events = node.status()["events"]
    assert events["read"] == 1000 and events["again"] == 0 and node.status()["sessions_lost"] == 0
    assert node.agent.stop() == 0 and len(receiver.spans()) == 1000


def test_a_second_agent(node, receiver):
    node.start_agent(receiver.port, session=KEEP)
    config = node.path("agent.conf")
    with open(config, encoding="utf-8") as file:
        text = file.read()
    other = node.path("other.conf")
    with open(other, "w", encoding="utf-8") as file:
        file.write(re.sub(r"(?m)^(http|socket) = .*$", r"\1 =", text))
    second = node.start([node.built("agent/blkin-agent"), "-c", other])
    assert second.wait(20) == 1
    assert "another blkin-agent runs with `state-directory`" in second.log()
    node.run([LOAD, "-n", 100])
    receiver.wait_for(100)


def test_no_state_directory(node, receiver):
    """It works without, and says what that means; a stop then ends the session."""
    node.start_agent(receiver.port, session=KEEP, agent={"state_directory": "/proc/nowhere"})
    assert node.agent.log().count("no checkpoint is kept") == 1
    node.run([LOAD, "-n", 100])
    node.wait_ledger(lambda ledger: ledger.sent == 100, 20, "100 spans")
    assert node.agent.stop() == 0
    assert "blkin" not in node.lttng("list")


def test_full_state_directory(node, receiver):
    """The checkpoint cannot be written: said once, and what was written last holds."""
    os.mkdir(node.path("state"))
    node.mount(node.path("state"), "256k")
    with open(node.path("state/filler"), "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(b"x" * 4096)
        except OSError:
            pass
    node.start_agent(receiver.port, session=KEEP)
    node.run([LOAD, "-n", 2000, "-r", 2000])
    node.wait_ledger(lambda ledger: ledger.sent == 2000, 20, "2000 spans")
    assert node.agent.log().count("the checkpoint in `state-directory` cannot be written") == 1
    os.unlink(node.path("state/filler"))
    node.run([LOAD, "-n", 1000, "-r", 2000])
    wait_until(lambda: "the checkpoint can be written again" in node.agent.log(), 10, "the checkpoint")
    node.wait_ledger(lambda ledger: ledger.sent == 3000, 20, "1000 more")
    assert node.agent.stop() == 0
    node.start_agent_again()
    assert node.ledger().sent == 3000


DAMAGE = {
    "both empty": lambda data: b"",
    "both cut": lambda data: data[: len(data) // 2],
    "both flipped": lambda data: data[:-5] + bytes([data[-5] ^ 1]) + data[-4:],
    "both garbage": lambda data: os.urandom(len(data)),
    "both of a later version": lambda data: data[:11] + b"\x09" + data[12:],
}


@pytest.mark.parametrize("how", DAMAGE)
def test_damaged_checkpoint(node, receiver, how):
    """Nothing is lost: the session is read as a whole, and so delivered again; and a new one is made."""
    node.start_agent(receiver.port, session=KEEP)
    node.run([LOAD, "-n", 2000])
    node.wait_ledger(lambda ledger: ledger.sent == 2000, 20, "2000 spans")
    node.agent.kill()
    node.run([LOAD, "-n", 2000, "-p", 2])
    for path in checkpoints(node):
        with open(path, "rb") as file:
            data = file.read()
        with open(path, "wb") as file:
            file.write(DAMAGE[how](data))
    node.start_agent_again()
    wait_until(lambda: node.ledger().sessions == 1, 20, "a new session")
    ledger = node.wait_ledger(lambda ledger: ledger.idle() and ledger.sent == 6000, 20, "everything again")
    assert (ledger.read, ledger.again) == (6000, 0)
    log = node.agent.log()
    assert "without a checkpoint" in log
    assert ("the checkpoint in `state-directory` cannot be used" in log) == (how != "both empty")
    assert ("its version is 9" in log) == ("version" in how)
    assert len({key_of(span) for span in receiver.spans()}) == 4000


def test_one_damaged_slot(node, receiver):
    """The other holds: a little is delivered again, nothing is lost."""
    node.start_agent(receiver.port, session=KEEP)
    load = node.start([node.built(LOAD), "-n", 20000, "-r", 2000])
    for slot in (0, 1, 0, 1):
        time.sleep(1)
        node.agent.kill()
        with open(checkpoints(node)[slot], "r+b") as file:
            file.seek(40)
            file.write(b"damage")
        node.start_agent_again()
        assert "cannot be used" not in node.agent.log()
    assert load.wait(60) == 0
    finish(node, receiver, 20000)
    spans = [key_of(span) for span in receiver.spans()]
    assert len(set(spans)) == 20000
    assert len(spans) - 20000 < 4 * 2000


def overrun(node, receiver, agent_stopped, count):
    """Logs more than the relay's files hold, while nobody reads; then starts reading."""
    node.run([LOAD, "-n", 1000])
    node.wait_ledger(lambda ledger: ledger.sent == 1000, 20, "1000 spans")
    before, after = agent_stopped
    before()
    node.run([LOAD, "-p", 2, "-n", count // 2, "-r", 20000], seconds=200)
    node.wait_quiet("relay", 1)
    after()
    ledger = node.wait_ledger(lambda ledger: ledger.packets_lost and ledger.idle(), 60, "the loss to be counted")
    read = None
    while read != ledger.read:  # on a busy machine the other processor's stream comes later
        read = ledger.read
        time.sleep(2)
        ledger = node.wait_ledger(lambda ledger: ledger.idle(), 20, "the rest")
    receiver.read()
    keys = [key_of(span) for span in receiver.spans()]
    return ledger, keys


def check_overrun(node, ledger, keys, count):
    # nothing twice, but the first thousand, which have the keys of the second load
    assert len(keys) == ledger.read == ledger.sent
    lost = count + 1000 - ledger.read - ledger.lost
    assert lost > 0
    # packets are as large as the files in which they were lost
    size = sum(os.path.getsize(path) for path in glob.glob(node.session_folders()[0] + "/ust/uid/*/64-bit/spans_*"))
    held = ledger.read - 1000
    packets = count_packets(node)
    per_packet = held / packets
    assert ledger.packets_lost == pytest.approx(lost / per_packet, rel=0.25), (lost, per_packet, size)
    assert re.search(r"packets of user \d+, CPU \d+, are lost|the first \d+ packets of user", node.agent.log())


def count_packets(node):
    """That the relay's indexes have."""
    return sum(
        (os.path.getsize(path) - 16) // 72
        for path in glob.glob(node.session_folders()[0] + "/ust/uid/*/64-bit/index/*.idx")
    )


SMALL = dict(KEEP, memory="1M", disk="4M")


def test_gap_too_long_for_the_files(node, receiver):
    """The relay's ring went over what was not read: LTTng does not say a word; the ledger does."""
    node.start_agent(receiver.port, session=SMALL)
    ledger, keys = overrun(node, receiver, (node.agent.stop, node.start_agent_again), 200000)
    check_overrun(node, ledger, keys, 200000)


def test_reader_lags(node, receiver):
    """The same while the agent runs, but does not get to read."""
    node.write_config(receiver.port, session=SMALL)
    node.start_agent_again(**WHOLE_STACKS)  # babeltrace2 keeps a little here
    ledger, keys = overrun(node, receiver, (node.stop_reading, node.read_on), 200000)
    check_overrun(node, ledger, keys, 200000)


def test_relay_output_elsewhere(node, receiver):
    """A restart works, and says what may be missing."""
    os.mkdir(node.path("empty"))
    node.start_agent(receiver.port, session=dict(KEEP, relay_output=node.path("empty")))
    node.run([LOAD, "-n", 1000])
    node.wait_ledger(lambda ledger: ledger.sent == 1000, 20, "1000 spans")
    node.agent.stop()
    node.start_agent_again()
    node.run([LOAD, "-n", 1000])
    ledger = node.wait_ledger(lambda ledger: ledger.idle() and ledger.sent == 2000, 20, "1000 more")
    # nothing was recorded meanwhile; but who cannot know that there was nothing counts one packet for each stream
    assert ledger.read == 2000 and ledger.packets_lost <= os.cpu_count()
    before = ledger.packets_lost
    assert "lttng-relayd's files cannot be read: what was recorded while" in node.agent.log()
    node.agent.stop()
    node.run([LOAD, "-p", 2, "-n", 20000, "-r", 20000])
    node.start_agent_again()
    node.run([LOAD, "-n", 1000])
    ledger = node.wait_ledger(lambda ledger: ledger.idle() and ledger.read >= 3000, 20, "1000 more")
    assert ledger.read < 43000 and ledger.packets_lost > before
    assert "may be lost" in node.agent.log()
