"""Perturbations: named, seeded ways to change texts so that what they mean stays, for robustness and for fairness.

One file here is one transformation, named `TRANSFORMATION` in it. A plug-in adds its own by the hook
`dynabench_perturbations` (`dynabench.hooks`).
"""

from collections.abc import Iterable, Mapping
from importlib import import_module

from dynabench import plugins
from dynabench.adversaries.perturbations.base import Axis, PerText, Transformation, generator
from dynabench.adversaries.perturbations.edits import Edit, Edited, Span
from dynabench.errors import Invalid

__all__ = ["Axis", "Edit", "Edited", "PerText", "Span", "Transformation", "find", "generator", "of", "transformations"]

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


def transformations() -> Mapping[str, Transformation]:
    """Every transformation by name: those shipped, then those of plug-ins."""
    return plugins.gather("dynabench_perturbations", _by_name)


def shipped() -> Iterable[Transformation]:
    """Those of this folder."""
    for name in _SHIPPED:
        module = import_module(f"{__name__}.{'names' if name.startswith('names_') else name}")
        yield module.TRANSFORMATIONS[name] if name.startswith("names_") else module.TRANSFORMATION


def _by_name(given: Iterable[Transformation]) -> Iterable[tuple[str, Transformation]]:
    for one in given:
        if not (isinstance(getattr(one, "name", None), str) and callable(getattr(one, "apply", None))):
            raise TypeError(f"{one!r} is no transformation: it needs a name and apply")
        yield one.name, one


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
