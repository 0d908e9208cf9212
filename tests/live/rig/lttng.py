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
# It writes down which events a channel has before it does so of the channel; later ones do both at once.
EVENTS_FIRST = version() < (2, 14)
# It asks for the name of a user who sends it commands, and whether that one is in the group tracing.
ASKS_WHO = version() >= (2, 15)
# It says so of a program that it gives up.
TELLS_OF_TIMEOUTS = version() < (2, 16)


def listed(node, *words):
    """What `lttng list` says; what it writes for people differs."""
    return ElementTree.fromstring(node.lttng("--mi", "xml", "list", *words))


def sessions_of(node):
    """Of each of LTTng's sessions, by its name, whether it records."""
    return {session.find("{*}name").text: session.find("{*}enabled").text == "true" for session in listed(node).iterfind(".//{*}session")}


def rules_of(node, session):
    """Of each of a session's rules for events, by its name, whether it is on."""
    rules = listed(node, session).iterfind(".//{*}event")
    return {rule.find("{*}name").text: rule.find("{*}enabled").text == "true" for rule in rules}


def programs_of(node):
    """The process ids of the programs that are registered."""
    return [int(program.find("{*}id").text) for program in listed(node, "--userspace").iterfind(".//{*}pid")]
