# SPDX-License-Identifier: BSD-2-Clause
"""A host that receives spans with `blkin collect`, and tells which of a load's came."""

import json

from rig.process import Trouble, wait_until

PORT = 9410


class Collector:
    """@host has the package, and no agent running."""

    def __init__(self, host):
        self.host = host
        self.output = "/var/tmp/spans"
        self._read = 0
        self._rest = ""
        self._before = set()
        self.spans = []  # in Zipkin's version 2, as they came
        host.write(self.output, "")
        self.start()

    def start(self):
        listen = f"{self.host.address}:{PORT}"
        self.host.run(
            "systemd-run", "--quiet", "--unit=collect", "--collect", f"--property=StandardOutput=append:{self.output}",
            "--property=StandardError=journal",
            "blkin", "collect", "--json", f"--listen={listen}",
        )
        wait_until(lambda: listen in self.host.run("ss", "-ltnH"), 10, "blkin collect to listen")

    def stop(self):
        self.host.systemctl("stop", "collect")

    def forget(self):
        """What came so far is another test's, also if it comes again."""
        self._before.update(span["id"] for span in self.read())
        self.spans = []

    @property
    def address(self):
        return f"{self.host.name}:{PORT}"

    def read(self):
        """All that came so far."""
        with open(self.host.path(self.output), encoding="utf-8") as file:
            file.seek(self._read)
            text = self._rest + file.read()
            self._read = file.tell()
        lines = text.split("\n")
        self._rest = lines.pop()
        self.spans += [span for span in map(json.loads, lines) if span["id"] not in self._before]
        return self.spans

    def load(self, service=None):
        """How often each span of spanload's came: by (worker, ordinal)."""
        seen = {}
        for span in self.read():
            tags = span.get("tags", {})
            if "ordinal" in tags and service in (None, span["localEndpoint"]["serviceName"]):
                key = tags["worker"], int(tags["ordinal"])
                seen[key] = seen.get(key, 0) + 1
        return seen

    def wait_load(self, count, seconds=60):
        """Waits for @count different spans of a load, and returns how often each came."""
        try:
            wait_until(lambda: len(self.load()) >= count, seconds, f"{count} spans")
        except Trouble as trouble:
            raise Trouble(f"{trouble}: {len(self.load())} came") from None
        return self.load()
