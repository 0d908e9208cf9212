# SPDX-License-Identifier: BSD-2-Clause
"""Names in [kernel] that this kernel does not have: LTTng takes them all."""

from rig.process import wait_until


def finding(recording):
    found = {entry["code"]: entry for entry in recording.machine.status()["findings"]}
    return found.get("kernel-failed")


def test_misspelled(recording):
    """`blkin validate` names each with its place, and status the first, after a reload, too, until it is right."""
    machine = recording.start(kernel={"events": "sched_switch, block_rq_*", "syscalls": "openat"}).machine
    assert "OK" in machine.run("blkin", "validate")
    assert finding(recording) is None
    recording.reload(kernel={"events": "sched_swich, block_rg_*", "syscalls": "openat, opennat"})
    said = machine.run("blkin", "validate", code=1)
    for wrong, meant in ("sched_swich", "sched_switch"), ("block_rg_*", "block_rq_*"), ("opennat", "openat"):
        (line,) = [line for line in said.splitlines() if f"`{wrong}`" in line]
        assert "test.conf:" in line and f"is `{meant}` meant?" in line
    found = wait_until(lambda: finding(recording), 60, "the finding", 1)
    assert "`sched_swich` of [kernel]" in found["what"] and "is `sched_switch` meant?" in found["what"]
    recording.configure(kernel={"events": "sched_switch", "functions": "do_swap_page, do_swap_pag"})
    (line,) = [line for line in machine.run("blkin", "validate", code=1).splitlines() if "records nothing" in line]
    assert "`do_swap_pag`" in line and "is `do_swap_page` meant?" in line
    recording.reload(kernel={"events": "sched_switch", "syscalls": "openat"})
    wait_until(lambda: finding(recording) is None, 60, "the finding to be over", 1)
