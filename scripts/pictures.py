# SPDX-License-Identifier: BSD-2-Clause
"""Makes the pictures of the agent's page, doc/monitor-*.png, in Debian's Chromium, with a cluster that is made up.

    BLKIN_BUILD=build-check unshare -u sh -c 'hostname storage-3 && exec "$@"' sh \\
        tests/isolate --network /usr/bin/python3 scripts/pictures.py [--seconds N] [FOLDER]

It needs the packages chromium, python3-pil and python3-websocket. For more seconds than 90, the small charts have more points.
"""

import argparse
import os
import pathlib
import random
import re
import sys
import threading
import time

from PIL import Image

sys.dont_write_bytecode = True
TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, os.path.join(TOP, "tests/live"))

from rig.browser import Browser  # noqa: E402
from rig.dictation import Dictation  # noqa: E402
from rig.node import WHOLE_STACKS, Node  # noqa: E402
from rig.process import answers, free_port  # noqa: E402
from rig.scribe import Receiver  # noqa: E402

# service, span, spans a second, median in µs, spread, share of errors
PROGRAMS = [
    ("osd.0", "write", 40, 6500, 0.5, 0.002),
    ("osd.0", "read", 60, 1900, 0.4, 0),
    ("osd.1", "write", 38, 15500, 0.7, 0.004),
    ("osd.1", "read", 55, 2100, 0.4, 0),
    ("osd.2", "journal commit", 25, 3800, 0.3, 0),
    ("mon.a", "paxos update", 4, 22000, 0.3, 0),
    ("rgw", "GET /bucket/object", 30, 9100, 0.8, 0.013),
    ("rgw", "PUT /bucket/object", 18, 26000, 0.6, 0.041),
    ("mds.0", "lookup", 20, 480, 0.6, 0),
]
THRESHOLDS = {
    "osd.*/write": "20ms, p99 80ms",
    "osd.*/read": "5ms",
    "rgw/*": "50ms, errors 2%",
    "mon.*/*": "50ms",
}


def work(dice, turn):
    """What the programs do in a tenth of a second; a disk becomes slow, and recovers."""
    for service, span, rate, median, spread, failing in PROGRAMS:
        slow = 2.2 if service == "osd.1" and turn % 400 > 150 else 1
        busy = 1 + 0.5 * dice.random() + (0.8 if turn % 270 < 60 else 0)
        for _ in range(round(rate * busy * dice.random() / 4)):
            yield service, span, dice.lognormvariate(0, spread) * median * slow, dice.random() < failing


def record(node, ended):
    dice, begin, turn = random.Random(13), time.monotonic(), 0
    with Dictation(node) as dictation:
        while not ended.is_set():
            dictation.say(work(dice, turn))
            turn += 1
            time.sleep(max(0, begin + turn / 10 - time.monotonic()))


def slowest_request(node):
    """The address of the trace of the examples' slowest request, after fifty."""
    port = free_port()
    node.start([node.built("examples/store"), port]).wait_ready(lambda: answers(port))
    node.run(["examples/gateway", port, 50])
    time.sleep(3)  # until all of it came
    page = node.http_get("/?service=gateway&span=put%20object")[1]
    return f"http://127.0.0.1:{node.http}" + re.search(r'"(/trace\?id=[0-9a-f]+)"', page)[1]


def take(node, folder):
    with Browser() as browser:
        browser.resize(1180, 800)
        browser.open(slowest_request(node))
        browser.run("document.querySelectorAll('details')[4].open = true")
        browser.picture(os.path.join(folder, "monitor-trace.png"))
        for scheme in "light", "dark":
            browser.prefer(scheme)
            browser.open(f"http://127.0.0.1:{node.http}/")
            browser.picture(os.path.join(folder, f"monitor-{scheme}.png"))
        browser.prefer("light")
        browser.open(f"http://127.0.0.1:{node.http}/?service=osd.1&span=write")
        browser.picture(os.path.join(folder, "monitor-open.png"))
        browser.resize(390, 760, scale=1.5)
        browser.open(f"http://127.0.0.1:{node.http}/")
        browser.picture(os.path.join(folder, "monitor-phone.png"), height=1000)


def squeeze(folder):
    """As few bytes as 128 colours need."""
    for path in pathlib.Path(folder).glob("monitor-*.png"):
        with Image.open(path) as picture:
            small = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
        small.save(path, optimize=True)
        print(f"{path}: {path.stat().st_size} bytes")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("folder", nargs="?", default=os.path.join(TOP, "doc"))
    options = parser.parse_args()
    os.environ.setdefault("BLKIN_BUILD", os.path.join(TOP, "build"))
    with Node() as node:
        node.start_lttng()
        receiver, archive = (Receiver(node, free_port()).start() for _ in range(2))
        ended = threading.Event()
        node.write_config(
            receiver.port,
            agent={"page": "open", "ui": "http://127.0.0.1:9411/zipkin/traces/{trace}"},
            thresholds=THRESHOLDS,
            **{"output archive": {"server": f"127.0.0.1:{archive.port}"}},
        )
        node.start_agent_again(**WHOLE_STACKS)
        programs = threading.Thread(target=record, args=[node, ended])
        programs.start()
        try:
            time.sleep(options.seconds)
            take(node, options.folder)
        finally:
            ended.set()
            programs.join()
    squeeze(options.folder)


main()
