# SPDX-License-Identifier: BSD-2-Clause
"""However many objects of a process include the header, each annotation is recorded exactly once."""

from collections import Counter

from expect import place, tags_of

OBJECTS = ["executable", "second unit", "library a", "library b", "plugin"]


def test_executable_libraries_and_plugin(node, receiver):
    node.start_agent(receiver.port)
    node.run(["tests/live/programs/once", node.built("tests/live/programs/libonce_plugin.so")])
    # an event for each span, and three for each classic one
    ledger = node.wait_ledger(lambda ledger: ledger.read >= 4 * len(OBJECTS) and ledger.idle(), 30, "all events")
    node.agent.stop()
    assert ledger.read == 4 * len(OBJECTS)
    spans = receiver.spans()
    seen = Counter()
    for span in spans:
        for note in span.annotations:
            seen[place(span)[2], span.name, note.value] += 1
        for tag in tags_of(span):
            seen[place(span)[2], span.name, tag.key, tag.value] += 1
    expected = Counter()
    for name in OBJECTS:
        expected[name, "span api", "happened"] = 1
        expected[name, "classic", "happened"] = 1
        expected[name, "classic", "text", b"value"] = 1
        expected[name, "classic", "number", b"42"] = 1
    assert seen == expected
    assert len(spans) == len({span.id for span in spans}) == 2 * len(OBJECTS)
