# SPDX-License-Identifier: BSD-2-Clause
"""The chart of conf/kubernetes: what Helm makes of it is what Kubernetes takes, and what the agent needs. ./check --kubernetes runs it."""

import json
import os
import subprocess

TOP = os.path.join(os.path.dirname(__file__), "../..")
CHART = os.path.join(TOP, "conf/kubernetes/blkin-agent")


def render(tmp_path, **values):
    """Its objects by kind; a field that Kubernetes does not have is an error of $KUBERENDER's."""
    (tmp_path / "values.json").write_text(json.dumps(values))
    done = subprocess.run([os.environ["KUBERENDER"], CHART, tmp_path / "values.json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {made["kind"]: made for made in map(json.loads, done.stdout.splitlines())}


def check_configuration(tmp_path, made):
    path = tmp_path / "agent.conf"
    path.write_text(made["ConfigMap"]["data"]["agent.conf"])
    blkin = os.path.join(os.environ["BLKIN_BUILD"], "cli/blkin")
    done = subprocess.run([blkin, "validate", "--no-environment", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_defaults(tmp_path):
    made = render(tmp_path)
    check_configuration(tmp_path, made)
    pod = made["DaemonSet"]["spec"]["template"]["spec"]
    assert pod["hostNetwork"] and pod["securityContext"]["supplementalGroups"] == [105]
    folders = {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"] if "hostPath" in volume}
    assert sorted(folders.values()) == ["/run/blkin", "/run/lttng", "/var/lib/blkin"]
    relay, agent = pod["containers"]
    for container in (relay, agent):
        context = container["securityContext"]
        assert context["readOnlyRootFilesystem"] and context["capabilities"] == {"drop": ["ALL"]}
    # each of the node's folders is where it is on the node
    mounts = {mount["name"]: mount["mountPath"] for mount in agent["volumeMounts"]}
    assert {name: mounts[name] for name in folders} == folders and mounts["config"] == "/etc/blkin"


def test_values(tmp_path):
    tolerations = [{"key": "storage", "operator": "Exists"}]
    config = "[output]\ntype = otlp\nserver = c:4318\nheaders-file = /run/secrets/blkin/token\n\n[spans]\nlinger = 2s\n"
    made = render(tmp_path, config=config, secret="token", tolerations=tolerations, nodeSelector={"role": "storage"}, user=991)
    check_configuration(tmp_path, made)
    pod = made["DaemonSet"]["spec"]["template"]["spec"]
    assert (pod["tolerations"], pod["nodeSelector"]) == (tolerations, {"role": "storage"})
    assert pod["securityContext"]["runAsUser"] == pod["securityContext"]["fsGroup"] == 991
    assert "/run/secrets/blkin" in [mount["mountPath"] for mount in pod["containers"][1]["volumeMounts"]]
    assert render(tmp_path)["DaemonSet"]["spec"]["template"]["metadata"] != made["DaemonSet"]["spec"]["template"]["metadata"]
