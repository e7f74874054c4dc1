"""Adversaries by name: the shipped ones and those of plug-ins."""

from collections.abc import Mapping
from inspect import signature
from typing import Any, cast

from dynabench.adversaries.protocol import Adversary
from dynabench.kit import plugins
from dynabench.kit.errors import Invalid, NotFound

SHIPPED_ADVERSARIES: Mapping[str, str] = {
    "language-model": "dynabench.adversaries.language_model:LanguageModel",
    "substitution": "dynabench.adversaries.search.word_adversaries:Substitution",
    "typos": "dynabench.adversaries.search.word_adversaries:Typos",
    "perturb": "dynabench.adversaries.search.transformation_chains:Perturb",
    "checklist": "dynabench.adversaries.checklist:Checklist",
    "counterfactual": "dynabench.adversaries.counterfactual:Counterfactual",
    "generator": "dynabench.adversaries.generator:Generator",
    "synthetic-qa": "dynabench.adversaries.synthetic_qa:SyntheticQa",
}
"""By name, `module:Class`; the class takes the adversary's own options by keyword."""


def adversary_classes() -> Mapping[str, str]:
    """Return the `module:Class` of every adversary, by name."""
    return plugins.gather("dynabench_adversaries", plugins.references)


def create_adversary(name: str, **options: Any) -> Adversary:
    """Return the adversary `name`; raise `NotFound` for an unknown name, `Invalid` for an unknown option."""
    classes = adversary_classes()
    if name not in classes:
        raise NotFound(f"There is no adversary {name!r}; there are {', '.join(sorted(classes))}.")
    adversary_class = plugins.load_reference(classes[name])
    unknown = sorted(set(options) - set(signature(adversary_class).parameters))
    if unknown:
        raise Invalid({"options": f"The adversary {name!r} takes no option {unknown[0]!r}."})
    return cast(Adversary, adversary_class(**options))
