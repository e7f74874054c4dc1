"""Lines of a file as rows of a dataset, by a layout: checked by the task, or refused with the reason."""

from collections.abc import Iterator, Mapping
from typing import Any

from dynabench.datasets.intake import articles, cases, checklist
from dynabench.datasets.intake.cases import Case, Note
from dynabench.datasets.intake.cleaning import Cleaner
from dynabench.datasets.intake.columns import Columns
from dynabench.datasets.intake.layout import Layout
from dynabench.datasets.stored import Stored
from dynabench.intake.bad_rows import BadRow, shorten_values
from dynabench.intake.text_rows import FileRow
from dynabench.kit import errors
from dynabench.tasks import TaskConfig

Found = Stored | BadRow | Note


class Translator:
    """Turns lines into rows. Rows without an id of their own are numbered by their place among all rows, from 1.

    `count` is the number of rows so far; refused rows are named by it, and by the line where that is another number.
    """

    def __init__(self, layout: Layout, config: TaskConfig) -> None:
        self.layout, self.config = layout, config
        self.columns, self.cleaner = Columns(layout, config), Cleaner(config)
        self.count = 0

    def rows(self, line: FileRow) -> Iterator[Found]:
        """The rows of a line: one, or all of an article or test, which are numbered through the file."""
        if line.values is None:
            self.count += 1
            yield BadRow(self.count, _named(line.number, self.count, line.error))
        elif self.layout.form == "columns":
            yield self._row(line.number, line.values)
        else:
            yield from self._many(line.number, line.values)

    def _row(self, number: int, values: Mapping[str, Any]) -> Found:
        self.count += 1
        try:
            given, found, tags, uid = self.columns.case(values)
            inputs, answers = self.cleaner.row(given, found)
        except errors.Invalid as problem:
            return BadRow(self.count, _named(number, self.count, problem.detail), shorten_values(values))
        return Stored(uid or str(self.count), inputs, answers, tags)

    def _many(self, number: int, values: Mapping[str, Any]) -> Iterator[Found]:
        if self.layout.form == "squad":
            found: Iterator[Case | Note | str] = articles.questions(values, self.config)
        else:
            found = checklist.tests(values, self.config, self.layout.values)
        for case in found:
            if isinstance(case, Note):
                yield case
                continue
            self.count += 1
            if isinstance(case, str):
                yield BadRow(
                    self.count, case, shorten_values({"test": values.get("test") or values.get("title") or ""})
                )
                continue
            yield self._checked(number, case)

    def _checked(self, number: int, case: Case) -> Found:
        try:
            inputs, answers = self.cleaner.row(case.given, case.answers)
            uid = f"{number}.{case.uid}" if self.layout.form == "checklist" else case.uid or str(self.count)
            return Stored(cases.uid(uid), inputs, answers, case.tags)
        except errors.Invalid as problem:
            return BadRow(self.count, problem.detail, shorten_values(case.given))


def _named(line: int, row: int, message: str) -> str:
    return message if line == row else f"Line {line}: {message}"
