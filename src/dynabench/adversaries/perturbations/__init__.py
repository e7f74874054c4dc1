"""Perturbations: named, seeded ways to change texts so that their meaning stays, for robustness and for fairness.

Each file holds a family of transformations in its `TRANSFORMATIONS`. A plug-in adds its own by the hook
`dynabench_perturbations` (`dynabench.kit.hooks`).
"""

from collections.abc import Iterable, Mapping

from dynabench.adversaries.perturbations.transformation import (
    Axis,
    Edit,
    EditedText,
    PerText,
    Span,
    Transformation,
    generator,
)
from dynabench.kit import plugins
from dynabench.kit.errors import Invalid

__all__ = [
    "Axis",
    "Edit",
    "EditedText",
    "PerText",
    "Span",
    "Transformation",
    "find_transformations",
    "generator",
    "names_on_axis",
    "shipped_transformations",
    "transformations",
]

_ORDER = (
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
"""The order in which lists show the shipped transformations and searches try them."""


def transformations() -> Mapping[str, Transformation]:
    """Return every transformation by name: the shipped ones, then those of plug-ins."""
    return plugins.gather("dynabench_perturbations", _pair_with_names)


def shipped_transformations() -> Iterable[Transformation]:
    """Return the transformations of this folder."""
    from dynabench.adversaries.perturbations import gender, person_names, writing

    families = (writing, gender, person_names)
    by_name = {item.name: item for family in families for item in family.TRANSFORMATIONS}
    return [by_name[name] for name in _ORDER]


def _pair_with_names(items: Iterable[Transformation]) -> Iterable[tuple[str, Transformation]]:
    for item in items:
        if not (isinstance(getattr(item, "name", None), str) and callable(getattr(item, "apply", None))):
            raise TypeError(f"{item!r} is no transformation: it needs a name and apply")
        yield item.name, item


def names_on_axis(axis: str) -> list[str]:
    """Return the names of an axis's transformations."""
    return [name for name, item in transformations().items() if item.axis == axis]


def find_transformations(names: Iterable[str]) -> list[Transformation]:
    """Return the transformations of these names, in their order; raise `Invalid` with all names for an unknown one."""
    by_name, distinct_names = transformations(), list(dict.fromkeys(names))
    unknown = [name for name in distinct_names if name not in by_name]
    if unknown:
        message = f"There is no transformation {unknown[0]!r}; there are {', '.join(by_name)}."
        raise Invalid({"transformations": message})
    return [by_name[name] for name in distinct_names]
