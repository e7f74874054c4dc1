"""Expected and maximum calibration error."""

from dynabench.evaluate.classes.calibration import Bins, CalibrationError
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.ratios import ratio


def mean_gap(bins: Bins) -> Floats:
    """The weighted mean of the bins' gaps, shape (...)."""
    return ratio((bins.gaps * bins.weight).sum(-1), bins.weight.sum(-1))


class ExpectedCalibrationError(CalibrationError, name="expected_calibration_error"):
    """The mean distance between confidence and accuracy."""

    error = staticmethod(mean_gap)


def greatest_gap(bins: Bins) -> Floats:
    """The greatest of the bins' gaps, shape (...)."""
    result: Floats = bins.gaps.max(-1)
    return result


class MaximumCalibrationError(CalibrationError, name="maximum_calibration_error"):
    """The greatest distance between confidence and accuracy in any bin."""

    error = staticmethod(greatest_gap)
