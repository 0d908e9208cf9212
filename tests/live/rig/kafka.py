# SPDX-License-Identifier: BSD-2-Clause
"""Apache Kafka in KRaft mode, from its jars ($KAFKA_JARS): one broker or several, which tests stop as they like."""

import contextlib
import functools
import itertools
import os
import signal
import subprocess

from .process import JAVA, Trouble, answers, free_port, wait_until

QUIET_JAVA = [*JAVA, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]
CLUSTER = "AAAAAAAAAAAAAAAAAAAAAA"
USER, PASSWORD = "blkin", "open sesame"
SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
LOGIN = "org.apache.kafka.common.security"

COMMON = {
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "OPEN",
    "auto.create.topics.enable": "false",
    "offsets.topic.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
    # who is gone is soon known to be, and who is back soon leads again
    "broker.heartbeat.interval.ms": 500,
    "broker.session.timeout.ms": 3000,
    "leader.imbalance.check.interval.seconds": 1,
    "leader.imbalance.per.broker.percentage": 0,
}


def authority(folder):
    """A certificate authority of its own, and two servers' certificates: `good` for 127.0.0.1, `other` for another name."""

    def make(name, *words):
        path = os.path.join(folder, name)
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        command += ["-subj", f"/CN={name}", "-keyout", f"{path}.key", "-out", f"{path}.pem", *words]
        subprocess.run(command, check=True, capture_output=True)

    signed = ["-CA", os.path.join(folder, "ca.pem"), "-CAkey", os.path.join(folder, "ca.key")]
    signed += ["-addext", "basicConstraints=critical,CA:false"]
    make("ca")
    make("stranger")
    for name, alternative in (("good", "IP:127.0.0.1"), ("other", "DNS:elsewhere"), ("client", "DNS:node")):
        make(name, *signed, "-addext", f"subjectAltName={alternative}")
        with open(os.path.join(folder, f"{name}.store"), "w", encoding="ascii") as store:
            for part in ("key", "pem"):
                with open(os.path.join(folder, f"{name}.{part}"), encoding="ascii") as file:
                    store.write(file.read())


class Listeners:
    """
    OPEN and CONTROLLER; and, to be asked for, `tls`, `other` (TLS by another name), `mutual` (TLS that wants the client's
    certificate), `login` and `tlslogin` (SASL, over TLS).
    """

    def __init__(self, folder, names):
        self.folder = folder
        self.ports = {name: free_port() for name in ("open", "controller", *names)}

    def keys(self):
        found = {
            "listeners": ",".join(f"{name.upper()}://127.0.0.1:{port}" for name, port in self.ports.items()),
            "listener.security.protocol.map": ",".join(f"{name.upper()}:{self.protocol(name)}" for name in self.ports),
        }
        for name in self.ports:
            for key, value in {**self.tls(name), **self.login(name)}.items():
                found[f"listener.name.{name}.{key}"] = value
        return found

    @staticmethod
    def protocol(name):
        safe = name in ("tls", "other", "mutual")
        return "SSL" if safe else {"login": "SASL_PLAINTEXT", "tlslogin": "SASL_SSL"}.get(name, "PLAINTEXT")

    def tls(self, name):
        if not self.protocol(name).endswith("SSL"):
            return {}
        store = os.path.join(self.folder, "other.store" if name == "other" else "good.store")
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": store,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": os.path.join(self.folder, "ca.pem"),
            "ssl.client.auth": "required" if name == "mutual" else "none",
        }

    def login(self, name):
        if not self.protocol(name).startswith("SASL"):
            return {}
        plain = f'{LOGIN}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";'
        found = {"sasl.enabled.mechanisms": ",".join(("PLAIN", *SCRAM)), "plain.sasl.jaas.config": plain}
        return found | {f"{kind.lower()}.sasl.jaas.config": f"{LOGIN}.scram.ScramLoginModule required;" for kind in SCRAM}


class Broker:
    """One of a cluster; its data outlive it."""

    def __init__(self, node, number, listeners):
        self.node = node
        self.number = number
        self.listeners = listeners
        self.ports = listeners.ports
        self.config = node.path(f"kafka-{number}.properties")
        self.program = None

    def write(self, keys):
        with open(self.config, "w", encoding="ascii") as file:
            file.writelines(f"{key}={value}\n" for key, value in keys.items())

    def java(self, *words):
        jars = os.path.join(os.environ["KAFKA_JARS"], "*")
        return [*QUIET_JAVA, "-Xmx256m", f"-Djava.io.tmpdir={self.node.folder}", "-cp", jars, *words]

    def format(self):
        """
        Once, before the first start: with the users that log in by SCRAM, who are part of the cluster's data. Returns the
        program that does it.
        """
        words = ["format", "-t", CLUSTER, "-c", self.config]
        if any(self.listeners.login(name) for name in self.ports):
            for kind in SCRAM:
                words += ["--add-scram", f"{kind}=[name={USER},password={PASSWORD}]"]
        return self.node.start(self.java("kafka.tools.StorageTool", *words), name="kafka-format")

    def launch(self):
        """Starts it, on the data of the last time, and does not wait."""
        self.program = self.node.start(self.java("kafka.Kafka", self.config), name=f"kafka-{self.number}")

    def start(self):
        self.launch()
        self.program.wait_ready(lambda: answers(self.ports["open"]), 60)

    def kill(self):
        self.program.kill()

    def stop(self):
        """In order: what it leads goes to others first."""
        self.program.stop()

    def hang(self):
        """It goes on accepting connections, as the kernel does that, and does not answer."""
        self.program.send(signal.SIGSTOP)

    def resume(self):
        self.program.send(signal.SIGCONT)


class Kafka:
    """A cluster. Use it with `with`: at the end all brokers are killed."""

    def __init__(self, node, brokers=1, listeners=(), **keys):
        """@keys: further ones of the brokers' configuration, with _ for each dot."""
        if not os.path.isdir(os.environ.get("KAFKA_JARS", "")):
            raise Trouble("no Kafka here: KAFKA_JARS must be the folder of its jars (./check --kafka sees to that)")
        self.node = node
        self.numbers = itertools.count(1)
        if listeners:
            authority(node.folder)
        self.brokers = [Broker(node, number + 1, Listeners(node.folder, listeners)) for number in range(brokers)]
        voters = ",".join(f"{broker.number}@127.0.0.1:{broker.ports['controller']}" for broker in self.brokers)
        few = min(brokers, 3)
        for broker in self.brokers:
            broker.write(
                COMMON
                | broker.listeners.keys()
                | {
                    "node.id": broker.number,
                    "controller.quorum.voters": voters,
                    "log.dirs": node.path(f"kafka-{broker.number}"),
                    "offsets.topic.replication.factor": few,
                    "transaction.state.log.replication.factor": few,
                    "min.insync.replicas": max(1, few - 1),
                }
                | {key.replace("_", "."): value for key, value in keys.items()}
            )

    def __enter__(self):
        for program in [broker.format() for broker in self.brokers]:
            if program.wait():
                raise Trouble(f"Kafka's storage cannot be formatted:\n{program.log()}")
        self.mend()
        return self

    def __exit__(self, *_):
        for broker in self.brokers:
            if broker.program:
                broker.kill()

    def mend(self):
        """Starts and resumes what a test left dead or hung, and waits until all brokers know of each other."""
        for broker in self.brokers:
            if broker.program and broker.program.running():
                broker.resume()
            else:
                broker.launch()
        for broker in self.brokers:
            broker.program.wait_ready(lambda port=broker.ports["open"]: answers(port), 90)
        wait_until(lambda: len(self.topics().brokers) == len(self.brokers), 60, "all brokers to be there", 0.2)

    def bootstrap(self, listener="open"):
        return ", ".join(f"127.0.0.1:{broker.ports[listener]}" for broker in self.brokers)

    @property
    def port(self):
        return self.brokers[0].ports["open"]

    # What a client is told

    def client(self, **keys):
        """A librdkafka configuration."""
        return {"bootstrap.servers": self.bootstrap(), "log_level": 0, "reconnect.backoff.max.ms": 500, **keys}

    @functools.cached_property
    def admin(self):
        from confluent_kafka.admin import AdminClient  # noqa: PLC0415 the other suites do without that package

        return AdminClient(self.client())

    def topics(self):
        """The brokers and topics that are known; neither, while no broker answers."""
        from confluent_kafka import KafkaException  # noqa: PLC0415

        with contextlib.suppress(KafkaException):
            return self.admin.list_topics(timeout=5)
        return type("Nothing", (), {"brokers": {}, "topics": {}})

    def create(self, topic=None, partitions=1, replication=1, **keys):
        """Creates a topic, with a new name unless it is told, and waits until it has leaders. Returns its name."""
        from confluent_kafka.admin import NewTopic  # noqa: PLC0415

        topic = topic or f"topic-{next(self.numbers)}"
        config = {key.replace("_", "."): str(value) for key, value in keys.items()}
        new = NewTopic(topic, num_partitions=partitions, replication_factor=replication, config=config)
        self.admin.create_topics([new], operation_timeout=30)[topic].result(30)
        for partition in range(partitions):
            self.leader(topic, partition)
        return topic

    def leader(self, topic, partition=0):
        """The broker that leads a partition, by what any broker knows of it. Waits until there is one."""

        def known():
            found = self.topics().topics.get(topic)
            found = found and found.partitions.get(partition)
            return next((broker for broker in self.brokers if found and broker.number == found.leader), None)

        return wait_until(known, 60, f"a leader of {topic}", 0.1)
