"""The plan for importing a file: what its rows become, and how they are read."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from dynabench.datasets import rows
from dynabench.datasets.imports import own, squad, translating
from dynabench.datasets.imports.state import Numbered
from dynabench.datasets.rows import Row
from dynabench.intake import mapping
from dynabench.intake.bad_rows import BadRow, shorten_values
from dynabench.intake.mapping import ColumnMapping
from dynabench.intake.text_rows import FileRow
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.rounds import contexts
from dynabench.tasks import TaskConfig

Into = Literal["examples", "contexts", "seeds"]
INTO = ("examples", "contexts", "seeds")
FORMATS = ("auto", "own", "squad", *mapping.PRESETS, "mapping")
PROBLEMS = (errors.Invalid, errors.Unavailable, ValidationError, translating.Passed)


@dataclass(frozen=True)
class Plan:
    """The way to read a file's rows.

    `format` is one of `FORMATS`, `into` says what the rows become, `source` is the name of the file.
    """

    into: Into
    format: str
    source: str
    mapping: ColumnMapping | None = None

    def examples(self, row: FileRow, config: TaskConfig) -> Iterator[Numbered | BadRow | str]:
        """The finished examples in a row of the file (an article of SQuAD has many); texts are notes."""
        given = row.values
        if given is None:
            yield BadRow(row.number, row.error)
            return
        try:
            for document in self._documents(given, config):
                yield from self._example(row.number, document, given, config)
        except PROBLEMS as problem:
            yield BadRow(row.number, _reason(problem), shorten_values(given))

    def _documents(self, given: dict[str, Any], config: TaskConfig) -> Iterator[dict[str, Any] | str]:
        if self.format == "squad":
            yield from squad.questions(given, config)
        else:
            yield given

    def _example(
        self, number: int, document: dict[str, Any] | str, given: dict[str, Any], config: TaskConfig
    ) -> Iterator[Numbered | BadRow | str]:
        """One example, or why it is none; the other questions of an article go on."""
        if isinstance(document, str):
            yield BadRow(number, document, shorten_values({"title": given.get("title", "")}))
            return
        asked = document["input"] if self.format == "squad" else given
        try:
            more = document.pop("more", False) if self.format == "squad" else False
            row = self._row(document, config)
        except PROBLEMS as problem:
            yield BadRow(number, _reason(problem), shorten_values(asked))
            return
        if more:
            yield squad.MORE
        yield Numbered(number, row)

    def _row(self, document: dict[str, Any], config: TaskConfig) -> Row:
        if self.format == "own":
            return own.row(document)
        if self.format == "squad":
            made = translating.complete(document, config, self.source)
        elif self.mapping is not None:
            made = translating.translate(document, self.mapping, config, self.source)
        else:
            raise errors.Invalid({"mapping": _("Nothing says which column is which field.")})
        rows.check_storable(made)
        return Row.model_validate(made)

    def contexts(self, row: FileRow, config: TaskConfig) -> Iterator[contexts.Row | BadRow]:
        """The contexts in a row of the file."""
        given = row.values
        if given is None:
            yield BadRow(row.number, row.error)
            return
        if self.format == "own":
            yield contexts.Row(row.number, *_part(own.row(given)))
        elif self.format == "squad":
            name = config.context[0].name if config.context else "passage"
            yield from (contexts.Row(row.number, {name: text}, tag) for text, tag in squad.passages(given))
        elif self.mapping is not None:
            values, tag = translating.context_of(given, self.mapping, config)
            yield contexts.Row(row.number, values, tag)


def _part(row: Row) -> tuple[dict[str, Any], str]:
    return row.context.values, row.context.tag


def _reason(problem: Exception) -> str:
    if isinstance(problem, ValidationError):
        first = problem.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return problem.detail if isinstance(problem, errors.Problem) else str(problem)


def recognise(first: dict[str, Any]) -> str:
    """The format that a file's first row looks like; `mapping` where it is none that we know."""
    names = first.keys()
    if own.is_ours(first):
        return "own"
    if squad.is_squad(first):
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


def make(into: str, form: str, source: str, document: object = None, first: dict[str, Any] | None = None) -> Plan:
    """The plan for a file whose first row is `first`. Raises `Invalid` under `into`, `format` or `mapping`."""
    if into not in INTO:
        raise errors.Invalid({"into": _("Choose one of %(into)s.", into=", ".join(INTO))})
    if form not in FORMATS:
        raise errors.Invalid({"format": _("Choose one of %(formats)s.", formats=", ".join(FORMATS))})
    if document:
        return Plan(into, "mapping", source, ColumnMapping.parse(document))  # type: ignore[arg-type]
    if form == "auto":
        form = recognise(first or {})
    if form == "mapping":
        raise errors.Invalid({"mapping": _("This file is of no kind that is known. Say which column is which field.")})
    chosen = mapping.preset(form) if form in mapping.PRESETS else None
    return Plan(into, form, source, chosen)  # type: ignore[arg-type]
