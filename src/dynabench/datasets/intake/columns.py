"""Rows of a table, by the columns that a layout names."""

from collections.abc import Mapping, Sequence
from typing import Any

from dynabench.datasets.intake import cases
from dynabench.datasets.intake.cases import ACCEPTED, Case
from dynabench.datasets.intake.layout import Layout
from dynabench.intake.mapping import value_at, value_key
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Choice, Field, Spans, Text


class Columns:
    """Reads cases from rows with columns."""

    def __init__(self, layout: Layout, config: TaskConfig) -> None:
        self.layout = layout
        fields = [*config.model_context, *config.fields("input")]
        self.inputs = [(field, column) for field in fields if (column := layout.fields.get(field.name, ""))]
        self.texts = [(field.name, column) for field, column in self.inputs if isinstance(field, Text)]
        self.flat = len(self.texts) == len(self.inputs) and not any("." in column for _, column in self.texts)
        self.answers = [(field, layout.fields.get(field.name, "")) for field in config.fields("answer")]
        self.tagged = bool(layout.tags or layout.columns)
        self.labels: dict[Any, Sequence[Mapping[str, Any]]] = {}

    def case(self, values: Mapping[str, Any]) -> Case:
        """Return the values, answers, tags and uid of a row. Raise `Invalid`."""
        if self.flat:
            given = {name: values.get(column) for name, column in self.texts}
            if not all(type(text) is str for text in given.values()):
                given = self._given(values)
        else:
            given = self._given(values)
        layout = self.layout
        tags = self._tags(values) if self.tagged else ()
        uid = cases.uid(value_at(values, layout.uid)) if layout.uid else ""
        return Case(given, self._answers(values, given), tags, uid)

    def _given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        found = {field.name: cases.value(value_at(values, column), field) for field, column in self.inputs}
        return {name: each for name, each in found.items() if each is not None}

    def _tags(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        more = [(name, value_at(values, name)) for name in self.layout.columns]
        return cases.tags(value_at(values, self.layout.tags), more)

    def _answers(self, values: Mapping[str, Any], given: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        if len(self.answers) > 1:
            whole = value_at(values, self.answers[0][1])
            if _ours(whole) and len({column for _, column in self.answers}) == 1:
                return whole  # type: ignore[no-any-return]
            raw = [(field, value_at(values, column)) for field, column in self.answers]
            return [{field.name: self._one(field, each, given) for field, each in raw if each is not None}]
        [(field, column)] = self.answers
        raw = value_at(values, column)
        if type(raw) in (str, int) and isinstance(field, Choice):  # the same few labels over and over
            known = self.labels.get(raw)
            if known is None:
                known = self._several(field, raw, given)
                if len(self.labels) < 10_000:
                    self.labels[raw] = known
            return known
        return self._several(field, raw, given)

    def _several(self, field: Field, raw: Any, given: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        if raw is None or raw == "":
            return []
        found: list[Mapping[str, Any]] = []
        for one in cases.several(raw, field):
            if isinstance(one, dict) and one.keys() == {field.name}:  # as our own files have answers
                found.append(one)
                continue
            meant: Any = one
            if not isinstance(one, (list, dict)):
                meant = self.layout.values.get(value_key(one), one)
            every = meant if isinstance(meant, list) and meant is not one else [meant]
            found += [{field.name: self._one(field, each, given)} for each in every]
        if len(found) > ACCEPTED:
            raise errors.Invalid(
                {f"answer.{field.name}": _("A row has at most %(accepted)s acceptable answers.", accepted=ACCEPTED)}
            )
        return found

    def _one(self, field: Field, raw: Any, given: Mapping[str, Any]) -> Any:
        if isinstance(field, Spans) and isinstance(raw, str):
            return cases.spans_of(raw, given.get(field.of))
        return cases.value(raw, field)


def _ours(raw: Any) -> bool:
    """Return whether a cell holds a list of answers by field, as Dynabench's own files have them."""
    return isinstance(raw, list) and bool(raw) and all(isinstance(one, Mapping) for one in raw)
