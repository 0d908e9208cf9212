# SPDX-License-Identifier: BSD-2-Clause
"""Under load, every span arrives once with every field as it was recorded, and the ledger adds up to the last event."""

import time

from expect import check_load

PROCESSES, THREADS = 4, 2


def run_load(node, receiver, spans, rate, memory):
    total = PROCESSES * THREADS * spans
    node.start_agent(receiver.port, session={"memory": memory, "disk": "4G"})
    words = ["tests/live/programs/spanload", "-p", PROCESSES, "-t", THREADS, "-n", spans, "-r", rate]
    assert node.run(words, seconds=300).split()[-1] == str(total)
    ledger = node.wait_ledger(
        lambda ledger: ledger.read + ledger.lost >= total and ledger.idle(), 300, f"{total} events read and delivered"
    )
    assert (ledger.lost, ledger.packets_lost) == (0, 0), "LTTng lost events: the load was too fast for this machine"
    assert (ledger.read, ledger.in_spans, ledger.spans, ledger.sent) == (total,) * 4
    assert ledger.sent_again == 0
    receiver.wait_for(total)
    check_load(receiver.spans(), PROCESSES, THREADS, spans)
    assert {category for category, _ in receiver.messages} == {b"zipkin"}
    return ledger


def test_every_field_of_200000_spans(node, receiver):
    run_load(node, receiver, spans=25000, rate=5000, memory="512M")


def test_timestamps_are_wall_clock(node, receiver):
    node.start_agent(receiver.port)
    before = time.time_ns() // 1000
    node.run(["tests/live/programs/spanload", "-n", 10])
    after = time.time_ns() // 1000
    receiver.wait_for(10)
    # the load dates its spans 2 ms back, and the two clocks are not read at one moment
    assert all(before - 5000 <= span.timestamp <= after for span in receiver.spans())
