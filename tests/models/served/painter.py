"""A server that draws: OpenAI's protocol for images on a real socket, pictures made with Pillow from the words."""

import base64
import hashlib
import io
import json
import random
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml
from PIL import Image, ImageDraw

COLOURS = {"red": (190, 30, 30), "green": (40, 140, 60), "blue": (40, 70, 180), "black": (0, 0, 0)}


def painted(words: str, number: int, size: tuple[int, int], form: str = "PNG") -> bytes:
    """A picture of a ground in the colour that the words name, or one drawn from them, with shapes by chance."""
    rng = random.Random(f"{words}:{number}")
    named = [colour for name, colour in COLOURS.items() if name in words.lower()]
    ground = named[0] if named else tuple(hashlib.sha256(words.encode()).digest()[:3])
    picture = Image.new("RGB", size, ground)
    draw = ImageDraw.Draw(picture)
    for _ in range(0 if named == [COLOURS["black"]] else 5):
        x, y, r = rng.randrange(size[0]), rng.randrange(size[1]), rng.randrange(3, 3 + size[0] // 4)
        draw.ellipse((x - r, y - r, x + r, y + r), fill=tuple(rng.randrange(256) for _ in range(3)))
    held = io.BytesIO()
    picture.save(held, form)
    return held.getvalue()


@dataclass
class Painter:
    """One model: which words its filter refuses, the most pictures of a request, what was asked of it."""

    refuses: str = ""
    most: int = 10
    form: str = "PNG"
    gate: threading.Event = field(default_factory=threading.Event)
    seen: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gate.set()


class Studio(ThreadingHTTPServer):
    """Serves painters by name under `/v1` on a free port of this machine, for those who know the `token` if any."""

    daemon_threads = True

    def __init__(self, token: str = "", **painters: Painter) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.painters, self.token = painters, token
        self.files: dict[str, bytes] = {}
        self.base = f"http://127.0.0.1:{self.server_port}"
        self.url = f"{self.base}/v1"
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        """Let all painters go on, and end."""
        for painter in self.painters.values():
            painter.gate.set()
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    """`POST /v1/images/generations`, the page of a model, and the pictures whose addresses were told."""

    protocol_version = "HTTP/1.1"
    server: Studio

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """A picture, or one model's page."""
        if content := self.server.files.get(self.path):
            self._send(200, content, "image/png")
        else:
            self._reply({"id": self.path.rsplit("/", 1)[-1], "object": "model", "created": 7})

    def do_POST(self) -> None:
        """Pictures of a prompt."""
        document = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        painter = self.server.painters.get(document["model"])
        if self.server.token and self.headers.get("authorization") != f"Bearer {self.server.token}":
            return self._reply({"error": {"message": "Who are you?"}}, 401)
        if painter is None:
            return self._reply({"error": {"message": "There is no such model."}}, 404)
        painter.seen.append(document)
        painter.gate.wait(60)
        if painter.refuses and painter.refuses in document["prompt"]:
            return self._reply({"error": {"message": "Your request was rejected by our safety system."}}, 400)
        if document["n"] > painter.most:
            return self._reply({"error": {"message": f"n is at most {painter.most}."}}, 400)
        width, _, height = document.get("size", "64x64").partition("x")
        start = sum(element["n"] for element in painter.seen if element["prompt"] == document["prompt"]) - document["n"]
        drawn = [
            painted(document["prompt"], start + number, (int(width), int(height)), painter.form)
            for number in range(document["n"])
        ]
        return self._reply({"created": 1, "data": [self._entry(item, document) for item in drawn]})

    def _entry(self, content: bytes, request: dict[str, Any]) -> dict[str, str]:
        if request.get("response_format") == "b64_json":
            return {"b64_json": base64.b64encode(content).decode()}
        path = f"/made/{hashlib.sha256(content).hexdigest()}.png?sig=a%2Fb"
        self.server.files[path] = content
        return {"url": self.server.base + path, "revised_prompt": request["prompt"]}

    def _reply(self, document: Any, status: int = 200) -> None:
        self._send(status, json.dumps(document).encode(), "application/json")

    def _send(self, status: int, content: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def folder(place: Path, name: str, url: str, **options: Any) -> Path:
    """The folder of a model of the shipped task that draws at this address."""
    created = place / name
    created.mkdir(parents=True)
    answer = {"name": name, "task": "red-team-image-prompt", "kind": "openai-images", "inputs": ["prompt"]}
    answer |= {"answer": "picture", "returns": "pictures", "licence": "MIT", "seconds": 30}
    answer["options"] = {"url": url, "model": name, "size": "64x64", "retries": 0, **options}
    (created / "model.yaml").write_text(yaml.safe_dump(answer))
    return created
