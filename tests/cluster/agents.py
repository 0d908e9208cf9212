# SPDX-License-Identifier: BSD-2-Clause
"""Real agents of many nodes on one machine: each has a Scribe input, ports of its own, and no LTTng."""

import asyncio
import os
import re
import socket
import subprocess
import urllib.request

SPOOLED = re.compile(rb'^blkin_agent_spans\{output="default",state="spooled"\} (\d+)$', re.MULTILINE)
TRIES = re.compile(rb'^blkin_agent_output_errors_total\{.*kind="connect".*\} (\d+)$', re.MULTILINE)


def ports(count):
    streams = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    found = [stream.getsockname()[1] for stream in streams]
    for stream in streams:
        stream.close()
    return found


NAMED = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"']


class Agents:
    """
    @count of them, in folders of their own; @collector: its port, None if they have no server; @extra: {(section, key): value};
    @names: of their nodes, which takes root.
    """

    def __init__(self, folder, build, count, collector, http, extra, names=None):
        free = ports(5 * count)
        self.inputs, self.pages, self.programs = free[:count], free[count : 2 * count], []
        self.folder, self.commands = folder, []
        self.reader = os.path.join(build, "agent/blkin-reader")
        for i in range(count):
            here = os.path.join(folder, str(i))
            os.makedirs(os.path.join(here, "state"))
            config = {
                "agent": {"http": f"127.0.0.1:{self.pages[i]}", "socket": f"{here}/sock", "state-directory": f"{here}/state"},
                "session": {
                    "tracing-group": "", "relay-output": f"{here}/relay",
                    "relay-control-port": free[2 * count + i], "relay-data-port": free[3 * count + i],
                    "relay-live-port": free[4 * count + i],
                },
                "input": {"scribe": f"127.0.0.1:{self.inputs[i]}"},
                "output": {"server": f"127.0.0.1:{collector}"} if collector else {},
            }  # fmt: skip
            if http:
                config["output"].update({"type": "http", "format": "json2", "compression": "none"})
            for (section, key), value in extra.items():
                config.setdefault(section, {})[key] = value
            with open(f"{here}/agent.conf", "w", encoding="utf-8") as file:
                for section, keys in config.items():
                    file.write(f"[{section}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()))
            command = [os.path.join(build, "agent/blkin-agent"), "-c", f"{here}/agent.conf"]
            self.commands.append([*NAMED, names[i], *command] if names else command)
            self.programs.append(self.start(i))

    def start(self, i):
        here = os.path.join(self.folder, str(i))
        environment = dict(os.environ, HOME=here, BLKIN_READER=self.reader)
        with open(f"{here}/log", "ab") as log:
            return subprocess.Popen(self.commands[i], stdout=log, stderr=log, env=environment)

    def kill(self, i):
        self.programs[i].kill()
        self.programs[i].wait()

    def restart(self, i):
        self.programs[i] = self.start(i)

    def cpu(self):
        ticks = 0
        for program in self.programs:
            with open(f"/proc/{program.pid}/stat", encoding="ascii") as file:
                fields = file.read().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def sums(self, *patterns):
        """What each of these patterns, with one group each, has in the metrics of all agents together."""
        found = [0] * len(patterns)
        for page in self.pages:
            text = self.metrics(page)
            for i, pattern in enumerate(patterns):
                found[i] += sum(map(int, pattern.findall(text)))
        return found

    @staticmethod
    def metrics(page):
        with urllib.request.urlopen(f"http://127.0.0.1:{page}/metrics", timeout=60) as answer:
            return answer.read()

    def spooled(self):
        """What each has on its disk."""
        return [sum(map(int, SPOOLED.findall(self.metrics(page)))) for page in self.pages]

    def tries(self):
        """How often they have called the collector in vain."""
        return self.sums(TRIES)[0]

    async def wait_up(self):
        for port in self.inputs:
            for _ in range(600):
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                except OSError:
                    await asyncio.sleep(0.1)
            else:
                raise SystemExit("an agent does not start; its log: " + open(f"{self.folder}/0/log").read()[-2000:])

    def stop(self):
        for program in self.programs:
            program.terminate()
        for program in self.programs:
            program.wait(60)
