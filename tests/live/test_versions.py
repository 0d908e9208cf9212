# SPDX-License-Identifier: BSD-2-Clause
"""
LTTng of several versions, with one agent: what later ones can do is used, what older ones cannot is said once, and programs
whose LTTng is another than the session daemon's are named.
"""

import contextlib
import os
import re
import signal
import subprocess

import pytest
from rig.lttng import HEALS
from rig.node import WHOLE_STACKS
from rig.process import wait_until
from rig.users import start_as
from test_doctor import LOAD, expect, findings, start_load, status

ONE, OTHER = 4321, 4322
SHM = "/dev/shm"


def taken():
    """Bytes of /dev/shm, which the tests have for themselves."""
    room = os.statvfs(SHM)
    return (room.f_blocks - room.f_bfree) * room.f_frsize


def begin(node, receiver, **sections):
    node.write_config(receiver.port, **sections)
    node.start_agent_again(**WHOLE_STACKS)  # babeltrace2 may keep a little when another user's streams come


def buffers(node):
    """Bytes by user, as the metrics have them; the status has the same."""
    found = {}
    for name, value in node.metrics().items():
        label = re.fullmatch(r'blkin_agent_ring_bytes\{user="(\w+)"\}', name)
        if label:
            found[int(label[1])] = value
    return found


def test_status_says_what_an_older_one_does_not_do(node, receiver):
    begin(node, receiver)
    wait_until(lambda: node.status()["lttng_heals"] is not None, 20, "a look at LTTng")
    assert node.status()["lttng_heals"] == HEALS
    text = status(node, "--socket", node.socket)[1]
    assert ("LTTng before 2.15" in text) != HEALS, text
    assert findings(node).keys() <= {"no-program"}, "that is nothing to do"


@pytest.mark.as_root("runs programs of several users")
def test_buffers_are_told_by_user(node, receiver):
    begin(node, receiver)
    for number, user in enumerate((ONE, OTHER)):
        start_as(node, user, "spanload", "-P", number, "-w", 10, "-n", 10**6, "-r", 100)
    wait_until(lambda: buffers(node).keys() >= {ONE, OTHER}, 30, "the buffers of both")
    assert sum(buffers(node).values()) <= taken() < 1.1 * sum(buffers(node).values())
    assert set(buffers(node).values()) == {node.metrics()["blkin_agent_shm_user_bytes"]}
    told = node.status()["buffers"]
    assert {user["user"] for user in told["users"]} >= {ONE, OTHER}
    assert told["bytes"] == sum(user["bytes"] for user in told["users"])
    assert f" of {len(told['users'])} users" in status(node, "--socket", node.socket)[1]


def fill(path):
    """All that is left of a disk."""
    with open(path, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


@contextlib.contextmanager
def room(size):
    """So much of /dev/shm is there."""
    was = os.statvfs(SHM)
    subprocess.run(["mount", "-o", f"remount,size={size}", SHM], check=True)
    yield
    subprocess.run(["mount", "-o", f"remount,size={was.f_blocks * was.f_frsize}", SHM], check=True)


@pytest.mark.as_root("mounts")
def test_full_shared_memory_kills_no_program(node, receiver):
    """
    The rings have their memory from the start. A later LTTng could take it only when it is needed; a program that finds none
    then dies.
    """
    begin(node, receiver, session={"memory": "16M"})
    load = start_load(node)
    node.wait_ledger(lambda ledger: ledger.sent > 10, 20, "spans")
    filler = os.path.join(SHM, "filler")
    with room("64M"):
        fill(filler)
        program = node.start([node.built(LOAD), "-P", 3, "-w", 10, "-n", 60000, "-r", 30000])
        assert program.wait(60) == 0
        load.send(signal.SIGTERM)
        assert load.wait(20) == 0
        os.unlink(filler)
    node.wait_ledger(lambda ledger: ledger.idle() and ledger.read + ledger.lost > 60000, 60, "all to be counted")


def test_channels_are_pinned(node, receiver):
    begin(node, receiver, events={"names": "foreign:*"})
    listed = node.lttng("list", "blkin")
    assert re.findall(r"Watchdog timer: +(.*)", listed) == (["2.00 s"] * 2 if HEALS else []), listed
    assert len(re.findall(r"policy: +Preallocate", listed)) == (2 if HEALS else 0) and "lder than" not in listed, listed


# A program with LTTng's library maps the file in /dev/shm in which the session daemon tells that it has come, and of which
# the version is in the name: that of Debian 12 and 13 is 8, that of LTTng 2.15 and later 11.
WAITS = """
import mmap, os, signal, threading
def listen():
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as name:
        name.write("python3-ust")
    print("waits", flush=True)
    threading.Event().wait()
file = os.open("/dev/shm/lttng-ust-wait-7", os.O_RDWR | os.O_CREAT, 0o644)
os.ftruncate(file, 4096)
waiting = mmap.mmap(file, 4096, mmap.MAP_SHARED, mmap.PROT_READ)
threading.Thread(target=listen).start()
signal.pause()
"""


def test_program_of_another_version(node, receiver):
    begin(node, receiver)
    start_load(node)
    node.wait_ledger(lambda ledger: ledger.sent > 10, 20, "spans")
    assert findings(node) == {}
    program = node.start(["/usr/bin/python3", "-c", WAITS])
    wait_until(lambda: "waits" in program.log(), 20, "the program")
    found = expect(node, "other-lttng", "1 program is not traced", "install the LTTng")
    assert f"python3 ({program.pid})" in found["what"] and "(lttng-ust-wait-7, not -" in found["what"]
    program.kill()
    assert findings(node) == {}
