# SPDX-License-Identifier: BSD-2-Clause
"""Which LTTng is here, and what it does by itself."""

import re
import subprocess
from xml.etree import ElementTree


def version():
    done = subprocess.run(["lttng", "--version"], capture_output=True, text=True, check=True)
    return tuple(int(number) for number in re.search(r"(\d+)\.(\d+)", done.stdout).groups())


# It gets past an event in whose middle a program died.
HEALS = version() >= (2, 15)


def sessions_of(node):
    """Of each of LTTng's sessions, by its name, whether it records. What LTTng writes for people differs."""
    listed = ElementTree.fromstring(node.lttng("--mi", "xml", "list"))
    return {session.find("{*}name").text: session.find("{*}enabled").text == "true" for session in listed.iterfind(".//{*}session")}
