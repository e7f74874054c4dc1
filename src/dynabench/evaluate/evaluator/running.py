"""Ask a predictor about all rows: batch by batch, timed, resumed where an earlier run broke off."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dynabench.evaluate.evaluator.batching import batches
from dynabench.evaluate.evaluator.checkpoint import Checkpoint
from dynabench.evaluate.evaluator.predictors.base import Predictor
from dynabench.evaluate.evaluator.timing import Timing

Progress = Callable[[int, int], Any]
Clock = Callable[[], float]


@dataclass(frozen=True)
class Run:
    """One answer for each row, in order, and how long they took."""

    answers: list[Any]
    timing: Timing


def run(
    predictor: Predictor,
    inputs: Sequence[Any],
    *,
    batch_size: int,
    clock: Clock,
    checkpoint: Checkpoint | None = None,
    progress: Progress | None = None,
    warm_up: bool = True,
) -> Run:
    """Answers to `inputs`.

    Only encoding and predicting are timed: fetching lazy rows, the checkpoint and `progress` are not. The warm-up is
    an untimed pass over the shortest row.
    """
    began = clock()
    encoded = predictor.encode(inputs)
    timing = Timing(encoding=clock() - began)
    groups = batches(predictor.sizes(encoded), len(encoded), batch_size)
    answers: dict[int, Any] = {}
    if checkpoint is not None:
        answers.update(_remembered(checkpoint, timing))
        groups = _left(groups, answers)
    if groups and warm_up:
        predictor.predict([encoded[groups[-1][-1]]])
    try:
        if checkpoint is not None:
            checkpoint.begin(timing.encoding)
        for rows in groups:
            answers.update(_batch(predictor, encoded, rows, timing, clock, checkpoint))
            if progress is not None:
                progress(len(answers), len(encoded))
    finally:
        if checkpoint is not None:
            checkpoint.close()
    return Run([answers[row] for row in range(len(encoded))], timing)


def _batch(
    predictor: Predictor,
    encoded: Sequence[Any],
    rows: list[int],
    timing: Timing,
    clock: Clock,
    checkpoint: Checkpoint | None,
) -> dict[int, Any]:
    fetched = [encoded[row] for row in rows]
    began = clock()
    said = predictor.predict(fetched)
    seconds = clock() - began
    if len(said.answers) != len(rows):
        raise ValueError(f"the model gave {len(said.answers)} answers to {len(rows)} inputs; it must give one for each")
    timing.add(seconds, len(rows), said.tokens)
    if checkpoint is not None:
        checkpoint.add(rows, said.answers, seconds, said.tokens)
    return dict(zip(rows, said.answers, strict=True))


def _remembered(checkpoint: Checkpoint, timing: Timing) -> dict[int, Any]:
    """Earlier answers; their times join this run's, and encoding counts as it did when the file was begun."""
    if checkpoint.encoding is not None:
        timing.encoding = checkpoint.encoding
    for line in checkpoint.lines:
        timing.add(line["seconds"], len(line["rows"]), line["tokens"])
    return checkpoint.done


def _left(groups: list[list[int]], done: dict[int, Any]) -> list[list[int]]:
    """Batches without the rows that are done: whole batches stay whole, so answers are those of an unbroken run."""
    left = ([row for row in rows if row not in done] for rows in groups)
    return [rows for rows in left if rows]
