# SPDX-License-Identifier: BSD-2-Clause
"""
A Collector is the client: its exporters otlp (gRPC) and otlphttp, with a queue on disk, hand over to the agent what others hand
over to it, while both are killed. Nothing is lost. See run.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))

from rig.idsink import IdSink  # noqa: E402
from rig.node import Node  # noqa: E402
from rig.otelcol import Otelcol  # noqa: E402
from rig.otlpsender import Http, OtlpSender  # noqa: E402
from rig.process import exactly, free_port, wait_until  # noqa: E402

COUNT = int(os.environ.get("BLKIN_SDK_SPANS", "20000"))
RATE = 4000  # spans a second, of each
KILLS = 3
SECONDS = 300 + COUNT // RATE

CONFIG = """
receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:{port}
exporters:
  {exporter}:
    endpoint: {endpoint}
    tls:
      insecure: true
    sending_queue:
      storage: file_storage
      queue_size: 1000000
    retry_on_failure:
      initial_interval: 200ms
      max_interval: 2s
      max_elapsed_time: 0
extensions:
  file_storage:
    directory: {folder}
service:
  extensions: [file_storage]
  telemetry:
    metrics:
      level: none
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [{exporter}]
"""


def collector(node, exporter, endpoint):
    found = Otelcol(node)
    folder = node.path(exporter)
    os.mkdir(folder)
    found.config = node.path(f"{exporter}.yaml")
    with open(found.config, "w", encoding="utf-8") as file:
        file.write(CONFIG.format(port=found.port, exporter=exporter, endpoint=endpoint, folder=folder))
    return found.start()


def run(node):
    sink = IdSink(node, free_port()).start()
    ports = free_port(), free_port()
    keys = {"otlp": f"127.0.0.1:{ports[0]}", "otlp-grpc": f"127.0.0.1:{ports[1]}"}
    node.start_agent(sink.port, input=keys, session={"keep": "yes"})
    collectors = [
        collector(node, "otlphttp", f"http://127.0.0.1:{ports[0]}"),
        collector(node, "otlp", f"127.0.0.1:{ports[1]}"),
    ]
    senders = [
        OtlpSender(lambda port=each.port: Http(port), process, 0, COUNT, 200, rate=RATE)
        for process, each in enumerate(collectors)
    ]
    for sender in senders:
        sender.start()
    for turn in range(2 * KILLS):
        wanted = COUNT * (turn + 1) // (2 * KILLS + 1)
        wait_until(lambda wanted=wanted: all(each.done >= wanted for each in senders), SECONDS, f"{wanted} to be handed over")
        if turn % 2:
            for each in collectors:
                each.program.kill()
                each.start()
        else:
            node.agent.kill()
            node.start_agent_again(wait=False)
    for sender in senders:
        sender.join(SECONDS)
        exactly(not sender.is_alive() and not sender.error, f"{sender.done} of {sender.count} were handed over: {sender.error}")
    node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
    wait_until(lambda: len({one[:3] for one in sink.ids()}) >= 2 * COUNT, SECONDS, "all to arrive", step=2)
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 60, "all to be delivered")
    print(f"the agent: {ledger}")
    exactly(ledger.dropped == 0, str(ledger))
    for process, name in enumerate(("otlphttp", "otlp")):
        seen = {one[2]: count for one, count in sink.ids().items() if one[0] == process}
        twice = sum(count > 1 for count in seen.values())
        print(f"the Collector's {name}: {len(seen)} of {COUNT} arrived, {twice} of them more than once")
        exactly(seen.keys() == set(range(COUNT)), f"{COUNT - len(seen)} are missing")


if __name__ == "__main__":
    with Node() as test_node:
        run(test_node.start_lttng())
