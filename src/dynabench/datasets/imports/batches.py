"""A file, cut into batches that are stored one by one: in the command's own process, or as steps of a durable job."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count, islice
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from dynabench.collection import seeds
from dynabench.datasets.imports import finished
from dynabench.datasets.imports.plan import Plan, make
from dynabench.datasets.imports.state import Numbered, State
from dynabench.intake import reader
from dynabench.intake.bad_rows import BadRow, shorten_values
from dynabench.intake.columns import preview_rows
from dynabench.intake.text_rows import FileRow
from dynabench.kit import errors
from dynabench.kit.settings import Settings
from dynabench.rounds import contexts
from dynabench.rounds import service as rounds
from dynabench.rounds.contexts import Upload
from dynabench.tasks import TaskConfig

SIZE = 300  # rows in one transaction


@dataclass
class Batch:
    """Some rows of a file: what can be stored, what cannot, and what was left out of rows that can."""

    good: list[Any] = field(default_factory=list)
    bad: list[BadRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    given: dict[int, dict[str, Any]] = field(default_factory=dict)


def plan_for(path: Path, name: str, into: str, form: str = "auto", mapping: object = None) -> Plan:
    """The plan for a file; `auto` looks at its first row. Raises `Invalid`."""
    preview = preview_rows(reader.read_rows(path, name))
    return make(into, form, name, mapping, preview.require_rows().values[0])


def cut(
    path: Path, plan: Plan, config: TaskConfig, progress: Callable[[int], object] = lambda _: None, size: int = SIZE
) -> Iterator[Batch]:
    """The batches of a file; they follow from the file, the plan and the config alone."""
    rows = _items(reader.read_rows(path, plan.source, progress), plan, config)
    while some := list(islice(rows, size)):
        batch = Batch()
        for item, given in some:
            if isinstance(item, BadRow):
                batch.bad.append(item)
            elif isinstance(item, str):
                batch.notes.append(item)
            else:
                batch.good.append(item)
                batch.given[item.number] = given
        yield batch


def _items(rows: Iterator[FileRow], plan: Plan, config: TaskConfig) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the items in the rows, each with the values of its row.

    Questions of SQuAD are numbered through the whole file, because one line may hold thousands of them.
    """
    numbers = count(1) if plan.format == "squad" else None
    for row in rows:
        given = {} if numbers else row.values or {}
        for item in _parts(row, plan, config):
            if numbers and not isinstance(item, str):
                item = replace(item, number=next(numbers))
            yield item, given


def _parts(row: FileRow, plan: Plan, config: TaskConfig) -> Iterator[Any]:
    if plan.into == "examples":
        yield from plan.examples(row, config)
    elif plan.into == "contexts":
        try:
            yield from plan.contexts(row, config)
        except errors.Problem as problem:
            yield BadRow(row.number, problem.detail)
    else:
        for item in plan.examples(row, config):
            yield _seed(item) if isinstance(item, Numbered) else item


def _seed(one: Numbered) -> seeds.SeedRow:
    row = one.row
    return seeds.SeedRow(one.number, row.context.values, row.input, row.answer, row.context.tag)


def store(session: Session, settings: Settings, task: str, plan: Plan, batch: Batch, state: State) -> list[BadRow]:
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
    refused = [BadRow(number, message, shorten_values(batch.given.get(number, {}))) for number, message in named]
    return sorted([*batch.bad, *refused], key=lambda one: one.number)
