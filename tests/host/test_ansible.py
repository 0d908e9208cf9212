# SPDX-License-Identifier: BSD-2-Clause
"""The role of conf/ansible, by Debian's ansible-playbook, on a host that has booted."""

import json
import os
import re
import subprocess

import pytest
from rig.process import wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
PLAYBOOK = os.path.join(HERE, "../../conf/ansible/site.yml")
VARIABLES = {
    "blkin_repository": "file:/srv/blkin",
    "blkin_config": {"spans": {"linger": "2s"}, "agent": {"log-level": "warning"}},
    "blkin_outputs": {"default": {"type": "otlp", "server": ["127.0.0.1:4001", "127.0.0.1:4002"]}, "archive": {"type": "file"}},
    "blkin_users": ["games"],
}


class Administrator:
    """Whose machine is this one, with @host as its inventory."""

    def __init__(self, host, folder, key):
        self.host, self.folder, self.key = host, folder, key
        self.environment = {
            "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(folder), "LEADER": str(host.leader),
            "ANSIBLE_PIPELINING": "1", "ANSIBLE_SSH_EXECUTABLE": os.path.join(HERE, "ssh"), "ANSIBLE_SSH_TRANSFER_METHOD": "piped",
            "ANSIBLE_NOCOLOR": "1",
        }  # fmt: skip

    def play(self, code=0, **variables):
        """Returns how many things were changed, and what was said."""
        (self.folder / "variables.json").write_text(json.dumps(dict(VARIABLES, blkin_repository_key=self.key, **variables)))
        words = ["ansible-playbook", "-u", "root", "-i", f"{self.host.name},", "-e", f"@{self.folder}/variables.json", PLAYBOOK]
        done = subprocess.run(
            words, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False
        )
        assert done.returncode == code, done.stdout
        return int(re.search(r"changed=(\d+)", done.stdout)[1]), done.stdout


@pytest.fixture
def administrator(rack, fresh, repository, earlier, tmp_path):
    """Of a host that reaches this repository only; what the packages depend on is on it already."""
    fresh.install("python3-apt", *earlier)
    fresh.run("apt-get", "-q", "-y", "purge", "blkin-agent", "libblkin-provider")
    fresh.run("sh", "-c", "rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/*")
    repository.add([rack.package(name) for name in ("blkin-agent", "libblkin-provider")])
    repository.publish(fresh)
    return Administrator(fresh, tmp_path, f"{repository.folder}/made/blkin.gpg")


def settings(host):
    return host.run("blkin", "validate", "--no-environment", "--print")


def test_role(administrator, fresh):
    """All is there after the first run, and the second one changes nothing."""
    administrator.play()
    fresh.wait_collecting()
    assert fresh.systemctl("is-enabled", "blkin-agent").strip() == "enabled" and fresh.active("blkin-relayd")
    assert "before" not in fresh.run("dpkg-query", "-W", "-f=${Version}", "blkin-agent")
    said = settings(fresh)
    assert all(text in said for text in ("server = 127.0.0.1:4001, 127.0.0.1:4002", "[output archive]", "linger = 2s"))
    assert "blkin" in fresh.run("id", "-nG", "games").split() and "tracing" not in fresh.run("id", "-nG", "games").split()
    agent = fresh.main_pid("blkin-agent")
    wait_until(lambda: fresh.status()["outputs"][0]["server"] == "127.0.0.1:4001", 10, "the new configuration")
    changed, said = administrator.play()
    assert changed == 0, said
    # what a reload can change
    other = {"default": {"type": "otlp", "server": "127.0.0.1:4003"}}
    assert administrator.play(blkin_outputs=other)[0] == 2
    wait_until(lambda: [output["server"] for output in fresh.status()["outputs"]] == ["127.0.0.1:4003"], 10, "a reload")
    assert fresh.main_pid("blkin-agent") == agent
    # what another task fails on takes no reload away
    other["default"]["server"] = "127.0.0.1:4004"
    administrator.play(2, blkin_outputs=other, blkin_users=["absent"])
    assert administrator.play(blkin_outputs=other)[0] == 2
    wait_until(lambda: [output["server"] for output in fresh.status()["outputs"]] == ["127.0.0.1:4004"], 10, "that reload")
    # a mistake
    _, said = administrator.play(2, blkin_outputs=other, blkin_config={"spans": {"lingre": "2s"}})
    assert "lingre" in said and "lingre" not in fresh.read("/etc/blkin/agent.conf")
    assert fresh.main_pid("blkin-agent") == agent and fresh.collecting()
    # what it cannot
    slower = {"session": {"live-timer": "300ms"}}
    administrator.play(blkin_outputs=other, blkin_config=slower)
    assert fresh.main_pid("blkin-agent") not in (0, agent)
    fresh.wait_collecting()
    changed, said = administrator.play(blkin_outputs=other, blkin_config=slower)
    assert changed == 0, said
    assert "restart-due" not in [finding["code"] for finding in fresh.status()["findings"]]
    # an agent that does not collect is a failure; that it has no collector here is none
    fresh.systemctl("mask", "--runtime", "--now", "lttng-sessiond")
    wait_until(lambda: not fresh.collecting(), 20, "the agent to notice")
    _, said = administrator.play(2, blkin_outputs=other, blkin_config=slower)
    assert "The agent collects" in said and "503" in said


def test_rollout_ends_at_a_failure():
    """Ansible goes on with the next tenth, unless all of one have failed or it is told to end."""
    with open(PLAYBOOK, encoding="utf-8") as file:
        said = file.read()
    assert re.search(r"^  serial: 10%$", said, re.MULTILINE) and re.search(r"^  max_fail_percentage: 0$", said, re.MULTILINE)


def test_variables_of_the_page():
    """The role has all that doc/clusters.md sets."""
    with open(os.path.join(HERE, "../../doc/clusters.md"), encoding="utf-8") as file:
        shown = set(re.findall(r"^    (blkin_\w+):", file.read(), re.MULTILINE))
    with open(os.path.join(HERE, "../../conf/ansible/roles/blkin_agent/defaults/main.yml"), encoding="utf-8") as file:
        assert shown and shown <= set(re.findall(r"^(blkin_\w+):", file.read(), re.MULTILINE))
