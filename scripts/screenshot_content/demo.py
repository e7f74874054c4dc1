"""The demo that is filled: its people, visits of its pages, and files of rows."""

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx2

from dynabench.client import Client

PASSWORD = "correct horse battery"
ROWS = 240
PRAISE = ("a warm, funny and wonderful film that I loved", "the queue was long, and I would stand in it again")
BLAME = ("a dull, boring and terrible film that I hated", "a great gift for a person whom you do not like")


class Visit:
    """A visit without scripts: cookies, and forms with the token of their page."""

    def __init__(self, base: str, entry: str) -> None:
        self.http = httpx2.Client(base_url=base, follow_redirects=True, timeout=60)
        self.open(entry)

    def open(self, path: str) -> None:
        """Open a page."""
        self.page = self.http.get(path).text

    def post(self, path: str, files: Any = None, **fields: str) -> str:
        """Send a form of the page; the address that it led to."""
        token = re.search(r'name="csrf-token" content="([^"]+)"', self.page)
        assert token, path
        answer = self.http.post(path, data=fields | {"csrf": token[1]}, files=files)
        self.page = answer.text
        return answer.url.raw_path.decode()


def reviews(rows: int, start: int = 0) -> bytes:
    """A CSV of reviews."""
    lines = ["review,sentiment,stars"]
    for n in range(start, start + rows):
        texts, label = (BLAME, "negative") if n % 3 == 0 else (PRAISE, "positive")
        lines.append(f'"{texts[n % 2]}, scene {n}",{label},{n % 5}')
    return "\n".join(lines).encode()


def wait_for_state(read: Callable[[], dict[str, Any]], states: Sequence[str] = ("done", "failed")) -> dict[str, Any]:
    """Read until the state is one of those; raises TimeoutError after four minutes."""
    begun = time.monotonic()
    while time.monotonic() - begun < 240:
        facts = read()
        if facts["state"] in states:
            return facts
        time.sleep(0.5)
    raise TimeoutError(str(facts))


class Demo:
    """The people who fill the platform at `base`: an administrator, an annotator, and others who come when needed."""

    def __init__(self, base: str, home: Path, admin: Client, annotator: Client) -> None:
        self.base, self.home, self.admin, self.annotator = base, home, admin, annotator
        self.starts: list[str] = []
        """Addresses of what was made, for the administrator's crawl."""

    def newcomer(self, name: str) -> Client:
        """Register an account and return its client."""
        client = Client(self.base)
        client.register(name, f"{name}@example.org", PASSWORD)
        client.log_in(name, PASSWORD)
        return client

    def office(self) -> Visit:
        """Log the administrator in on a page."""
        visit = Visit(self.base, "/login")
        visit.post("/login", username="olga", password=PASSWORD)
        return visit
