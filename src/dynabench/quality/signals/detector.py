"""A small detector of text that a language model wrote: a linear model over n-grams of words and characters.

It is trained by `python -m benchmarks.signals` on pairs of texts by people and by one small language model. Its error
rates hold for such texts; other and larger models write otherwise, and are found less often.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dynabench.kit import plugins
from dynabench.models.backends.ngram import NgramOptions, extract

FEATURES = NgramOptions(bits=13, characters=(2, 4), word_grams=2, pairs=False)
WEIGHTS = Path(__file__).parent / "detector.npz"
LEAST_WORDS = 6
"""Words from which the shipped detector judges a text."""


class TextDetector(Protocol):
    """A judge of whether a language model wrote a text; plug-ins bring more by `dynabench_text_detectors`."""

    threshold: float
    languages: frozenset[str]
    """Languages that it judges, by their tags, such as `en`."""

    def score(self, text: str) -> float | None:
        """Return a number between 0 (a person) and 1 (a language model); None for texts that it does not judge."""


@dataclass(frozen=True)
class LinearDetector:
    """The shipped detector: logistic regression; it judges English texts of a few words and more."""

    weights: NDArray[np.float32]
    bias: float
    threshold: float
    languages: frozenset[str] = frozenset({"en"})

    def score(self, text: str) -> float | None:
        """Return the probability that a language model wrote the text; None for short texts."""
        if len(text.split()) < LEAST_WORDS:
            return None
        features = extract([plain_text(text)], FEATURES)
        logit = float(self.weights[features.index] @ features.value) + self.bias
        return float(1 / (1 + np.exp(-logit)))


def plain_text(text: str) -> str:
    """Return a text without what is easily changed: capitals, spaces, and the mark at its end."""
    return " ".join(text.lower().split()).rstrip(" .?!\"'”")


def load_shipped() -> LinearDetector:
    """Return the detector with the weights of the package."""
    with np.load(WEIGHTS, allow_pickle=False) as file:
        return LinearDetector(file["weights"].astype(np.float32), float(file["bias"]), float(file["threshold"]))


@cache
def load_detector() -> tuple[str, TextDetector]:
    """Return the detector in use with its name: that of a plug-in where one is installed, else the shipped one."""
    brought = plugins.gather("dynabench_text_detectors", plugins.references)
    *_others, (name, reference) = brought.items()  # ours comes first
    return name, plugins.load_reference(reference)()
