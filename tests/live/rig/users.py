# SPDX-License-Identifier: BSD-2-Clause
"""Programs of several users, as root may run them."""

import os
import shutil

PROGRAMS = "tests/live/programs/"


def start_as(node, user, program, *words, **environment):
    """A program as a user, who finds it and the provider in a folder of the node's."""
    folder = node.path("shared")
    if not os.path.isdir(folder):
        os.mkdir(folder, 0o755)
        os.chmod(node.folder, 0o711)
        shutil.copy(node.built("libclient/libblkin-provider.so.1"), folder)
    path = os.path.join(folder, program)
    if not os.path.exists(path):
        shutil.copy(node.built(PROGRAMS + program), path)
    become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    return node.start(become + [path, *words], name=f"{program}-{user}", HOME="/", LD_LIBRARY_PATH=folder, **environment)
