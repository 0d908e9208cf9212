# SPDX-License-Identifier: BSD-2-Clause
"""Classic annotations of all lengths arrive whole: the provider puts short ones together, and leaves long ones to LTTng."""

from expect import address, place, tags_of

LONGEST = 600


def test_lengths(node, receiver):
    node.start_agent(receiver.port)
    node.run(["tests/live/programs/lengths"])
    node.wait_ledger(lambda ledger: ledger.read >= 3 * LONGEST and ledger.idle(), 30, "all events")
    node.agent.stop()
    spans = receiver.spans()
    assert len(spans) == LONGEST
    found = set()
    for span in spans:
        tags = {tag.key: tag.value for tag in tags_of(span)}
        text = tags.pop("text").decode()
        size = len(text)
        assert text == chr(ord("a") + size % 26) * size
        assert tags == {text: b"%d" % size}
        assert [note.value for note in span.annotations] == [text]
        assert place(span) == (address("10.0.0.1"), 6800, "lengths", None)
        found.add(size)
    assert found == set(range(1, LONGEST + 1))
