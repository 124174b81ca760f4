"""The daemon's API as the console sees it, in a few lines, with the console's own files."""

import http.server
import json
import pathlib
import threading

# As console_reply.cc has it.
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
TYPES = {".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".png": "image/png"}


class FakeDaemon:
    """Serves a folder with the page. Tests set what it answers; requests wait for `go_on`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.looks = 0
        self.key = None  # needed, if set
        self.requests = []  # of /v1/status
        self.uploads = []  # (content type, bytes)
        self.segments = ["Four score and seven years ago", " our fathers brought forth",
                         " on this continent, a new nation."]
        self.hold_after = None  # segments; then the stream waits for a cancel
        self.cancelled = threading.Event()
        self.metrics = True
        daemon = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                daemon.get(self)

            def do_POST(self):
                daemon.post(self)

            def do_DELETE(self):
                daemon.cancelled.set()
                daemon.reply(self, 202, {"cancelled": True})

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http:{'//'}127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.cancelled.set()
        self.server.shutdown()
        self.server.server_close()

    def reply(self, handler, status, body, kind="application/json", headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)

    def get(self, handler):
        path = handler.path
        if path == "/" or path.startswith("/console/"):
            file = self.folder / ("index.html" if path == "/" else path.removeprefix("/console/"))
            self.reply(handler, 200, file.read_bytes(), TYPES[file.suffix],
                       [("Content-Security-Policy", POLICY)])
        elif path == "/ready":
            self.reply(handler, 200, {"status": "ready"})
        elif self.key and handler.headers.get("Authorization") != f"Bearer {self.key}":
            self.reply(handler, 401, {"error": {"message": "the API key is missing or unknown"}})
        elif path == "/v1/models":
            self.reply(handler, 200, {"data": [{"id": "base"}, {"id": "large"}]})
        elif path == "/v1/status":
            self.reply(handler, 200, self.status())
        elif path == "/metrics" and self.metrics:
            self.reply(handler, 200, self.metrics_text().encode(), "text/plain")
        else:
            self.reply(handler, 404, {"error": {"message": "nothing there"}})

    def status(self):
        self.looks += 1
        wave = [0, 1, 3, 4, 2, 5, 6, 4, 3, 2, 1, 1][self.looks % 12]
        workers = []
        for number in range(4):
            state = "stalled" if number == 3 else "ready"
            workers.append({
                "name": f"worker-{number}", "model": "base", "state": state, "engine": "whisper",
                "pid": 4000 + number, "places": 8, "active": min(8, wave + number), "restarts": number,
                "last_end": "", "engine_steps": self.looks * (40 + 7 * number),
                "engine_busy_us": self.looks * 200_000 * (number + 1), "step_age_us": 0,
                "open_transcriptions": wave, "allocated_bytes": 3_210_000_000 + number})
        return {"queued": wave, "active": 2 * wave + 3, "draining": False, "workers": workers,
                "requests": self.requests}

    def metrics_text(self):
        count = self.looks
        return "\n".join(
            f'superfluidd_{name}_seconds_bucket{{model="base",le="{bound}"}} {count * factor}'
            for name in ("time_to_first_segment", "queue", "cancel")
            for bound, factor in (("0.01", 1), ("0.05", 3), ("0.25", 4), ("+Inf", 4))) + "\n"

    def post(self, handler):
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        self.uploads.append((handler.headers["Content-Type"], body))
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("X-Request-Id", "req_test")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for number, text in enumerate(self.segments):
            if number == self.hold_after:
                self.cancelled.wait()
                self.event(handler, {"error": {
                    "message": "the request was cancelled", "code": "cancelled",
                    "cost": {"cancel_ms": 12, "steps_after_cancel": 1}}})
                break
            self.event(handler, {"type": "transcript.text.delta", "delta": text,
                                 "segment_id": f"seg_{number}", "start": 3.5 * number})
        else:
            self.event(handler, {"type": "transcript.text.done", "text": "".join(self.segments)})
            self.chunk(handler, b"data: [DONE]\n\n")
        handler.wfile.write(b"0\r\n\r\n")

    def event(self, handler, event):
        self.chunk(handler, b"data: " + json.dumps(event).encode() + b"\n\n")

    @staticmethod
    def chunk(handler, data):
        handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        handler.wfile.flush()
