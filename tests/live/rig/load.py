# SPDX-License-Identifier: BSD-2-Clause
"""The program that most tests record spans with, and what to wait for once it has ended."""

LOAD = "tests/live/programs/spanload"

# [session] of an agent that is started again: what was recorded meanwhile is read then.
KEEP = {"keep": "yes"}


def finish(node, receiver, total):
    """Waits until everything that was logged is delivered; returns the ledger."""
    ledger = node.wait_ledger(
        lambda ledger: ledger.read - ledger.again >= total and ledger.idle(), 60, f"{total} events read and delivered"
    )
    assert (ledger.lost, ledger.packets_lost, ledger.sessions_lost) == (0, 0, 0)
    assert ledger.read - ledger.again == total
    receiver.wait_for(total)
    return ledger
