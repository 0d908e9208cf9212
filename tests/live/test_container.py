# SPDX-License-Identifier: BSD-2-Clause
"""The agent and its relay in containers, as doc/operate.md has it: the session daemon and the programs are outside."""

import collections
import json
import os
import shutil
import signal

import pytest
from rig.container import TRACING, UID, Accounts, Container
from rig.load import LOAD
from rig.lttng import ASKS_WHO, programs_of, sessions_of
from rig.node import TOP, build_dir
from rig.otlpsink import OtlpSink
from rig.process import answers, exactly, free_port, wait_until
from rig.scribe import Receiver
from test_otlp_faults import every, ordinals


pytestmark = pytest.mark.as_root("folders of other users take root")


@pytest.fixture
def accounts(bare_node):
    with Accounts(bare_node) as accounts:
        yield accounts


def prepare(node, sink):
    """What the node's administrator does: the folders, the daemons, and the container's configuration."""
    for folder in ("lib", "lib/relay", "run", "etc/agent.conf.d"):
        os.makedirs(node.path(folder))
    for folder in ("lib", "lib/relay", "run"):
        os.chown(node.path(folder), UID, UID)
    os.chmod(node.folder, 0o711)
    node.start_sessiond()
    os.chown(node.sessiond_file("client-lttng-sessiond"), 0, TRACING)
    control, data, live = node.relay_ports
    relay = Container(node, {node.path("run"): "/run/blkin", node.path("lib"): "/var/lib/blkin"})
    ports = ["-C", f"tcp://127.0.0.1:{control}", "-D", f"tcp://127.0.0.1:{data}", "-L", f"tcp://127.0.0.1:{live}"]
    relay.start("/usr/bin/lttng-relayd", *ports, "-o", "/var/lib/blkin/relay", name="relayd", LTTNG_HOME="/run/blkin")
    relay.program.wait_ready(lambda: answers(live))
    open(node.path("etc/agent.conf"), "w", encoding="ascii").close()
    shutil.copy(os.path.join(TOP, "conf/container.conf"), node.path("etc/agent.conf.d"))
    with open(node.path("etc/agent.conf.d/test.conf"), "w", encoding="ascii") as file:
        file.write(f"[session]\nrelay-control-port = {control}\nrelay-data-port = {data}\nrelay-live-port = {live}\n")
    node.http = free_port()
    return Container(
        node,
        {
            "/run/lttng": "/run/lttng",
            "/dev/shm": "/dev/shm",
            node.path("run"): "/run/blkin",
            node.path("lib"): "/var/lib/blkin",
            node.path("etc"): "/etc/blkin",
            # the image
            os.path.join(build_dir(), "agent"): "/opt/agent",
            os.path.join(build_dir(), "cli"): "/opt/cli",
            os.path.join(TOP, "tests"): "/opt/tests",
        },
        read_only="/dev/shm",
    ), {
        "BLKIN_SERVER": f"127.0.0.1:{sink.port}",
        "BLKIN_HTTP": f"127.0.0.1:{node.http}",
        "BLKIN_TAGS": "cluster=eu1",
        "LSAN_OPTIONS": "suppressions=/opt/tests/lsan.supp:print_suppressions=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def start_agent(node, container, environment):
    environment = dict(node.leak_environment, **environment)
    node.agent = container.start("/opt/agent/blkin-agent", name="blkin-agent", **environment)
    node.agent.wait_ready(node.collecting)


def check_walls(container):
    """It is process 1 of its own table, without privileges, and sees no more of the node than it was given."""
    with open(f"/proc/{container.pid}/status", encoding="ascii") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    assert status["NSpid"].split()[-1] == "1"
    assert set(status["Uid"].split()) == set(status["Gid"].split()) == {str(UID)} and status["Groups"].split() == [str(TRACING)]
    assert (int(status["CapPrm"], 16), int(status["CapBnd"], 16), status["NoNewPrivs"]) == (0, 0, "1")
    root = f"/proc/{container.pid}/root"
    assert sorted(os.listdir(f"{root}/run")) == ["blkin", "lttng"]
    assert os.listdir(f"{root}/tmp") == os.listdir(f"{root}/root") == []
    assert not os.path.exists(f"{root}/home")
    assert TOP.startswith("/usr/") or not os.path.exists(f"{root}{TOP}"), "/usr is the image"
    with open(f"/proc/{container.pid}/mountinfo", encoding="utf-8") as file:
        mounts = {words[4]: words[5].split(",") for words in (line.split() for line in file)}
    assert "ro" in mounts["/"] and "ro" in mounts["/usr"] and "ro" in mounts["/dev/shm"]


@pytest.mark.usefixtures("accounts")
def test_agent_in_a_container(bare_node):
    """Spans of programs outside come; a new container goes on where the last one was stopped, or killed."""
    node = bare_node
    with OtlpSink() as sink:
        container, environment = prepare(node, sink)
        start_agent(node, container, environment)
        check_walls(container)
        room = os.statvfs("/dev/shm")
        wait_until(lambda: node.metrics()["blkin_agent_shm_size_bytes"] == room.f_blocks * room.f_frsize, 10, "the node's /dev/shm")
        node.run([LOAD, "-p", 2, "-n", 1000])
        sink.wait_for(2000)
        ledger = node.wait_ledger(lambda ledger: ledger.read == 2000 and ledger.idle(), 30, "delivery")
        assert (ledger.sent, ledger.lost, ledger.dropped) == (2000, 0, 0)
        exactly(ordinals(sink) == every(2, 1000), "each span came once")
        assert {resource["cluster"] for resource, _, _ in sink.spans} == {"eu1"}
        # asked from inside, as `podman exec` does, and from the node
        assert "collecting  yes" in container.inside("/opt/cli/blkin", "status", **environment)
        status = node.start([node.built("cli/blkin"), "status", "--socket", node.path("run/agent.sock")], name="status")
        assert status.wait(60) == 0 and "collecting  yes" in status.log()
        # stopped: the session goes on, and nothing is lost or comes twice
        assert container.stop() == 0
        node.run([LOAD, "-n", 500])
        start_agent(node, container, environment)
        sink.wait_for(2500)
        ledger = node.wait_ledger(lambda ledger: ledger.idle(), 30, "delivery")
        assert ledger.lost == 0
        exactly(ordinals(sink) == sorted(every(2, 1000) + every(1, 500)), "each span came once")
        # killed with all that is in it: nothing is lost
        container.signal(signal.SIGKILL)
        node.agent.wait(30)
        node.run([LOAD, "-n", 700])
        start_agent(node, container, environment)
        wanted = collections.Counter(every(2, 1000) + every(1, 500) + every(1, 700))
        wait_until(lambda: not wanted - collections.Counter(ordinals(sink)), 30, "all spans")
        assert node.ledger().lost == 0
        assert container.stop() == 0


@pytest.mark.usefixtures("accounts")
def test_removed_from_the_node(bare_node):
    """The session outlives its containers, until somebody ends it on the node; with `keep = no` it goes with the last one, delivered."""
    node = bare_node
    with OtlpSink() as sink:
        container, environment = prepare(node, sink)
        start_agent(node, container, environment)
        assert container.stop() == 0
        assert sessions_of(node) == {"blkin": True}
        node.lttng("destroy", "--no-wait", "blkin")
        wait_until(lambda: not sessions_of(node), 20, "it to be ended")
        start_agent(node, container, environment)
        assert container.stop() == 0 and sessions_of(node) == {"blkin": True}
        node.run([LOAD, "-n", 500])
        with open(node.path("etc/agent.conf"), "a", encoding="ascii") as file:
            file.write("[session]\nkeep = no\n")
        start_agent(node, container, environment)
        node.run([LOAD, "-n", 300])
        assert container.stop() == 0 and not sessions_of(node)
        exactly(ordinals(sink) == sorted(every(1, 500) + every(1, 300)), "each span came once")


def test_node_does_not_know_the_user(bare_node, accounts):
    """LTTng's session daemon of 2.15 and later asks the node, and it is told what the node lacks; an earlier one does not mind."""
    node = bare_node
    accounts.set(user=False)
    with OtlpSink() as sink:
        container, environment = prepare(node, sink)
        node.agent = container.start("/opt/agent/blkin-agent", name="blkin-agent", **dict(node.leak_environment, **environment))
        node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
        if ASKS_WHO:
            wait_until(lambda: f"takes no commands of user {UID}: " in node.http_get("/readyz")[1], 20, "it to be told")
            told = node.start([node.built("cli/blkin"), "status", "--json", "--socket", node.path("run/agent.sock")], name="told")
            told.wait(60)
            assert [finding["code"] for finding in json.loads(told.log())["findings"]] == ["no-permission"]
            accounts.set()
        node.agent.wait_ready(node.collecting)
        node.run([LOAD, "-n", 300])
        sink.wait_for(300)
        assert container.stop() == 0


def test_container_beside_another_daemon(bare_node, accounts):
    """
    The image's group tracing has another number than the node's: the agent says what it lacks, and goes on when it is
    mended. A daemon that takes the first one's place has another socket, which the container sees.
    """
    node = bare_node
    with OtlpSink() as sink:
        container, environment = prepare(node, sink)
        container = Container(node, container.mounts, TRACING + 1)
        node.agent = container.start("/opt/agent/blkin-agent", name="blkin-agent", **dict(node.leak_environment, **environment))
        wait_until(lambda: "LTTng session daemon" in node.agent.log(), 20, "the log to say so")
        assert not node.collecting()
        accounts.set(TRACING + 1)
        os.chown(node.sessiond_file("client-lttng-sessiond"), 0, TRACING + 1)
        node.agent.wait_ready(node.collecting)
        node.run([LOAD, "-n", 300])
        sink.wait_for(300)
        assert node.sessiond.stop() == 0
        wait_until(lambda: not node.collecting(), 30, "the agent to miss it")
        node.start_sessiond()

        def mended():
            """A daemon gives its socket to the node's group after it answers there, so once may be too early."""
            os.chown(node.sessiond_file("client-lttng-sessiond"), 0, TRACING + 1)
            return node.collecting()

        node.agent.wait_ready(mended)
        node.run([LOAD, "-n", 400])
        sink.wait_for(700)
        assert container.stop() == 0


def traced(node, number):
    """A container of a traced program, with what doc/clusters.md mounts into its pod; its user is none of the node's."""
    container = Container(
        node,
        {
            "/run/lttng": "/run/lttng",
            "/dev/shm": "/dev/shm",
            # the image
            os.path.join(build_dir(), "libclient"): "/opt/libclient",
            os.path.join(build_dir(), "tests"): "/opt/tests",
        },
    )
    return container.start(
        "/opt/tests/live/programs/spanload", "-n", 300, "-w", 60, name=f"traced-{number}", LD_LIBRARY_PATH="/opt/libclient"
    )


def test_programs_in_containers(bare_node):
    """The node's daemon records them, also two whose processes have the same numbers, and before there is a session."""
    node = bare_node
    node.start_lttng()
    receiver = Receiver(node, free_port()).start()
    programs = [traced(node, number) for number in range(2)]
    wait_until(lambda: len(programs_of(node)) >= 4, 20, "both to be registered")
    node.start_agent(receiver.port)
    assert [program.wait(90) for program in programs] == [0, 0], "".join(program.log() for program in programs)
    receiver.wait_for(600)
