"""Reading a round and dividing it: what a preview shows, and what a release of a closed round does."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.collection import board_queries, near, search
from dynabench.collection.search import Filters
from dynabench.collection.tables import Example, Standing
from dynabench.datasets import exports, library, library_queries, scopes
from dynabench.datasets.rows import COLUMNS, moment
from dynabench.datasets.scopes import Scope
from dynabench.db import Database
from dynabench.language import _
from dynabench.releases.checks import ReleaseReport, report, still_open
from dynabench.releases.splitting import Divided, Item, divide
from dynabench.rounds import queries, service
from dynabench.rounds.tables import Round, RoundState
from dynabench.security import keyed
from dynabench.settings import Settings
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Choice
from dynabench.tasks.sections import ReleaseSettings as Rules

LARGEST = 1_000_000
"""Examples of a round that is divided at once in memory."""
FLAGS = 10_000
AT = {name: place for place, name in enumerate(COLUMNS)}


@dataclass(frozen=True)
class Subject:
    """The round that is released, with its config; `scope` reads all of it under the release's own pseudonyms."""

    task: str
    number: int
    round_id: int
    state: str
    version: int
    written_at: str
    source: str
    config: TaskConfig
    scope: Scope
    opened_at: str
    closed_at: str
    document: Round

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"{self.task}-round-{self.number}"


@dataclass(frozen=True)
class Plan:
    """How a round would be divided. `seen` changes whenever anything about its examples does."""

    subject: Subject
    rules: Rules
    divided: Divided
    report: ReleaseReport
    seen: str


def subject(session: Session, settings: Settings, task: str, number: int) -> Subject:
    """The round; raises `NotFound`, and `Conflict` for a draft."""
    found = service.round_of(session, task, number)
    if found.state == RoundState.DRAFT:
        raise errors.Conflict(_("Round %(number)s was never opened.", number=number))
    versions = {each.id: each for each in session.scalars(queries.versions(task))}
    version = versions[found.version_id]
    what = scopes.scope(session, None, task, number)
    what = replace(what, key=key(settings, task, number), whole=True, public=True)
    return Subject(
        task, number, found.id, found.state, version.number, moment(version.created_at), version.source,
        service.config_of(session, found.version_id), what,
        moment(found.opened_at or found.created_at), moment(found.closed_at or found.created_at), found,
    )  # fmt: skip


def key(settings: Settings, task: str, number: int) -> bytes:
    """The key of a release's pseudonyms: whoever is in two releases has another name in each."""
    return keyed(settings.key, "release", f"{task} {number}")


def canary(settings: Settings, of: Subject) -> str:
    """The GUID that stands in every file of the release."""
    return str(UUID(bytes=keyed(settings.key, "canary", f"{of.task} {of.number}")[:16], version=4))


def records(db: Database, settings: Settings, of: Subject) -> Iterator[dict[str, Any]]:
    """The round's examples as exports write them, in the order in which they were written."""
    for page in exports.records(db, settings, of.scope):
        for record in page:
            yield orjson.loads(exports.line(record))


def plan(db: Database, settings: Settings, task: str, number: int, rules: Rules | None = None) -> Plan:
    """Divide a round by `rules`, by default those of its config. Reads all of it; nothing is locked.

    While the round is open the report says so, and nothing can be released by it.
    """
    of = db.read(subject, settings, task, number)
    seen = db.read(fingerprint, of.round_id)
    chosen = rules or of.config.release
    items = [item(each, of.config) for each in records(db, settings, of)]
    if len(items) > LARGEST:
        raise errors.Conflict(
            _("This round has more than %(largest)s examples, more than are divided at once.", largest=f"{LARGEST:,}")
        )
    waiting, flags, published = db.read(_open_questions, of)
    divided = divide(items, chosen)
    found = report(items, divided, chosen, waiting, flags, published)
    if of.state == RoundState.OPEN:
        found.findings.insert(0, still_open())
    return Plan(of, chosen, divided, found, seen)


def item(row: dict[str, Any], config: TaskConfig) -> Item:
    """An example as far as its part depends on it."""
    context = orjson.dumps(row["context"]["values"], option=orjson.OPT_SORT_KEYS)
    return Item(
        uid=row["uid"],
        writer=row["author"],
        context=hashlib.sha256(context).hexdigest(),
        text=near.text_of(row["input"], config),
        label=_label(row["answer"], config),
        verdict=row["verdict"],
        made_from=row["made_from"],
    )


def _label(values: dict[str, Any], config: TaskConfig) -> str:
    """The answer where it is one of a few options; else nothing."""
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


def _open_questions(session: Session, of: Subject) -> tuple[int, int, bool]:
    """How many examples wait for votes, how many flags for moderators, and whether everybody has the round's rows."""
    waiting = session.scalar(board_queries.waiting(of.round_id)) or 0
    asked = Filters(round=of.number, review="waiting", hidden=False, retracted=False)
    flags = len(search.ids(session, None, of.task, asked, before=None, most=FLAGS))
    dataset = session.scalar(library_queries.of_round(of.round_id))
    return waiting, flags, dataset is not None and library.was_public(session, dataset)


def ids_of(session: Session, round_id: int, uids: list[str]) -> dict[str, int]:
    """The ids of a round's examples by uid."""
    found: dict[str, int] = {}
    for first in range(0, len(uids), 500):
        some = select(Example.uid, Example.id).where(Example.round_id == round_id)
        found |= dict(session.execute(some.where(Example.uid.in_(uids[first : first + 500]))).all())
    return found
