"""Learning a mix with a logistic head over the frozen encoder, whose states are computed once a text."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from dynabench.kit.errors import Invalid
from dynabench.models import runtime
from dynabench.models.training import mixing, softmax, strengths
from dynabench.models.training.by_ngram import targets
from dynabench.models.training.learning import Checkpoints, Learned, Progress, Settings
from dynabench.models.training.mixing import Mix
from dynabench.models.training.rows import Row
from dynabench.models.training.softmax import Floats


def learn(mix: Mix, settings: Settings, folder: Path, kept: Checkpoints, progress: Progress) -> Learned:
    """Train, and write the weights to `folder`."""
    if len(mix.inputs) > 2:
        raise Invalid({"method": "head chooses one of several labels for one or two texts; take another method."})
    import torch

    torch.set_num_threads(runtime.cores())
    drawn = mixing.amounts(mix.parts)
    rows, often = [row for row, _ in drawn], np.array([amount for _, amount in drawn])
    dev = cast("Sequence[Row]", mix.dev)
    both = features([*rows, *dev], mix, lambda share: progress("encoding", share, ""))
    table, centre, spread = _scaled(both[: len(rows)], often)
    labels, barred = targets(rows, mix.labels)
    turned = np.ascontiguousarray(table.T)

    def fit(strength: float, report: softmax.Progress) -> tuple[Floats, Floats]:
        return softmax.fit(table, turned, labels, barred, strength / (10 * len(rows)), report, often)

    judged = strengths.Judged((both[len(rows) :] - centre) / spread, targets(dev, mix.labels)[0])
    found = strengths.learn(fit, judged, settings, kept, progress)
    weights = found.weights / spread[:, None]
    _save(folder, weights, found.bias - centre @ weights)
    about = "the mean state of the frozen encoder" if len(mix.inputs) == 1 else "the mean states of two texts, related"
    told = f"Softmax regression over {about}, C = {found.strength / 10:g} a row"
    return Learned("head", told, found.course, found.seconds, len(rows), found.course.over)


def features(rows: Sequence[Row], mix: Mix, progress: Callable[[float], None]) -> Floats:
    """Features of rows (n, F), as the backend computes them."""
    import torch

    from dynabench.models.backends.head import related
    from dynabench.models.backends.pieces import encode
    from dynabench.models.training import embedding

    texts = [text for name in mix.inputs for text in encode([row.inputs for row in rows], [name], mix.max_length)]
    found = torch.from_numpy(embedding.states(texts, progress=progress)).view(len(mix.inputs), len(rows), -1)
    return np.asarray(related(list(found)).numpy(), float)


def _scaled(table: Floats, often: Floats) -> tuple[Floats, Floats, Floats]:
    """Features with mean 0 and deviation 1 in each column, with the means and deviations (F,)."""
    centre = np.average(table, axis=0, weights=often)
    spread = np.sqrt(np.average((table - centre) ** 2, axis=0, weights=often)) + 1e-6
    return (table - centre) / spread, centre, spread


def _save(folder: Path, weights: Floats, bias: Floats) -> None:
    from safetensors.numpy import save_file

    tensors: dict[str, Any] = {
        "out.weight": np.ascontiguousarray(weights.T, np.float32),
        "out.bias": bias.astype(np.float32),
    }
    save_file(tensors, folder / "head.safetensors")
