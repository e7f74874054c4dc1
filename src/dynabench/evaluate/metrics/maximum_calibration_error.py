"""Maximum calibration error."""

from dynabench.evaluate.classes.calibration import Bins, CalibrationError
from dynabench.evaluate.columns import Floats


def greatest_gap(bins: Bins) -> Floats:
    """The greatest of the bins' gaps, shape (...)."""
    result: Floats = bins.gaps.max(-1)
    return result


class MaximumCalibrationError(CalibrationError):
    """The greatest distance between confidence and accuracy in any bin."""

    error = staticmethod(greatest_gap)
