"""Training sets as people send them: read line by line against the pool, then what the task's learner learns from.

A row is a `uid` of the pool, or where the task takes rows of one's own its fields and its answer. A file of plain text
has one uid a line. A baseline has no file: the platform draws its rows, or takes all.
"""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.registry import submission_sources, submissions
from dynabench.benchmark.registry.predictions import MAX_PROBLEMS, shorten
from dynabench.datasets import stored
from dynabench.intake import reader
from dynabench.intake.rows import BadRowReport, FileRow
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models.fitted import ChosenRow, label_balance
from dynabench.people.accounts.tables import Person
from dynabench.tasks import TaskConfig
from dynabench.tasks.sections import Training

BASELINES = ("random", "all")
PLAIN = ".txt"
LONGEST_UID = 200


def sent_file(session: Session, settings: Settings, person: Person, id: int) -> tuple[Path, str]:
    """The file that a training set was sent as, and what it was called (its submitter, admins)."""
    seen = submissions.find_submission(session, person, id)
    if not seen.mine:
        raise errors.Forbidden(_("Only the submitter can see the rows."))
    name = str(seen.submission.source.get("file", "")) if seen.submission.kind == "training_set" else ""
    path = submission_sources.taken_path(settings, name)
    if not name or not path.is_file():
        raise errors.Conflict(_("This submission has no file of rows, or no longer has one."))
    return path, str(seen.submission.source["name"])


def baseline_set(settings: Settings, config: TaskConfig, digest: str, baseline: str) -> list[ChosenRow]:
    """The rows of a baseline: `all` of the pool, or as many as a set may have, drawn with the learner's seed."""
    training = _training(config)
    pool = sorted(_pool(settings, config, digest).values())
    if baseline == "all" or len(pool) <= training.rows:
        return pool
    return random.Random(training.learner.seed).sample(pool, training.rows)


def read_training_set(
    settings: Settings, config: TaskConfig, file: Path, name: str, digest: str
) -> tuple[list[ChosenRow], BadRowReport]:
    """The rows of a file called `name`, and what is wrong with it by line, against the pool of this digest."""
    chosen, report = _Chosen(config, _pool(settings, config, digest)), BadRowReport(MAX_PROBLEMS)
    try:
        for row in file_rows(file, name):
            report.rows += 1
            if report.rows > chosen.training.rows:
                continue  # they are counted, and told of once
            try:
                chosen.add(row)
            except errors.Invalid as problem:
                report.add(row.number, _problem_text(problem.fields)[:400])
    except errors.Problem as problem:
        report.add(0, problem.detail)
    for set_problem in _whole(chosen, report):
        report.add(0, set_problem)
    return chosen.rows, report


def file_rows(file: Path, name: str) -> Iterator[FileRow]:
    """The rows of a file of any kind; of plain text each line that is not empty is a uid."""
    if not name.lower().removesuffix(".gz").endswith(PLAIN):
        yield from reader.read_rows(file, name)
        return
    with reader.open_text(file, name) as stream:
        reader.refuse_utf16(stream)
        number = 0
        while line := stream.readline(LONGEST_UID * 8):
            number += 1
            if uid := line.decode("utf-8-sig", "replace").strip():
                yield FileRow(number, {"uid": uid})


class _Chosen:
    """The rows that were chosen so far; rows of one's own have no uid."""

    def __init__(self, config: TaskConfig, pool: Mapping[str, ChosenRow]) -> None:
        self.config, self.pool, self.training = config, pool, _training(config)
        self.rows: list[ChosenRow] = []
        self.lines: dict[object, int] = {}

    def add(self, row: FileRow) -> None:
        """Take a row; raises `Invalid`."""
        values = row.values
        if values is None:
            raise _wrong(row.error)
        uid = str(values.get("uid") if values.get("uid") is not None else "").strip()
        chosen_row = self._of_pool(uid, values) if uid else self._own(values)
        key: object = uid or chosen_row.texts
        if key in self.lines:
            subject = f"Row {shorten(uid)}" if uid else "This text"
            raise _wrong(_("%(what)s already occurs in line %(value)s.", what=subject, value=self.lines[key]))
        self.lines[key] = row.number
        self.rows.append(chosen_row)

    def _of_pool(self, uid: str, values: Mapping[str, Any]) -> ChosenRow:
        if uid not in self.pool:
            raise _wrong(_("The pool has no row %(uid)s.", uid=shorten(uid)))
        pool_row, label = self.pool[uid], values.get(self.config.answer[0].name)
        if label not in (None, "", pool_row.label):
            raise _wrong(
                _(
                    "Row %(uid)s has the label %(label)s in the pool; the label cannot be changed.",
                    uid=shorten(uid),
                    label=pool_row.label,
                )
            )
        return pool_row

    def _own(self, values: Mapping[str, Any]) -> ChosenRow:
        if not self.training.own_rows:
            raise _wrong(_("The row has no `uid`, so its pool row is unknown."))
        config, answer = self.config, self.config.answer[0].name
        if values.get(answer) in (None, ""):
            raise _wrong(_("The row has no label: give its %(answer)s.", answer=answer))
        context = config.clean_context({field.name: values.get(field.name) for field in config.context})
        written = config.clean_input({field.name: values.get(field.name) for field in config.input}, context)
        label = config.clean_answer({answer: values[answer]}, context=context, input=written)[answer]
        return _chosen(config, "", config.model_inputs(context, written), label)


def _whole(chosen: _Chosen, report: BadRowReport) -> Iterator[str]:
    """The problems of the set as a whole, after all rows were read."""
    if not report.rows and not report.count:
        yield _("The file is empty: there are no rows to train on.")
    if report.rows > chosen.training.rows:
        yield _(
            "The file has %(rows)s rows; the limit is %(rows2)s.",
            rows=f"{report.rows:,}",
            rows2=f"{chosen.training.rows:,}",
        )
    labels = label_balance(chosen.rows)
    if chosen.rows and not report.count and len(labels) < 2:
        yield _("All rows are labelled %(value)s; a learner needs at least two labels.", value=next(iter(labels)))


def _pool(settings: Settings, config: TaskConfig, digest: str) -> dict[str, ChosenRow]:
    return {
        row.uid: _chosen(config, row.uid, row.inputs, row.answers[0][config.answer[0].name])
        for row in stored.read_rows(settings, digest)
    }


def _chosen(config: TaskConfig, uid: str, inputs: Mapping[str, Any], label: str) -> ChosenRow:
    return ChosenRow(uid, tuple(str(inputs.get(name) or "") for name in config.model_inputs({}, {})), label)


def _training(config: TaskConfig) -> Training:
    if config.training is None:
        raise errors.Conflict(_("This task trains no models."))
    return config.training


def _problem_text(fields: Mapping[str, str]) -> str:
    """The problems of a row's fields, each with the field's name."""
    parts = (text if name == "row" else f"{name.rpartition('.')[2]}: {text}" for name, text in fields.items())
    return " ".join(parts)


def _wrong(message: str) -> errors.Invalid:
    return errors.Invalid({"row": message})
