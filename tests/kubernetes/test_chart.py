# SPDX-License-Identifier: BSD-2-Clause
"""The chart of conf/kubernetes: what Helm makes of it is what Kubernetes takes, and what the agent needs. ./check --kubernetes runs it."""

import json
import os
import re
import subprocess

TOP = os.path.join(os.path.dirname(__file__), "../..")
CHART = os.path.join(TOP, "conf/kubernetes/blkin-agent")
AGENT, RELAY, CONFIG = "DaemonSet/blkin-agent", "DaemonSet/blkin-agent-relay", "ConfigMap/blkin-agent"


def render(tmp_path, **values):
    """Its objects by kind and name; a field that Kubernetes does not have is an error of $KUBERENDER's."""
    (tmp_path / "values.json").write_text(json.dumps(values))
    done = subprocess.run([os.environ["KUBERENDER"], CHART, tmp_path / "values.json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {f"{made['kind']}/{made['metadata']['name']}": made for made in map(json.loads, done.stdout.splitlines())}


def pod_of(made, name):
    return made[name]["spec"]["template"]["spec"]


def folders_of(pod):
    """Those of the node, by the names of the volumes."""
    return {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"] if "hostPath" in volume}


def check_configuration(tmp_path, made):
    path = tmp_path / "agent.conf"
    path.write_text(made[CONFIG]["data"]["agent.conf"])
    blkin = os.path.join(os.environ["BLKIN_BUILD"], "cli/blkin")
    done = subprocess.run([blkin, "validate", "--no-environment", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def check_walls(pod):
    """It is on the node's network, without privileges; each of the node's folders is where it is on the node."""
    assert pod["hostNetwork"] and pod["securityContext"]["runAsUser"] == 990
    (container,) = pod["containers"]
    context = container["securityContext"]
    assert context["readOnlyRootFilesystem"] and context["capabilities"] == {"drop": ["ALL"]}
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    folders = folders_of(pod)
    assert {name: mounts[name] for name in folders} == folders
    return mounts


def test_defaults(tmp_path):
    made = render(tmp_path)
    assert sorted(made) == [CONFIG, AGENT, RELAY]
    check_configuration(tmp_path, made)
    agent, relay = pod_of(made, AGENT), pod_of(made, RELAY)
    assert check_walls(agent)["config"] == "/etc/blkin" and agent["securityContext"]["supplementalGroups"] == [105]
    assert sorted(folders_of(agent).values()) == ["/dev/shm", "/run/blkin", "/run/lttng", "/var/lib/blkin"]
    check_walls(relay)
    # where the agent reads what the relay writes
    assert sorted(folders_of(relay).values()) == ["/run/blkin", "/var/lib/blkin"]
    assert "/var/lib/blkin/relay" in relay["containers"][0]["args"]


def test_relay_stays(tmp_path):
    """Neither another configuration nor another image ends the session, which does not outlive its relay."""
    made, other = render(tmp_path), render(tmp_path, config="[output]\n", image="other", httpPort="", terminationGracePeriodSeconds=90)
    assert pod_of(made, AGENT)["containers"][0]["name"] == "agent"
    assert made[AGENT]["spec"]["template"]["metadata"] != other[AGENT]["spec"]["template"]["metadata"]
    assert made[RELAY]["spec"]["template"]["metadata"] == other[RELAY]["spec"]["template"]["metadata"]
    assert other[RELAY]["spec"]["updateStrategy"]["type"] == "OnDelete"
    selectors = [made[name]["spec"]["selector"]["matchLabels"] for name in (AGENT, RELAY)]
    assert selectors[0] != selectors[1], "each has pods of its own"


def test_relay_is_not_open(tmp_path):
    """The rule is there before the relay, for the ports at which it listens, where the package has it."""
    relay = pod_of(render(tmp_path), RELAY)
    rule = next(container for container in relay["initContainers"] if container["name"] == "rule")
    assert "/usr/sbin/nft --file /usr/lib/blkin/relay.nft" in rule["command"][-1]
    assert rule["securityContext"]["runAsUser"] == 0 and rule["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["NET_ADMIN"]}
    with open(os.path.join(TOP, "systemd/relay.nft"), encoding="utf-8") as file:
        ports = re.search(r"dport \{ (.*?) \}", file.read())[1].split(", ")
    assert re.findall(r"tcp://127.0.0.1:(\d+)", " ".join(relay["containers"][0]["args"])) == ports


def test_values(tmp_path):
    tolerations = [{"key": "storage", "operator": "Exists"}]
    config = "[output]\ntype = otlp\nserver = c:4318\nheaders-file = /run/secrets/blkin/token\n\n[spans]\nlinger = 2s\n"
    made = render(tmp_path, config=config, secret="token", tolerations=tolerations, nodeSelector={"role": "storage"}, user=991)
    check_configuration(tmp_path, made)
    for pod in (pod_of(made, AGENT), pod_of(made, RELAY)):
        assert (pod["tolerations"], pod["nodeSelector"]) == (tolerations, {"role": "storage"})
        assert pod["securityContext"]["runAsUser"] == pod["securityContext"]["runAsGroup"] == 991
    agent = pod_of(made, AGENT)
    assert agent["securityContext"]["fsGroup"] == 991
    assert "/run/secrets/blkin" in [mount["mountPath"] for mount in agent["containers"][0]["volumeMounts"]]


def test_what_the_configuration_says(tmp_path):
    """The kubelet asks where the agent listens, and does not ask one that does not; it waits for as long as the agent may take."""
    probes = ("livenessProbe", "readinessProbe")

    def asked(**values):
        pod = pod_of(render(tmp_path, **values), AGENT)
        agent = pod["containers"][0]
        return [agent[probe]["httpGet"]["port"] for probe in probes if probe in agent], pod["terminationGracePeriodSeconds"]

    # 2 x stop-timeout + 10 s, as the agent asks of systemd (agent/notify.c), at least
    ports, grace = asked()
    assert ports == [9412, 9412] and grace >= 20
    assert asked(httpPort=9500, terminationGracePeriodSeconds=90) == ([9500, 9500], 90)
    assert asked(httpPort="")[0] == asked(httpPort=0)[0] == []
