# SPDX-License-Identifier: BSD-2-Clause
"""The program that most tests record spans with, and what to wait for once it has ended."""

from .process import exactly

LOAD = "tests/live/programs/spanload"

# [session] of an agent that is started again: what was recorded meanwhile is read then.
KEEP = {"keep": "yes"}


def finish(node, receiver, total):
    """Waits until everything that was logged is delivered; returns the ledger."""
    ledger = node.wait_ledger(
        lambda ledger: ledger.read - ledger.again >= total and ledger.idle(), 60, f"{total} events read and delivered"
    )
    exactly((ledger.lost, ledger.packets_lost, ledger.read - ledger.again) == (0, 0, total), str(ledger))
    assert ledger.sessions_lost == 0
    receiver.wait_for(total)
    return ledger
