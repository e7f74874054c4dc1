"""The run of a predictor over all rows: in batches, timed, resumed from a checkpoint of an interrupted run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dynabench.evaluate.evaluator.batching import make_batches
from dynabench.evaluate.evaluator.checkpoint import AnswerCheckpoint
from dynabench.evaluate.evaluator.predictors.base import Predictor
from dynabench.evaluate.evaluator.timing import Timing

Progress = Callable[[int, int], Any]
Clock = Callable[[], float]


@dataclass(frozen=True)
class RunResult:
    """One answer for each row, in order, and the times of the run."""

    answers: list[Any]
    timing: Timing


def run_predictor(
    predictor: Predictor,
    inputs: Sequence[Any],
    *,
    batch_size: int,
    clock: Clock,
    checkpoint: AnswerCheckpoint | None = None,
    progress: Progress | None = None,
    warm_up: bool = True,
) -> RunResult:
    """Return the answers to `inputs`, with the times.

    Only encoding and predicting are timed: fetching lazy rows, the checkpoint and `progress` are not. The warm-up
    is an untimed pass over the shortest row.
    """
    began = clock()
    encoded = predictor.encode(inputs)
    timing = Timing(encoding=clock() - began)
    groups = make_batches(predictor.sizes(encoded), len(encoded), batch_size)
    answers: dict[int, Any] = {}
    if checkpoint is not None:
        answers.update(_restore_answers(checkpoint, timing))
        groups = _remaining_batches(groups, answers)
    if groups and warm_up:
        predictor.predict([encoded[groups[-1][-1]]])
    try:
        if checkpoint is not None:
            checkpoint.begin(timing.encoding)
        for rows in groups:
            answers.update(_run_batch(predictor, encoded, rows, timing, clock, checkpoint))
            if progress is not None:
                progress(len(answers), len(encoded))
    finally:
        if checkpoint is not None:
            checkpoint.close()
    return RunResult([answers[row] for row in range(len(encoded))], timing)


def _run_batch(
    predictor: Predictor,
    encoded: Sequence[Any],
    rows: list[int],
    timing: Timing,
    clock: Clock,
    checkpoint: AnswerCheckpoint | None,
) -> dict[int, Any]:
    fetched = [encoded[row] for row in rows]
    began = clock()
    result = predictor.predict(fetched)
    seconds = clock() - began
    if len(result.answers) != len(rows):
        raise ValueError(
            f"the model gave {len(result.answers)} answers to {len(rows)} inputs; it must give one for each"
        )
    timing.add(seconds, len(rows), result.tokens)
    if checkpoint is not None:
        checkpoint.add(rows, result.answers, seconds, result.tokens)
    return dict(zip(rows, result.answers, strict=True))


def _restore_answers(checkpoint: AnswerCheckpoint, timing: Timing) -> dict[int, Any]:
    """Earlier answers; their times join this run's, and encoding counts as it did when the file was begun."""
    if checkpoint.encoding is not None:
        timing.encoding = checkpoint.encoding
    for line in checkpoint.lines:
        timing.add(line["seconds"], len(line["rows"]), line["tokens"])
    return checkpoint.done


def _remaining_batches(groups: list[list[int]], done: dict[int, Any]) -> list[list[int]]:
    """Batches without the rows that are done.

    Whole batches stay whole, so answers are those of an uninterrupted run.
    """
    remaining = ([row for row in rows if row not in done] for rows in groups)
    return [rows for rows in remaining if rows]
