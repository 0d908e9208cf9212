# SPDX-License-Identifier: BSD-2-Clause
"""A directory into which an output of `type = file` writes."""

import collections
import glob
import json
import os
import re

NAME = re.compile(r"zipkin-\d{8}T\d{6}Z-[1-9]\d*\.jsonl$")
PART = re.compile(r"\.zipkin-\d{8}T\d{6}Z-[1-9]\d*\.jsonl\.part$")


class SpanFiles:
    def __init__(self, directory):
        self.directory = directory

    def finished(self):
        """The finished files, as a consumer would name them."""
        return sorted(glob.glob(f"{self.directory}/zipkin-*.jsonl"))

    def parts(self):
        return [name for name in os.listdir(self.directory) if name.endswith(".part")]

    def check_names(self):
        for name in os.listdir(self.directory):
            assert NAME.match(name) or PART.match(name), name

    def spans(self):
        """The spans in finished files, each of which has whole lines only."""
        found = []
        for path in self.finished():
            with open(path, encoding="utf-8", newline="\n") as file:
                text = file.read()
            assert text.endswith("\n"), path
            found += [json.loads(line) for line in text[:-1].split("\n")]
        return found


def identities(spans):
    """How often each span is there: by trace, id, kind and service."""
    return collections.Counter(
        (span["traceId"], span["id"], span.get("kind"), span["localEndpoint"].get("serviceName")) for span in spans
    )


def ordinals(spans):
    """How often each span of spanload's is there, by (process, thread, ordinal)."""
    return collections.Counter(
        (*map(int, span["tags"]["worker"].split(".")), int(span["tags"]["ordinal"])) for span in spans
    )
