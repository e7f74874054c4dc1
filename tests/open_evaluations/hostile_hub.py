"""A hub on a real socket that serves one dataset, and lies, stalls or fails as a test says."""

import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class HostileHub(ThreadingHTTPServer):
    """Serves `files` as the dataset `some/data`.

    `facts` change what it says of the dataset, `listed` members of a file's entry by path, `sent` the content of a file
    by path. `status` is that of every answer; `location` is where files redirect to. After `cut` bytes of a body the
    connection is closed, once. While `gate` is closed, a body stops in its middle.
    """

    daemon_threads = True

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), HubHandler)
        self.files = files
        self.facts: dict[str, Any] = {}
        self.listed: dict[str, dict[str, Any]] = {}
        self.sent: dict[str, bytes] = {}
        self.status, self.cut, self.location, self.endless, self.html = 200, 0, "", False, False
        self.requests: list[tuple[str, str]] = []
        self.gate = threading.Event()
        self.gate.set()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def resolved(self) -> list[tuple[str, str]]:
        """The requests for files, with their ranges."""
        return [(path.rpartition("/")[2], span) for path, span in self.requests if "/resolve/" in path]

    def close(self) -> None:
        self.gate.set()
        self.shutdown()
        self.server_close()


class HubHandler(BaseHTTPRequestHandler):
    server: HostileHub

    def do_GET(self) -> None:
        hub = self.server
        path = self.path.partition("?")[0]
        hub.requests.append((path, self.headers.get("range", "")))
        if hub.status != 200:
            self.send(b"", hub.status)
        elif hub.html:
            self.send(b"<html><h1>Sign in</h1></html>", content_type="text/html")
        elif re.fullmatch(r"/api/datasets/some/data(/revision/[^/]+)?", path):
            self.send(json.dumps({"id": "some/data", "sha": COMMIT} | hub.facts).encode())
        elif path == f"/api/datasets/some/data/tree/{COMMIT}":
            link = {"Link": f'<{hub.address}{self.path}&cursor=x>; rel="next"'} if hub.endless else {}
            self.send(json.dumps([self.entry(name) for name in hub.files]).encode(), headers=link)
        elif path.startswith(f"/datasets/some/data/resolve/{COMMIT}/"):
            name = path.removeprefix(f"/datasets/some/data/resolve/{COMMIT}/")
            if hub.location and not name.endswith(".md"):
                self.send(b"", 302, {"Location": hub.location.replace("NAME", name)})
            else:
                self.send_file(name)
        elif path.startswith("/store/"):
            self.send_file(path.removeprefix("/store/"))
        else:
            self.send(b"", 404, {"X-Error-Code": "RepoNotFound"})

    def entry(self, name: str) -> dict[str, Any]:
        content = self.server.files[name]
        git = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        entry: dict[str, Any] = {"type": "file", "path": name, "size": len(content), "oid": git}
        if name.endswith(".csv"):
            entry["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 100}
        return entry | self.server.listed.get(name, {})

    def send_file(self, name: str) -> None:
        content = self.server.sent.get(name, self.server.files[name])
        if span := re.fullmatch(r"bytes=(\d+)-", self.headers.get("range", "")):
            self.send(content[int(span[1]) :], 206)
        else:
            self.send(content)

    def send(
        self, body: bytes, status: int = 200, headers: dict[str, str] | None = None, content_type: str = ""
    ) -> None:
        self.send_response(status)
        own_headers = {"Content-Length": str(len(body)), "Content-Type": content_type or "application/octet-stream"}
        for name, value in (own_headers | (headers or {})).items():
            self.send_header(name, value)
        self.end_headers()
        cut, file = self.server.cut, "/resolve/" in self.path and not self.path.endswith(".md")
        if file and cut:
            self.server.cut = 0
            self.wfile.write(body[:cut])
            self.close_connection = True
            return
        half = len(body) // 2
        if file and not self.server.gate.is_set():
            self.wfile.write(body[:half])
            self.wfile.flush()
            self.server.gate.wait(60)
            body = body[half:]
        try:
            self.wfile.write(body)
        except OSError:  # the platform has hung up
            self.close_connection = True

    def log_message(self, format: str, *values: Any) -> None:
        """Keep the output of tests short."""
