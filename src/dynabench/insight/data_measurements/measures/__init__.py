"""Measures of a round's data: one file each, loaded by its name.

A measure is a module with `TITLE`, `ABOUT` (its meaning, and how to read it) and `measure(sample)`, which returns
its result, or None where it does not apply to these data.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from dynabench.insight.data_measurements.results import MeasureResult
from dynabench.insight.data_measurements.sample import Sample

NAMES = (
    "label_balance",
    "artifacts",
    "telling_words",
    "difficulty",
    "conditions",
    "similarity",
    "near_duplicates",
    "diversity",
    "vocabulary",
    "lengths",
    "complexity",
    "writers",
    "trick_words",
)


class Measure(Protocol):
    """A module of this folder."""

    TITLE: str
    ABOUT: str

    def measure(self, sample: Sample) -> MeasureResult | None:
        """Measure the examples of `sample`."""


@cache
def measures() -> Mapping[str, Measure]:
    """Every measure by name, in the order of pages."""
    return {name: cast(Measure, import_module(f"{__name__}.{name}")) for name in NAMES}
