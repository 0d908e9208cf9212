# SPDX-License-Identifier: BSD-2-Clause
"""
kill.py PROGRAM...: each program hands spans over by HTTP and by gRPC, while the agent is killed three times, and its output is
away for a while. See run.
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))

from rig.idsink import IdSink  # noqa: E402
from rig.node import Node  # noqa: E402
from rig.process import exactly, free_port, wait_until  # noqa: E402

COUNT = int(os.environ.get("BLKIN_SDK_SPANS", "20000"))
RATE = 2000  # spans a second, of each
KILLS = 3
UNWRITTEN = 0.5  # seconds of which an agent that is killed has written down nothing, at most
SECONDS = 300 + COUNT // RATE
WAYS = {"sdk-cpp": ("http",)}  # of those that do not have both


def cases_of(programs):
    words = [program.split() for program in programs]
    return [(each, way) for each in words for way in WAYS.get(os.path.basename(each[-1]), ("http", "grpc"))]


def run(node, programs):
    sink = IdSink(node, free_port()).start()
    ports = {"http": free_port(), "grpc": free_port()}
    keys = {"otlp": f"127.0.0.1:{ports['http']}", "otlp-grpc": f"127.0.0.1:{ports['grpc']}"}
    node.start_agent(sink.port, input=keys, session={"keep": "yes"})
    cases = cases_of(programs)
    running = [
        node.start([*words, way, ports[way], process, COUNT], name=f"sdk{process}")
        for process, (words, way) in enumerate(cases)
    ]
    total = COUNT * len(cases)
    for turn in range(KILLS):
        wait_until(lambda turn=turn: sink.count() >= total * (turn + 1) // (KILLS + 2), SECONDS, "spans to arrive")
        if turn == 1:
            sink.put_off()  # so that it takes nothing for which it does not live to answer
            wait_until(lambda: node.ledger().spooled > 0, 60, "the output to be put off")
            sink.kill()
            wait_until(lambda: node.ledger().spooled > total // 20, 60, "some to be spooled")
        node.agent.kill()
        node.start_agent_again(wait=False)
        if turn == 1:
            node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
            sink.start()
    for program in running:
        exactly(program.wait(SECONDS) == 0, program.log())
    node.agent.wait_ready(lambda: node.http_get("/healthz")[0] == 200)
    ledger = node.wait_ledger(lambda ledger: ledger.idle(), 60, "all to be delivered")
    print(f"the agent: {ledger}")
    exactly(ledger.dropped == 0, str(ledger))
    again = sum(check(sink, process, running[process], words[-1], way) for process, (words, way) in enumerate(cases))
    print(f"{again} came twice though they had their OK at once: the agent was killed before it had written down that they were sent")
    exactly(again <= KILLS * RATE * len(cases) * UNWRITTEN, "so many have not been sent meanwhile")


def check(sink, process, program, name, way):
    """Returns how many came twice although their SDK sent them once."""
    said = json.loads(next(line for line in program.log().splitlines() if line.startswith("{")))
    seen = {one[2]: count for one, count in sink.ids().items() if one[0] == process}
    missing = set(range(COUNT)) - seen.keys() - set(said["given_up"])
    twice = {n for n, count in seen.items() if count > 1}
    print(
        f"{os.path.basename(name)} by {way}: {len(seen)} of {COUNT} arrived, {len(said['given_up'])} were given up by the SDK, "
        f"{len(said['doubtful'])} were tried again, {len(twice)} came twice"
    )
    exactly(not missing, f"{len(missing)} are missing: {sorted(missing)[:10]}")
    exactly(len(seen) <= COUNT, "there are others")
    return len(twice - set(said["doubtful"]) - set(said["given_up"]))


if __name__ == "__main__":
    with Node() as test_node:
        run(test_node.start_lttng(), sys.argv[1:])
