"""Making a task from a checked archive: first the task with its rounds, then its rows in batches that follow from the
file alone, so that an import goes on where a crash left it."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from dynabench.collection import seeds
from dynabench.datasets.archives import files, layout
from dynabench.datasets.archives.checking import Checked
from dynabench.datasets.archives.reading import Archive, Told
from dynabench.datasets.imports import finished, own
from dynabench.datasets.imports.state import Numbered, State
from dynabench.kit.db import now
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Role, TaskRole
from dynabench.rounds import contexts, service
from dynabench.rounds.contexts import Row
from dynabench.rounds.tables import Round, RoundState, Target, Task, TaskVersion

SIZE = 300  # rows in one transaction


def begin(session: Session, person: Person | None, id: str, checked: Checked, source: str) -> dict[str, int]:
    """Make the task with its config versions and rounds, owned by `person`; its rounds by number.

    A round that was open is closed here: its models need not be served, and nobody was asked.
    """
    task = Task(id=id)
    session.add(task)
    session.flush()
    if person is not None:
        session.add(Role(task_id=id, person_id=person.id, role=TaskRole.OWNER))
    versions: dict[int, int] = {}
    for version, text in checked.configs:
        made = TaskVersion(task_id=id, number=version.number, source=text, created_at=version.created_at)
        session.add(made)
        session.flush()
        versions[version.number] = task.version_id = made.id
    found = {}
    for each in checked.rounds:
        state = RoundState.CLOSED if each.state == RoundState.OPEN else each.state
        of = Round(
            task_id=id, number=each.number, version_id=versions[each.version], state=state, fooled_when=each.ensemble,
            arms=[arm.model_dump(exclude_unset=True) for arm in each.arms], assign=each.assign,
            judge=each.judge.model_dump() if each.judge else None, plan=each.plan.document(),
            created_at=each.created_at, opened_at=each.opened_at,
            closed_at=each.closed_at or (now() if each.state == RoundState.OPEN else None),
        )  # fmt: skip
        of.targets = [Target(position=at, model=aim.model, version=aim.version) for at, aim in enumerate(each.targets)]
        session.add(of)
        session.flush()
        found[str(each.number)] = of.id
    service.act(session, person, "task.imported", task=id, archive=source, versions=len(versions), rounds=len(found))
    return found


@dataclass(frozen=True)
class Batch:
    """Some rows of one list, with their numbers in it from 1."""

    part: str
    rows: list[tuple[int, dict[str, Any]]]


def cut(archive: Archive, kept: dict[str, str], told: Told = lambda _: None) -> Iterator[Batch]:
    """The batches of an archive, contexts first; `kept` is what `files.store` made of the files that they show."""
    for name in (layout.CONTEXTS, layout.SEEDS, layout.EXAMPLES):
        for some in contexts.batches(archive.rows(name, told), SIZE):
            yield Batch(name, [(number, files.renamed(row, kept)) for number, row in some] if kept else some)


def store(
    session: Session, settings: Settings, id: str, batch: Batch, state: State, taken: bool
) -> list[tuple[int, str]]:
    """Store a batch and count it in `state`; number and reason of each row that the task refuses."""
    if batch.part == layout.EXAMPLES:
        rows = [Numbered(number, own.row(values)) for number, values in batch.rows]
        return finished.add(session, settings, id, [_named_anew(id, one) for one in rows] if taken else rows, state)
    config = service.newest_config(session, id)
    if batch.part == layout.SEEDS:
        given = [seeds.SeedRow(n, row["context"], row["input"], row.get("answer"), row.get("tag", ""))
                 for n, row in batch.rows]  # fmt: skip
        return seeds.add(session, id, config, given).errors
    return contexts.add(session, id, config, [_context(number, row) for number, row in batch.rows]).errors


def _context(number: int, row: dict[str, Any]) -> Row:
    found = layout.Given.model_validate(row)
    return Row(number, found.values, found.tag, weight=found.weight, retired=found.retired)


def _named_anew(id: str, one: Numbered) -> Numbered:
    """An example under a name that follows from the task and its old one: names are unique among all tasks."""

    def name(uid: str) -> str:
        return hashlib.sha256(f"{id}\0{uid}".encode()).hexdigest()[:32]

    row = one.row
    origin = name(row.made_from) if row.made_from else None
    return replace(one, row=row.model_copy(update={"uid": name(row.uid), "made_from": origin}))
