"""A file, cut into batches that are stored one by one: in the command's own process, or as steps of a durable job."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count, islice
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.collection import seeds
from dynabench.datasets.imports import finished, reading
from dynabench.datasets.imports.plan import Plan, Refused, brief, make
from dynabench.datasets.imports.state import Numbered, State
from dynabench.language import _
from dynabench.rounds import contexts
from dynabench.rounds import service as rounds
from dynabench.rounds.contexts import Row, Upload
from dynabench.settings import Settings
from dynabench.tasks import TaskConfig

SIZE = 300  # rows in one transaction


@dataclass
class Batch:
    """Some rows of a file: what can be stored, what cannot, and what was left out of rows that can."""

    good: list[Any] = field(default_factory=list)
    bad: list[Refused] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    given: dict[int, dict[str, Any]] = field(default_factory=dict)


def plan_for(path: Path, name: str, into: str, form: str = "auto", mapping: object = None) -> Plan:
    """The plan for a file; `auto` looks at its first row. Raises `Invalid`."""
    return make(into, form, name, mapping, first(reading.rows(path, name)))


def first(rows: Iterable[Row]) -> dict[str, Any]:
    """The first row that can be read. Raises `Invalid` with what is wrong with the others."""
    why = ""
    for row in rows:
        if isinstance(row.values, dict):
            return reading.values(row)
        why = why or f" Row {row.number}: {row.error}"
    raise errors.Invalid({"file": _("There is no row in this file that can be read.") + why})


def cut(
    path: Path, plan: Plan, config: TaskConfig, at: Callable[[int], object] | None = None, size: int = SIZE
) -> Iterator[Batch]:
    """The batches of a file; they follow from the file, the plan and the config alone."""
    rows = _items(reading.rows(path, plan.source, at), plan, config)
    while some := list(islice(rows, size)):
        batch = Batch()
        for item, given in some:
            if isinstance(item, Refused):
                batch.bad.append(item)
            elif isinstance(item, str):
                batch.notes.append(item)
            else:
                batch.good.append(item)
                batch.given[item.number] = given
        yield batch


def _items(rows: Iterator[Row], plan: Plan, config: TaskConfig) -> Iterator[tuple[Any, dict[str, Any]]]:
    """What is in the rows. Questions of SQuAD are numbered through the file: one line may hold thousands."""
    numbers = count(1) if plan.format == "squad" else None
    for row in rows:
        given = {} if numbers else reading.values(row)
        for item in _parts(row, plan, config):
            if numbers and not isinstance(item, str):
                item = replace(item, number=next(numbers))
            yield item, given


def _parts(row: Row, plan: Plan, config: TaskConfig) -> Iterator[Any]:
    if plan.into == "examples":
        yield from plan.examples(row, config)
    elif plan.into == "contexts":
        try:
            for one in plan.contexts(row, config):
                yield Refused(row.number, one.error, {}) if one.error else one
        except errors.Problem as problem:
            yield Refused(row.number, problem.detail, {})
    else:
        for item in plan.examples(row, config):
            yield _seed(item) if isinstance(item, Numbered) else item


def _seed(one: Numbered) -> seeds.SeedRow:
    row = one.row
    return seeds.SeedRow(one.number, row.context.values, row.input, row.answer, row.context.tag)


def store(session: Session, settings: Settings, task: str, plan: Plan, batch: Batch, state: State) -> list[Refused]:
    """Store a batch and count it in `state`; the rows that were refused."""
    for text in batch.notes:
        state.note(text)
    if plan.into == "examples":
        named = finished.add(session, settings, task, batch.good, state)
    else:
        config = rounds.newest_config(session, task)
        result: Upload = (
            contexts.add(session, task, config, batch.good)
            if plan.into == "contexts"
            else seeds.add(session, task, config, batch.good)
        )
        named = result.errors
        state.created += result.created
        state.duplicates += result.duplicates
        state.failed += len(named)
    state.failed += len(batch.bad)
    refused = [Refused(number, message, brief(batch.given.get(number, {}))) for number, message in named]
    return sorted([*batch.bad, *refused], key=lambda one: one.number)
