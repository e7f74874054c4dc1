"""The scope of an export and who may have it: owners get all rounds of a task, everybody released ones."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.collection.tables import Tally
from dynabench.datasets.rows import COLUMNS
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.media.store import MediaStore
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState, TaskVersion
from dynabench.tasks import TaskConfig


@dataclass(frozen=True)
class ExportScope:
    """The data to export: rounds of one task, with the configs under which their examples were written."""

    task: str
    rounds: Sequence[Round]
    versions: dict[int, int]  # id -> number
    configs: Sequence[TaskConfig]
    attributions: bool = False
    files: MediaStore | None = None
    """Where the files are that rows show, for exports that hold them."""
    key: bytes = b""
    """What pseudonyms are made with in the place of the deployment's key."""
    whole: bool = False
    """Includes what a release withholds of these rounds: true for the release alone."""
    public: bool = False
    """Readable by everybody: no origin in a round that is not released yet is named or shown."""
    excluded_votes: bool = False
    """Includes votes that owners excluded, marked: true for archives alone."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The members of each row."""
        return (*COLUMNS, "attributions") if self.attributions else COLUMNS

    @property
    def name(self) -> str:
        """The name of the file, without its ending."""
        return self.task if len(self.rounds) != 1 else f"{self.task}-round-{self.rounds[0].number}"


def export_scope(
    session: Session, person: Person | None, task_id: str, number: int | None = None, *, attributions: bool = False
) -> ExportScope:
    """Return the scope that a person may export: everything for owners, released rounds for others.

    The operator (`person` is None) counts as an owner; visitors go through `visitor_scope`.
    Raise `NotFound` for a round that does not exist, `Forbidden` if the person may export nothing.
    """
    rounds.get_task(session, task_id)
    owner = may.actor_may(session, person, Action.EXPORT_UNRELEASED, task_id)
    return _scope(session, task_id, number, owner=owner, attributions=attributions)


def visitor_scope(
    session: Session, task_id: str, number: int | None = None, *, attributions: bool = False
) -> ExportScope:
    """Return the scope that a visitor may export: released rounds of tasks without a content warning.

    Raise `Unauthenticated` if the task has a warning or nothing asked for is released.
    """
    if rounds.task_config(session, task_id).content_warning:
        raise errors.Unauthenticated(_("This task has a content warning. Log in to export it."))
    try:
        return _scope(session, task_id, number, owner=False, attributions=attributions)
    except errors.Forbidden as problem:
        raise errors.Unauthenticated(_("%(detail)s Log in if you are one.", detail=problem.detail)) from None


def _scope(session: Session, task_id: str, number: int | None, *, owner: bool, attributions: bool) -> ExportScope:
    rounds_found = (
        [rounds.round_of(session, task_id, number)] if number else list(session.scalars(queries.rounds(task_id)))
    )
    chosen = [round_ for round_ in reversed(rounds_found) if owner or round_.state == RoundState.RELEASED]
    if not chosen and not owner:
        raise errors.Forbidden(
            _("Everyone can export a round once it is released; before that, only the task's owners.")
        )
    versions = {round_.version_id: session.get_one(TaskVersion, round_.version_id).number for round_ in chosen}
    if not versions:  # an export without rows has the columns of today's config
        newest = session.scalars(queries.versions(task_id).limit(1)).one()
        versions = {newest.id: newest.number}
    configs = [rounds.config_of(session, version_id) for version_id in versions]
    return ExportScope(task_id, chosen, versions, configs, attributions, public=not owner)


def expected_rows(session: Session, scope: ExportScope) -> int:
    """Return the expected number of rows in an export, from the counters."""
    ids = [round_.id for round_ in scope.rounds]
    return session.scalar(select(func.sum(Tally.examples)).where(Tally.round_id.in_(ids))) or 0
