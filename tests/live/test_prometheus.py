# SPDX-License-Identifier: BSD-2-Clause
"""A real Prometheus over two agents: each alert fires when its cause is produced, and only then."""

import contextlib
import glob
import os
import re
import signal
import subprocess
import time

import pytest
from rig.dictation import Dictation
from rig.load import LOAD
from rig.node import Node
from rig.othernode import OtherNode
from rig.process import free_port, wait_until
from rig.prometheus import RULES, Prometheus
from rig.scribe import Receiver

SHM = "/dev/shm"
TINY = {"queue_size": "256K", "batch_size": "8K", "retry_max": "200ms"}
NO_SPOOL = {"max_size": 0}


class Site:
    """Two nodes, each with a collector of its own, and a Prometheus. What is done is done to the first one."""

    def __init__(self, stack, **sections):
        self.nodes = [stack.enter_context(Node()).start_lttng(), stack.enter_context(OtherNode()).start_lttng()]
        self.receivers = [Receiver(node, free_port()).start() for node in self.nodes]
        self.node, self.receiver = self.nodes[0], self.receivers[0]
        os.mkdir(self.node.path("state"))
        self.node.mount(self.node.path("state"), "16M")
        for node, receiver in zip(self.nodes, self.receivers):
            node.start_agent(receiver.port, **(sections if node is self.node else {}))
        for node in self.nodes:
            node.run([LOAD, "-n", 100, "-r", 100, "-w", 20])
            node.wait_ledger(lambda ledger: ledger.sent == 100, 30, "100 spans to be delivered")
        self.prometheus = Prometheus(self.node, self.nodes)

    def load(self, spans=20000, rate=0):
        self.node.run([LOAD, "-n", spans, "-r", rate, "-w", 20])


def down(site):
    site.node.agent.stop()


def refused_by_the_agent(site):
    break_config(site)
    site.node.agent.send(signal.SIGHUP)


def refused_by_validate(site):
    """As the service's ExecReload: with its 78, no signal is sent."""
    break_config(site)
    assert validate(site) == 78
    assert site.node.agent.log().count("`blkin validate` refuses it") == 1


def break_config(site):
    with open(site.node.path("agent.conf"), "a", encoding="utf-8") as file:
        file.write("[agent]\nnonsense = 1\n")


def mend_config(site):
    """A reload that is good."""
    path = site.node.path("agent.conf")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("[agent]\nnonsense = 1\n", ""))
    assert validate(site) in (0, 1)
    site.node.agent.send(signal.SIGHUP)


def validate(site):
    words = [site.node.built("cli/blkin"), "validate", "--reload", site.node.path("agent.conf")]
    return site.node.start(words, name="validate").wait()


def not_collecting(site):
    site.node.sessiond.kill()


def mend_lttng(site):
    site.node.start_sessiond()


def collector_down(site):
    site.receiver.program.kill()


def mend_collector(site):
    site.receiver.start()


def more_than_fits(site):
    collector_down(site)
    site.load()


def disk_full(site):
    collector_down(site)
    with open(site.node.path("state/filler"), "wb", buffering=0) as filler, contextlib.suppress(OSError):
        while True:
            filler.write(b"x" * 4096)
    site.load(2000)


def ring_overrun(site):
    """Nobody empties the ring buffers while a program fills them several times."""
    consumers = [pid for pid in children(site.node.sessiond.pid) if name_of(pid).startswith("lttng-consumerd")]
    assert consumers
    read = site.node.ledger().read
    load = site.node.start([site.node.built(LOAD), "-n", 40000, "-r", 20000, "-w", 20])
    wait_until(lambda: site.node.ledger().read > read, 20, "the load to begin")
    for pid in consumers:
        os.kill(pid, signal.SIGSTOP)
    try:
        assert load.wait(60) == 0
    finally:
        for pid in consumers:
            os.kill(pid, signal.SIGCONT)
    wait_until(lambda: site.node.ledger().lost > 0, 30, "lost events")


def name_of(pid):
    with open(f"/proc/{pid}/comm", encoding="ascii") as file:
        return file.read().strip()


def children(pid):
    """All below a process, whichever thread has started them."""
    own = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        with open(path, encoding="ascii") as file:
            own += [int(child) for child in file.read().split()]
    return own + [below for child in own for below in children(child)]


def garbage(site):
    site.node.run(["tests/live/programs/badspans"])


def flapping(site):
    for times in range(1, 4):
        site.node.lttng("destroy", "blkin")
        wait_until(lambda t=times: site.node.ledger().sessions == 1 + t, 30, "a new session")
        time.sleep(1.5)  # Prometheus sees each


def late(site):
    collector_down(site)
    site.load(5000, 5000)
    time.sleep(6)  # later than the bucket of 5 s
    mend_collector(site)


def failing_spans(site):
    site.node.run(["tests/live/programs/errorload", 1000])


def shared_memory_full(site):
    """Less room is left than the buffers of one more user take."""
    used = os.statvfs(SHM)
    size_shared_memory((used.f_blocks - used.f_bfree) * used.f_frsize + 1024 * 1024)


def mend_shared_memory(_):
    size_shared_memory(1 << 30)


def size_shared_memory(size):
    subprocess.run(["mount", "-o", f"remount,size={size}", SHM], check=True)


def more_names_than_room(site):
    """Spans of as many names as there is room for, and then of others."""
    with Dictation(site.node) as program:
        program.deliver([("crowd", f"name {n}", 10, False) for n in range(10000)])
        for turn in range(8):
            program.deliver([("crowd", f"late {turn} {n}", 10, False) for n in range(20)])


def consumer_stopped(site):
    wait_until(lambda: site.node.status()["canary"]["state"] == "well", 30, "the canary to come back")
    os.kill(site.node.consumer_pid(), signal.SIGSTOP)


def mend_consumer(site):
    os.kill(site.node.consumer_pid(), signal.SIGCONT)


# name, cause, what else may come of it, how it is mended, settings
CAUSES = {
    "down": ("BlkinAgentDown", down, set(), lambda site: site.node.start_agent_again(), {}),
    "reload": ("BlkinReloadFailed", refused_by_the_agent, set(), mend_config, {}),
    "validate": ("BlkinReloadFailed", refused_by_validate, set(), mend_config, {}),
    "sessiond": ("BlkinNotCollecting", not_collecting, set(), mend_lttng, {}),
    "canary": ("BlkinCanaryLate", consumer_stopped, {"BlkinNotCollecting"}, mend_consumer, {"session": {"canary": "yes"}}),
    "collector": ("BlkinCollectorDown", collector_down, set(), mend_collector, {}),
    "queue": (
        "BlkinQueueFilling", more_than_fits, {"BlkinCollectorDown", "BlkinSpansLost"}, mend_collector,
        {"output": TINY, "spool": NO_SPOOL},
    ),
    "spool": (
        "BlkinSpoolFilling", more_than_fits, {"BlkinCollectorDown", "BlkinSpansLost", "BlkinQueueFilling"}, None,
        {"output": TINY, "spool": {"max_size": "4M"}},
    ),
    "disk": (
        "BlkinSpoolDown", disk_full, {"BlkinCollectorDown", "BlkinSpansLost", "BlkinQueueFilling"}, None,
        {"output": TINY, "spool": {"max_size": "64M"}},
    ),
    "lost": (
        "BlkinSpansLost", more_than_fits, {"BlkinCollectorDown", "BlkinQueueFilling"}, None,
        {"output": TINY, "spool": NO_SPOOL},
    ),
    "ring": ("BlkinEventsLost", ring_overrun, set(), None, {"session": {"memory": "1M"}}),
    "shm": ("BlkinSharedMemoryFull", shared_memory_full, set(), mend_shared_memory, {}),
    "names": ("BlkinNamesFull", more_names_than_room, set(), None, {}),
    "garbage": ("BlkinEventsRejected", garbage, set(), None, {}),
    "flapping": ("BlkinSessionFlapping", flapping, {"BlkinNotCollecting"}, None, {}),
    "late": ("BlkinDeliverySlow", late, {"BlkinCollectorDown"}, None, {}),
    "threshold": ("BlkinThresholdExceeded", failing_spans, set(), None, {"thresholds": {"*/*": "errors 5%"}}),
}


@pytest.fixture
def site(request):
    with contextlib.ExitStack() as stack:
        yield lambda **sections: Site(stack, **sections)


def test_every_alert_has_a_cause():
    with open(RULES, encoding="utf-8") as file:
        alerts = set(re.findall(r"alert: (\w+)", file.read()))
    assert alerts == {cause[0] for cause in CAUSES.values()}


@pytest.mark.parametrize("cause", CAUSES)
def test_alert(site, cause):
    name, produce, allowed, mend, sections = CAUSES[cause]
    site = site(**sections)
    prometheus = site.prometheus
    time.sleep(3)  # longer than any of the rules waits here
    assert prometheus.firing() == {}
    produce(site)
    alert = prometheus.wait_firing(name, 0)
    assert prometheus.instances[0] in alert["annotations"]["summary"]
    site.nodes[1].run([LOAD, "-n", 100, "-w", 20])
    time.sleep(2)
    fires = set(prometheus.firing())
    assert fires <= {(one, 0) for one in allowed | {name}}, "the other node is well"
    if mend:
        mend(site)
        wait_until(lambda: (name, 0) not in prometheus.firing(), 40, f"{name} to end")
