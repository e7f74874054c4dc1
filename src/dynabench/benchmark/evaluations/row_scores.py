"""The score of each row: computed with the evaluation's scores, and stored in a file for each evaluation.

Views that compare models row by row read these files instead of scoring again; scoring anew writes them anew.
Their readers decide how much of them may be shown.
"""

import os
import uuid
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynabench.benchmark.evaluations.answer_columns import AnswerColumns
from dynabench.benchmark.evaluations.metric_columns import SQUAD, BoundMetric, bind_metric
from dynabench.evaluate.states import Sums
from dynabench.kit.settings import Settings
from dynabench.tasks.fields import Spans
from dynabench.tasks.rules import Rule

RowScores = NDArray[np.float32]
"""(2, n): what the primary metric says of each row, from 0 to 1, and 1 where its answer is right by the task's rule."""
CACHED_FILES = 200
"""Files that are kept in memory, the last that were read."""


def compute_row_scores(primary: str, rule: Rule, rows: AnswerColumns) -> RowScores:
    """Return for each row its score in the primary metric where that is a mean over rows (word F1 of spans), else 1
    for an exact match; and whether the answer is right."""
    return np.stack([_scores(primary, rows), np.array(rows.right_by(rule), np.float32)])


def _scores(primary: str, rows: AnswerColumns) -> NDArray[np.float32]:
    if isinstance(rows.answer, Spans) and primary in SQUAD and rows.said:
        try:
            return _means(bind_metric(primary, rows.answer, rows.said, rows.right))
        except ValueError:  # a metric that is not defined on these rows has no score of the whole either
            pass
    return np.array(rows.hits(), np.float32)


def _means(chosen: BoundMetric) -> NDArray[np.float32]:
    module = chosen.module
    state = module.state(chosen.columns, **module.options)
    if not isinstance(state, Sums):
        raise ValueError(f"{module.name} is no mean over rows")
    values = module.formula(state.alone(), **module.options_for(module.formula))[chosen.key]
    return np.asarray(values * chosen.scale, np.float32)


def store_row_scores(settings: Settings, evaluation: int, values: RowScores) -> None:
    """Store the scores in place of earlier ones; a reader sees either the old or the new file."""
    target = row_scores_path(settings, evaluation)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    waiting = target.with_name(f".{uuid.uuid4()}")
    with waiting.open("wb") as file:
        np.save(file, values.astype("<f4"), allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    waiting.replace(target)


def read_row_scores(settings: Settings, evaluation: int) -> RowScores | None:
    """Return the stored scores, read-only; None where the file is missing or broken."""
    target = row_scores_path(settings, evaluation)
    try:
        state = target.stat()
        return _read(target, state.st_mtime_ns, state.st_ino)
    except (OSError, ValueError, EOFError):
        return None


@lru_cache(maxsize=CACHED_FILES)
def _read(at: Path, changed: int, file: int) -> RowScores:
    values: RowScores = np.load(at, allow_pickle=False)
    if values.ndim != 2 or len(values) != 2 or values.dtype != np.float32:
        raise ValueError(f"{at} holds something else than two numbers for each row")
    values.flags.writeable = False
    return values


def is_whole(settings: Settings, evaluation: int, rows: int) -> bool:
    """Tell whether the file is there and holds the scores of so many rows."""
    stored_scores = read_row_scores(settings, evaluation)
    return stored_scores is not None and stored_scores.shape[1] == rows


def row_scores_path(settings: Settings, evaluation: int) -> Path:
    """Return the path of the file with the scores of an evaluation's rows."""
    return settings.folder / "evaluations" / str(evaluation) / "rows.npy"
