"""Chromium without a window, driven through its debugging pipe. Standard library only."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import threading

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
    "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
]


class Browser:
    """One page. Use it as a context."""

    def __init__(self, width=1280, height=900, dark=False):
        self.profile = tempfile.mkdtemp(prefix="console-test-")
        to_browser, self.to_browser = os.pipe()
        self.from_browser, from_browser = os.pipe()

        def descriptors():
            # 3 and 4 are where it looks; copies above them first, so that none is overwritten.
            low, high = os.dup2(to_browser, 100), os.dup2(from_browser, 101)
            os.dup2(low, 3)
            os.dup2(high, 4)

        environment = dict(os.environ, HOME=self.profile)
        self.process = subprocess.Popen(
            [CHROMIUM, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"],
            close_fds=False, preexec_fn=descriptors, env=environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.answers = {}
        self.events = []
        self.changed = threading.Condition()
        self.number = 0
        self.session = None
        threading.Thread(target=self._read, daemon=True).start()
        self._attach(width, height, dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _read(self):
        rest = b""
        while True:
            got = os.read(self.from_browser, 1 << 16)
            if not got:
                break
            rest += got
            *messages, rest = rest.split(b"\0")
            with self.changed:
                for message in map(json.loads, messages):
                    if "id" in message:
                        self.answers[message["id"]] = message
                    else:
                        self.events.append(message)
                self.changed.notify_all()

    def call(self, method, patience=60, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        with self.changed:
            if not self.changed.wait_for(lambda: message["id"] in self.answers, patience):
                raise TimeoutError(method)
            answer = self.answers.pop(message["id"])
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def _attach(self, width, height, dark):
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def evaluate(self, expression):
        """The value of JavaScript; a promise is waited for."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                           returnByValue=True, userGesture=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:500])
        return result["result"].get("value")

    def wait(self, expression, patience=30):
        """Until the expression is true: looked at by the page itself at each frame."""
        found = self.evaluate(
            "new Promise((resolve) => { const end = Date.now() + %d; const look = () => {"
            " if (%s) resolve(true); else if (Date.now() > end) resolve(false);"
            " else setTimeout(look, 20); }; look(); })" % (patience * 1000, expression))
        if not found:
            raise TimeoutError(f"never true: {expression}\n{self.text()}")

    def text(self, selector="body"):
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")

    def click(self, selector):
        self.evaluate(f"document.querySelector({json.dumps(selector)}).click()")

    def press(self, key, code=None):
        code = code or key
        text = {"Enter": "\r", " ": " "}.get(key)
        down = {"type": "keyDown", "key": key, "code": code}
        numbers = {"Tab": 9, "Enter": 13, " ": 32}
        down["windowsVirtualKeyCode"] = numbers.get(key, 0)
        if text:
            down["text"] = text
        self.call("Input.dispatchKeyEvent", **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=code,
                  windowsVirtualKeyCode=numbers.get(key, 0))

    def choose_file(self, selector, path):
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[path])

    def complaints(self):
        """What the browser said of the page: errors, refusals by the policy, failed loads."""
        found = []
        with self.changed:
            for event in self.events:
                if event["method"] == "Log.entryAdded":
                    entry = event["params"]["entry"]
                    if entry["level"] in ("error", "warning"):
                        found.append(f"{entry['text']} {entry.get('url', '')}")
                if event["method"] == "Runtime.exceptionThrown":
                    found.append(json.dumps(event["params"])[:500])
        return found

    def screenshot(self, path, full=True):
        image = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full)
        with open(path, "wb") as file:
            file.write(base64.b64decode(image["data"]))
