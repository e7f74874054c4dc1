"""Receivers of webhooks and mail servers, real ones, on this machine."""

import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import Envelope
from aiosmtpd.smtp import Session as Conversation
from sqlalchemy import select

from dynabench.kit.db import Database
from dynabench.kit.jobs import Job
from dynabench.kit.settings import Settings
from dynabench.people.mailings import Mailing
from dynabench.people.notices import calling, mailing
from dynabench.people.notices.tables import Delivery


@dataclass
class Inbox:
    """A mail server that keeps what it takes; `answers` are given in turn before it takes anything."""

    port: int = 0
    answers: list[str] = field(default_factory=list)
    refuses: list[str] = field(default_factory=list)  # answers to the recipient
    mails: list[EmailMessage] = field(default_factory=list)
    drops: bool = False
    encrypted: list[bool] = field(default_factory=list)

    async def handle_RCPT(self, server: Any, session: Conversation, envelope: Envelope, to: str, _: Any) -> str:
        if self.refuses:
            return self.refuses.pop(0)
        envelope.rcpt_tos.append(to)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Conversation, envelope: Envelope) -> str:
        if self.drops:
            server.transport.abort()
            return "451 gone"
        if self.answers:
            return self.answers.pop(0)
        self.encrypted.append(server.transport.get_extra_info("cipher") is not None)
        read = message_from_bytes(bytes(envelope.content or b""), policy=policy.default)
        self.mails.append(read)  # type: ignore[arg-type]
        return "250 OK"


def free_port() -> int:
    """A port that nobody listens on: the mail server cannot choose one itself."""
    with socket.socket() as first:
        first.bind(("127.0.0.1", 0))
        return int(first.getsockname()[1])


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    """A mail server without encryption."""
    created = Inbox()
    created.port = free_port()
    controller = Controller(created, hostname="127.0.0.1", port=created.port)
    controller.start()
    yield created
    controller.stop()


@pytest.fixture
def settings(settings: Settings, inbox: Inbox) -> Settings:
    """Settings of a site that sends mail, and whose webhooks may be on this machine."""
    return settings.model_copy(
        update={
            "smtp_host": "127.0.0.1", "smtp_port": inbox.port, "smtp_security": "none",
            "smtp_sender": "The Bench <bench@example.org>", "public_url": "https://bench.example.org/",
            "webhook_hosts": "127.0.0.1",
        }
    )  # fmt: skip


@dataclass
class Receiver:
    """A receiver of webhooks; `answers` are (status, body) in turn, then 204."""

    url: str = ""
    answers: list[tuple[int, bytes]] = field(default_factory=list)
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    location: str = ""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """An HTTP server that keeps what it gets."""
    created = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            created.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            status, answer = created.answers.pop(0) if created.answers else (204, b"")
            self.send_response(status)
            if created.location:
                self.send_header("Location", created.location)
            if status != 204:
                self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    created.url = f"http://127.0.0.1:{server.server_port}/hook?key=1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield created
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def work(database: Database, settings: Settings) -> Callable[[], int]:
    """Do what the jobs of mails and webhooks that wait would do, once each, whether due or not; how many."""

    def run() -> int:
        content = database.read(lambda s: s.execute(_open(Mailing, "gathering", "sending")).all())
        for id, job in content:
            mailing.try_sending(database, settings, id, job)
        calls = database.read(lambda s: s.execute(_open(Delivery, "waiting")).all())
        for id, job in calls:
            calling.try_delivery(database, settings, id, job)
        return len(content) + len(calls)

    return run


def _open(table: Any, *states: str) -> Any:
    return select(table.id, table.job_id).where(table.state.in_(states), table.job_id.in_(select(Job.id)))
