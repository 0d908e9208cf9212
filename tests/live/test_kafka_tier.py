# SPDX-License-Identifier: BSD-2-Clause
"""Kafka as it stands between many nodes and their collectors: see tests/cluster/kafka, of which this is a run with a small load."""

import os
import subprocess

from rig.node import TOP, build_dir

SECONDS = 900  # for five servers in Java, and what they take to miss each other


def test_broker_and_collector_are_lost():
    """Three brokers, twenty agents, two Zipkins: each id is in the topic, and in a Zipkin; what came twice is counted."""
    command = ["/usr/bin/python3", "-B", os.path.join(TOP, "tests/cluster/kafka"), "--build", build_dir(), "--rate", "20", "tier"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=SECONDS)
    print(done.stdout)
    assert done.returncode == 0 and done.stdout.endswith("\ngood\n")
