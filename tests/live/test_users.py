# SPDX-License-Identifier: BSD-2-Clause
"""Programs of two users: each has streams of its own, of the same numbers, and none is taken for another's."""

import glob
import os
import shutil
import time

from expect import check_clocks, check_span, key_of
from rig.load import KEEP, LOAD, finish
from rig.node import WHOLE_STACKS, build_dir

COUNT = 16000
# One's own, and, for root, who may run programs as anybody, another.
USERS = (0, 4321) if os.getuid() == 0 else (os.getuid(),)


def share(node):
    """The load and its provider where another user finds them."""
    folder = node.path("shared")
    os.mkdir(folder, 0o755)
    os.chmod(node.folder, 0o711)
    for path in [node.built(LOAD)] + glob.glob(os.path.join(build_dir(), "libclient/libblkin-provider.so*")):
        if os.path.isfile(path):
            shutil.copy(path, folder)
    return folder


def start_as(node, user, number, folder):
    """The load as a user, under a process number of its own."""
    become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user != os.getuid() else []
    words = [os.path.join(folder, "spanload"), "-P", number, "-n", COUNT, "-r", 2000]
    return node.start(become + words, name=f"load-{user}", HOME="/", LD_LIBRARY_PATH=folder)


def test_restarts_with_two_users(node, receiver):
    node.write_config(receiver.port, session=KEEP)
    node.start_agent_again(**WHOLE_STACKS)  # babeltrace2 may keep a little here
    folder = share(node)
    loads = [start_as(node, user, number, folder) for number, user in enumerate(USERS)]
    for end in ("stop", "kill", "stop", "kill"):
        time.sleep(1)
        getattr(node.agent, end)()
        time.sleep(0.3)
        node.start_agent_again(**WHOLE_STACKS)
    assert [load.wait(60) for load in loads] == [0] * len(USERS)
    users = os.listdir(node.session_folders()[0] + "/ust/uid")
    assert sorted(users) == sorted(map(str, USERS))
    ledger = finish(node, receiver, len(USERS) * COUNT)
    assert ledger.sessions == 1
    # what a kill brought twice is the same span
    once = {key_of(span): span for span in receiver.spans()}
    assert once.keys() == {(number, 0, n) for number in range(len(USERS)) for n in range(COUNT)}
    check_clocks([check_span(span, key) for key, span in once.items()])
