# SPDX-License-Identifier: BSD-2-Clause
"""Debian's Chromium, headless, by the protocol of its developer tools."""

import base64
import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile

from .process import Trouble, wait_until

OPTIONS = [
    "--headless=new",
    "--no-sandbox",  # there is none for root, and it shows the agent's page alone
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-port=0",
]


class Browser:
    """Use it with `with`: one page. What the page logs, and what it asks the network for, is kept."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="blkin-browser-")
        self.log = open(os.path.join(self.profile, "log"), "w", encoding="utf-8")
        self.process = subprocess.Popen(
            ["chromium", *OPTIONS, f"--user-data-dir={self.profile}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True,
            env=dict(os.environ, HOME=self.profile),
        )
        self.numbers, self.events = itertools.count(1), []
        self.complaints, self.requests = [], []

    def __enter__(self):
        import websocket

        wait_until(self.address, 60, "the browser")
        self.socket = websocket.create_connection(self.address(), timeout=60, suppress_origin=True)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self.call(f"{domain}.enable")
        self.resize(1280, 900)
        return self

    def __exit__(self, *_):
        self.session = None
        try:
            self.call("Browser.close")
        except (OSError, Trouble):
            self.process.kill()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def address(self):
        with open(self.log.name, encoding="utf-8", errors="replace") as file:
            found = re.search(r"DevTools listening on (ws://\S+)", file.read())
        return found and found[1]

    # The protocol

    def take(self, message):
        """Something that happened."""
        method, what = message["method"], message.get("params", {})
        if method == "Log.entryAdded":
            self.complaints.append(what["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {what['message']}")

    def call(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == number:
                break
            if "method" in answer:
                self.take(answer)
        if "error" in answer:
            raise Trouble(f"{method}: {answer['error']['message']}")
        return answer["result"]

    # What tests do

    def open(self, url):
        self.call("Page.navigate", url=url)
        wait_until(lambda: self.run("document.readyState") == "complete", 30, url)

    def run(self, script):
        """The value of an expression, or of what it promises."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Trouble(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def wait(self, script, seconds, what):
        return wait_until(lambda: self.run(script), seconds, what)

    def resize(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def prefer(self, scheme):
        """`light` or `dark`"""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def scripts(self, on):
        self.call("Emulation.setScriptExecutionDisabled", value=not on)

    def press(self, key, code, text=None):
        for kind in "keyDown", "keyUp":
            more = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **more)

    def write(self, text):
        self.call("Input.insertText", text=text)

    def picture(self, path, height=None):
        """A PNG of the page's top."""
        width, shown = self.run("[innerWidth, Math.min(document.documentElement.scrollHeight, 4000)]")
        clip = {"x": 0, "y": 0, "width": width, "height": height or shown, "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
