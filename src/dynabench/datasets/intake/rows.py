"""Lines of a file as rows of a dataset, by a layout: checked by the task, or refused with the reason."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dynabench.datasets.intake import cases
from dynabench.datasets.intake.cases import MOST_ANSWERS, DatasetCase, SkippedCases
from dynabench.datasets.intake.layout import FileLayout
from dynabench.datasets.stored import StoredRow
from dynabench.intake.mapping import value_at, value_key
from dynabench.intake.rows import BadRow, FileRow, shorten_values
from dynabench.kit import errors
from dynabench.kit.errors import Invalid
from dynabench.kit.language import _
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Choice, Field, FieldError, Spans, Text
from dynabench.tasks.fields.base import clean_group

PLAIN = re.compile(r"[!-~](?:[ -~]*[!-~])?").fullmatch
"""Texts that normalising leaves as they are: printable ASCII with something to see at both ends."""
MOST_KNOWN = 10_000  # lists of answers that are kept in mind
Answers = tuple[Mapping[str, Any], ...]
Inputs = dict[str, Any]


class RowCleaner:
    """Checks rows for one task. `row` gives what models get, and the acceptable answers."""

    def __init__(self, config: TaskConfig) -> None:
        self.config = config
        self.context = config.model_context
        fields = [*self.context, *config.fields("input")]
        self.simple = all(type(field) is Text and not field.when for field in fields)
        self.texts = [field for field in fields if isinstance(field, Text)]
        self.alone = all(isinstance(field, Choice) and not field.when for field in config.fields("answer"))
        self.answers_by_id: dict[int, tuple[Sequence[Mapping[str, Any]], Answers]] = {}

    def row(self, values: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> tuple[Inputs, Answers]:
        """Inputs by field of the context and the input, and the answers, each by field.

        Raises `Invalid` with keys such as `input.hypothesis` and `answer.label`.
        """
        if self.simple and (inputs := self.plain(values)) is not None:
            return inputs, self._answers(answers, inputs, {})
        return self.long_way(values, answers)

    def plain(self, values: Mapping[str, Any]) -> Inputs | None:
        """The inputs where each text of the task is there and fits; None where they need a closer look."""
        if len(values) != len(self.texts):
            return None
        inputs = {}
        for field in self.texts:
            text = values.get(field.name)
            if type(text) is not str:
                return None
            if not field.min_length <= len(text) <= field.max_length or PLAIN(text) is None:
                try:
                    text = field.clean(text)
                except FieldError:
                    return None
            if text is None:
                return None
            inputs[field.name] = text
        return inputs

    def long_way(self, values: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> tuple[Inputs, Answers]:
        """The same by the task's own rules alone."""
        names = {field.name for field in self.context}
        context_values = {name: value for name, value in values.items() if name in names}
        context = clean_group("context", self.context, context_values)
        written = self.config.clean_input({name: value for name, value in values.items() if name not in names}, context)
        return self.config.model_inputs(context, written), self._answers(answers, context, written)

    def _answers(
        self, answers: Sequence[Mapping[str, Any]], context: Mapping[str, Any], written: Mapping[str, Any]
    ) -> Answers:
        if not answers:
            raise Invalid({f"answer.{self.config.fields('answer')[0].name}": _("The answer is missing.")})
        if self.alone and (cached := self.answers_by_id.get(id(answers))) is not None and cached[0] is answers:
            return cached[1]
        cleaned: list[Mapping[str, Any]] = []
        for answer in answers:
            clean = self.config.clean_answer(answer, context=context, input=written)
            if clean not in cleaned:
                cleaned.append(clean)
        if self.alone and len(self.answers_by_id) < MOST_KNOWN:
            self.answers_by_id[id(answers)] = (
                answers,
                tuple(cleaned),
            )  # the list is kept, so that no other one gets its id
            return self.answers_by_id[id(answers)][1]
        return tuple(cleaned)


class CaseReader:
    """Reads cases from rows with columns."""

    def __init__(self, layout: FileLayout, config: TaskConfig) -> None:
        self.layout = layout
        fields = [*config.model_context, *config.fields("input")]
        self.inputs = [(field, column) for field in fields if (column := layout.fields.get(field.name, ""))]
        self.texts = [(field.name, column) for field, column in self.inputs if isinstance(field, Text)]
        self.flat = len(self.texts) == len(self.inputs) and not any("." in column for _, column in self.texts)
        self.answers = [(field, layout.fields.get(field.name, "")) for field in config.fields("answer")]
        self.tagged = bool(layout.tags or layout.columns)
        self.labels: dict[Any, Sequence[Mapping[str, Any]]] = {}

    def case(self, values: Mapping[str, Any]) -> DatasetCase:
        """Return the values, answers, tags and uid of a row. Raise `Invalid`."""
        if self.flat:
            inputs = {name: values.get(column) for name, column in self.texts}
            if not all(type(text) is str for text in inputs.values()):
                inputs = self._read_inputs(values)
        else:
            inputs = self._read_inputs(values)
        layout = self.layout
        tags = self._tags(values) if self.tagged else ()
        uid = cases.read_uid(value_at(values, layout.uid)) if layout.uid else ""
        return DatasetCase(inputs, self._answers(values, inputs), tags, uid)

    def _read_inputs(self, values: Mapping[str, Any]) -> dict[str, Any]:
        inputs = {field.name: cases.read_value(value_at(values, column), field) for field, column in self.inputs}
        return {name: value for name, value in inputs.items() if value is not None}

    def _tags(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        more = [(name, value_at(values, name)) for name in self.layout.columns]
        return cases.read_tags(value_at(values, self.layout.tags), more)

    def _answers(self, values: Mapping[str, Any], inputs: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        if len(self.answers) > 1:
            whole = value_at(values, self.answers[0][1])
            if _is_answers(whole) and len({column for _, column in self.answers}) == 1:
                return whole  # type: ignore[no-any-return]
            raw = [(field, value_at(values, column)) for field, column in self.answers]
            return [{field.name: self._read_one(field, value, inputs) for field, value in raw if value is not None}]
        [(field, column)] = self.answers
        raw = value_at(values, column)
        if type(raw) in (str, int) and isinstance(field, Choice):  # the same few labels over and over
            answers = self.labels.get(raw)
            if answers is None:
                answers = self._several(field, raw, inputs)
                if len(self.labels) < 10_000:
                    self.labels[raw] = answers
            return answers
        return self._several(field, raw, inputs)

    def _several(self, field: Field, raw: Any, inputs: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        if raw is None or raw == "":
            return []
        answers: list[Mapping[str, Any]] = []
        for entry in cases.read_answers(raw, field):
            if isinstance(entry, dict) and entry.keys() == {field.name}:  # as our own files have answers
                answers.append(entry)
                continue
            meant: Any = entry
            if not isinstance(entry, (list, dict)):
                meant = self.layout.values.get(value_key(entry), entry)
            every = meant if isinstance(meant, list) and meant is not entry else [meant]
            answers += [{field.name: self._read_one(field, value, inputs)} for value in every]
        if len(answers) > MOST_ANSWERS:
            raise errors.Invalid(
                {f"answer.{field.name}": _("A row has at most %(accepted)s acceptable answers.", accepted=MOST_ANSWERS)}
            )
        return answers

    def _read_one(self, field: Field, raw: Any, inputs: Mapping[str, Any]) -> Any:
        if isinstance(field, Spans) and isinstance(raw, str):
            return cases.find_span(raw, inputs.get(field.of))
        return cases.read_value(raw, field)


def _is_answers(raw: Any) -> bool:
    """Return whether a cell holds a list of answers by field, as Dynabench's own files have them."""
    return isinstance(raw, list) and bool(raw) and all(isinstance(entry, Mapping) for entry in raw)


ReadItem = StoredRow | BadRow | SkippedCases


class RowReader:
    """Turns lines into rows. Rows without an id of their own are numbered by their place among all rows, from 1.

    `count` is the number of rows so far; refused rows are named by it, and by the line where that is another number.
    """

    def __init__(self, layout: FileLayout, config: TaskConfig) -> None:
        self.layout, self.config = layout, config
        self.columns, self.cleaner = CaseReader(layout, config), RowCleaner(config)
        self.count = 0

    def rows(self, line: FileRow) -> Iterator[ReadItem]:
        """The rows of a line: one, or all of an article or test, which are numbered through the file."""
        if line.values is None:
            self.count += 1
            yield BadRow(self.count, _with_line(line.number, self.count, line.error))
        elif self.layout.form == "columns":
            yield self._row(line.number, line.values)
        else:
            yield from self._many(line.number, line.values)

    def _row(self, number: int, values: Mapping[str, Any]) -> ReadItem:
        self.count += 1
        try:
            case_values, case_answers, tags, uid = self.columns.case(values)
            inputs, answers = self.cleaner.row(case_values, case_answers)
        except errors.Invalid as problem:
            return BadRow(self.count, _with_line(number, self.count, problem.detail), shorten_values(values))
        return StoredRow(uid or str(self.count), inputs, answers, tags)

    def _many(self, number: int, values: Mapping[str, Any]) -> Iterator[ReadItem]:
        if self.layout.form == "squad":
            cases_of_line: Iterator[DatasetCase | SkippedCases | str] = cases.squad_cases(values, self.config)
        else:
            cases_of_line = cases.checklist_cases(values, self.config, self.layout.values)
        for case in cases_of_line:
            if isinstance(case, SkippedCases):
                yield case
                continue
            self.count += 1
            if isinstance(case, str):
                yield BadRow(
                    self.count, case, shorten_values({"test": values.get("test") or values.get("title") or ""})
                )
                continue
            yield self._checked(number, case)

    def _checked(self, number: int, case: DatasetCase) -> ReadItem:
        try:
            inputs, answers = self.cleaner.row(case.inputs, case.answers)
            uid = f"{number}.{case.uid}" if self.layout.form == "checklist" else case.uid or str(self.count)
            return StoredRow(cases.read_uid(uid), inputs, answers, case.tags)
        except errors.Invalid as problem:
            return BadRow(self.count, problem.detail, shorten_values(case.inputs))


def _with_line(line: int, row: int, message: str) -> str:
    return message if line == row else f"Line {line}: {message}"
