"""Webhooks of people and of tasks: which there are, and what is sent to them. Runs in the caller's transaction."""

import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from dynabench.kit import errors, jobs
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.outgoing import AllowedHosts, check_address
from dynabench.kit.security import keyed
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Act, Notice, Person
from dynabench.people.notices import events, queries
from dynabench.people.notices.tables import Delivery, DeliveryState, Hook, Try

SETTING = "DYNABENCH_WEBHOOK_HOSTS"
MOST_OF_A_PERSON, MOST_OF_A_TASK = 5, 10
URL = 500  # characters
TEXT = 2000  # characters of a notice


@dataclass(frozen=True)
class Holder:
    """The holder of webhooks: the task, or the person where `task` is None. `by` is the person who asks."""

    by: Person
    task: str | None = None

    @property
    def ids(self) -> tuple[int | None, str | None]:
        """Person and task, one of them None."""
        return (None, self.task) if self.task is not None else (self.by.id, None)


def emit_event(session: Session, task_id: str, event: str, data: Mapping[str, Any]) -> None:
    """Send an event of a task (`events.TASK_EVENTS`) to its webhooks that want it, once this is committed.

    Raises `ValidationError` for members that the event does not have.
    """
    body = events.event_body(event, dict(data))
    for hook in session.scalars(queries.hooks_of(None, task_id)):
        if hook.off_at is None and event in hook.events:
            _queue(session, hook, event, body)


def send_notice(session: Session, notice: Notice) -> None:
    """Send a notice to its person's webhooks, once this is committed."""
    hooks = [hook for hook in session.scalars(queries.hooks_of(notice.person_id, None)) if hook.off_at is None]
    if not hooks:
        return
    session.flush()
    text = (notice.outside or notice.text)[:TEXT]
    data = {"notice": notice.id, "kind": notice.kind, "text": text, "page": notice.link}
    for hook in hooks:
        _queue(session, hook, events.NOTICE, events.event_body(events.NOTICE, data))


def _queue(session: Session, hook: Hook, event: str, body: str) -> Delivery:
    delivery = Delivery(hook_id=hook.id, event=event, message=f"msg_{secrets.token_hex(16)}", body=body)
    session.add(delivery)
    session.flush()
    enqueue(session, delivery)
    return delivery


def enqueue(session: Session, delivery: Delivery) -> None:
    """Ask for the next try, at `due_at` or at once."""
    job = jobs.enqueue(session, "call_webhook", {"delivery": delivery.id}, due_at=delivery.due_at)
    delivery.job_id = job.id


def list_webhooks(session: Session, holder: Holder) -> list[tuple[Hook, Try | None]]:
    """The holder's webhooks, each with its latest try."""
    hooks = session.scalars(queries.hooks_of(*holder.ids)).all()
    last = dict(session.execute(queries.last_tries([hook.id for hook in hooks])).all())
    return [(hook, last.get(hook.id)) for hook in hooks]


def find_webhook(session: Session, holder: Holder, id: int) -> Hook:
    """One of the holder's webhooks; `NotFound` where it is not theirs."""
    hook = session.get(Hook, id)
    if hook is None or (hook.person_id, hook.task_id) != holder.ids:
        raise errors.NotFound(_("There is no such webhook."))
    return hook


def add_webhook(session: Session, settings: Settings, holder: Holder, url: str, events: Collection[str]) -> Hook:
    """A new webhook. Raises `Invalid` for an address that is not called or events that there are not, `Conflict`
    where there are enough."""
    url = _clean_url(settings, url)
    chosen = _clean_events(holder, events)
    most = MOST_OF_A_PERSON if holder.task is None else MOST_OF_A_TASK
    if (session.scalar(queries.count_hooks(*holder.ids)) or 0) >= most:
        raise errors.Conflict(_("You can have at most %(most)s webhooks. Delete one first.", most=most))
    person, task = holder.ids
    hook = Hook(person_id=person, task_id=task, url=url, events=chosen, salt=secrets.token_hex(32))
    hook.created_by = holder.by.id
    session.add(hook)
    session.flush()
    _record_act(session, holder, "webhook.added", hook)
    return hook


def _clean_url(settings: Settings, url: str) -> str:
    url = url.strip()
    if len(url) > URL:
        raise errors.Invalid({"url": _("An address has at most %(url)s characters.", url=URL)})
    check_address(url, AllowedHosts.read(settings.webhook_hosts, SETTING), query=True)
    return url


def _clean_events(holder: Holder, chosen: Collection[str]) -> list[str]:
    if holder.task is None:
        if chosen:
            raise errors.Invalid(
                {"events": _("Your own webhooks get your notices; choose the kinds in your settings.")}
            )
        return []
    if not chosen or set(chosen) - set(events.TASK_EVENTS):
        raise errors.Invalid({"events": _("Choose from %(task_events)s.", task_events=", ".join(events.TASK_EVENTS))})
    return [event for event in events.TASK_EVENTS if event in chosen]


def switch_webhook(session: Session, holder: Holder, id: int, on: bool) -> Hook:
    """Call it again, or no more; what waits is given up when its turn comes."""
    hook = find_webhook(session, holder, id)
    if on == (hook.off_at is not None):
        hook.off_at, hook.reason, hook.failing_since = (None if on else now()), "", None
        _record_act(session, holder, "webhook.on" if on else "webhook.off", hook)
    return hook


def delete_webhook(session: Session, holder: Holder, id: int) -> None:
    """Delete a webhook with what was sent to it."""
    hook = find_webhook(session, holder, id)
    _record_act(session, holder, "webhook.deleted", hook)
    session.delete(hook)


def renew_secret(session: Session, holder: Holder, id: int) -> Hook:
    """Give it another secret; the old one is used no more from the next try on."""
    hook = find_webhook(session, holder, id)
    hook.salt = secrets.token_hex(32)
    _record_act(session, holder, "webhook.secret", hook)
    return hook


def send_test(session: Session, holder: Holder, id: int) -> Delivery:
    """Send a message that says nothing, once. Raises `Conflict` while it is off."""
    return _queue(session, _switched_on(session, holder, id), events.TEST, events.event_body(events.TEST, {}))


def send_again(session: Session, holder: Holder, id: int, delivery_id: int) -> Delivery:
    """Send an earlier message again, under the same id. Raises `Conflict` while it is under way or the hook is off."""
    hook = _switched_on(session, holder, id)
    delivery = session.get(Delivery, delivery_id, with_for_update=True)
    if delivery is None or delivery.hook_id != hook.id:
        raise errors.NotFound(_("There is no such message."))
    if delivery.state == DeliveryState.WAITING and delivery.due_at is None:
        raise errors.Conflict(_("It is already being sent."))
    delivery.state, delivery.tries, delivery.due_at = DeliveryState.WAITING, 0, None
    enqueue(session, delivery)
    return delivery


def _switched_on(session: Session, holder: Holder, id: int) -> Hook:
    hook = find_webhook(session, holder, id)
    if hook.off_at is not None:
        raise errors.Conflict(_("This webhook is off. Turn it on first."))
    return hook


@dataclass(frozen=True)
class SentMessage:
    """A message with the tries at it, oldest first."""

    delivery: Delivery
    tries: Sequence[Try]


def list_deliveries(
    session: Session, holder: Holder, id: int, after: int | None = None, limit: int = 25
) -> tuple[Hook, list[SentMessage], int | None]:
    """A webhook, what was sent to it, newest first, and the cursor of the next page."""
    hook = find_webhook(session, holder, id)
    rows = session.scalars(queries.deliveries(hook.id, after, limit + 1)).all()
    page = rows[:limit]
    tries_by_delivery: dict[int, list[Try]] = {row.id: [] for row in page}
    for row in session.scalars(queries.tries([*tries_by_delivery])):
        tries_by_delivery[row.delivery_id].append(row)
    following = page[-1].id if len(rows) > limit else None
    return hook, [SentMessage(row, tries_by_delivery[row.id]) for row in page], following


LOG_RETENTION = timedelta(days=30)
"""How long it is told what was sent."""


def _record_act(session: Session, holder: Holder, kind: str, hook: Hook) -> None:
    """A line of the task's audit log; people's own webhooks are their own matter."""
    if holder.task is not None:
        session.add(Act(person_id=holder.by.id, kind=kind, task_id=holder.task, subject={"webhook": hook.id}))


PREFIX = "whsec_"


def webhook_secret(settings: Settings, hook: Hook) -> str:
    """Return the secret that signs the messages of a webhook: `whsec_` and 32 bytes in base64."""
    return PREFIX + b64encode(keyed(settings.key, "webhook", hook.salt)).decode()


def signature(secret: str, message: str, timestamp: int, body: bytes) -> str:
    """`v1,` and the base64 of HMAC-SHA-256 over `message.timestamp.body` under the bytes that the secret spells."""
    signed = f"{message}.{timestamp}.".encode() + body
    return "v1," + b64encode(hmac.digest(b64decode(secret.removeprefix(PREFIX)), signed, "sha256")).decode()
