"""How each row was answered: made with the scores, kept in a file of its own for each evaluation.

Views that compare models row by row read these files instead of scoring again; scoring anew writes them anew. What may
be told of them is their readers' business.
"""

import os
import uuid
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.states import Sums
from dynabench.scoring.columns import SQUAD, Metric, metric
from dynabench.scoring.gathering import Gathered
from dynabench.settings import Settings
from dynabench.tasks.fields import Spans
from dynabench.tasks.rules import Rule

RowScores = NDArray[np.float32]
"""(2, n): what the primary metric says of each row, from 0 to 1, and 1 where its answer is right by the task's rule."""
KEPT = 200
"""Files that are kept in memory, the last that were read."""


def of(primary: str, rule: Rule, rows: Gathered) -> RowScores:
    """The primary metric's score of each row where it is a mean over rows (word F1 of spans), else 1 where it is the
    same as an accepted one; and whether it is right."""
    return np.stack([_scores(primary, rows), np.array(rows.right_by(rule), np.float32)])


def _scores(primary: str, rows: Gathered) -> NDArray[np.float32]:
    if isinstance(rows.answer, Spans) and primary in SQUAD and rows.said:
        try:
            return _means(metric(primary, rows.answer, rows.said, rows.right))
        except ValueError:  # a metric that is not defined on these rows has no score of the whole either
            pass
    return np.array(rows.hits(), np.float32)


def _means(chosen: Metric) -> NDArray[np.float32]:
    module = chosen.module
    state = module.state(chosen.columns, **module.options)
    if not isinstance(state, Sums):
        raise ValueError(f"{module.name} is no mean over rows")
    found = module.formula(state.alone(), **module.options_for(module.formula))[chosen.key]
    return np.asarray(found * chosen.scale, np.float32)


def keep(settings: Settings, evaluation: int, values: RowScores) -> None:
    """Store them in the place of earlier ones; a reader sees either the old or the new ones."""
    at = path(settings, evaluation)
    at.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    waiting = at.with_name(f".{uuid.uuid4()}")
    with waiting.open("wb") as file:
        np.save(file, values.astype("<f4"), allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    waiting.replace(at)


def read(settings: Settings, evaluation: int) -> RowScores | None:
    """What was stored, not to be changed; None where the file is gone or broken."""
    at = path(settings, evaluation)
    try:
        state = at.stat()
        return _read(at, state.st_mtime_ns, state.st_ino)
    except (OSError, ValueError, EOFError):
        return None


@lru_cache(maxsize=KEPT)
def _read(at: Path, changed: int, file: int) -> RowScores:
    found: RowScores = np.load(at, allow_pickle=False)
    if found.ndim != 2 or len(found) != 2 or found.dtype != np.float32:
        raise ValueError(f"{at} holds something else than two numbers for each row")
    found.flags.writeable = False
    return found


def is_whole(settings: Settings, evaluation: int, rows: int) -> bool:
    """Tell whether the file is there and holds the scores of so many rows."""
    known = read(settings, evaluation)
    return known is not None and known.shape[1] == rows


def path(settings: Settings, evaluation: int) -> Path:
    """Return the path of the file with the scores of an evaluation's rows."""
    return settings.folder / "evaluations" / str(evaluation) / "rows.npy"
