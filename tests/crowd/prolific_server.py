"""A local server that speaks Prolific's API as far as studies, submissions, bonuses and webhooks go, with its books.

Written from Prolific's documentation. `fail` makes the next calls of a path fail: before the act (`refuse`, `busy`), or
after it, with the answer lost (`lost`). `hold` keeps a call waiting until the process that made it is gone.
"""

import base64
import hmac
import json
import re
import secrets
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_hex
from typing import Any

TOKEN = "prolific-token-1"
TRANSITIONS = {
    "PUBLISH": ("UNPUBLISHED", "ACTIVE"), "START": ("PAUSED", "ACTIVE"), "PAUSE": ("ACTIVE", "PAUSED"),
    "STOP": ("ACTIVE", "PAUSED", "AWAITING REVIEW"),
}  # fmt: skip
"""For each action of a study the states that it leads from, and the one that it leads to."""


@dataclass
class Books:
    """Everything that the platform knows; `calls` counts acts by method and path with the ids left out.

    With `keeps_rejections` a rejected submission cannot be approved any more.
    """

    studies: dict[str, dict[str, Any]] = field(default_factory=dict)
    submissions: dict[str, dict[str, Any]] = field(default_factory=dict)
    bonuses: dict[str, dict[str, Any]] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    failures: list[tuple[str, str]] = field(default_factory=list)
    delayed: bool = False
    keeps_rejections: bool = False

    def paid(self, session: str) -> int:
        """The bonuses of a submission in pence."""
        return sum(self.submissions[session]["bonus_payments"])

    def process(self) -> None:
        """Carry out the bonuses that were asked for, as Prolific does some minutes later."""
        for bonus in self.bonuses.values():
            for _ in range(bonus.pop("asked", 0)):
                for session, amount in bonus["lines"]:
                    self.submissions[session]["bonus_payments"].append(amount)


class Prolific:
    """The running server."""

    def __init__(self) -> None:
        self.books, self.lock = Books(), threading.RLock()
        self.reached, self.released = threading.Event(), threading.Event()
        platform = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                raw = self.rfile.read(length)
                token = self.headers.get("Authorization") == f"Token {TOKEN}"
                with platform.lock:
                    if not token:
                        status, body = 401, {"error": {"status": 401, "title": "Authentication error"}}
                    else:
                        status, body = platform.act(self.command, self.path, json.loads(raw) if raw else {})
                if status < 0:
                    platform.reached.set()
                    platform.released.wait(60)
                if status <= 0:  # the answer is lost
                    self.close_connection = True
                    self.connection.close()
                    return
                content = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = answer

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def fail(self, path: str, how: str) -> None:
        """Let the next call of a path (or `POST path`) fail: `refuse`, `busy`, `lost` (done, answer lost), `hang` (the
        same, late), `stall` (late, and nothing done)."""
        self.books.failures.append((path, how))

    def hold(self, path: str, acts: bool) -> None:
        """Keep the next call of a path waiting, after it was acted on or instead, from `reached` until `released`."""
        self.reached.clear()
        self.released.clear()
        self.fail(path, "hang" if acts else "stall")

    def act(self, method: str, target: str, body: dict[str, Any]) -> tuple[int, Any]:
        """One call; status 0 loses the answer."""
        path, _, query = target.partition("?")
        path = path.removeprefix("/api/v1")
        called = (path, f"{method} {path}")
        entry = next((row for row in self.books.failures if any(re.fullmatch(row[0], name) for name in called)), None)
        how = entry[1] if entry else ""
        if entry:
            self.books.failures.remove(entry)
        if how == "stall":
            return -1, None
        if how == "busy":
            return 429, {}
        if how == "refuse":
            return 400, {"error": {"status": 400, "title": "Bad request", "detail": "Not enough funds."}}
        self.books.calls[f"{method} {re.sub(r'[a-f0-9]{24}', ':id', path)}"] += 1
        status, answer = self.route(method, path, dict(part.split("=") for part in query.split("&") if part), body)
        return {"lost": (0, None), "hang": (-1, None)}.get(how, (status, answer))

    def route(self, method: str, path: str, query: dict[str, str], body: dict[str, Any]) -> tuple[int, Any]:
        books = self.books
        if (method, path) == ("GET", "/users/me/"):
            return 200, {"id": "5" * 24, "email": "lab@example.org"}
        if (method, path) == ("GET", "/studies/"):
            return self.listed(list(books.studies.values()), query)
        if (method, path) == ("POST", "/studies/"):
            codes = body["completion_codes"]
            assert {code["actions"][0]["action"] for code in codes} <= {
                "AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW", "REQUEST_RETURN",
            }  # fmt: skip
            assert "{{%PROLIFIC_PID%}}" in body["external_study_url"]
            study = body | {"id": secrets.token_hex(12), "status": "UNPUBLISHED"}
            books.studies[study["id"]] = study
            return 201, study
        if match := re.fullmatch(r"/studies/([a-f0-9]{24})/", path):
            return (200, books.studies[match[1]]) if match[1] in books.studies else (404, {})
        if match := re.fullmatch(r"/studies/([a-f0-9]{24})/transition/", path):
            states, study = TRANSITIONS[body["action"]], books.studies[match[1]]
            if study["status"] not in states[:-1]:
                return 400, {"error": {"detail": f"A study that is {study['status']} cannot {body['action']}."}}
            study["status"] = states[-1]
            return 200, study
        if match := re.fullmatch(r"/studies/([a-f0-9]{24})/submissions/", path):
            return self.listed([row for row in books.submissions.values() if row["study_id"] == match[1]], query)
        if match := re.fullmatch(r"/submissions/([a-f0-9]{24})/", path):
            row = books.submissions.get(match[1])
            return (200, row | {"participant": row["participant_id"]}) if row else (404, {"error": {"detail": "No."}})
        if match := re.fullmatch(r"/submissions/([a-f0-9]{24})/transition/", path):
            return self.decide(books.submissions[match[1]], body)
        if (method, path) == ("POST", "/submissions/bonus-payments/"):
            return self.set_up(body)
        if match := re.fullmatch(r"/bulk-bonus-payments/([a-f0-9]{24})/pay/", path):
            bonus = books.bonuses[match[1]]
            bonus["asked"] = bonus.get("asked", 0) + 1  # not idempotent, as at Prolific
            if not books.delayed:
                books.process()
            return 202, "is being processed asynchronously"
        return 404, {}

    def listed(self, rows: list[dict[str, Any]], query: dict[str, str]) -> tuple[int, Any]:
        offset, limit = int(query.get("offset", 0)), int(query.get("limit", 20))
        return 200, {"results": rows[offset : offset + limit]}

    def decide(self, row: dict[str, Any], body: dict[str, Any]) -> tuple[int, Any]:
        to = {"APPROVE": "APPROVED", "REJECT": "REJECTED"}[body["action"]]
        if body["action"] == "REJECT" and len(body["message"]) < 100:
            return 400, {"error": {"detail": "The message is too short."}}
        changeable = {"AWAITING REVIEW", to} | (set() if self.books.keeps_rejections else {"REJECTED"})
        if row["status"] not in changeable:
            return 400, {"error": {"detail": f"A submission that is {row['status']} cannot be decided."}}
        row["status"] = to
        return 200, row

    def set_up(self, body: dict[str, Any]) -> tuple[int, Any]:
        lines = []
        for line in body["csv_bonuses"].splitlines():
            session, amount = line.split(",")
            row = self.books.submissions.get(session)
            if row is None or row["study_id"] != body["study_id"]:
                return 400, {"error": {"detail": f"Unknown: {session}"}}
            lines.append((session, int(Decimal(amount) * 100)))
        bonus = {"id": secrets.token_hex(12), "lines": lines}
        self.books.bonuses[bonus["id"]] = bonus
        return 201, {"id": bonus["id"], "amount": sum(amount for _, amount in lines)}

    def reserve(self, study: str, worker: str | None = None) -> dict[str, str]:
        """A worker takes a place; the parameters with which the platform sends them."""
        row = {
            "id": secrets.token_hex(12), "participant_id": worker or secrets.token_hex(12), "study_id": study,
            "status": "ACTIVE", "study_code": "", "bonus_payments": [],
        }  # fmt: skip
        self.books.submissions[row["id"]] = row
        return {"PROLIFIC_PID": row["participant_id"], "STUDY_ID": study, "SESSION_ID": row["id"]}

    def complete(self, session: str, code: str) -> str:
        """The worker follows the address of completion; what the code's action makes of the submission."""
        row = self.books.submissions[session]
        codes = {entry["code"]: entry for entry in self.books.studies[row["study_id"]]["completion_codes"]}
        actions = {
            "AUTOMATICALLY_APPROVE": "APPROVED",
            "MANUALLY_REVIEW": "AWAITING REVIEW",
            "REQUEST_RETURN": "RETURNED",
        }
        row["study_code"] = code
        row["status"] = actions[codes[code]["actions"][0]["action"]]
        return str(row["status"])

    def event(self, secret: str, session: str, at: float | None = None, id: str = "") -> tuple[dict[str, str], bytes]:
        """The signed webhook call about a submission's state."""
        row = self.books.submissions[session]
        body = json.dumps({
            "event_type": "submission.status.change", "resource_id": session,
            "participant_id": row["participant_id"], "status": row["status"],
        }).encode()  # fmt: skip
        stamp = str(int(at or time.time()))
        mac = base64.b64encode(hmac.digest(secret.encode(), stamp.encode() + body, "sha256")).decode()
        headers = {
            "Content-Type": "application/json", "X-Prolific-Request-Timestamp": stamp,
            "X-Prolific-Request-Signature": mac, "X-Event-Id": id or token_hex(8),
        }  # fmt: skip
        return headers, body
