# SPDX-License-Identifier: BSD-2-Clause
"""Faults at random for test_soak.py: of the agent, its reader, the connection to the relay, and the collectors."""

import os
import signal
import time
from collections import Counter

from .process import Trouble, wait_until

RELOADED = "configuration reloaded"


class Faults:
    """@counters: the collectors by name of output; @proxy: on the way to the relay; @environment: the agent's."""

    def __init__(self, node, rng, counters, proxy, environment):
        self.node, self.rng, self.counters, self.proxy, self.environment = node, rng, counters, proxy, environment
        self.done = Counter()
        self.stopped = []  # readers: (process id, when it goes on)
        self.troubled = {}  # name of an output: when it recovers
        self.delay = 50

    def next(self):
        name = self.rng.choice(FAULTS)
        self.done[name] += getattr(self, name)()

    def recover(self, at_once=False):
        """Ends what has lasted for long enough, or all of it."""
        now = float("inf") if at_once else time.monotonic()
        for pid, until in [stopped for stopped in self.stopped if stopped[1] <= now]:
            self.stopped.remove((pid, until))
            self._signal(pid, signal.SIGCONT)
        for name in [name for name, until in self.troubled.items() if until <= now]:
            del self.troubled[name]
            self.counters[name].recover()

    # The agent

    def kill_agent(self):
        self.node.agent.kill()
        time.sleep(self.rng.uniform(0, 1))
        self.start_agent()
        return 1

    def restart_agent(self):
        # ready: before, a SIGTERM is nothing that the agent has asked for yet
        self.wait_ready()
        if self.node.agent.stop(60) != 0:
            raise Trouble(f"the agent stopped badly:\n{self.node.agent.log()}")
        self.start_agent()
        return 1

    def reload(self):
        self.wait_ready()
        agent, path = self.node.agent, self.node.path("agent.conf")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        before, self.delay = self.delay, self.rng.randrange(20, 200)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(f"batch-delay = {before}ms", f"batch-delay = {self.delay}ms"))
        count = agent.log().count(RELOADED)
        agent.send(signal.SIGHUP)
        wait_until(lambda: agent.log().count(RELOADED) > count, 30, "the reload to end")
        return 1

    def start_agent(self):
        self.node.start_agent_again(wait=False, **self.environment)

    def wait_ready(self):
        self.node.agent.wait_ready(self.node.collecting, 120)

    # What it reads with, and from

    def kill_reader(self):
        return self._signal(self.node.reader_pid(), signal.SIGKILL)

    def stop_reader(self):
        """Some are found out and replaced before they go on."""
        pid = self.node.reader_pid()
        self.stopped.append((pid, time.monotonic() + self.rng.uniform(0.5, 12)))
        return self._signal(pid, signal.SIGSTOP)

    @staticmethod
    def _signal(pid, number):
        """Returns whether there is such a process."""
        try:
            os.kill(pid, number)
        except (ProcessLookupError, TypeError):
            return False
        return True

    def cut_relay(self):
        return self.proxy.break_all() > 0

    # The collectors

    def kill_collector(self):
        return self._trouble("kill")

    def hang_collector(self):
        return self._trouble("hang")

    def refuse_at_collector(self):
        return self._trouble("put_off")

    def _trouble(self, kind):
        names = sorted(self.counters.keys() - self.troubled.keys())
        if not names:
            return False
        name = self.rng.choice(names)
        getattr(self.counters[name], kind)()
        self.troubled[name] = time.monotonic() + self.rng.uniform(0.5, 8)
        return True


FAULTS = (
    "kill_agent restart_agent reload kill_reader stop_reader cut_relay kill_collector hang_collector refuse_at_collector"
).split()
