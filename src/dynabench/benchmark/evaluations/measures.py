"""The measures of a model on a dataset: names, units, and the direction in which they improve."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dynabench.kit.language import _

Replicates = NDArray[np.float64]
"""(B,) values of one score over samples of the dataset's rows."""
REPLICATES = 1000


@dataclass(frozen=True)
class Measure:
    """The display and weight of a number. `scale` is the factor for display, such as 100 for percent.

    `limits` are the worst and the best value, as people read them, between which a board gives 0 to 100 points;
    None where no such values can be named.
    """

    name: str
    title: str
    better: Literal["higher", "lower"] = "higher"
    unit: str = "%"
    scale: float = 100.0
    cost: bool = False
    limits: tuple[float, float] | None = None

    @property
    def ends(self) -> tuple[float, float] | None:
        """The worst and the best value: those declared, or for percent 0 and 100."""
        if self.limits is not None or self.unit != "%":
            return self.limits
        return (0.0, 100.0) if self.better == "higher" else (100.0, 0.0)

    @property
    def direction(self) -> int:
        """1 where more is better, else -1."""
        return 1 if self.better == "higher" else -1


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("accuracy", _("Accuracy")),
        Measure("f1", "F1"),
        Measure("exact_match", _("Exact match")),
        Measure("fairness", _("Fairness")),
        Measure("robustness", _("Robustness")),
        Measure("fairness_score", _("Score on fairness twins")),
        Measure("robustness_score", _("Score on robustness twins")),
        Measure("calibration_error", _("Calibration error"), "lower"),
        Measure("throughput", _("Throughput"), unit=_("examples/s"), scale=1.0, cost=True, limits=(0.0, 1000.0)),
        Measure("memory", _("Memory"), "lower", "GiB", 1.0, cost=True, limits=(32.0, 0.0)),
        Measure("latency_p50", _("Median latency"), "lower", "ms", 1.0, cost=True, limits=(1000.0, 0.0)),
        Measure("latency_p95", _("Latency, 95th percentile"), "lower", "ms", 1.0, cost=True, limits=(1000.0, 0.0)),
        Measure("size", _("Size"), "lower", "MiB", 1.0, cost=True, limits=(4096.0, 0.0)),
        Measure("others", _("Background load during the run"), "lower", cost=True),
        Measure("price", _("Price of 1,000 examples"), "lower", "", 1.0, cost=True),
        Measure("spent", _("Price of all its answers"), "lower", "", 1.0, cost=True),
    )
}

OWN_VERSION = 1
"""Version of the measures that are computed here: raised when a formula changes."""
MODULES = {
    "accuracy": "accuracy",
    "f1": "f1",
    "exact_match": "exact_match",
    "calibration_error": "expected_calibration_error",
}
"""Measures that are a module of the evaluation library under this name."""


def find_measure(name: str) -> Measure:
    """Return the measure of this name; a name that is not listed here is a metric of the evaluation library, whose
    card gives the direction."""
    if name in MEASURES:
        return MEASURES[name]
    from dynabench import evaluate

    outputs = evaluate.load(name).card.outputs
    main = outputs[0]
    better: Literal["higher", "lower"] = main.better or "higher"
    limits = None
    if main.low is not None and main.high is not None:
        limits = (main.low, main.high) if better == "higher" else (main.high, main.low)
    return Measure(name, name.replace("_", " ").capitalize(), better, "", 1.0, limits=limits)


def formula_version(name: str) -> int:
    """The version of the formula behind a measure: that of the evaluation library's module, else `OWN`."""
    from dynabench.evaluate import loading

    if name in MEASURES and name not in MODULES:
        return OWN_VERSION
    return loading.find_module(MODULES.get(name, name)).version


def pack_replicates(values: Replicates) -> bytes:
    """Return replicates (B,) as the bytes that are stored."""
    return np.asarray(values, "<f4").tobytes()


def unpack_replicates(stored: bytes) -> Replicates:
    """Return the replicates (B,) of stored bytes."""
    return np.frombuffer(stored, "<f4").astype(np.float64)
