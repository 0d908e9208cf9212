# SPDX-License-Identifier: BSD-2-Clause
"""The units as systemd sees them, and the processes that come of them."""

import re

import pytest

UNITS = ("blkin-agent", "blkin-relayd")
THRESHOLD = 20  # of systemd-analyze: an exposure of 2.0


@pytest.mark.parametrize("unit", UNITS)
def test_exposure(node, unit):
    shown = node.run("systemd-analyze", "security", f"--threshold={THRESHOLD}", unit)
    assert float(re.search(r"exposure level for .*: ([\d.]+)", shown).group(1)) <= THRESHOLD / 10


def test_verify_is_silent(node):
    assert node.run("systemd-analyze", "verify", "--man=no", *(f"{unit}.service" for unit in UNITS)) == ""


def test_start_is_quiet(node):
    """systemd has nothing to say of the agent's unit; that of Debian 13 names variables that are not set."""
    node.wait_collecting()
    shown = node.run("journalctl", "--no-pager", "--output=cat", "--unit=blkin-agent", "_PID=1")
    assert shown and not re.search("unset|unknown|ignoring", shown, re.IGNORECASE), shown


@pytest.mark.parametrize("unit", UNITS)
def test_process_has_no_privilege(node, unit):
    node.wait_collecting()
    status = node.run("cat", f"/proc/{node.main_pid(unit)}/status")
    rows = dict(line.split(":\t", 1) for line in status.splitlines())
    uid = int(node.run("id", "-u", "blkin"))
    assert uid and rows["Uid"].split() == [str(uid)] * 4
    assert {rows[name].strip("0") for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {""}
    assert rows["NoNewPrivs"] == "1" and rows["Seccomp"] == "2"
    stat = node.run("cat", f"/proc/{node.main_pid(unit)}/stat").rsplit(")", 1)[1].split()
    assert stat[16] == "19", "it does not run at the lowest priority"
    assert "idle" in node.run("ionice", "-p", node.main_pid(unit))


def test_no_process_of_root(node):
    """Of what our packages have started."""
    node.wait_collecting()
    for unit in UNITS:
        path = node.property(unit, "ControlGroup")
        for pid in node.run("cat", f"/sys/fs/cgroup/systemd{path}/cgroup.procs", code=None).split():
            assert node.run("stat", "-c", "%U", f"/proc/{pid}") == "blkin\n"
    pids = node.run("find", "/proc", "-ignore_readdir_race", "-maxdepth", "1", "-user", "root", "-regex", "/proc/[0-9]+").split()
    names = [node.run("cat", f"{pid}/cmdline", code=None).replace("\0", " ") for pid in pids]
    assert not [name for name in names if "blkin" in name or "relayd" in name]


def test_nothing_listens_beyond_loopback(node):
    node.wait_collecting()
    shown = node.run("ss", "-H", "-ltnup").splitlines()
    listening = {line.split()[4] for line in shown if "blkin" in line or "relayd" in line}
    assert listening == {f"127.0.0.1:{port}" for port in (5342, 5343, 5344, 9412)}


def test_order_at_boot(node):
    node.wait_collecting()
    started = {
        unit: int(node.property(unit, "ActiveEnterTimestampMonotonic"))
        for unit in ("lttng-sessiond", "blkin-relayd", "blkin-agent")
    }
    assert max(started["lttng-sessiond"], started["blkin-relayd"]) <= started["blkin-agent"]
    assert node.systemctl("is-system-running").strip() == "running"


def test_sampling_page_is_there_first_and_stays(rack, node):
    page = node.run("stat", "-c", "%U %a %i", "/run/blkin/sampling")
    assert page.startswith("root 644 ")
    node.put(rack.program("requests"), "/usr/local/bin/requests")
    assert "1/7" in node.run("blkin", "sampling", "1/7")
    node.systemctl("restart", "blkin-agent")
    assert node.run("stat", "-c", "%U %a %i", "/run/blkin/sampling") == page
    assert "1/7" in node.run("blkin", "sampling")
    assert node.code("blkin", "sampling", "1/1", user="games") != 0


def test_sampling_lasts(rack, node):
    """Over restarts of the agent and reboots; what is set with --now until the reboot only."""
    assert node.run("blkin", "sampling") == "every service: default\n"
    assert node.run("blkin", "sampling", "1/7") == "every service: 1/7, also after a reboot\n"
    node.run("blkin", "sampling", "off", "--service", "osd.3")
    node.run("blkin", "sampling", "1/2", "--now")
    set_now = "every service: 1/2 until the next boot, then 1/7\nosd.3: off, also after a reboot\n"
    node.systemctl("restart", "blkin-agent")
    assert node.run("blkin", "sampling") == set_now
    node.reboot()
    node.wait_collecting()
    lasting = "every service: 1/7, also after a reboot\nosd.3: off, also after a reboot\n"
    assert node.run("blkin", "sampling", user="games") == lasting
    assert node.run("stat", "-c", "%U %a", "/run/blkin/sampling") == "root 644\n"
    node.run("blkin", "sampling", "default")
    node.run("blkin", "sampling", "default", "--service", "osd.3")
    node.reboot()
    node.wait_collecting()
    assert node.run("blkin", "sampling") == "every service: default\n"
    assert node.code("test", "-e", "/etc/blkin/sampling") == 1
