"""Lists of an archive with records about people, by pseudonym: onboarding, controls, excluded votes, pay.

Each list is a module that writes its rows and stores them; one without rows is in no archive. Packages above this one
contribute theirs by name (`RECORDS`), imported where archives are written or read.
"""

import hashlib
import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from dynabench.collection.tables import Example
from dynabench.datasets.archives import layout
from dynabench.datasets.imports import places
from dynabench.kit.schemas import StrictModel
from dynabench.kit.security import pseudonym
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Round

MODULES = (
    "dynabench.datasets.archives.onboarding_records",
    "dynabench.datasets.archives.control_records",
    "dynabench.datasets.archives.exclusion_records",
    "dynabench.pay.archive_records",
)
RECORDS: Mapping[str, str] = dict(zip(layout.RECORDS, MODULES, strict=True))
"""The modules that write and store each list, in the order in which they are stored."""
PERSON: tuple[ColumnElement[Any], ...] = (Person.id.label("person_id"), Person.imported_as.label("imported_as"))
"""Columns from which `RecordSource.name` makes a pseudonym."""
UNSTORED = "It belongs to an example or a person that is not in the archive."


@dataclass(frozen=True)
class RecordSource:
    """The task whose records are written."""

    session: Session
    settings: Settings
    task_id: str

    def name(self, row: Any) -> str:
        """Return the pseudonym of the person of a row that has the columns `PERSON`."""
        return row.imported_as or pseudonym(self.settings.key, "person", row.person_id)


@dataclass(frozen=True)
class RecordTarget:
    """The task that records are stored for; with `names_taken` its examples have other names than in the archive."""

    session: Session
    settings: Settings
    task_id: str
    names_taken: bool

    def people(self, names: Iterable[str]) -> dict[str, int]:
        """Return the accounts of pseudonyms, made where there are none."""
        return places.ensure_people(self.session, self.settings, set(names))

    def examples(self, uids: Iterable[str | None]) -> dict[str, int]:
        """Return the ids of the task's examples by their names in the archive."""
        names = {local_uid(self.task_id, uid) if self.names_taken else uid: uid for uid in set(uids) if uid}
        rows = select(Example.uid, Example.id).join(Round, Round.id == Example.round_id)
        rows = rows.where(Round.task_id == self.task_id, Example.uid.in_(names))
        return {names[uid]: id for uid, id in self.session.execute(rows)}


class RecordPart(Protocol):
    """A module of `RECORDS`."""

    RECORD: type[StrictModel]

    def write_records(self, source: RecordSource) -> Iterator[dict[str, Any]]:
        """Yield the rows of the list, in an order that follows from their content."""

    def store_records(self, target: RecordTarget, rows: Sequence[tuple[int, Any]]) -> list[tuple[int, str]]:
        """Store some rows, with their numbers; return numbers and reasons of those that cannot be stored."""


def part_named(name: str) -> RecordPart:
    """Return the module of a list."""
    return cast(RecordPart, importlib.import_module(RECORDS[name]))


def local_uid(task_id: str, uid: str) -> str:
    """Return the name of an example here, where other tasks have examples of the archive's names."""
    return hashlib.sha256(f"{task_id}\0{uid}".encode()).hexdigest()[:32]


def store_rows(target: RecordTarget, name: str, rows: Sequence[tuple[int, dict[str, Any]]]) -> list[tuple[int, str]]:
    """Store some rows of the list `name`."""
    part = part_named(name)
    return part.store_records(target, [(number, part.RECORD.model_validate(row)) for number, row in rows])
