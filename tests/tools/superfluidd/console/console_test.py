#!/usr/bin/env python3
"""The console in headless Chromium, on a daemon that does what a test says.

usage: console_test.py [PAGE-FOLDER [SCREENSHOT-FOLDER]]
"""

import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402
from fake_daemon import FakeDaemon  # noqa: E402

FOLDER = "tools/superfluidd/console"
SCREENSHOTS = None


class ConsoleTest(unittest.TestCase):
    def setUp(self):
        self.daemon = self.enterContext(FakeDaemon(FOLDER))
        self.page = self.enterContext(Browser())

    def open(self):
        self.page.open(self.daemon.url)
        self.page.wait("document.querySelectorAll('#workers th').length === 4")
        self.page.wait("document.getElementById('model').options.length === 2")

    def choose(self, content=b"RIFF a recording", name="talk.wav"):
        path = pathlib.Path(tempfile.mkdtemp()) / name
        path.write_bytes(content)
        self.page.choose_file("#file", str(path))
        self.page.wait("!document.getElementById('start').disabled")

    def screenshot(self, name):
        if SCREENSHOTS:
            self.page.screenshot(f"{SCREENSHOTS}/{name}.png")

    def test_loads_nothing_from_elsewhere_and_without_complaint(self):
        self.open()
        urls = self.page.evaluate("performance.getEntriesByType('resource').map((e) => e.name)")
        self.assertGreater(len(urls), 5)
        self.assertEqual([url for url in urls if not url.startswith(self.daemon.url)], [])
        self.assertEqual(self.page.complaints(), [])

    def test_shows_a_transcript_as_it_comes(self):
        self.open()
        self.choose()
        self.page.click("#start")
        self.page.wait("document.getElementById('state').dataset.kind === 'done'")
        self.assertEqual(self.page.evaluate(
            "[...document.querySelectorAll('#segments span')].map((e) => e.textContent)"),
            self.daemon.segments)
        self.assertIn("First segment", self.page.text("#cost"))
        kind, body = self.daemon.uploads[0]
        self.assertTrue(kind.startswith("multipart/form-data"))
        for part in (b'name="stream"', b'name="model"', b"base", b'filename="talk.wav"', b"RIFF a recording"):
            self.assertIn(part, body)
        self.screenshot("done")

    def test_shows_segments_before_the_end_and_cancels(self):
        self.daemon.hold_after = 2
        self.open()
        self.choose()
        self.page.click("#start")
        self.page.wait("document.querySelectorAll('#segments li').length === 2")
        self.assertFalse(self.page.evaluate("document.getElementById('cancel').disabled"))
        self.screenshot("running")
        self.page.click("#cancel")
        self.page.wait("document.getElementById('state').dataset.kind === 'cancelled'")
        self.assertTrue(self.daemon.cancelled.is_set())
        cost = self.page.text("#cost")
        self.assertIn("12 ms", cost)
        self.assertIn("Steps after it", cost)
        self.assertTrue(self.page.evaluate("!document.getElementById('start').disabled"))
        self.screenshot("cancelled")

    def test_takes_a_dropped_file(self):
        self.open()
        self.page.evaluate("""(() => {
          const transfer = new DataTransfer();
          transfer.items.add(new File(["RIFF"], "dropped.m4a"));
          document.getElementById("drop").dispatchEvent(
            new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
        })()""")
        self.assertIn("dropped.m4a", self.page.text("#clip"))

    def test_records_a_clip(self):
        self.open()
        self.page.click("#record")
        self.page.wait("document.getElementById('record').textContent === 'Stop'")
        self.page.evaluate("new Promise((resolve) => setTimeout(resolve, 1200))")
        self.page.click("#record")
        self.page.wait("document.getElementById('clip').textContent.startsWith('recording.wav')")
        self.page.click("#start")
        self.page.wait("document.getElementById('state').dataset.kind === 'done'")
        body = self.daemon.uploads[0][1]
        start = body.index(b"RIFF")
        self.assertEqual(body[start + 8:start + 12], b"WAVE")
        self.assertEqual(int.from_bytes(body[start + 24:start + 28], "little"), 16000)

    def test_shows_and_cancels_open_requests(self):
        self.daemon.requests = [
            {"id": "req_a", "model": "base", "state": "running", "worker": "worker-1", "age_ms": 1500,
             "estimated_seconds": 62.5, "live": False},
            {"id": "req_b", "model": "base", "state": "queued", "worker": "", "age_ms": 20,
             "estimated_seconds": 0, "live": True}]
        self.open()
        self.page.wait("document.querySelectorAll('#requests button').length === 2")
        text = self.page.text("#requests")
        for part in ("runs on worker-1", "1 min 3 s", "waits", "live"):
            self.assertIn(part, text)
        self.page.evaluate("document.querySelector('#requests button').focus()")
        looks = self.daemon.looks
        self.page.wait(f"document.querySelector('#requests tr')")
        while self.daemon.looks < looks + 2:
            self.page.evaluate("new Promise((resolve) => setTimeout(resolve, 50))")
        self.assertEqual(self.page.evaluate("document.activeElement.getAttribute('aria-label')"),
                         "Cancel request req_a")  # the focus outlives the looks
        self.screenshot("board")
        self.page.press("Enter")
        self.assertTrue(self.daemon.cancelled.wait(10))
        self.daemon.requests = []
        self.page.wait("document.querySelectorAll('#requests button').length === 0")
        self.assertIn("none", self.page.text("#requests"))

    def test_plots_say_their_values(self):
        self.open()
        self.page.wait("document.querySelectorAll('.plot').length === 6")
        self.page.wait("[...document.querySelectorAll('.plot output')].every((e) => e.textContent !== '–')")
        labels = self.page.evaluate(
            "[...document.querySelectorAll('.plot svg')].map((e) => e.getAttribute('aria-label'))")
        self.assertTrue(labels[0].startswith("Waiting: "), labels)
        # Between two looks 1, 2 and 1 requests fell into the three buckets of cancels.
        self.assertIn("30 ms", self.page.text("#plots"))

    def test_asks_for_a_key(self):
        self.daemon.key = "secret"
        self.page.open(self.daemon.url)
        self.page.wait("document.getElementById('health').textContent === 'an API key is needed'")
        self.page.evaluate("""(() => {
          const key = document.getElementById("key");
          key.value = "secret";
          key.dispatchEvent(new Event("change"));
        })()""")
        self.page.wait("document.getElementById('health').dataset.state === 'ready'")

    def test_says_what_went_wrong(self):
        self.daemon.segments = []
        self.daemon.hold_after = 0
        self.open()
        self.choose()
        self.page.evaluate("""(() => { window.fetch = () => Promise.resolve(new Response(
          JSON.stringify({error: {message: "too many requests wait already"}}), {status: 429})); })()""")
        self.page.click("#start")
        self.page.wait("document.getElementById('state').dataset.kind === 'error'")
        self.assertEqual(self.page.text("#state"), "too many requests wait already")

    def test_works_by_keyboard(self):
        self.daemon.hold_after = 1
        self.open()
        self.choose()
        visited = []
        self.page.evaluate("document.activeElement.blur()")
        for _ in range(12):
            self.page.press("Tab")
            visited.append(self.page.evaluate("document.activeElement.id || document.activeElement.className"))
        for name in ("skip", "key", "theme", "choose", "record", "model", "language", "start", "segments"):
            self.assertIn(name, visited)
        self.page.evaluate("document.getElementById('start').focus()")
        self.page.press("Enter")
        self.page.wait("document.querySelectorAll('#segments li').length === 1")
        self.assertEqual(self.page.evaluate("document.activeElement.id"), "cancel")
        self.page.press(" ")
        self.page.wait("document.getElementById('state').dataset.kind === 'cancelled'")

    def test_everything_has_a_name(self):
        self.open()
        nodes = self.page.call("Accessibility.getFullAXTree")["nodes"]
        for node in nodes:
            role = node.get("role", {}).get("value")
            if node.get("ignored") or role not in ("button", "textbox", "combobox", "image", "table", "list"):
                continue
            self.assertNotEqual(node.get("name", {}).get("value", ""), "", node)

    def test_text_has_contrast(self):
        for theme in ("light", "dark"):
            self.open()
            self.page.evaluate(f"""(() => {{ const theme = document.getElementById("theme");
              theme.value = "{theme}"; theme.dispatchEvent(new Event("change")); }})()""")
            self.assertEqual(self.page.evaluate(CONTRAST), [], theme)


# Every element with text of its own against the ground behind it: at least 4.5 to 1 (WCAG AA), but for what
# is switched off.
CONTRAST = """(() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = numbers(colour).map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let e = element; e !== null; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if ((numbers(colour)[3] ?? 1) > 0.99) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim() !== "");
    if (!own || element.disabled || element.closest("noscript")) continue;
    const [a, b] = [light(getComputedStyle(element).color), light(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push(`${element.tagName}.${element.className} ${element.textContent.trim()}: ${ratio}`);
  }
  return found;
})()"""


if __name__ == "__main__":
    if len(sys.argv) > 1:
        FOLDER = sys.argv.pop(1)
    if len(sys.argv) > 1:
        SCREENSHOTS = sys.argv.pop(1)
    unittest.main()
