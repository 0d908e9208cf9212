# SPDX-License-Identifier: BSD-2-Clause
"""The previous package is replaced by this build's, while programs record."""

from rig.process import wait_until

RATE, SECONDS = 2000, 20
MARK = "# the configuration that an earlier version came with"


def upgrade(rack, host):
    names = ("blkin-agent", "libblkin-provider")
    said = host.install(*map(rack.package, names), recommends=False)
    for name in names:
        assert "before" not in host.run("dpkg-query", "-W", "-f=${Version}", name), said


def test_under_load(rack, fresh, collector, earlier):
    """No id is lost or doubled; what the administrator wrote stays, and the session lives on."""
    collector.forget()
    fresh.install(*earlier, recommends=False)
    with open(fresh.path("/etc/blkin/agent.conf"), "a", encoding="utf-8") as file:
        file.write(f"[output]\nserver = {collector.address}\n")
    mine = fresh.read("/etc/blkin/agent.conf")
    fresh.systemctl("restart", "blkin-agent")
    fresh.wait_collecting()
    before = {unit: fresh.main_pid(unit) for unit in ("blkin-agent", "blkin-relayd", "lttng-sessiond")}
    fresh.put(rack.program("spanload"), "/usr/local/bin/spanload")
    load = fresh.start("spanload", "-n", RATE * SECONDS, "-r", RATE, "-w", 20)
    wait_until(lambda: len(collector.load()) > RATE, 20, "the load to arrive")
    upgrade(rack, fresh)
    assert load.running(), "the upgrade took longer than the load"
    assert load.wait(60) == 0, load.log()
    assert fresh.read("/etc/blkin/agent.conf") == mine
    assert fresh.main_pid("blkin-agent") not in (0, before["blkin-agent"])
    assert fresh.main_pid("blkin-relayd") == before["blkin-relayd"]
    assert set(collector.wait_load(RATE * SECONDS).values()) == {1}


def test_configuration_that_nobody_changed(rack, fresh, earlier):
    """It becomes the new version's."""
    fresh.install(*earlier, recommends=False)
    assert MARK in fresh.read("/etc/blkin/agent.conf")
    upgrade(rack, fresh)
    assert MARK not in fresh.read("/etc/blkin/agent.conf")
