"""Expected calibration error."""

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.classes.calibration import INPUTS, OPTIONS, Bins, CalibrationError
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.ratios import ratio
from dynabench.language import N_


def mean_gap(bins: Bins) -> Floats:
    """The weighted mean of the bins' gaps, shape (...)."""
    return ratio((bins.gaps * bins.weight).sum(-1), bins.weight.sum(-1))


class ExpectedCalibrationError(CalibrationError):
    """The mean distance between confidence and accuracy."""

    card = Card(
        description=N_(
            "Of answers that are given with a confidence of 0.8, four of five should be right. Puts the examples into "
            "bins by confidence and takes the mean distance between each bin's mean confidence and its share of right "
            "answers. Of rows of probabilities, the confidence is the highest and the answer its class."
        ),
        formula=r"ECE = \sum_b \frac{w_b}{\sum_b w_b} |acc_b - conf_b|",
        inputs=INPUTS,
        options=OPTIONS,
        outputs=(
            Output("expected_calibration_error", "mean distance over examples", 0, 1, "lower"),
            Output("bins", "of each bin low, high, mean confidence, accuracy (share of right ones) and count"),
        ),
        examples=(
            Example(
                "Too sure by 0.3, and right to be unsure",
                {"predictions": [0.8, 0.8, 0.5, 0.5], "references": [1, 0, 1, 0]},
                {"expected_calibration_error": 0.15},
            ),
            Example(
                "Probabilities of three classes, in bins of equally many",
                {
                    "predictions": [[0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.9, 0.1, 0.0], [0.2, 0.3, 0.5]],
                    "references": [0, 1, 0, 1],
                },
                {
                    "expected_calibration_error": 0.1,
                    "bins": [
                        {"low": 0.5, "high": 0.6, "confidence": 0.55, "accuracy": 0.5, "count": 2},
                        {"low": 0.8, "high": 0.9, "confidence": 0.85, "accuracy": 1, "count": 2},
                    ],
                },
                {"n_bins": 2, "binning": "mass"},
            ),
            Example(
                "Labels in place of probabilities: half of them are wrong",
                {"predictions": [0, 1, 1, 0], "references": [0, 1, 0, 1]},
                {"expected_calibration_error": 0.5},
            ),
            Example(
                "A logit is no probability",
                {"predictions": [2.3], "references": [1]},
                error="row 0 is 2.3, which is no probability",
            ),
        ),
        limits=(
            "Depends on the number of bins and their kind, which have to be reported; and it is biased: with few "
            "examples in a bin even a calibrated model has a distance above 0, and more bins mean more of it, in "
            "resamples most of all, so that an interval may lie above the value. A model that always says the "
            "frequency of a class is perfectly calibrated and useless: look at accuracy or the Brier score beside it. "
            "Rows of probabilities are judged by their highest alone. A bin holds its upper limit, not its lower one. "
            "Predicted labels 0 and 1 pass for probabilities that are certain, and the result is then no calibration: "
            "the share of wrong labels."
        ),
        citation=(
            "Naeini et al., Obtaining Well Calibrated Probabilities Using Bayesian Binning, AAAI 2015; Guo et al., On "
            "Calibration of Modern Neural Networks, ICML 2017, equation 3; bins of equal mass: Nguyen and O'Connor, "
            "Posterior calibration and exploratory analysis for natural language processing models, EMNLP 2015."
        ),
        tasks=("text-classification", "image-classification"),
        references=("https://proceedings.mlr.press/v70/guo17a.html",),
    )
    error = staticmethod(mean_gap)
