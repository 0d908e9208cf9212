# SPDX-License-Identifier: BSD-2-Clause
"""The processes of a node's tracing: their CPU time and their memory."""

import glob
import re
import time


def children(pid):
    """Of all its threads."""
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        with open(path, encoding="ascii") as file:
            found += map(int, file.read().split())
    return found


def below(pid):
    """@pid and all that it has started, and these."""
    return [pid] + [found for child in children(pid) for found in below(child)]


def of_node(node, agent):
    """Process ids by what they are: the agent with its reader and its canary, and LTTng's daemons."""
    pids = {"blkin-agent": below(agent.pid)}
    pids |= {"lttng-sessiond": [], "lttng-consumerd": [], "lttng-relayd": below(node.relayd.pid)}
    for pid in below(node.sessiond.pid):
        with open(f"/proc/{pid}/comm", encoding="ascii") as file:
            pids["lttng-consumerd" if "consumer" in file.read() else "lttng-sessiond"].append(pid)
    return pids


def seconds(pids):
    """CPU seconds by name, of all threads."""
    return {name: sum(time.clock_gettime(~pid << 3 | 2) for pid in group) for name, group in pids.items()}


def megabytes(pids):
    """What is resident, by name, buffers that are shared with programs too."""
    sizes = {}
    for name, group in pids.items():
        sizes[name] = 0
        for pid in group:
            with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
                sizes[name] += int(re.search(r"^Rss:\s+(\d+) kB", file.read(), re.M)[1]) / 1024
    return sizes
