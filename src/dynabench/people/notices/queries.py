"""Every `select` over wishes, mails and webhooks."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Select, func, select

from dynabench.people.accounts.tables import Notice
from dynabench.people.mailings import Mailing, MailingState
from dynabench.people.notices.tables import Delivery, DeliveryState, Hook, Try


def open_mail(person_id: int) -> Select[Mailing]:
    """The person's mail that more notices may join, held until the transaction ends: one probe."""
    statement = select(Mailing).where(Mailing.person_id == person_id, Mailing.state == MailingState.GATHERING)
    return statement.with_for_update()


def notices_in(mailing_id: int) -> Select[Notice]:
    """Select the notices that a mail brings, oldest first."""
    return select(Notice).where(Notice.mailing_id == mailing_id).order_by(Notice.id)


def hooks_of(person_id: int | None, task_id: str | None) -> Select[Hook]:
    """The webhooks of a person or of a task, oldest first: one index range."""
    mine = Hook.task_id == task_id if task_id is not None else Hook.person_id == person_id
    return select(Hook).where(mine).order_by(Hook.id)


def count_hooks(person_id: int | None, task_id: str | None) -> Select[int]:
    """Select the number of webhooks that a person or a task has."""
    return select(func.count()).select_from(hooks_of(person_id, task_id).order_by(None).subquery())


def deliveries(hook_id: int, after: int | None, limit: int) -> Select[Delivery]:
    """Select the deliveries to a webhook, newest first: one index range."""
    statement = select(Delivery).where(Delivery.hook_id == hook_id)
    if after is not None:
        statement = statement.where(Delivery.id < after)
    return statement.order_by(Delivery.id.desc()).limit(limit)


def tries(delivery_ids: Sequence[int]) -> Select[Try]:
    """The tries of these deliveries, oldest first."""
    return select(Try).where(Try.delivery_id.in_(delivery_ids)).order_by(Try.id)


def last_tries(hook_ids: Sequence[int]) -> Select[int, Try]:
    """Webhook and its latest try."""
    newest = (
        select(func.max(Try.id))
        .join(Delivery, Delivery.id == Try.delivery_id)
        .where(Delivery.hook_id.in_(hook_ids))
        .group_by(Delivery.hook_id)
    )
    return select(Delivery.hook_id, Try).join(Delivery, Delivery.id == Try.delivery_id).where(Try.id.in_(newest))


def mails_under_way() -> Select[str | None, int]:
    """Job and number of mails that are not over."""
    return select(Mailing.job_id, Mailing.id).where(Mailing.state.in_((MailingState.GATHERING, MailingState.SENDING)))


def calls_under_way() -> Select[str | None, int]:
    """Job and number of deliveries that are not over."""
    return select(Delivery.job_id, Delivery.id).where(Delivery.state == DeliveryState.WAITING)


def old_deliveries(moment: datetime) -> Select[int]:
    """Deliveries from before `moment` that are over: one index range."""
    return select(Delivery.id).where(Delivery.created_at < moment, Delivery.state != DeliveryState.WAITING)
