"""Accuracy and macro F1 of a model on labelled rows, by the very code that serves it."""

from collections.abc import Callable, Sequence

import numpy as np

from dynabench.models.protocol import Model
from dynabench.models.spec import Score
from dynabench.models.training.rows import Row
from dynabench.stats.rates import wilson

CHUNK = 512


def score(model: Model, rows: Sequence[Row], progress: Callable[[float], None] = lambda share: None) -> Score:
    """Scores of the model's answers; each answer is one of the card's labels."""
    answer, labels = model.card.answer, model.card.labels
    counts = np.zeros((len(labels), len(labels)), int)
    for start in range(0, len(rows), CHUNK):
        part = rows[start : start + CHUNK]
        for row, output in zip(part, model.predict([row.inputs for row in part]), strict=True):
            counts[labels.index(row.label), labels.index(output.answer[answer])] += 1
        progress(min(1.0, (start + CHUNK) / len(rows)))
    return of_counts(counts)


def of_counts(counts: "np.ndarray[tuple[int, int], np.dtype[np.int64]]") -> Score:
    """Scores of a matrix of counts (reference, answer); the interval is Wilson's at 95 %."""
    n, hits = int(counts.sum()), np.diagonal(counts)
    total = counts.sum(0) + counts.sum(1)
    f1 = np.divide(2 * hits, total, out=np.zeros(len(hits)), where=total > 0)
    rate = wilson(int(hits.sum()), n)
    return Score(
        accuracy=round(rate.value or 0.0, 4),
        macro_f1=round(float(f1.mean()), 4),
        n=n,
        low=round(rate.low or 0.0, 4),
        high=round(rate.high or 0.0, 4),
    )
