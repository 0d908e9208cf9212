# SPDX-License-Identifier: BSD-2-Clause
"""Programs of several users, as root may run them."""

import os
import shutil

PROGRAMS = "tests/live/programs/"


def as_user(node, user, program, *words):
    """The command of a program as a user, who finds it and the provider in a folder of the node's; what to add to the
    environment."""
    folder = node.path("shared")
    if not os.path.isdir(folder):
        os.mkdir(folder, 0o755)
        os.chmod(node.folder, 0o711)
        shutil.copy(node.built("libclient/libblkin-provider.so.1"), folder)
    path = os.path.join(folder, program)
    if not os.path.exists(path):
        shutil.copy(node.built(PROGRAMS + program), path)
    become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    return become + [path, *words], {"HOME": "/", "LD_LIBRARY_PATH": folder}


def start_as(node, user, program, *words, **environment):
    command, more = as_user(node, user, program, *words)
    return node.start(command, name=f"{program}-{user}", **more, **environment)
