"""Imports of files: a plan says how rows are read; they are stored in batches, here or as steps of a job."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count, islice
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError
from sqlalchemy.orm import Session

from dynabench.collection import seeds
from dynabench.datasets import rows
from dynabench.datasets.imports import finished, formats
from dynabench.datasets.imports.places import MISSING, ImportState, NumberedRow
from dynabench.datasets.rows import ExampleRow
from dynabench.intake import mapping, reader
from dynabench.intake.mapping import ColumnMapping, preview_rows
from dynabench.intake.rows import BadRow, FileRow, shorten_values
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.rounds import contexts
from dynabench.rounds import service as rounds
from dynabench.rounds.contexts import UploadResult
from dynabench.tasks import TaskConfig

Into = Literal["examples", "contexts", "seeds"]
INTO = ("examples", "contexts", "seeds")
IMPORT_FORMATS = ("auto", "own", "squad", *mapping.PRESETS, "mapping")
PROBLEMS = (errors.Invalid, errors.Unavailable, ValidationError, formats.SkippedRow)


@dataclass(frozen=True)
class ImportPlan:
    """The way to read a file's rows.

    `format` is one of `FORMATS`, `into` says what the rows become, `source` is the name of the file.
    """

    into: Into
    format: str
    source: str
    mapping: ColumnMapping | None = None

    def examples(self, row: FileRow, config: TaskConfig) -> Iterator[NumberedRow | BadRow | str]:
        """The finished examples in a row of the file (an article of SQuAD has many); texts are notes."""
        values = row.values
        if values is None:
            yield BadRow(row.number, row.error)
            return
        try:
            for document in self._documents(values, config):
                yield from self._example(row.number, document, values, config)
        except PROBLEMS as problem:
            yield BadRow(row.number, _reason(problem), shorten_values(values))

    def _documents(self, values: dict[str, Any], config: TaskConfig) -> Iterator[dict[str, Any] | str]:
        if self.format == "squad":
            yield from formats.question_documents(values, config)
        else:
            yield values

    def _example(
        self, number: int, document: dict[str, Any] | str, values: dict[str, Any], config: TaskConfig
    ) -> Iterator[NumberedRow | BadRow | str]:
        """One example, or why it is none; the other questions of an article go on."""
        if isinstance(document, str):
            yield BadRow(number, document, shorten_values({"title": values.get("title", "")}))
            return
        shown_values = document["input"] if self.format == "squad" else values
        try:
            more = document.pop("more", False) if self.format == "squad" else False
            row = self._row(document, config)
        except PROBLEMS as problem:
            yield BadRow(number, _reason(problem), shorten_values(shown_values))
            return
        if more:
            yield formats.MORE
        yield NumberedRow(number, row)

    def _row(self, document: dict[str, Any], config: TaskConfig) -> ExampleRow:
        if self.format == "own":
            return formats.read_own_row(document)
        if self.format == "squad":
            completed = formats.complete_row(document, config, self.source)
        elif self.mapping is not None:
            completed = formats.translate_row(document, self.mapping, config, self.source)
        else:
            raise errors.Invalid({"mapping": _("No mapping from columns to fields was given.")})
        rows.check_storable(completed)
        return ExampleRow.model_validate(completed)

    def contexts(self, row: FileRow, config: TaskConfig) -> Iterator[contexts.ContextRow | BadRow]:
        """The contexts in a row of the file."""
        document = row.values
        if document is None:
            yield BadRow(row.number, row.error)
            return
        if self.format == "own":
            context = formats.read_own_row(document).context
            yield contexts.ContextRow(row.number, context.values, context.tag)
        elif self.format == "squad":
            name = config.context[0].name if config.context else "passage"
            yield from (contexts.ContextRow(row.number, {name: text}, tag) for text, tag in formats.passages(document))
        elif self.mapping is not None:
            values, tag = formats.translate_context(document, self.mapping, config)
            yield contexts.ContextRow(row.number, values, tag)


def _reason(problem: Exception) -> str:
    if isinstance(problem, ValidationError):
        first = problem.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return problem.detail if isinstance(problem, errors.Problem) else str(problem)


def recognise_format(first: dict[str, Any]) -> str:
    """The format that a file's first row looks like; `mapping` where it is none that we know."""
    names = first.keys()
    if formats.is_own_row(first):
        return "own"
    if formats.is_squad(first):
        return "squad"
    if "hypothesis" in names and names & {"premise", "context"}:
        return "anli"
    if "sentence" in names and names & {"gold_label", "label_distribution"}:
        return "dynasent"
    if "text" in names and "label" in names and names & {"acl.id", "level"}:
        return "dynahate"
    if "text" in names and names & {"matched_id", "matched_text", "round_base"}:
        return "hatemoji"
    return "mapping"


def make_plan(
    into: str, form: str, source: str, document: object = None, first: dict[str, Any] | None = None
) -> ImportPlan:
    """The plan for a file whose first row is `first`. Raises `Invalid` under `into`, `format` or `mapping`."""
    if into not in INTO:
        raise errors.Invalid({"into": _("Choose one of %(into)s.", into=", ".join(INTO))})
    if form not in IMPORT_FORMATS:
        raise errors.Invalid({"format": _("Choose one of %(formats)s.", formats=", ".join(IMPORT_FORMATS))})
    if document:
        return ImportPlan(into, "mapping", source, ColumnMapping.parse(document))  # type: ignore[arg-type]
    if form == "auto":
        form = recognise_format(first or {})
    if form == "mapping":
        raise errors.Invalid({"mapping": _("The kind of this file is unknown. Map its columns to fields.")})
    chosen = mapping.read_preset(form) if form in mapping.PRESETS else None
    return ImportPlan(into, form, source, chosen)  # type: ignore[arg-type]


BATCH_ROWS = 300  # rows in one transaction


@dataclass
class ImportBatch:
    """Some rows of a file: what can be stored, what cannot, and what was left out of rows that can."""

    good: list[Any] = field(default_factory=list)
    bad: list[BadRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    values: dict[int, dict[str, Any]] = field(default_factory=dict)


def plan_file(path: Path, name: str, into: str, form: str = "auto", mapping: object = None) -> ImportPlan:
    """The plan for a file; `auto` looks at its first row. Raises `Invalid`."""
    preview = preview_rows(reader.read_rows(path, name))
    return make_plan(into, form, name, mapping, preview.require_rows().values[0])


def cut_batches(
    path: Path,
    plan: ImportPlan,
    config: TaskConfig,
    progress: Callable[[int], object] = lambda _: None,
    size: int = BATCH_ROWS,
) -> Iterator[ImportBatch]:
    """The batches of a file; they follow from the file, the plan and the config alone."""
    rows = _items(reader.read_rows(path, plan.source, progress), plan, config)
    while some := list(islice(rows, size)):
        batch = ImportBatch()
        for item, values in some:
            if isinstance(item, BadRow):
                batch.bad.append(item)
            elif isinstance(item, str):
                batch.notes.append(item)
            else:
                batch.good.append(item)
                batch.values[item.number] = values
        yield batch


def _items(rows: Iterator[FileRow], plan: ImportPlan, config: TaskConfig) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the items in the rows, each with the values of its row.

    Questions of SQuAD are numbered through the whole file, because one line may hold thousands of them.
    """
    numbers = count(1) if plan.format == "squad" else None
    for row in rows:
        values = {} if numbers else row.values or {}
        for item in _parts(row, plan, config):
            if numbers and not isinstance(item, str):
                item = replace(item, number=next(numbers))
            yield item, values


def _parts(row: FileRow, plan: ImportPlan, config: TaskConfig) -> Iterator[Any]:
    if plan.into == "examples":
        yield from plan.examples(row, config)
    elif plan.into == "contexts":
        try:
            yield from plan.contexts(row, config)
        except errors.Problem as problem:
            yield BadRow(row.number, problem.detail)
    else:
        for item in plan.examples(row, config):
            yield _seed(item) if isinstance(item, NumberedRow) else item


def _seed(numbered: NumberedRow) -> seeds.SeedRow:
    row = numbered.row
    return seeds.SeedRow(numbered.number, row.context.values, row.input, row.answer, row.context.tag)


def store_batch(
    session: Session, settings: Settings, task: str, plan: ImportPlan, batch: ImportBatch, state: ImportState
) -> list[BadRow]:
    """Store a batch and count it in `state`; the rows that were refused."""
    for text in batch.notes:
        state.note(text)
    if plan.into == "examples":
        named = finished.add_examples(session, settings, task, batch.good, state)
    else:
        config = rounds.newest_config(session, task)
        result: UploadResult = (
            contexts.add_contexts(session, task, config, batch.good)
            if plan.into == "contexts"
            else seeds.add(session, task, config, batch.good)
        )
        named = result.errors
        state.created += result.created
        state.duplicates += result.duplicates
        state.failed += len(named)
    state.failed += len(batch.bad)
    refused = [BadRow(number, message, shorten_values(batch.values.get(number, {}))) for number, message in named]
    return sorted([*batch.bad, *refused], key=lambda one: one.number)


def import_file(
    db: Database, settings: Settings, task: str, path: Path, plan: ImportPlan, progress: Callable[[int], object]
) -> tuple[ImportState, list[BadRow]]:
    """Store a file, a batch per transaction; what became of its rows, and those that were refused.

    Running it again brings nothing twice: what a run that broke off had stored is passed over.
    """
    config = db.read(rounds.newest_config, task)
    state, refused = ImportState(), []
    for batch in cut_batches(path, plan, config, progress):
        refused += db.write(store_batch, settings, task, plan, batch, state)
    state.note(MISSING, len(state.waiting))
    subject = {"created": state.created, "into": plan.into, "file": plan.source[:200]}
    db.write(lambda session: rounds.record_act(session, None, "data.imported", task=task, **subject))
    return state, refused
