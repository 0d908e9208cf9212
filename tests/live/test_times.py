# SPDX-License-Identifier: BSD-2-Clause
"""The times in spans are those of the kernel's clock, to two microseconds, by whatever clock they are read."""

import pytest
from expect import tags_of

COUNT = 4 * 500
FAR = 2  # us
ROUNDED = 1  # us: Zipkin's times have no nanoseconds


@pytest.mark.parametrize("clock", ["kernel", "counter"])
def test_times(node, receiver, clock):
    node.start_agent(receiver.port)
    node.run(["tests/live/programs/times"], BLKIN_CLOCK=clock)
    node.wait_ledger(lambda ledger: ledger.sent == COUNT, 30, "all spans")
    for span in receiver.spans():
        tags = {tag.key: tag.value for tag in tags_of(span)}
        before, after, waited = [int(tags[key]) for key in ("before", "after", "waited")]
        now, then = [note.timestamp - span.timestamp for note in sorted(span.annotations, key=lambda note: note.value)]
        assert 0 <= now <= then <= span.duration + ROUNDED
        assert before // 1000 - FAR - ROUNDED <= now <= after // 1000 + ROUNDED
        assert before >= 0 and waited >= -FAR * 1000
