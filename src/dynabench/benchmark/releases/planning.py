"""The division of a round before its release: for a preview, and for the release of a closed round."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.benchmark.releases.division import (
    Division,
    ReleaseReport,
    SplitItem,
    divide_items,
    release_report,
    still_open,
)
from dynabench.collection import boards, near_duplicates, search
from dynabench.collection.search import Filters
from dynabench.collection.tables import Example, FlagReview, Standing
from dynabench.datasets import exports, library, scopes
from dynabench.datasets.rows import format_moment
from dynabench.datasets.scopes import ExportScope
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.security import keyed
from dynabench.kit.settings import Settings
from dynabench.rounds import queries, service
from dynabench.rounds.tables import DemoMark, Round, RoundState
from dynabench.tasks import TaskConfig
from dynabench.tasks.editing import without_onboarding
from dynabench.tasks.fields import Choice
from dynabench.tasks.sections import ReleaseSettings as Rules

MAX_EXAMPLES = 1_000_000
"""Examples of a round that is divided at once in memory."""
MAX_FLAGS = 10_000


@dataclass(frozen=True)
class ReleaseSubject:
    """The round to be released, with its config; `scope` reads all of it under the release's own pseudonyms."""

    task: str
    number: int
    round_id: int
    state: str
    version: int
    written_at: str
    source: str
    config: TaskConfig
    scope: ExportScope
    opened_at: str
    closed_at: str
    document: Round
    demo: bool
    """True if the demo added the round."""

    @property
    def name(self) -> str:
        """The name of its files."""
        return f"{self.task}-round-{self.number}"


@dataclass(frozen=True)
class ReleasePlan:
    """The division that a round would get. `seen` is a digest of its examples, which changes with any of them."""

    subject: ReleaseSubject
    rules: Rules
    divided: Division
    report: ReleaseReport
    seen: str


def load_subject(session: Session, settings: Settings, task: str, number: int) -> ReleaseSubject:
    """Load the round; raises `NotFound`, and `Conflict` for a draft."""
    round_ = service.round_of(session, task, number)
    if round_.state == RoundState.DRAFT:
        raise errors.Conflict(_("Round %(number)s was never opened.", number=number))
    versions = {config_version.id: config_version for config_version in session.scalars(queries.versions(task))}
    version = versions[round_.version_id]
    export_scope = scopes.export_scope(session, None, task, number)
    export_scope = replace(export_scope, key=pseudonym_key(settings, task, number), whole=True, public=True)
    return ReleaseSubject(
        task, number, round_.id, round_.state, version.number, format_moment(version.created_at),
        without_onboarding(version.source),
        service.config_of(session, round_.version_id), export_scope,
        format_moment(round_.opened_at or round_.created_at),
        format_moment(round_.closed_at or round_.created_at), round_,
        session.get(DemoMark, ("round", str(round_.id))) is not None,
    )  # fmt: skip


def pseudonym_key(settings: Settings, task: str, number: int) -> bytes:
    """Return the key of a release's pseudonyms: a person in two releases has another name in each."""
    return keyed(settings.key, "release", f"{task} {number}")


def canary_guid(settings: Settings, release_subject: ReleaseSubject) -> str:
    """Return the GUID that stands in every file of the release."""
    return str(
        UUID(bytes=keyed(settings.key, "canary", f"{release_subject.task} {release_subject.number}")[:16], version=4)
    )


def export_records(db: Database, settings: Settings, release_subject: ReleaseSubject) -> Iterator[dict[str, Any]]:
    """The round's examples as exports write them, in the order in which they were written."""
    for page in exports.read_records(db, settings, release_subject.scope):
        for record in page:
            yield orjson.loads(exports.json_line(record))


def plan_release(db: Database, settings: Settings, task: str, number: int, rules: Rules | None = None) -> ReleasePlan:
    """Divide a round by `rules`, by default those of its config. Reads all of it; nothing is locked.

    While the round is open the report says so, and nothing can be released by it.
    """
    release_subject = db.read(load_subject, settings, task, number)
    seen = db.read(fingerprint, release_subject.round_id)
    chosen = rules or release_subject.config.release
    items = [split_item(row, release_subject.config) for row in export_records(db, settings, release_subject)]
    if len(items) > MAX_EXAMPLES:
        raise errors.Conflict(
            _(
                "This round has more than %(largest)s examples, the most that can be split at once.",
                largest=f"{MAX_EXAMPLES:,}",
            )
        )
    waiting, flags, published = db.read(_open_questions, release_subject)
    divided = divide_items(items, chosen)
    checked = release_report(items, divided, chosen, waiting, flags, published)
    if release_subject.state == RoundState.OPEN:
        checked.findings.insert(0, still_open())
    return ReleasePlan(release_subject, chosen, divided, checked, seen)


def split_item(row: dict[str, Any], config: TaskConfig) -> SplitItem:
    """Return the properties of an example that its part depends on."""
    context = orjson.dumps(row["context"]["values"], option=orjson.OPT_SORT_KEYS)
    return SplitItem(
        uid=row["uid"],
        writer=row["author"],
        context=hashlib.sha256(context).hexdigest(),
        text=near_duplicates.text_of(row["input"], config),
        label=_label(row["answer"], config),
        verdict=row["verdict"],
        made_from=row["made_from"],
    )


def _label(values: dict[str, Any], config: TaskConfig) -> str:
    """The answer where it is one of a few options; else an empty text."""
    chosen = [str(values.get(field.name)) for field in config.answer if isinstance(field, Choice)]
    return " / ".join(chosen)


def fingerprint(session: Session, round_id: int) -> str:
    """A digest of all that a division depends on and that may change in a closed round: one walk over its standings."""
    columns = (
        Standing.example_id,
        Standing.verdict,
        Standing.fooled,
        Standing.retracted,
        Standing.hidden,
        Standing.votes,
    )
    rows = session.execute(select(*columns).where(Standing.round_id == round_id).order_by(Standing.example_id))
    digest = hashlib.sha256()
    for row in rows.yield_per(10_000):
        digest.update(repr(tuple(row)).encode())
    return digest.hexdigest()


def _open_questions(session: Session, release_subject: ReleaseSubject) -> tuple[int, int, bool]:
    """The number of examples that wait for votes, the number of flags that wait for moderators, and whether a public
    dataset has the round's rows."""
    waiting = session.scalar(boards.waiting(release_subject.round_id)) or 0
    filters = Filters(round=release_subject.number, review=FlagReview.WAITING, hidden=False, retracted=False)
    flags = len(search.ids(session, None, release_subject.task, filters, before=None, most=MAX_FLAGS))
    dataset = session.scalar(library.dataset_of_round(release_subject.round_id))
    return waiting, flags, dataset is not None and library.was_public(session, dataset)


def example_ids(session: Session, round_id: int, uids: list[str]) -> dict[str, int]:
    """The ids of a round's examples by uid."""
    ids: dict[str, int] = {}
    for first in range(0, len(uids), 500):
        statement = select(Example.uid, Example.id).where(Example.round_id == round_id)
        ids |= dict(session.execute(statement.where(Example.uid.in_(uids[first : first + 500]))).all())
    return ids
