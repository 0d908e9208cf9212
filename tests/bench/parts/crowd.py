# SPDX-License-Identifier: BSD-2-Clause
"""Memory of the node's tracing, with more and more programs, and users, each of whom has buffers of his own."""

import os
import shutil

from rig.process import free_port

from .processes import megabytes, of_node
from .table import Table
from .trace import Sink

SPANS, RATE = 100_000, 20  # each program's; it is stopped before its end
FIRST_USER = 20_000


def start_generator(node, user):
    """A generator as @user; it finds the provider in a folder of the node's."""
    folder = node.path("shared")
    if not os.path.isdir(folder):
        os.mkdir(folder, 0o755)
        os.chmod(node.folder, 0o711)
        shutil.copy(node.built("libclient/libblkin-provider.so.1"), folder)
        shutil.copy(node.built("tests/bench/generate"), folder)
    become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
    words = [os.path.join(folder, "generate"), "span", SPANS, RATE]
    return node.start(become + words, name=f"generate-{user}", HOME="/", LD_LIBRARY_PATH=folder)


def measure_one(node, users):
    """Megabytes by process, when each of the programs has recorded spans, which have arrived."""
    sink = Sink(node, free_port())
    agent = node.start_agent(sink.port, session={"memory": "64M", "disk": "1G"})
    programs = [start_generator(node, user) for user in users]
    node.wait_ledger(lambda ledger: ledger.sent >= len(programs) * RATE * 2, 120, "spans of all programs")
    sizes = megabytes(of_node(node, agent))
    for program in programs:
        program.kill()
        program.process.wait()
    agent.stop()
    sink.stop()
    return sizes


def measure(node, sizes):
    names = ("blkin-agent", "lttng-sessiond", "lttng-consumerd", "lttng-relayd")
    table = Table("Crowd: resident MB; 64 MB of buffers a user", *names)
    for count in sizes.programs:
        used = measure_one(node, [0] * count)
        table.add(f"one user, programs: {count}", *(used[name] for name in names))
    for count in sizes.users if os.getuid() == 0 else ():
        used = measure_one(node, range(FIRST_USER, FIRST_USER + count))
        table.add(f"one program each, users: {count}", *(used[name] for name in names))
    return [table]
