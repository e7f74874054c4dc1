"""The removal of the demo: what it added goes, with all that hangs on it; tasks that people use stay with their data.

A row goes if it is marked, or if it cannot be without a row that goes. Columns that may be empty are emptied instead.
"""

import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from sqlalchemy import Column, Table, delete, or_, select, tuple_, update
from sqlalchemy.orm import Session

from dynabench.benchmark.registry.tables import Submission
from dynabench.collection.tables import Example
from dynabench.datasets.tables import Dataset
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.operations import migrations
from dynabench.people.accounts.tables import Act, Person
from dynabench.people.roles import Role
from dynabench.rounds.tables import DemoMark, Round, Target, Task
from dynabench.validation import rebuild

CHUNK = 400
"""Values in one statement."""
Keys = set[tuple[Any, ...]]
FOLDERS = {"releases": "releases", "evaluations": "evaluations"}
"""Tables whose rows have a folder of this name and their id."""


NEVER_EMPTY = ("media_uses", "example_changes", "contributions")
"""Tables whose rows go where another would empty a column: without it they mean nothing."""


@dataclass
class RemovedRows:
    """The keys of all rows that go, by table, and the folders that go with them."""

    keys: dict[str, Keys] = field(default_factory=lambda: defaultdict(set))
    folders: list[str] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows by table."""
        return {name: len(keys) for name, keys in sorted(self.keys.items()) if keys}


def remove_demo(db: Database, settings: Settings) -> RemovedRows:
    """Remove the demo in one transaction, then its files, and count anew what is left. Twice is as once."""
    removed = db.write(_remove_rows)
    for folder in removed.folders:
        shutil.rmtree(settings.folder / folder, ignore_errors=True)
    rebuild.rebuild_all(db)
    return removed


def _remove_rows(session: Session) -> RemovedRows:
    removed = RemovedRows()
    for table, keys in _first_rows(session):
        removed.keys[table.name] |= keys
    emptied = _follow(session, removed.keys)
    removed.folders = _folders(session, removed.keys)
    tasks = [key for (key,) in removed.keys["tasks"]]
    for column, values in emptied:
        for some in _chunks(values):
            session.execute(update(column.table).where(column.in_(some)).values({column.name: None}))
    for table in reversed(migrations.metadata().sorted_tables):
        primary = list(table.primary_key)
        for some in _chunks(removed.keys.get(table.name, ())):
            session.execute(delete(table).where(tuple_(*primary).in_(some)))
    session.execute(delete(Act).where(Act.task_id.in_(tasks)))
    session.execute(delete(DemoMark))
    return removed


def _first_rows(session: Session) -> Iterator[tuple[Table, Keys]]:
    """Yield the rows with which the removal begins: marked ones that nobody real depends on."""
    marked: dict[str, list[Any]] = defaultdict(list)
    for mark in session.scalars(select(DemoMark)):
        marked[mark.kind].append(mark.key if mark.kind == "task" else int(mark.key))
    people = marked["person"]
    unused = [task for task in marked["task"] if not _is_used(session, task, people)]
    written = select(Example.round_id).where(Example.round_id.in_(marked["round"]), Example.author_id.not_in(people))
    used_rounds = set(session.scalars(written.distinct()))
    rounds = [id for id in marked["round"] if id not in used_rounds]
    targets = select(Target.model, Target.version).join(Round, Round.id == Target.round_id)
    in_loop = {
        (model, version)
        for model, version in session.execute(targets.where(Round.id.not_in(rounds), Round.task_id.not_in(unused)))
    }
    models = session.execute(
        select(Submission.id, Submission.model, Submission.version).where(Submission.id.in_(marked["submission"]))
    )
    examples = select(Example.id).where(or_(Example.author_id.in_(people), Example.round_id.in_(rounds)))
    example_ids = list(session.scalars(examples))
    yield _table(Task), {(task,) for task in unused if session.get(Task, task)}
    yield _table(Person), {(id,) for id in people}
    yield _table(Round), {(id,) for id in rounds}
    yield _table(Example), {(id,) for id in example_ids}
    yield _table(Dataset), {(id,) for id in marked["dataset"]}
    yield _table(Submission), {(id,) for id, model, version in models if (model, version) not in in_loop}


def _is_used(session: Session, task: str, people: Sequence[int]) -> bool:
    """Return True if a real person writes, has a role or entered a model in the task."""
    written = select(Example.id).join(Round, Round.id == Example.round_id)
    real_uses = (
        written.where(Round.task_id == task, Example.author_id.not_in(people)),
        select(Role.person_id).where(Role.task_id == task, Role.person_id.not_in(people)),
        select(Submission.id).where(Submission.task_id == task, Submission.person_id.not_in(people)),
    )
    return any(session.execute(statement.limit(1)).first() is not None for statement in real_uses)


def _follow(session: Session, keys: dict[str, Keys]) -> list[tuple[Column[Any], list[Any]]]:
    """Add all rows that cannot be without those in `keys`; return the columns to empty, with the values in them."""
    references = [
        (table, column, key.column, column.nullable and key.ondelete != "CASCADE" and table.name not in NEVER_EMPTY)
        for table in migrations.metadata().sorted_tables
        for column in table.columns
        for key in column.foreign_keys
    ]
    emptied: dict[Column[Any], set[Any]] = defaultdict(set)
    waiting = [name for name in keys if keys[name]]
    followed: dict[str, Keys] = defaultdict(set)
    while waiting:
        name = waiting.pop()
        fresh = keys[name] - followed[name]
        followed[name] |= fresh
        for table, column, target, may_be_empty in references:
            if target.table.name != name or not fresh:
                continue
            values = [key[0] for key in fresh]
            if may_be_empty:
                emptied[column] |= set(values)
                continue
            for some in _chunks(values):
                rows = session.execute(select(*table.primary_key).where(column.in_(some)))
                keys[table.name] |= {tuple(row) for row in rows}
            waiting.append(table.name)
    return [(column, sorted(values)) for column, values in emptied.items()]


def _folders(session: Session, keys: dict[str, Keys]) -> list[str]:
    folders = [f"{folder}/{key}" for name, folder in FOLDERS.items() for (key,) in keys[name]]
    marked = {int(key) for key in session.scalars(select(DemoMark.key).where(DemoMark.kind == "submission"))}
    ids = [key for (key,) in keys["submissions"] if key in marked]
    for some in _chunks(ids):
        rows = session.execute(select(Submission.model, Submission.version).where(Submission.id.in_(some)))
        folders += [f"models/{model}-{version}" for model, version in rows]
    return folders


def _table(entity: Any) -> Table:
    table: Table = entity.__table__
    return table


def _chunks(values: Iterable[Any]) -> Iterator[list[Any]]:
    coming = iter(values)
    while some := list(islice(coming, CHUNK)):
        yield some
