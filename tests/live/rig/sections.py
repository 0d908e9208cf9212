# SPDX-License-Identifier: BSD-2-Clause
"""The agent's configuration file by its sections, which a test replaces before it has the agent read it again."""

import re
import signal

from .idsink import QUICK
from .process import wait_until

TAKEN = "configuration reloaded"
REFUSED = "configuration not reloaded: the previous one stays in force"


class Sections:
    """The agent's configuration file: its sections can be replaced, and the agent told."""

    def __init__(self, node):
        self.node, self.path = node, node.path("agent.conf")
        with open(self.path, encoding="utf-8") as file:
            parts = re.split(r"^\[(.*)\]\n", file.read(), flags=re.M)[1:]
        self.keys = dict(zip(parts[::2], parts[1::2]))

    def write(self):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("".join(f"[{name}]\n{keys}" for name, keys in self.keys.items()))

    def hang_up(self, wanted=TAKEN):
        """Writes the file, and has it read again."""
        self.write()
        agent = self.node.agent
        before = agent.log().count(TAKEN) + agent.log().count(REFUSED)
        agent.send(signal.SIGHUP)
        wait_until(lambda: agent.log().count(TAKEN) + agent.log().count(REFUSED) > before, 10, "the reload to end")
        ends = [line for line in agent.log().splitlines() if TAKEN in line or REFUSED in line]
        assert wanted in ends[-1], agent.log()

    def output(self, name, sink, **keys):
        keys = dict(QUICK, server=f"127.0.0.1:{sink.port}", **{key.replace("_", "-"): value for key, value in keys.items()})
        self.keys[name] = "".join(f"{key} = {value}\n" for key, value in keys.items()) + "\n"
