# SPDX-License-Identifier: BSD-2-Clause
"""Our header and ceph's own library, or that of 2014, in one process: what each records arrives exactly once."""

from collections import Counter

import pytest
from expect import place, tags_of

SPANS = 20
RECORDED = {"ours": 3, "ceph": 3, "2014": 2}  # classic annotations of a span


def seen(spans):
    """(service, what) of each annotation and tag."""
    return Counter(
        (place(span)[2], what)
        for span in spans
        for what in [note.value for note in span.annotations] + [tag.key for tag in tags_of(span)]
    )


@pytest.mark.parametrize("old", ["ceph", "2014"])
@pytest.mark.parametrize("linked", [False, True], ids=["both loaded", "one linked"])
@pytest.mark.parametrize("first", ["ours", "old"])
def test_each_once(node, receiver, old, linked, first):
    """Whichever comes first, and whether the program is linked with one of them or loads both."""
    order = ["ours", old] if first == "ours" else [old, "ours"]
    loaded = list(order)
    program = "mixed"
    if linked:
        program += f"_with_{loaded.pop(0)}"
    words = [[node.built(f"tests/live/programs/libmixed_{name}.so"), f"mixed_{name}"] for name in loaded]
    node.start_agent(receiver.port)
    node.run([f"tests/live/programs/{program}", *sum(words, [])])
    expected = SPANS * sum(RECORDED[name] for name in order)
    ledger = node.wait_ledger(lambda ledger: ledger.idle() and ledger.read >= expected, 30, f"{expected} events")
    node.agent.stop()
    assert ledger.read == ledger.in_spans == expected
    once = {(name, what): SPANS for name in order for what in ("happened", "text", "number")[: RECORDED[name]]}
    assert seen(receiver.spans()) == Counter(once)
