"""The quota of submissions: models or training sets that one person may submit to a task in 24 hours."""

from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from dynabench.benchmark.registry import queries
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.tasks import TaskConfig

DAY = timedelta(days=1)


def require_quota(session: Session, person: Person, config: TaskConfig) -> None:
    """Raises `TooMany`, with when to try again, where a person has entered or tried as many as the task allows."""
    session.get_one(Person, person.id, with_for_update=True)  # two at once count one after the other
    since, limits = now() - DAY, config.submissions
    when = list(session.scalars(queries.counted_times(config.id, person.id, since)))
    if len(when) >= limits.per_day:
        raise _later(
            _("You have submitted %(per_day)s models for this task in 24 hours.", per_day=limits.per_day),
            when[-limits.per_day],
        )
    tried, first = session.execute(queries.count_attempts(config.id, person.id, since)).one()
    if tried is not None and first is not None and tried >= limits.attempts:
        raise _later(
            _("You have made %(attempts)s attempts for this task in 24 hours.", attempts=limits.attempts), first
        )


def _later(text: str, oldest: datetime) -> errors.TooMany:
    at = oldest + DAY
    seconds = max(1, int((at - now()).total_seconds()) + 1)
    return errors.TooMany(
        _("%(what)s Try again after %(at)s UTC.", what=text, at=f"{at:%Y-%m-%d %H:%M}"), retry_after=seconds
    )
