"""Learning a mix with a linear model over hashed n-grams."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np

from dynabench.kit.errors import Invalid
from dynabench.models.backends.ngram import save
from dynabench.models.training import mixing, ngram, softmax, strengths
from dynabench.models.training.learning import Checkpoints, Learned, Progress, Settings
from dynabench.models.training.mixing import Mix
from dynabench.models.training.recipes import Ngram
from dynabench.models.training.rows import Row
from dynabench.models.training.softmax import Floats


def learn(mix: Mix, settings: Settings, folder: Path, kept: Checkpoints, progress: Progress) -> Learned:
    """Train, and write the weights to `folder`."""
    if len(mix.inputs) > 2:
        raise Invalid({"method": "ngram chooses one of several labels for one or two texts; take another method."})
    chosen = Ngram(pairs=len(mix.inputs) == 2, characters=None if len(mix.inputs) == 2 else (2, 5))
    features = ngram.options(chosen)
    drawn = mixing.amounts(mix.parts)
    rows, often = [row for row, _ in drawn], np.array([amount for _, amount in drawn])
    table = ngram.matrix(rows, mix.inputs, features, lambda share: progress("reading", share, ""))
    labels, barred = targets(rows, mix.labels)
    dev = cast("Sequence[Row]", mix.dev)
    judged = strengths.Judged(ngram.matrix(dev, mix.inputs, features, lambda share: None), targets(dev, mix.labels)[0])

    def fit(strength: float, report: softmax.Progress) -> tuple[Floats, Floats]:
        return ngram.fit(table, labels, barred, strength, report, often)

    found = strengths.learn(fit, judged, settings, kept, progress)
    save(folder, features, ngram.prune(found.weights, chosen.keep), found.bias)
    about = "pairs of words across the two texts" if chosen.pairs else "characters of 2 to 5"
    told = f"Softmax regression over hashed words up to {chosen.word_grams} and {about}, C = {found.strength:g}"
    return Learned("ngram", told, found.course, found.seconds, len(rows), found.course.over)


def targets(
    rows: Sequence[Row], labels: Sequence[str]
) -> tuple["np.ndarray[tuple[int], np.dtype[np.int64]]", "np.ndarray[tuple[int, int], np.dtype[np.bool_]]"]:
    """The label's index of each row (n,), and which labels were no choice of its annotators (n, labels)."""
    barred = [[bool(row.among) and name not in row.among for name in labels] for row in rows]
    return np.array([labels.index(row.label) for row in rows]), np.array(barred)
