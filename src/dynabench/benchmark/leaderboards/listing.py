"""Snapshots and forks as programs and pages see them."""

from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from dynabench.benchmark.leaderboards import queries, schemas
from dynabench.benchmark.leaderboards.snapshots import find_fork
from dynabench.benchmark.leaderboards.tables import Fork, Snapshot
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LISTED_FORKS = 100  # forks of a task that are listed


def snapshot_row(of: Snapshot, by: Person | None) -> schemas.SnapshotRow:
    """One line about a snapshot."""
    return schemas.SnapshotRow(
        slug=of.slug, task=of.task_id, title=of.title, digest=of.digest, by=by.public_name if by else "",
        made_at=of.made_at,
    )  # fmt: skip


def snapshot_page(session: Session, task: str, after: str, limit: int) -> schemas.SnapshotPage:
    """A page of a task's snapshots, newest first."""
    rounds.task(session, task)
    found = session.execute(queries.snapshots_of_task(task, _cursor(after), limit + 1)).all()
    items = [snapshot_row(made, person) for made, person in found[:limit]]
    more = len(found) > limit
    return schemas.SnapshotPage(items=items, next=_cursor_text(items[-1]) if more else None)


def _cursor_text(last: schemas.SnapshotRow) -> str:
    microseconds = (last.made_at - EPOCH) // timedelta(microseconds=1)
    return f"{microseconds}_{last.slug}"


def _cursor(text: str) -> tuple[datetime, str] | None:
    if not text:
        return None
    moment, _line, slug = text.partition("_")
    try:
        return EPOCH + timedelta(microseconds=int(moment)), slug
    except (ValueError, OverflowError, OSError):
        raise errors.Invalid({"after": _("Give the `next` of an earlier page.")}) from None


def fork_out(of: Fork, by: Person | None) -> schemas.ForkOut:
    """A fork."""
    return schemas.ForkOut(
        slug=of.slug, task=of.task_id, title=of.title, note=of.note, weights=of.weights,
        by=by.public_name if by else "", made_at=of.made_at,
    )  # fmt: skip


def read_fork(session: Session, slug: str) -> schemas.ForkOut:
    """The fork at this address; raises `NotFound`."""
    found = find_fork(session, slug)
    return fork_out(found, session.get(Person, found.person_id) if found.person_id else None)


def list_forks(session: Session, task: str) -> schemas.ForkList:
    """A task's forks, newest first."""
    rounds.task(session, task)
    return schemas.ForkList(
        items=[fork_out(*each) for each in session.execute(queries.forks_of_task(task, LISTED_FORKS))]
    )
