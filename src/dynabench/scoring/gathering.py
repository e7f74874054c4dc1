"""What a model said beside what is right: rows of one part with their stored answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dynabench.datasets import stored
from dynabench.scoring import answers
from dynabench.scoring.asking import Stopped
from dynabench.scoring.columns import is_exact
from dynabench.scoring.tables import Shard
from dynabench.settings import Settings
from dynabench.tasks.config import TaskConfig
from dynabench.tasks.fields import Field
from dynabench.tasks.rules import Rule


@dataclass
class Gathered:
    """Columns of equal length: one row for each of the part. `places` has the rows of each tag, `given` what the task's
    rule reads of the inputs, where it reads any."""

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
        """Of each row whether the answer is the same as an accepted one: what accuracy and exact match count."""
        return [is_exact(self.answer, said, right) for said, right in zip(self.said, self.right, strict=True)]

    def right_by(self, rule: Rule) -> list[bool]:
        """Of each row whether the answer is right by the task's rule (`Rule.right`)."""
        rows = zip(self.said, self.right, self.given or [{}] * len(self.said), strict=True)
        return [rule.right(said, accepted, self.answer, given) for said, accepted, given in rows]


def answer_field(config: TaskConfig, settings: Settings, shard: Shard) -> Field:
    """The task's answer field that the answers of a shard are about."""
    first = next(answers.read(_file(settings, shard)))
    return next((each for each in config.answer if each.name in first.answer), config.answer[0])


def gather(
    settings: Settings, field: Field, digest: str, shards: Sequence[Shard], reads: Sequence[str] = ()
) -> Gathered:
    """Rows and answers of a part, with the inputs named in `reads`.

    Raises `Stopped` where a file is not what was recorded of it.
    """
    found = Gathered(field)
    rows = stored.read(settings, digest)
    for shard in sorted(shards, key=lambda each: each.first):
        for said in answers.read(_file(settings, shard)):
            row = next(rows, None)
            if row is None or row.uid != said.uid:
                raise Stopped("dataset_changed")
            _add(found, row, said)
            if reads:
                found.given.append({name: row.inputs[name] for name in reads if name in row.inputs})
    return found


def _file(settings: Settings, shard: Shard) -> Path:
    path = answers.path(settings, shard.evaluation_id, shard.part, shard.number)
    if not path.is_file():
        raise Stopped("answers_gone")
    return path


def _add(found: Gathered, row: stored.Stored, said: answers.Answer) -> None:
    name = found.answer.name
    for tag in row.tags:
        found.places.setdefault(tag, []).append(len(found.uids))
    found.uids.append(row.uid)
    found.said.append(said.answer.get(name))
    found.right.append([each[name] for each in row.answers if name in each] or [None])
    found.chances.append(said.probabilities)
    if said.cost is not None:
        found.costs.append(said.cost)
    found.of.append(row.of)
