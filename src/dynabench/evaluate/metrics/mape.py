"""Mean absolute percentage error."""

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.numbers.mean_errors import MeanError
from dynabench.evaluate.ratios import ratio

TINY = np.finfo(float).eps  # what Hugging Face `evaluate` (and scikit-learn) divide by in place of 0


class Mape(MeanError):
    """The mean distance between prediction and reference, as a share of the reference."""

    def error(self, predictions: Floats, references: Floats) -> Floats:
        """Distances as a share of the reference. Raises ValueError for a reference of 0 that is missed."""
        off, size = np.abs(predictions - references), np.abs(references)
        if self.compat:
            return off / np.maximum(size, TINY)
        broken = (size == 0) & (off > 0)
        if broken.any():
            raise ValueError(
                f"references: row {int(np.argwhere(broken)[0][0])} is 0, and its prediction is not: there is no "
                "percentage of 0; use smape, mase or mae, or leave such rows out"
            )
        return ratio(off, size)
