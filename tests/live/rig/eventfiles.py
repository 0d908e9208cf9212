# SPDX-License-Identifier: BSD-2-Clause
"""A directory into which an output of `type = file` writes events."""

import glob
import json


class EventFiles:
    def __init__(self, directory):
        self.directory = directory

    def lines(self, parts=False):
        """The events in finished files, each of which has whole lines only; @parts: and in those that are not."""
        found = []
        for path in sorted(glob.glob(f"{self.directory}/events-*.jsonl")):
            with open(path, encoding="utf-8", newline="\n") as file:
                text = file.read()
            assert text.endswith("\n"), path
            found += [json.loads(line) for line in text[:-1].split("\n")]
        for path in sorted(glob.glob(f"{self.directory}/.events-*.part")) if parts else []:
            with open(path, encoding="utf-8", newline="\n") as file:
                found += [json.loads(line) for line in file.read().split("\n")[:-1]]
        return found
