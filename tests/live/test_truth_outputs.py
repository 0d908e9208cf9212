# SPDX-License-Identifier: BSD-2-Clause
"""
The truth table's outputs (rig/truth.py): a collector of each kind at once, all in the same trouble. The status names each with
what it is, so do the metrics and the alert, and there is nothing to do once it is over.
"""

import contextlib
import re

import pytest
from rig.alerts import firing
from rig.collectors import KINDS
from rig.node import WHOLE_STACKS
from rig.process import wait_until
from test_doctor import start_load

TOLD = 15  # s
STATES = ["killed", "stopped", "full", "denied", "lying"]


@contextlib.contextmanager
def all_kinds(node, kinds=KINDS, **keys):
    """A collector of each, to which an agent sends what a program records. @keys: further ones of each output."""
    collectors = [kind(node) for kind in kinds]
    sections = {f"output {one.name}": {**one.keys, **keys} for one in collectors}
    node.write_config(1, output={"type": "none"}, **sections)
    node.start_agent_again(**WHOLE_STACKS)
    start_load(node)
    try:
        for one in collectors:
            go_on(node, one.name)
        assert told(node) == {}
        yield collectors
    finally:
        for one in collectors:
            one.close()


def told(node):
    """What the status says of each output, by its name."""
    found = {}
    for one in node.status()["findings"]:
        name = re.search(r"\boutput (\w+)", one["what"])
        found.setdefault(name[1] if name else "", set()).add(one["code"])
    return found


def go_on(node, name, seconds=TOLD):
    sent = node.ledger(name).sent
    node.wait_ledger(lambda ledger: ledger.sent > sent + 20, seconds, f"spans at {name} again", name)


def wait_told(node, wanted, seconds=TOLD):
    found = {}

    def is_told():
        nonlocal found
        found = told(node)
        return found == wanted

    try:
        wait_until(is_told, seconds, f"{wanted}", 0.3)
    except Exception as trouble:
        raise AssertionError(f"{trouble}: {found}") from None


@pytest.mark.as_root("mounts")
@pytest.mark.parametrize("state", STATES)
def test_state(node, state):
    with all_kinds(node) as collectors:
        fallen = [one for one in collectors if state in one.findings]
        before = {one.name: node.metrics(one.name) for one in collectors}
        for one in fallen:
            one.fall(state)
        wait_told(node, {one.name: {one.findings[state]} for one in fallen})
        assert node.collecting(), "no collector has to do with that"
        for one in collectors:
            alerts = firing(before[one.name], node.metrics(one.name))
            assert alerts - {"BlkinSpansLost"} == ({"BlkinCollectorDown"} if one in fallen else set()), one.name
            # of one that refuses each span by itself, some are refused before it is clear that it takes none
            assert "BlkinSpansLost" not in alerts or (one.name, state) == ("scribe", "denied")
        for one in fallen:
            one.mend()
        wait_told(node, {}, 40)  # a loss is told of for 20 s
        before = {one.name: node.metrics(one.name) for one in collectors}
        for one in collectors:
            go_on(node, one.name)
            assert firing(before[one.name], node.metrics(one.name)) == set()
