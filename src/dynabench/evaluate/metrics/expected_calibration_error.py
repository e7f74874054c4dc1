"""Expected calibration error."""

from dynabench.evaluate.classes.calibration import Bins, CalibrationError
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.ratios import ratio


def mean_gap(bins: Bins) -> Floats:
    """The weighted mean of the bins' gaps, shape (...)."""
    return ratio((bins.gaps * bins.weight).sum(-1), bins.weight.sum(-1))


class ExpectedCalibrationError(CalibrationError):
    """The mean distance between confidence and accuracy."""

    error = staticmethod(mean_gap)
