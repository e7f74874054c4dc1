"""One try to call a webhook, and what follows from it."""

import time
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy.orm import Session

from dynabench.kit.db import Database, now
from dynabench.kit.errors import Problem
from dynabench.kit.language import _
from dynabench.kit.outgoing import AllowedHosts, OutgoingClient
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Act
from dynabench.people.notices import events, mailing, service, webhooks
from dynabench.people.notices.tables import Delivery, DeliveryState, Hook, Try

SECONDS = 15.0
ANSWER_LENGTH = 200  # characters of an answer that are kept
GONE = 410  # the receiver wants no more: Standard Webhooks
PERSISTENT = timedelta(hours=12)
"""A message given up turns its webhook off when nothing got through for this long."""


@dataclass(frozen=True)
class WebhookCall:
    """A message to send to a webhook, and its address."""

    url: str
    message: str
    secret: str
    body: bytes


@dataclass(frozen=True)
class WebhookAnswer:
    """A receiver's answer: status (None without any), milliseconds, the start of the answer or of the error."""

    status: int | None
    ms: int
    text: str

    @property
    def good(self) -> bool:
        """True where the receiver took the message: its status is 200 to 299."""
        return self.status is not None and 200 <= self.status < 300


def try_delivery(database: Database, settings: Settings, id: int, job_id: str) -> dict[str, Any]:
    """Try once to deliver a message; what another job is at, or a webhook that is off, is left alone."""
    call = database.write(_take_call, settings, id, job_id)
    if call is None:
        return {"state": "dropped"}
    answer = post_message(settings, call)
    return {"state": database.write(_record_try, id, job_id, answer), "status": answer.status}


def post_message(settings: Settings, call: WebhookCall) -> WebhookAnswer:
    """Post a message and read how the answer begins; nothing is raised."""
    sent = int(time.time())
    headers = {
        "Content-Type": "application/json",
        "webhook-id": call.message,
        "webhook-timestamp": str(sent),
        "webhook-signature": webhooks.signature(call.secret, call.message, sent, call.body),
    }
    client = OutgoingClient(AllowedHosts.read(settings.webhook_hosts, webhooks.SETTING), connections=1)
    began, status = time.monotonic(), None
    try:
        with client.stream("POST", call.url, call.body, headers, SECONDS) as (reply, parts):
            status, read = reply.status, b""
            for part in parts:
                read += part
                if len(read) > 4 * ANSWER_LENGTH:
                    break
        text = read.decode("utf-8", "replace")
    except Problem as problem:
        text = problem.detail
    finally:
        client.close()
    return WebhookAnswer(status, round((time.monotonic() - began) * 1000), _storable(text))


def _storable(text: str) -> str:
    plain = "".join(
        " " if unicodedata.category(character)[0] == "C" else character for character in text[: 4 * ANSWER_LENGTH]
    )
    return " ".join(plain.split())[:ANSWER_LENGTH]


def _waiting_delivery(session: Session, id: int, job_id: str) -> Delivery | None:
    delivery = session.get(Delivery, id, with_for_update=True)
    waits = delivery is not None and delivery.job_id == job_id and delivery.state == DeliveryState.WAITING
    return delivery if waits else None


def _take_call(session: Session, settings: Settings, id: int, job_id: str) -> WebhookCall | None:
    delivery = _waiting_delivery(session, id, job_id)
    if delivery is None:
        return None
    hook = session.get_one(Hook, delivery.hook_id)
    if hook.off_at is not None:
        delivery.state = DeliveryState.FAILED
        return None
    delivery.due_at = None  # it is being sent
    return WebhookCall(hook.url, delivery.message, webhooks.webhook_secret(settings, hook), delivery.body.encode())


def _record_try(session: Session, id: int, job_id: str, answer: WebhookAnswer) -> str:
    """Keep how a try went; ask for the next in the same transaction, or turn off what never answers."""
    delivery = _waiting_delivery(session, id, job_id)
    if delivery is None:
        return "dropped"
    hook = session.get_one(Hook, delivery.hook_id, with_for_update=True)
    moment = now()
    session.add(Try(delivery_id=id, at=moment, status=answer.status, ms=answer.ms, answer=answer.text))
    delivery.tries += 1
    if answer.good:
        delivery.state, hook.failing_since = DeliveryState.DONE, None
        return delivery.state
    hook.failing_since = hook.failing_since or moment
    _schedule_next_try(session, hook, delivery, answer, moment)
    return delivery.state


def _schedule_next_try(
    session: Session, hook: Hook, delivery: Delivery, answer: WebhookAnswer, moment: datetime
) -> None:
    gone = answer.status == GONE
    delivery.due_at = None if gone or delivery.event == events.TEST else mailing.next_try(delivery.tries)
    if delivery.due_at:
        webhooks.enqueue(session, delivery)
        return
    delivery.state = DeliveryState.FAILED
    since = hook.failing_since or moment
    if gone:
        _turn_off(session, hook, _("It answered %(gone)s, which means that it wants no more messages.", gone=GONE))
    elif delivery.event != events.TEST and moment - since >= PERSISTENT:
        _turn_off(session, hook, _("No message was delivered since %(since)s UTC.", since=f"{since:%Y-%m-%d %H:%M}"))


def _turn_off(session: Session, hook: Hook, reason: str) -> None:
    """Call it no more, and tell who made it."""
    if hook.off_at is not None:
        return
    hook.off_at, hook.reason = now(), reason
    if hook.task_id is not None:
        session.add(Act(kind="webhook.off", task_id=hook.task_id, subject={"webhook": hook.id, "reason": reason}))
    link = f"/tasks/{hook.task_id}/manage/webhooks" if hook.task_id else "/settings/notifications"
    if hook.created_by is not None:
        text = f"Your webhook at {urlsplit(hook.url).hostname} is turned off. {reason}"
        service.notify_person(
            session, hook.created_by, "webhook", text, link=f"{link}/{hook.id}" if hook.task_id else link
        )
