"""Perturbations: named, seeded ways to change texts so that what they mean stays, for robustness and for fairness.

One file here is one transformation, named `TRANSFORMATION` in it. A package adds its own by an entry point of the group
`dynabench.perturbations` that names a `Transformation`.
"""

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from dynabench.adversaries.perturbations.base import Axis, PerText, Transformation, generator
from dynabench.adversaries.perturbations.edits import Edit, Edited, Span
from dynabench.errors import Invalid

__all__ = ["Axis", "Edit", "Edited", "PerText", "Span", "Transformation", "find", "generator", "of", "transformations"]

GROUP = "dynabench.perturbations"
_SHIPPED = (
    "keyboard_typos",
    "swapped_letters",
    "dropped_letters",
    "doubled_letters",
    "misspellings",
    "upper_case",
    "lower_case",
    "random_case",
    "punctuation_added",
    "punctuation_removed",
    "contractions_expanded",
    "contractions_made",
    "whitespace_added",
    "whitespace_removed",
    "zero_width",
    "look_alikes",
    "accents",
    "emphasis",
    "numerals",
    "leetspeak",
    "split_words",
    "merged_words",
    "spelling_variants",
    "gender_swapped",
    "gender_neutral",
    "names_asian",
    "names_black",
    "names_hispanic",
    "names_white",
)


@cache
def transformations() -> dict[str, Transformation]:
    """Every transformation by name: those shipped, then those of installed packages, which take no shipped name."""
    found: dict[str, Transformation] = {}
    for name in _SHIPPED:
        module = import_module(f"{__name__}.{'names' if name.startswith('names_') else name}")
        found[name] = module.TRANSFORMATIONS[name] if name.startswith("names_") else module.TRANSFORMATION
    for point in entry_points(group=GROUP):
        one = point.load()
        if isinstance(getattr(one, "name", None), str) and callable(getattr(one, "apply", None)):
            found.setdefault(one.name, one)
    return found


def of(axis: str) -> list[str]:
    """The names of an axis's transformations."""
    return [name for name, one in transformations().items() if one.axis == axis]


def find(names: Iterable[str]) -> list[Transformation]:
    """The transformations of these names, in their order; raises `Invalid` with those there are."""
    known, wanted = transformations(), list(dict.fromkeys(names))
    unknown = [name for name in wanted if name not in known]
    if unknown:
        told = f"There is no transformation {unknown[0]!r}; there are {', '.join(known)}."
        raise Invalid({"transformations": told})
    return [known[name] for name in wanted]
