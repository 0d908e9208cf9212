# SPDX-License-Identifier: BSD-2-Clause
"""What all users share, and one of them uses up: the room for names, and /dev/shm."""

import os
import subprocess

import pytest
from rig.dictation import Dictation
from rig.lttng import HEALS
from rig.node import WHOLE_STACKS
from rig.process import wait_until
from rig.users import start_as
from test_doctor import expect, findings, start_load
from test_metrics import samples, scrape, token_of

ROOM = 10000
ONE, OTHER = 4321, 4322
SHM = "/dev/shm"

NOT_TRACED = 3  # what spanload ends with then


@pytest.mark.as_root("runs programs of several users")
def test_one_user_takes_all_names(node, receiver):
    node.write_config(receiver.port, thresholds={"*/late *": "mean 1ms", "*/name 1": "none"})
    node.start_agent_again(**WHOLE_STACKS)  # babeltrace2 may keep a little when another user's streams come
    token = token_of(node)
    with Dictation(node, ONE) as one, Dictation(node, OTHER) as other:
        one.deliver([("crowd", f"name {n}", 10, False) for n in range(ROOM)])
        assert "names-full" not in findings(node), "as long as all have room"
        one.say([("crowd", f"late {n}", 2000, False) for n in range(100)])
        said = "100 spans of the last seconds"
        found = {}

        def tells():
            found.update(findings(node))
            return found.get("names-full", {"what": ""})["what"].startswith(said)

        wait_until(tells, 15, "the doctor to see all of it")
        assert f"user {ONE} have {ROOM} of {ROOM} names" in found["names-full"]["what"]
        above = samples(scrape(node, token)[1], "blkin_threshold_exceeded")
        assert above == {("other", "other", "mean"): 1}, "what is summed up is judged"
        other.say([("quiet", f"late {n}", 2000, False) for n in range(10)])
        node.wait_ledger(lambda ledger: ledger.sent == ROOM + 110 and ledger.idle(), 60, "all to be delivered")
        page = scrape(node, token)[1]
        spans = samples(page, "blkin_spans_total")
        assert [spans["quiet", f"late {n}"] for n in range(10)] == [1] * 10
        assert sum(spans.values()) == ROOM + 110
        above = samples(page, "blkin_threshold_exceeded")
        assert all(above["quiet", f"late {n}", "mean"] for n in range(10))
        wait_until(lambda: findings(node) == {}, 40, "nothing to be said of it, once it is over")


@pytest.mark.as_root("mounts")
def test_shared_memory_is_full(node, receiver):
    """
    Anybody may fill it: who starts then records nothing, which status says until there is room. LTTng's consumer daemon
    of 2.16 ends of it, which is said, too, as nobody records anything any more.
    """
    node.write_config(receiver.port, session={"memory": "8M"})
    node.start_agent_again(**WHOLE_STACKS)
    start_load(node)
    node.wait_ledger(lambda ledger: ledger.sent > 100, 30, "spans of a user who was there before")
    assert "shm-full" not in findings(node)
    used = os.statvfs(SHM)
    in_use = (used.f_blocks - used.f_bfree) * used.f_frsize
    remount = ["mount", "-o", f"remount,size={in_use + 1024 * 1024}", SHM]
    subprocess.run(remount, check=True)
    try:
        load = start_as(node, ONE, "spanload", "-n", 1000, "-w", 5)
        other = start_as(node, ONE, "spanload", "-n", 1000, "-w", 1000)
        found = {}
        wait_until(lambda: found.update(findings(node)) or "shm-full" in found, 15, "the doctor to see it")
        assert "of users who have none yet record nothing" in found["shm-full"]["what"]
        metrics = node.metrics()
        assert metrics["blkin_agent_shm_free_bytes"] < metrics["blkin_agent_shm_user_bytes"]
        assert load.wait(30) == NOT_TRACED, "LTTng made no buffers"
    finally:
        subprocess.run(["mount", "-o", f"remount,size={used.f_blocks * used.f_frsize}", SHM], check=True)
    wait_until(lambda: "shm-full" not in findings(node), 15, "nothing to be said of it any more")
    if node.consumer_pid():
        wait_until(lambda: "program-unrecorded" in findings(node), 20, "the one to be named that runs since then", 0.3)
    other.kill()
    if not node.consumer_pid():
        assert HEALS, "LTTng 2.13's is still there"
        expect(node, "consumer-gone", "lttng-consumerd has ended", "systemctl restart lttng-sessiond", 15)
        assert node.sessiond.stop() == 0
        node.start_sessiond()
    wait_until(lambda: node.collecting() and findings(node) == {}, 15, "spans to be collected")
    assert start_as(node, ONE, "spanload", "-n", 1000, "-w", 20).wait(60) == 0, "the next one records"
