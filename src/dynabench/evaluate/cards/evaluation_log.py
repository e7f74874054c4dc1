"""The common parts of logs of evaluations, whichever program wrote it: scores, and rows that can be scored anew."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dynabench.evaluate.cards.model_index import CardModel, CardResult
from dynabench.evaluate.cards.yaml_text import CardError

MAX_FILE_BYTES = 512 * 1024 * 1024
"""Bytes of one file that is read as a whole."""
MAX_SCORES = 50_000
MAX_NAMED = 50
"""Things left out that a log names."""


@dataclass(frozen=True)
class LoggedScore:
    """One score of a log. `variant` tells scores of one metric apart, such as a filter or a reducer."""

    dataset: str
    metric: str
    value: float
    variant: str = ""
    config: str | None = None
    split: str | None = None
    error: float | None = None
    rows: int | None = None


@dataclass(frozen=True)
class LoggedRow:
    """One row of a log: what the model got, what it said, what would be right, and the log's own scores of it."""

    dataset: str
    id: str
    input: str
    prediction: Any
    references: tuple[Any, ...]
    scores: Mapping[str, float] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The row as one line of a file for `dynabench evaluate run`."""
        return {
            "id": self.id,
            "dataset": self.dataset,
            "input": self.input,
            "prediction": self.prediction,
            "reference": self.references[0] if self.references else None,
            "references": list(self.references),
            "logged_scores": dict(self.scores),
        }


@dataclass
class EvaluationLog:
    """The scores of one model in a log; `read_rows` reads its rows one by one, None where the log has none.

    `left_out` names what could not be read as a score.
    """

    program: str
    model: str
    scores: list[LoggedScore]
    made_at: str | None = None
    read_rows: Callable[[], Iterator[LoggedRow]] | None = None
    left_out: list[str] = field(default_factory=list)

    def rows(self) -> Iterator[LoggedRow]:
        """Yield the rows. Raises `CardError` where a row cannot be read, or the log has none."""
        if self.read_rows is None:
            raise CardError(f"This log of {self.program} has no rows, only scores.")
        return self.read_rows()

    def card_model(self, task_type: str, source_url: str | None = None) -> CardModel:
        """Return the scores as results for a model card."""
        return CardModel(self.model, [card_result(score, self.program, task_type, source_url) for score in self.scores])


def card_result(score: LoggedScore, program: str, task_type: str, source_url: str | None = None) -> CardResult:
    """Return a score of a log as a result for a model card."""
    return CardResult(
        task_type=task_type,
        dataset_type=score.dataset,
        dataset_name=score.dataset,
        dataset_config=score.config,
        dataset_split=score.split,
        metric_type=score.metric,
        metric_value=score.value,
        metric_name=f"{score.metric} ({score.variant})" if score.variant else None,
        source_name=program if source_url else None,
        source_url=source_url,
    )


def number(value: Any) -> float | None:
    """Return a finite number as it is; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:
        return None


def read_json(content: bytes, name: str) -> Any:
    """Return the values of JSON. Raises `CardError`."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise CardError(f"{name} is not JSON: {reason}.") from None


def read_bytes(path: Path, most: int = MAX_FILE_BYTES) -> bytes:
    """Return a file's bytes. Raises `CardError` for one that cannot be read or has more than `most`."""
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise CardError(f"{path.name} cannot be read: {error.strerror}.") from None
    if len(content) > most:
        raise CardError(f"{path.name} has more than {most // 2**20} MB, which are not read.")
    return content


def text_lines(path: Path, longest: int = 64 * 1024 * 1024) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file with their numbers. Raises `CardError` for a line beyond `longest` bytes."""
    try:
        with path.open("rb") as file:
            count = 0
            while line := file.readline(longest + 1):
                count += 1
                if len(line) > longest:
                    raise CardError(f"{path.name}, line {count}, has more than {longest // 2**20} MB.")
                if line.strip():
                    yield count, line
    except OSError as error:
        raise CardError(f"{path.name} cannot be read: {error.strerror}.") from None


def checked_scores(scores: Iterable[LoggedScore], name: str) -> list[LoggedScore]:
    """Return the scores, at most `MAX_SCORES`. Raises `CardError` for more."""
    result: list[LoggedScore] = []
    for score in scores:
        if len(result) == MAX_SCORES:
            raise CardError(f"{name} has more than {MAX_SCORES:,} scores.")
        result.append(score)
    return result


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping as it is, and an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def leave_out(left_out: list[str], message: str) -> None:
    """Note what could not be read, as far as there is room."""
    if len(left_out) < MAX_NAMED:
        left_out.append(message)
    elif len(left_out) == MAX_NAMED:
        left_out.append("and more")
