# SPDX-License-Identifier: BSD-2-Clause
"""Which LTTng is here, and what it does by itself."""

import re
import subprocess


def version():
    done = subprocess.run(["lttng", "--version"], capture_output=True, text=True, check=True)
    return tuple(int(number) for number in re.search(r"(\d+)\.(\d+)", done.stdout).groups())


# It gets past an event in whose middle a program died.
HEALS = version() >= (2, 15)
