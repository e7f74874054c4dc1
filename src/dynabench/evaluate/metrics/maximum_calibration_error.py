"""Maximum calibration error."""

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.classes.calibration import INPUTS, OPTIONS, Bins, CalibrationError
from dynabench.evaluate.columns import Floats
from dynabench.language import N_


def greatest_gap(bins: Bins) -> Floats:
    """The greatest of the bins' gaps, shape (...)."""
    result: Floats = bins.gaps.max(-1)
    return result


class MaximumCalibrationError(CalibrationError):
    """The greatest distance between confidence and accuracy in any bin."""

    card = Card(
        description=N_(
            "Puts the examples into bins by confidence and takes the greatest distance between a bin's mean confidence "
            "and its share of right answers: how wrong a stated confidence can be, for uses where the worst case "
            "matters. Of rows of probabilities, the confidence is the highest and the answer its class."
        ),
        formula=r"MCE = \max_b |acc_b - conf_b|",
        inputs=INPUTS,
        options=OPTIONS,
        outputs=(
            Output("maximum_calibration_error", "greatest distance of a bin that holds examples", 0, 1, "lower"),
            Output("bins", "of each bin low, high, mean confidence, accuracy (share of right ones) and count"),
        ),
        examples=(
            Example(
                "Too sure by 0.3, and right to be unsure",
                {"predictions": [0.8, 0.8, 0.5, 0.5], "references": [1, 0, 1, 0]},
                {"maximum_calibration_error": 0.3},
            ),
            Example(
                "Two bins, of which the first is empty",
                {"predictions": [0.75, 1.0], "references": [1, 1]},
                {
                    "maximum_calibration_error": 0.125,
                    "bins": [
                        {"low": 0, "high": 0.5, "confidence": None, "accuracy": None, "count": 0},
                        {"low": 0.5, "high": 1, "confidence": 0.875, "accuracy": 1, "count": 2},
                    ],
                },
                {"n_bins": 2},
            ),
            Example(
                "Only two labels go with one confidence",
                {"predictions": [0.3, 0.4], "references": [1, 2]},
                error="row 1 is 2, which is none of 0, 1",
            ),
        ),
        limits=(
            "Decided by the one bin that is farthest off, which is often one with few examples: see the bins' counts, "
            "take fewer bins, or binning='mass'. Depends on the number of bins and their kind, which have to be "
            "reported. Predicted labels 0 and 1 pass for probabilities that are certain."
        ),
        citation=(
            "Naeini et al., Obtaining Well Calibrated Probabilities Using Bayesian Binning, AAAI 2015; Guo et al., On "
            "Calibration of Modern Neural Networks, ICML 2017, equation 5."
        ),
        tasks=("text-classification", "image-classification"),
        references=("https://proceedings.mlr.press/v70/guo17a.html",),
    )
    error = staticmethod(greatest_gap)
