# SPDX-License-Identifier: BSD-2-Clause
"""The agent's page, as a client without a browser asks for it."""

import http.client
import json
import re
import subprocess


class Answer:
    def __init__(self, response):
        self.code, self.headers, self.bytes = response.status, response.headers, response.read()

    @property
    def text(self):
        return self.bytes.decode()

    def json(self):
        assert self.code == 200 and self.headers["Content-Type"] == "application/json", (self.code, self.text[:300])
        return json.loads(self.text)


def ask(node, path, **headers):
    """One request, which follows no redirection."""
    connection = http.client.HTTPConnection("127.0.0.1", node.http, timeout=20)
    connection.request("GET", path, headers={key.replace("_", "-"): value for key, value in headers.items()})
    answer = Answer(connection.getresponse())
    connection.close()
    return answer


def token_of(node):
    """From the address that `blkin page` prints."""
    return re.fullmatch(rf"http://127\.0\.0\.1:{node.http}/\?token=([\w-]{{32}})\n", page_of(node).stdout)[1]


def page_of(node):
    command = [node.built("cli/blkin"), "page", "--socket", node.socket]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def spans_of(node, query="", **headers):
    """/spans.json, by service and name."""
    headers = headers or {"Authorization": f"Bearer {token_of(node)}"}
    rows = ask(node, "/spans.json" + query, **headers).json()
    return {(row["service"], row["span"]): row for row in rows}
