# SPDX-License-Identifier: BSD-2-Clause
"""A real Prometheus, with the rules of conf/, whose waits are short."""

import json
import os
import re
import shutil
import subprocess
import urllib.parse

from .node import TOP, get
from .process import Trouble, free_port, wait_until

RULES = os.path.join(TOP, "conf/prometheus-rules.yml")
FLEET = os.path.join(TOP, "conf/prometheus-fleet-rules.yml")
CONFIG = """\
global: {{scrape_interval: 500ms, evaluation_interval: 500ms}}
rule_files: [rules.yml]
scrape_configs:
  - job_name: blkin
    static_configs: [{{targets: [{targets}]}}]
"""


def program(name):
    """The path of prometheus or promtool: in the folder $PROMETHEUS, or installed."""
    folder = os.environ.get("PROMETHEUS")
    path = os.path.join(folder, name) if folder else shutil.which(name)
    if not path or not os.path.exists(path):
        raise Trouble(f"{name} is missing: set PROMETHEUS to the folder of a Prometheus's programs (./check does it)")
    return path


def promtool(*words, text=None):
    """What it prints; it must not complain."""
    done = subprocess.run(
        [program("promtool"), *words], input=text, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


class Prometheus:
    """It scrapes @nodes, and has the @rules of that file; @home, one of them, has its files, and stops it."""

    def __init__(self, home, nodes, rules=RULES):
        self.port = free_port()
        self.instances = [f"127.0.0.1:{node.http}" for node in nodes]
        folder = home.path("prometheus")
        os.mkdir(folder)
        with open(rules, encoding="utf-8") as file:
            text = file.read()
        # nobody waits for minutes here; what the rules look at stays
        text = re.sub(r"\bfor: \d+m\b", "for: 1s", text)
        self._write(f"{folder}/rules.yml", re.sub(r"\binterval: 5s\b", "interval: 500ms", text))
        targets = ", ".join(f'"{instance}"' for instance in self.instances)
        self._write(f"{folder}/prometheus.yml", CONFIG.format(targets=targets))
        self.program = home.start(
            [program("prometheus"), f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
            + [f"--web.listen-address=127.0.0.1:{self.port}", "--enable-feature=exemplar-storage"]
        )
        self.program.wait_ready(lambda: self.ask("/-/ready") is not None)
        self.program.wait_ready(lambda: len(self.query("up == 1")) == len(nodes))

    @staticmethod
    def _write(path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def ask(self, path, **query):
        """The API's answer as text; None while there is none."""
        code, text = get(f"http://127.0.0.1:{self.port}{path}?{urllib.parse.urlencode(query)}")
        return text if code == 200 else None

    def data(self, path, **query):
        answer = self.ask(path, **query)
        assert answer is not None, f"Prometheus does not understand {query or path}"
        return json.loads(answer)["data"]

    def query(self, expression):
        return self.data("/api/v1/query", query=expression)["result"]

    def value(self, expression):
        """Of a single sample; None: there is none."""
        result = self.query(expression)
        assert len(result) < 2, result
        return float(result[0]["value"][1]) if result else None

    def firing(self):
        """(name of an alert, number of the node) of all that fire, with their labels."""
        alerts = self.data("/api/v1/alerts")["alerts"]
        return {
            (alert["labels"]["alertname"], self.instances.index(alert["labels"]["instance"])): alert
            for alert in alerts
            if alert["state"] == "firing"
        }

    def wait_firing(self, name, number):
        wait_until(lambda: (name, number) in self.firing(), 40, f"Prometheus to fire {name}: {list(self.firing())}", 0.2)
        return self.firing()[name, number]
