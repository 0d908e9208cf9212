# SPDX-License-Identifier: BSD-2-Clause
"""The page of an agent whose flight recorder has kept a late trace, on a real kernel: a bar below each span, which names its cause."""

import json
import re

from rig.process import wait_until
from test_flight import FOLDER, folder
from test_why import CAUSES, KERNEL, SLOW_DISK
from test_why_page import PARTS, bars_of, rows_of, text_of

DISK_FILE = "/var/tmp/page"


def request(machine):
    """A request that waits for an answer, a lock, a slow disk and a processor in turn; returns its trace's id."""
    machine.shell(f"cat /usr/local/bin/slow /usr/lib/x86_64-linux-gnu/lib{{blkin-provider,lttng-ust}}*.so.* >/dev/null; rm -f {DISK_FILE}; sync")
    words = ["systemd-run", "--quiet", "--wait", "--pipe", "-p", SLOW_DISK["disk"], "slow", "request", DISK_FILE]
    return machine.run(*words, seconds=300).split()[-5]


def test_bars(recording):
    machine = recording.start(agent={"page": "open"}, kernel=dict(KERNEL, mode="flight"), thresholds={"slow/request": "20ms"}).machine
    trace = request(machine)
    wait_until(lambda: f"{trace}.jsonl" in folder(machine), 400, "the answer", 2)
    answers = {line["span"]["name"]: line for line in map(json.loads, machine.read(f"{FOLDER}/{trace}.jsonl").splitlines())}
    code, page = machine.page(f"/trace?id={trace}")
    assert code == 200 and answers.keys() == {"request", "network", "lock", "disk", "cpu"}
    rows = rows_of(page)
    for name, answer in answers.items():
        row = rows[answer["span"]["id"]]
        (_, width), parts = bars_of(row)
        assert answer["parts_ns"]["unknown"] == 0 and sum(answer["parts_ns"].values()) == answer["duration_ns"], answer
        for number, (_, part) in parts.items():
            assert abs(part / width - answer["parts_ns"][PARTS[number]] / answer["duration_ns"]) < 0.11 / width
        words = text_of(re.search(r"<details class=\"cause\"><summary>(.*?)</summary>", row)[1])
        assert words == answer["cause"]
        if name != "request":
            part, sentence = CAUSES[name]
            assert answer["main"] == part and re.fullmatch(sentence.format(other=r"\d+"), words), words
    assert json.loads(machine.page(f"/why.json?id={trace}")[1]) == list(map(json.loads, machine.read(f"{FOLDER}/{trace}.jsonl").splitlines()))
    listed = machine.page("/?service=slow&span=request")[1]
    assert f"/trace?id={trace}" in listed.replace("id=0000000000000000", "id=") and "with what the kernel did" in listed
    # the same when the agent has no span of it any more
    machine.systemctl("restart", "blkin-agent")
    machine.wait_collecting(120)
    assert rows_of(machine.page(f"/trace?id={trace}")[1]).keys() == rows.keys()
