"""The answers of one part beside the right answers, row by row."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dynabench.benchmark.evaluations import answer_files
from dynabench.benchmark.evaluations.metric_columns import is_exact
from dynabench.benchmark.evaluations.model_process import EvaluationStopped
from dynabench.benchmark.evaluations.tables import Shard
from dynabench.datasets import stored
from dynabench.kit.settings import Settings
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Field
from dynabench.tasks.rules import Rule


@dataclass
class AnswerColumns:
    """Columns of equal length, with one entry for each row of a part: predictions, right answers, probabilities,
    costs, and the uid of the original for twins. The rows of each tag are listed by position; the inputs that the
    task's rule reads are present if it reads any.
    """

    answer: Field
    uids: list[str] = field(default_factory=list)
    said: list[Any] = field(default_factory=list)
    right: list[list[Any]] = field(default_factory=list)
    chances: list[dict[str, float] | None] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    of: list[str] = field(default_factory=list)
    places: dict[str, list[int]] = field(default_factory=dict)
    given: list[dict[str, Any]] = field(default_factory=list)

    def hits(self) -> list[bool]:
        """Return for each row whether the prediction equals an accepted answer, as accuracy counts it."""
        return [
            is_exact(self.answer, prediction, right) for prediction, right in zip(self.said, self.right, strict=True)
        ]

    def right_by(self, rule: Rule) -> list[bool]:
        """Return for each row whether the prediction is right by the task's rule (`Rule.right`)."""
        rows = zip(self.said, self.right, self.given or [{}] * len(self.said), strict=True)
        return [rule.right(prediction, accepted, self.answer, inputs) for prediction, accepted, inputs in rows]


def answer_field(config: TaskConfig, settings: Settings, shard: Shard) -> Field:
    """The task's answer field that the answers of a shard are about."""
    first = next(answer_files.read_answers(_file(settings, shard)))
    return next((field for field in config.answer if field.name in first.answer), config.answer[0])


def gather_answers(
    settings: Settings, field: Field, digest: str, shards: Sequence[Shard], reads: Sequence[str] = ()
) -> AnswerColumns:
    """Return the rows and answers of a part, with the inputs named in `reads`.

    Raises `EvaluationStopped` where a file is not the recorded one.
    """
    gathered = AnswerColumns(field)
    rows = stored.read(settings, digest)
    for shard in sorted(shards, key=lambda shard_row: shard_row.first):
        for answer in answer_files.read_answers(_file(settings, shard)):
            row = next(rows, None)
            if row is None or row.uid != answer.uid:
                raise EvaluationStopped("dataset_changed")
            _add(gathered, row, answer)
            if reads:
                gathered.given.append({name: row.inputs[name] for name in reads if name in row.inputs})
    return gathered


def _file(settings: Settings, shard: Shard) -> Path:
    path = answer_files.answers_path(settings, shard.evaluation_id, shard.part, shard.number)
    if not path.is_file():
        raise EvaluationStopped("answers_gone")
    return path


def _add(gathered: AnswerColumns, row: stored.Stored, stored_answer: answer_files.StoredAnswer) -> None:
    name = gathered.answer.name
    for tag in row.tags:
        gathered.places.setdefault(tag, []).append(len(gathered.uids))
    gathered.uids.append(row.uid)
    gathered.said.append(stored_answer.answer.get(name))
    gathered.right.append([accepted[name] for accepted in row.answers if name in accepted] or [None])
    gathered.chances.append(stored_answer.probabilities)
    if stored_answer.cost is not None:
        gathered.costs.append(stored_answer.cost)
    gathered.of.append(row.of)
