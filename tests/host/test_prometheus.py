# SPDX-License-Identifier: BSD-2-Clause
"""A real Prometheus: it takes the service's metrics and the rules, and fires alerts. See also tests/live/test_prometheus.py."""

import json
import os
import re
import subprocess
import urllib.parse
import urllib.request

import pytest
from rig.process import Program, wait_until

CONF = os.path.join(os.path.dirname(__file__), "../../conf")
PORT = 9090
RULES = {"prometheus-rules.yml": "alerts.yml", "prometheus-fleet-rules.yml": "fleet.yml"}  # and promtool's tests of them
CONFIG = """\
global: {scrape_interval: 500ms, evaluation_interval: 500ms}
rule_files: [rules.yml]
scrape_configs:
  - job_name: blkin
    static_configs: [{targets: ["127.0.0.1:9412"]}]
"""


class Prometheus:
    """On @host's network, as the agent's pages are for its own host only."""

    def __init__(self, rack, host, folder):
        self.host = host
        with open(os.path.join(CONF, "prometheus-rules.yml"), encoding="utf-8") as file:
            rules = file.read()
        # nobody waits for minutes here; what the rules look at stays
        (folder / "rules.yml").write_text(re.sub(r"\bfor: \d+m\b", "for: 1s", rules))
        (folder / "prometheus.yml").write_text(CONFIG)
        inside = ["nsenter", "-t", str(host.leader), "-n", "--"]
        self.program = Program(
            inside + [rack.prometheus("prometheus"), f"--config.file={folder}/prometheus.yml"]
            + [f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{PORT}"],
            str(folder / "prometheus.log"),
            dict(os.environ),
        )
        self.program.wait_ready(lambda: self.ask("/-/ready") is not None)
        self.program.wait_ready(lambda: self.query("up == 1"))

    def ask(self, path, **query):
        """The API's answer as text; None while there is none."""
        url = f"http://127.0.0.1:{PORT}{path}?{urllib.parse.urlencode(query)}"
        done = subprocess.run(
            ["nsenter", "-t", str(self.host.leader), "-n", "--", "/usr/bin/python3", "-B", "-c", FETCH, url],
            capture_output=True, text=True, check=False,
        )
        return done.stdout if done.returncode == 0 else None

    def query(self, expression):
        answer = self.ask("/api/v1/query", query=expression)
        assert answer is not None, f"Prometheus does not understand {expression}"
        return json.loads(answer)["data"]["result"]

    def firing(self):
        alerts = json.loads(self.ask("/api/v1/alerts"))["data"]["alerts"]
        return {alert["labels"]["alertname"]: alert for alert in alerts if alert["state"] == "firing"}

    def wait_firing(self, name):
        wait_until(lambda: name in self.firing(), 30, f"Prometheus to fire {name}", 0.2)
        return self.firing()[name]


FETCH = """
import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())
"""


@pytest.fixture
def prometheus(rack, node, tmp_path):
    node.wait_collecting()
    prometheus = Prometheus(rack, node, tmp_path)
    yield prometheus
    prometheus.program.stop()


def promtool(rack, *words, text=None):
    done = subprocess.run(
        [rack.prometheus("promtool"), *words], input=text, capture_output=True, text=True, check=False,
        cwd=os.path.dirname(__file__),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def test_rules(rack):
    for rules, tests in RULES.items():
        assert "SUCCESS" in promtool(rack, "check", "rules", os.path.join(CONF, rules))
        assert "SUCCESS" in promtool(rack, "test", "rules", tests)


def test_every_alert_is_tested_and_explained():
    alerts = set(re.findall(r"alert: (\w+)", "".join(read(os.path.join(CONF, rules)) for rules in RULES)))
    tested = "".join(read(os.path.join(os.path.dirname(__file__), tests)) for tests in RULES.values())
    page = read(os.path.join(CONF, "../doc/alerts.md"))
    fires = set(re.findall(r"alertname: (\w+)\n(?: +exp_alerts:\n +- )", tested))
    quiet = set(re.findall(r"alertname: (\w+)\n +exp_alerts: \[\]", tested))
    assert alerts and alerts == fires == quiet
    assert alerts == set(re.findall(r"^\| `(Blkin\w+)` \|", page, re.MULTILINE))


def test_metrics(rack, node):
    node.wait_collecting()
    code, page = node.page("/metrics")
    assert code == 200
    assert promtool(rack, "check", "metrics", text=page) == ""


def test_collector_down_and_spans_lost(rack, node, collector, prometheus):
    """The queue is so small that the load does not fit, and there is no spool."""
    small = "[output]\nqueue-size = 64K\nbatch-size = 16K\nretry-max = 500ms\n[spool]\nmax-size = 0\n"
    node.write("/etc/blkin/agent.conf.d/small.conf", small)
    node.systemctl("restart", "blkin-agent")
    node.wait_collecting()
    node.put(rack.program("spanload"), "/usr/local/bin/spanload")
    wait_until(lambda: prometheus.query("blkin_agent_output_up == 1"), 10, "Prometheus to see the agent deliver")
    assert "BlkinCollectorDown" not in prometheus.firing() and "BlkinSpansLost" not in prometheus.firing()
    collector.stop()
    node.run("spanload", "-n", 3000, "-w", 20)
    try:
        alert = prometheus.wait_firing("BlkinCollectorDown")
        assert "of output default of 127.0.0.1:9412" in alert["annotations"]["summary"]
        alert = prometheus.wait_firing("BlkinSpansLost")
        assert (alert["labels"]["output"], alert["labels"]["reason"]) == ("default", "queue_full")
    finally:
        collector.start()
    wait_until(lambda: "BlkinCollectorDown" not in prometheus.firing(), 20, "the alert to end")


def test_agent_down(node, prometheus):
    node.systemctl("stop", "blkin-agent")
    prometheus.wait_firing("BlkinAgentDown")


def test_reload_refused(node, prometheus):
    """The service's `blkin validate` refuses it, so no signal is sent; a good reload ends the alert."""
    node.write("/etc/blkin/agent.conf.d/wrong.conf", "[agent]\nnonsense = 1\n")
    assert node.code("systemctl", "reload", "blkin-agent") != 0
    prometheus.wait_firing("BlkinReloadFailed")
    node.run("rm", "/etc/blkin/agent.conf.d/wrong.conf")
    node.systemctl("reload", "blkin-agent")
    wait_until(lambda: "BlkinReloadFailed" not in prometheus.firing(), 20, "the alert to end")
