"""The public datasets of a task in its archive: written with their newest rows, read as the task's own uploads are."""

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.datasets import library, library_files, library_queries, stored
from dynabench.datasets.archives import files, layout
from dynabench.datasets.archives.layout import Tested
from dynabench.datasets.archives.reading import Archive, Told, refuse
from dynabench.datasets.intake import building, cases
from dynabench.datasets.intake.cleaning import Cleaner
from dynabench.datasets.intake.rows import Found
from dynabench.datasets.library_schemas import Settled
from dynabench.datasets.stored import Stored, Written
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.intake.bad_rows import BadRow
from dynabench.kit import errors
from dynabench.kit.db import Database, now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds

KINDS = ("rows", "suite", "pool")
"""Those that come along: what is made of a round can be made of it again, and rows of a hidden part never leave."""
Left = tuple[str, int, str]
"""A row that was left out: file, line, reason."""


def public(session: Session, task: str) -> dict[str, tuple[dict[str, Any], str]]:
    """Return the archive entry of each public dataset and the digest of its rows, by name.

    Raise `Conflict` if the task has more public datasets than an archive can hold.
    """
    of = (Dataset.task_id == task, disclosure.datasets_with_rows(Dataset), Dataset.kind.in_(KINDS))
    found = select(Dataset, DatasetVersion).join(DatasetVersion, DatasetVersion.id == Dataset.version_id)
    made = {}
    for dataset, version in session.execute(found.where(*of).order_by(Dataset.id)):
        given = {name: getattr(dataset, name) for name in Settled.model_fields}
        told = Tested(name=dataset.name, retired=dataset.retired_at is not None, **given)
        made[dataset.name] = (told.model_dump(mode="json"), version.digest)
    if len(made) > layout.MOST_DATASETS:
        raise errors.Conflict(
            _("An archive holds at most %(most)s datasets; this task has more.", most=layout.MOST_DATASETS)
        )
    return made


def contents(settings: Settings, found: Mapping[str, tuple[Any, str]]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The rows of each dataset as JSON lines, by their name in the archive."""
    for name, (_told, digest) in found.items():
        yield layout.data_file(name), library_files.parts(settings, digest, "jsonl")


def check(archive: Archive, told: Told) -> None:
    """Read all of them once. Raises `Invalid` for what is none, or has no rows in the archive."""
    wanted = set()
    for number, each in archive.parts(layout.DATASETS, Tested, told):
        file = layout.data_file(each.name)
        known = file in archive.files and file not in wanted and each.name not in library.RESERVED
        if number > layout.MOST_DATASETS or not known:
            raise refuse(
                _(
                    "%(name)s, line %(number)s: each dataset has a name of its own and a file of rows.",
                    name=layout.DATASETS,
                    number=number,
                )
            )
        wanted.add(file)
        for _row in archive.parts(file, layout.Row, told):
            pass
    if extra := {name for name in archive.files if layout.DATA.fullmatch(name)} - wanted:
        raise refuse(_("The manifest and the files differ: %(value)s.", value=repr(min(extra))))


def store(
    db: Database,
    settings: Settings,
    archive: Archive,
    task: str,
    person_id: int | None,
    kept: dict[str, str],
    told: Told = lambda _: None,
) -> list[Left]:
    """Add the datasets that the task lacks; the rows that its newest config refuses, and reasons. Twice is as once.

    `kept` is what `files.store` made of the files that rows show. Every dataset has its perturbed copies made anew.
    """
    config = db.read(rounds.newest_config, task)
    left = list[Left]()
    for _number, each in archive.parts(layout.DATASETS, Tested):
        if db.read(_has, task, each.name):
            continue
        file = layout.data_file(each.name)
        found = _read(archive, file, Cleaner(config), kept, told)
        bad = list[BadRow]()
        try:
            written = stored.write(
                settings, building.standing(building.batches(found), building.Told(), "any", bad.extend, lambda _: None)
            )
        except errors.Invalid as problem:
            left.append((file, 0, problem.detail))
            continue
        left += [(file, one.number, one.message) for one in bad]
        db.write(_add, task, person_id, each, written)
    return left


def _has(session: Session, task: str, name: str) -> bool:
    return session.scalar(library_queries.named(task, name)) is not None


def _read(archive: Archive, file: str, cleaner: Cleaner, kept: dict[str, str], told: Told) -> Iterator[Found]:
    for number, row in archive.parts(file, layout.Row, told):
        try:
            inputs, answers = cleaner.row(files.renamed(row.inputs, kept), row.answers)
            yield Stored(cases.uid(row.uid), inputs, answers, cases.tags(row.tags))
        except errors.Invalid as problem:
            yield BadRow(number, problem.detail, {"uid": row.uid[:200]})


def _add(session: Session, task: str, person_id: int | None, of: Tested, written: Written) -> None:
    person = session.get(Person, person_id) if person_id is not None else None
    settled = Settled.model_validate(of.model_dump(include=set(Settled.model_fields)))
    made = library.add(session, person, task, of.name, settled)
    library.ready(session, library.draft(session, person, made).id, written)
    if of.retired:
        made.retired_at = now()
