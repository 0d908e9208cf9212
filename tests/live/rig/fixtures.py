# SPDX-License-Identifier: BSD-2-Clause
"""What the tests on LTTng's daemons, on hosts and on a real kernel have alike: their conftest.py import it."""

import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def tmp_path():
    """In the place of pytest's own, which leaves its folders behind."""
    with tempfile.TemporaryDirectory(prefix="blkin-") as folder:
        yield Path(folder)
