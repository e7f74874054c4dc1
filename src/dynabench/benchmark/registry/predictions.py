"""Files of predictions: read row by row against a dataset, stored in its order, handed out as outputs.

A row has `uid`, the task's answer fields, and if they are known `probabilities`: an object from label to number, or a
column `probability.<label>` each. Spans are lists of `{start, end, text}`, or the text alone, which is then looked
for. All rows of the dataset are needed, once. What is right lies at `submissions/<id>/<dataset version>.parquet`.
"""

import contextlib
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from dynabench.benchmark.registry.tables import Submission
from dynabench.datasets import stored
from dynabench.datasets.tables import DatasetVersion
from dynabench.intake import reader
from dynabench.intake.rows import BadRowReport, FileRow
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models import validity
from dynabench.models.protocol import Inputs, ModelCard, ModelOutput, as_text
from dynabench.models.starting import described
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Choice, Field, Spans, Text

MAX_PROBLEMS = 200
"""Errors that are named with their line; the others are counted."""
BATCH = 10_000
SCHEMA = pa.schema([("uid", pa.string()), ("answer", pa.string()), ("probabilities", pa.string())])
COLUMN = "probability."


def predictions_path(settings: Settings, submission: int, version: int) -> Path:
    """Return the path of a submission's predictions for a dataset version."""
    return settings.folder / "submissions" / str(submission) / f"{version}.parquet"


def has_predictions(settings: Settings, submission: Submission, version: DatasetVersion) -> bool:
    """Return True if a submission has predictions for this dataset version; for a newer version it has none."""
    return predictions_path(settings, submission.id, version.id).is_file()


def answers(settings: Settings, submission: Submission, version: DatasetVersion) -> Iterator[ModelOutput]:
    """The predictions for a dataset version, one for each of its rows in its order, `BATCH` at a time in memory.

    Raises `NotFound` where the submission has none for this version.
    """
    if not has_predictions(settings, submission, version):
        raise errors.NotFound(_("%(name)s has no predictions for this version of the dataset.", name=submission.name))
    with pq.ParquetFile(predictions_path(settings, submission.id, version.id)) as file:
        for group in range(file.num_row_groups):
            for row in file.read_row_group(group).to_pylist():
                probabilities_json = row["probabilities"]
                yield ModelOutput(
                    orjson.loads(row["answer"]), orjson.loads(probabilities_json) if probabilities_json else None
                )


def read_predictions(
    settings: Settings, config: TaskConfig, file: Path, name: str, digest: str, into: Path
) -> BadRowReport:
    """Check a file, called `name`, against the dataset of this digest, and store it at `into` if nothing is wrong."""
    report = BadRowReport(MAX_PROBLEMS)
    places = {row.uid: number for number, row in enumerate(stored.read_rows(settings, digest))}
    answers: list[bytes | None] = [None] * len(places)
    lines = [0] * len(places)
    try:
        for row in reader.read_rows(file, name):
            _place(config, row, places, answers, lines, report)
    except errors.Problem as problem:
        report.add(0, problem.detail)
        return report
    missing = [uid for uid, number in places.items() if not lines[number]]
    if missing:
        some = ", ".join(map(shorten, missing[:20])) + (", ..." if len(missing) > 20 else "")
        report.add(0, f"{len(missing):,} of {len(places):,} rows are missing; every row needs an answer: {some}")
    _check(settings, config, digest, answers, lines, report)
    if not report.count:
        _store(settings, digest, answers, into)
    report.rows = sum(item is not None for item in answers)
    return report


def _place(
    config: TaskConfig,
    row: FileRow,
    places: dict[str, int],
    placed: list[bytes | None],
    lines: list[int],
    report: BadRowReport,
) -> None:
    """Put a row where its uid stands in the dataset, as JSON: a million of them are held at once."""
    values = row.values
    if values is None:
        report.add(row.number, row.error)
        return
    uid = str(values.get("uid") if values.get("uid") is not None else "")
    if not uid:
        report.add(row.number, _("The line has no `uid`, so its row is unknown."))
    elif uid not in places:
        report.add(row.number, _("The dataset has no row %(uid)s.", uid=shorten(uid)))
    elif lines[places[uid]]:
        report.add(
            row.number,
            _("Row %(uid)s already has an answer in line %(lines)s.", uid=shorten(uid), lines=lines[places[uid]]),
        )
    else:
        lines[places[uid]] = row.number
        try:
            content = orjson.dumps([_answer(config, values), _probabilities(values)])
            placed[places[uid]] = content
        except (ValueError, TypeError) as error:
            report.add(row.number, str(error)[:300])


def _answer(config: TaskConfig, values: Mapping[str, Any]) -> dict[str, Any]:
    held: Any = values.get("answer")
    held = held if isinstance(held, Mapping) and not any(f.name == "answer" for f in config.answer) else values
    if lacking := [field.name for field in config.answer if held.get(field.name) is None]:
        raise ValueError(f"It lacks {', '.join(lacking)}.")
    return {field.name: _clean_answer(field, held[field.name]) for field in config.answer}


def _clean_answer(field: Field, value: Any) -> Any:
    """An answer as a model would give it: spans as a list, numbers, lists and objects as text."""
    if isinstance(field, Spans):
        return _opened(value)
    return value if isinstance(field, Choice | Text) else as_text(value)


def _opened(value: Any) -> Any:
    """A cell that holds JSON, as CSV has lists of spans."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def _probabilities(values: Mapping[str, Any]) -> dict[str, Any] | None:
    probabilities = values.get("probabilities")
    if isinstance(probabilities, str) and probabilities.strip():
        probabilities = json.loads(probabilities)
    if probabilities in (None, ""):
        probabilities = {
            name.removeprefix(COLUMN): number for name, number in values.items() if name.startswith(COLUMN)
        } or None
    if probabilities is None:
        return None
    if not isinstance(probabilities, Mapping):
        raise ValueError("`probabilities` is an object from label to number.")
    numbers = {label: float(number) for label, number in probabilities.items() if number is not None}
    if bad := [label for label, number in numbers.items() if not math.isfinite(number)]:
        raise ValueError(f"The probability of {shorten(bad[0])} is {numbers[bad[0]]}; it must be a number from 0 to 1.")
    return numbers


def _check(
    settings: Settings,
    config: TaskConfig,
    digest: str,
    placed: list[bytes | None],
    lines: list[int],
    report: BadRowReport,
) -> None:
    """Refuse what no model of the task may answer, by the check that models' own answers go through."""
    cards = _cards(config)
    for number, row in enumerate(stored.read_rows(settings, digest)):
        content = placed[number]
        if content is None:
            continue
        answer, probabilities = orjson.loads(content)
        try:
            for place, card in enumerate(cards):
                if card.returns == "spans":
                    answer[card.answer] = _located(row.inputs, card, answer[card.answer])
                output = ModelOutput({card.answer: answer[card.answer]}, probabilities if place == 0 else None)
                validity.check_outputs(card, [row.inputs], [output])
        except (validity.Broken, ValueError) as error:
            detail = error.detail if isinstance(error, validity.Broken) else str(error)
            report.add(lines[number], f"row {shorten(row.uid)}: {detail.removeprefix('predictions, output 0: ')}"[:400])
            continue
        if any(card.returns == "spans" for card in cards):
            placed[number] = orjson.dumps([answer, probabilities])


def _located(inputs: Inputs, card: ModelCard, value: Any) -> Any:
    """Spans; of a text that was given alone, where the passage has it first."""
    if not isinstance(value, str):
        return value
    if not value:
        return []
    start = str(inputs.get(card.inputs[-1], "")).find(value)
    if start < 0:
        raise ValueError(f"{shorten(value)} does not stand in {card.inputs[-1]!r}.")
    return [{"start": start, "end": start + len(value), "text": value}]


def _cards(config: TaskConfig) -> list[ModelCard]:
    """The card that a model of each answer field would have."""
    facts = described.facts("predictions", config, "predictions", {})
    cards = []
    for answer_field in config.answer:
        inputs = tuple(facts["inputs"])
        if isinstance(answer_field, Choice):
            cards.append(
                ModelCard(
                    "predictions", "", config.id, "predictions", inputs, answer_field.name, tuple(answer_field.values)
                )
            )
        else:
            returns: Any = "spans" if isinstance(answer_field, Spans) else "text"
            cards.append(
                ModelCard("predictions", "", config.id, "predictions", inputs, answer_field.name, returns=returns)
            )
    return cards


def _store(settings: Settings, digest: str, placed: list[bytes | None], into: Path) -> None:
    into.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = into.with_name(f".{into.name}.part")
    rows: list[dict[str, str | None]] = []
    with pq.ParquetWriter(fresh, SCHEMA, compression="zstd") as writer:
        for number, row in enumerate(stored.read_rows(settings, digest)):
            answer, probabilities = orjson.loads(placed[number] or b"[]")
            probabilities_json = (
                orjson.dumps(probabilities, option=orjson.OPT_SORT_KEYS).decode() if probabilities else None
            )
            rows.append({"uid": row.uid, "answer": orjson.dumps(answer).decode(), "probabilities": probabilities_json})
            if len(rows) == BATCH:
                writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
                rows = []
        if rows:
            writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
    fresh.replace(into)


def shorten(value: str) -> str:
    """Return a value as messages quote it, at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
