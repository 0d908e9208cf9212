# SPDX-License-Identifier: BSD-2-Clause
"""A Debian that has booted, with systemd and the agent's packages: what its commands tell of them."""

import json
import re

from rig.process import wait_until

UNITS = ("blkin-agent", "blkin-relayd", "lttng-sessiond", "collect")


class Booted:
    """Whoever inherits has a @name, and knows how to run() a command, and to ask the agent for a page()."""

    def systemctl(self, *words, **how):
        return self.run("systemctl", *words, **how)

    def property(self, unit, name):
        return self.systemctl("show", "--value", "--property", name, unit).strip()

    def active(self, unit):
        return self.property(unit, "ActiveState") == "active"

    def main_pid(self, unit):
        return int(self.property(unit, "MainPID"))

    def journal(self, unit):
        return self.run("journalctl", "--no-pager", "--output=cat", "--unit", unit)

    def last_words(self):
        """What its services said, for the report of a test that failed."""
        return self.run("journalctl", "--no-pager", "--lines=80", *(f"--unit={unit}" for unit in UNITS), code=None)

    # The agent

    def status(self):
        """What `blkin status --json` says."""
        return json.loads(self.run("blkin", "status", "--json"))

    def metric(self, name):
        """What /metrics says of a metric, its labels added up."""
        lines = self.page("/metrics")[1].splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if re.split(r"[{ ]", line)[0] == name)

    def collecting(self):
        return self.page("/readyz")[0] == 200

    def wait_collecting(self, seconds=30):
        wait_until(self.collecting, seconds, f"the agent on {self.name} to collect: {self.page('/readyz')[1]}", 0.1)


# For a Python that asks the agent for a page: its code and text.
ASK = """
import sys, urllib.error, urllib.request
try:
    with urllib.request.urlopen("http://127.0.0.1:9412" + sys.argv[1], timeout=10) as answer:
        print(answer.status, answer.read().decode(), sep="\\n")
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode(), sep="\\n")
except OSError as error:
    print(0, error, sep="\\n")
"""
