"""A small panel of the common kind: it sends participants by an address with their id, and takes a code back.

The code comes by a redirect or is typed. The panel cannot check it; its operator downloads a list of codes, decides on
each participant, and pays bonuses from a CSV file. The panel keeps its own books, in cents.
"""

import csv
import html
import io
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, urlsplit

PAGE = """<!doctype html><html lang="en"><title>Panel</title><main>%s</main>"""
TYPED = """<p>Enter the completion code that the study gave you.</p><form method="post" action="/typed">
<input type="hidden" name="pid" value="%s"><label>Completion code <input name="code"></label>
<button>Submit code</button></form>"""


@dataclass
class Part:
    """One participant as the panel knows them; `reward` and `bonus` are what it paid, in cents."""

    code: str = ""
    outcome: str = ""
    status: str = "started"
    reason: str = ""
    reward: int = 0
    bonus: int = 0


class Panel:
    """A running panel; `parts` are its books, `closed` the ids of accounts that can be paid no bonus."""

    def __init__(self, reward: int) -> None:
        self.reward, self.parts, self.lock = reward, dict[str, Part](), threading.RLock()
        self.closed: set[str] = set()
        self.study = ""
        panel = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                with panel.lock:
                    status, text = panel.act(urlsplit(self.path).path, self.path, body)
                self.send_response(status)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_POST = answer

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def act(self, path: str, address: str, body: str) -> tuple[int, str]:
        """Answer a request of a participant."""
        values = {name: texts[0] for name, texts in parse_qs(body or urlsplit(address).query).items()}
        part = self.parts.get(values.get("pid", ""))
        if path == "/favicon.ico":
            return 204, ""
        if part is None:
            return 404, PAGE % "You are not a participant of this panel."
        if path == "/join":
            link = self.study.replace("=ID", f"={quote(values['pid'], safe='')}")
            return 200, PAGE % f'<a href="{html.escape(link)}">Start the study</a>'
        if path == "/code":
            return 200, PAGE % (TYPED % html.escape(values["pid"]))
        if path in ("/done", "/typed") and part.status in ("started", "submitted"):
            part.code, part.outcome = values.get("code", ""), values.get("how", "")
            part.status = "submitted"
            return 200, PAGE % "Thank you. Your submission is being reviewed."
        return 409, PAGE % "This submission is closed."

    def join(self, name: str) -> str:
        """Register a participant; returns the address of the page with the way into the study."""
        self.parts[name] = Part()
        return f"{self.address}/join?pid={quote(name, safe='')}"

    def codes_csv(self) -> str:
        """Return the panel's list of those who submitted, as its operator downloads it."""
        file = io.StringIO()
        writer = csv.writer(file)
        writer.writerow(("Participant ID", "Status", "Completion Code"))
        writer.writerows((name, part.status, part.code) for name, part in self.parts.items() if part.code)
        return file.getvalue()

    def decide(self, rows: Iterable[dict[str, str]]) -> None:
        """Carry out the owner's decisions; an approval pays the reward once."""
        for row in rows:
            part = self.parts[row["worker"]]
            if row["state"] == "approved" and part.status != "approved":
                part.status, part.reward = "approved", self.reward
            elif row["state"] == "rejected" and part.status == "submitted":
                part.status, part.reason = "rejected", row["reason"]

    def pay(self, rows: Iterable[dict[str, str]]) -> list[str]:
        """Pay the bonuses of a file; returns the ids of those whom the panel could not pay."""
        refused = []
        for row in rows:
            if row["worker"] in self.closed:
                refused.append(row["worker"])
            else:
                self.parts[row["worker"]].bonus += int(Decimal(row["amount"]) * 100)
        return refused

    def paid(self) -> dict[str, int]:
        """Return what each participant got, in cents."""
        return {name: part.reward + part.bonus for name, part in self.parts.items() if part.reward + part.bonus}
