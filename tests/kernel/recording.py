# SPDX-License-Identifier: BSD-2-Clause
"""What an agent on the machine records, and what babeltrace2 reads of the same."""

import glob
import json
import os

from rig import bt2json
from rig.process import exactly, wait_until

FILES = "/var/lib/blkin/files"
CONFIG = "/etc/blkin/agent.conf.d/test.conf"
OUTPUT = {"type": "file", "directory": FILES, "takes": "spans, events"}


def text_of(sections):
    return "".join(f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()) for name, keys in sections.items())


class Recording:
    """An agent that has a session of its own and nothing from before. @folder is for copies."""

    def __init__(self, machine, folder):
        self.machine = machine
        self.folder = folder
        self._copies = 0

    def start(self, **sections):
        """With the sections of its configuration."""
        machine = self.machine
        machine.systemctl("stop", "blkin-agent")
        # LTTng 2.13's consumer daemon of the kernel may stand still for ever, and the session daemon with it
        machine.shell("timeout 20 lttng destroy --all || systemctl restart lttng-sessiond")
        machine.shell("systemctl stop blkin-relayd; rm -rf /var/lib/blkin/*")
        self.configure(**sections)
        machine.systemctl("start", "blkin-agent")
        machine.wait_collecting(60)
        return self

    def configure(self, **sections):
        self.machine.write(CONFIG, text_of({"output": OUTPUT, **sections}))

    def reload(self, **sections):
        self.configure(**sections)
        self.machine.systemctl("reload", "blkin-agent")

    def _copy(self, path):
        self._copies += 1
        return self.machine.get(path, os.path.join(self.folder, str(self._copies)))

    def _lines(self, pattern):
        folder = self._copy(FILES)
        for path in sorted(glob.glob(os.path.join(folder, pattern)) + glob.glob(os.path.join(folder, f".{pattern}.part"))):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    if line.endswith("\n"):
                        yield json.loads(line)

    def events(self):
        """All that were delivered, as they were."""
        return list(self._lines("events-*.jsonl"))

    def spans(self):
        return list(self._lines("zipkin-*.jsonl"))

    def wait_read(self, seconds=120):
        """Until what was recorded before this call is delivered: events are in order of time."""
        now = int(self.machine.run("date", "+%s%N"))
        wait_until(lambda: self._newest() > now, seconds, "what was recorded to be delivered", 1)

    def _newest(self):
        """The time of the last event that was delivered."""
        last = self.machine.shell(f"tail -qn 2 {FILES}/.events-*.part 2>/dev/null || true").splitlines()
        times = [json.loads(line)["timestamp"] for line in last if line.startswith("{") and line.endswith("}")]
        return max(times, default=0)

    def end(self):
        """Stops the agent and then the session; everything that was recorded is in the relay's files."""
        self.machine.systemctl("stop", "blkin-agent")
        self.machine.run("lttng", "stop", "blkin")

    def traces(self):
        """A copy of the session, which has ended."""
        return self._copy("/var/lib/blkin/relay")

    def truth(self):
        """What babeltrace2 reads of the session, which has ended, of the kernel: its events."""
        return [event for event in bt2json.read(self.traces()) if event["domain"] == "kernel"]


def key(event):
    """CPUs may record events at one moment."""
    return event["timestamp"], event["cpu"], event["process"]["tid"], event["event"], sorted(event["payload"].items(), key=str)


def dated_alike(got, expected):
    """LTTng measures how far the clock is from the epoch for each trace; the agent has one offset for all."""
    apart = min(event["timestamp"] for event in got) - min(event["timestamp"] for event in expected)
    exactly(abs(apart) < 10**6, f"the times are {apart} ns apart")
    return [{**event, "timestamp": event["timestamp"] + apart, "time": bt2json.iso(event["timestamp"] + apart)} for event in expected]


def same(got, expected):
    """
    Events that were delivered, each once, are those that babeltrace2 reads, up to the last one that was delivered: the session
    outlives the agent.
    """
    got = sorted(got, key=key)
    expected = dated_alike(got, expected)
    expected = sorted((event for event in expected if event["timestamp"] <= got[-1]["timestamp"]), key=key)
    exactly(len(got) == len(expected), f"{len(got)} events were delivered, of {len(expected)}")
    for one, other in zip(expected, got):
        differences = list(bt2json.differences(one, other))
        exactly(not differences, differences)
    return len(got)
