"""A small server of the hub's protocol: information on a repository, its files, and commits as pull requests."""

import base64
import json
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

FIRST = "a" * 40


class HubHandler(BaseHTTPRequestHandler):
    """Answers for the repository `user/model`; `server.files` are its files, `server.commits` what was committed.

    `server.endless` lets files never end, `server.lie` adds bytes to their announced length.
    """

    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self._file(body=False)

    def do_GET(self):
        address = urlsplit(self.path).path
        if address.startswith("/api/models/user/model/revision/") or address == "/api/models/user/model":
            siblings = [{"rfilename": name} for name in self.server.files]
            return self._json({"id": "user/model", "sha": FIRST, "siblings": siblings, "private": False, "tags": [],
                               "downloads": 0, "likes": 0})  # fmt: skip
        if "/resolve/" in address:
            return self._file(body=True)
        return self._json({"error": "Repository not found"}, 404, {"X-Error-Code": "RepoNotFound"})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        address = urlsplit(self.path)
        if address.path == "/api/validate-yaml":
            return self._json({"errors": [], "warnings": []})
        if "/preupload/" in address.path:
            paths = [item["path"] for item in json.loads(body)["files"]]
            return self._json(
                {"files": [{"path": path, "uploadMode": "regular", "shouldIgnore": False} for path in paths]}
            )
        if address.path.startswith("/api/models/user/model/commit/"):
            lines = [json.loads(line) for line in body.splitlines()]
            header = next(line["value"] for line in lines if line["key"] == "header")
            if header.get("parentCommit", FIRST) != FIRST:
                return self._json({"error": "The repository changed"}, 412)
            changed = {line["value"]["path"]: base64.b64decode(line["value"]["content"])
                       for line in lines if line["key"] == "file"}  # fmt: skip
            pull = parse_qs(address.query).get("create_pr") == ["1"]
            self.server.commits.append({"title": header["summary"], "files": changed, "pull": pull,
                                        "token": self.headers.get("Authorization")})  # fmt: skip
            root = f"http://{self.headers['Host']}/user/model"
            answer = {"success": True, "commitOid": "b" * 40, "commitUrl": f"{root}/commit/{'b' * 40}"}
            return self._json(answer | ({"pullRequestUrl": f"{root}/discussions/1"} if pull else {}))
        return self._json({"error": "not here"}, 404)

    def _file(self, body):
        name = urlsplit(self.path).path.partition("/resolve/")[2].partition("/")[2]
        content = self.server.files.get(name)
        if content is None or not urlsplit(self.path).path.startswith("/user/model/"):
            code = "EntryNotFound" if content is None else "RepoNotFound"
            return self._json({"error": code}, 404, {"X-Error-Code": code})
        self.send_response(200)
        length = {"Content-Length": len(content) + self.server.lie}
        if body and self.server.endless:
            length = {"Transfer-Encoding": "chunked"}
        for key, value in ({"X-Repo-Commit": FIRST, "ETag": f'"{len(content)}"'} | length).items():
            self.send_header(key, str(value))
        self.end_headers()
        if body and self.server.endless:
            with suppress(OSError):  # the client goes away
                while True:
                    self.wfile.write(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
        elif body:
            self.wfile.write(content)
        return None

    def _json(self, value, status=200, headers=None):
        content = json.dumps(value).encode()
        self.send_response(status)
        for key, text in (
            {"Content-Type": "application/json", "Content-Length": len(content)} | (headers or {})
        ).items():
            self.send_header(key, str(text))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def hub_server(files):
    """Serve a repository with these files; yields the server, whose `address` is its endpoint."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), HubHandler)
    server.files, server.commits, server.address = files, [], f"http://127.0.0.1:{server.server_port}"
    server.endless, server.lie = False, 0
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
