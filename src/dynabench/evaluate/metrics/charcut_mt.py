"""CharCut."""

import numpy as np

from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.charcut import charcut_cost


class CharcutMt(Metric):
    """Characters that differ or moved, after finding long common pieces."""

    columns = {"predictions": Texts(), "references": Texts()}

    def update(self, predictions: list[str], references: list[str]) -> Sums:
        """Cost and length of each row."""
        pairs = [(predicted.strip(), true.strip()) for predicted, true in zip(predictions, references, strict=True)]
        return Sums(np.array([(charcut_cost(*pair), sum(map(len, pair))) for pair in pairs], np.int64).reshape(-1, 2))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Costs / lengths."""
        return {"charcut_mt": ratio(total[..., 0], total[..., 1])}
