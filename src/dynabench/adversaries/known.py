"""The adversaries that there are, by name: ours and those of plug-ins."""

from collections.abc import Mapping
from inspect import signature
from typing import Any, cast

from dynabench import plugins
from dynabench.adversaries.proposing import Adversary
from dynabench.errors import Invalid, NotFound

SHIPPED: Mapping[str, str] = {
    "language-model": "dynabench.adversaries.language_model:LanguageModel",
    "substitution": "dynabench.adversaries.search.substitution:Substitution",
    "typos": "dynabench.adversaries.search.typos:Typos",
    "perturb": "dynabench.adversaries.search.perturb:Perturb",
    "checklist": "dynabench.adversaries.checklist:Checklist",
    "counterfactual": "dynabench.adversaries.counterfactual:Counterfactual",
    "generator": "dynabench.adversaries.generator:Generator",
    "synthetic-qa": "dynabench.adversaries.synthetic_qa:SyntheticQa",
}
"""By name, `module:Class`; the class takes the adversary's own options by keyword."""


def adversaries() -> Mapping[str, str]:
    """By name, the `module:Class` of every adversary."""
    return plugins.gather("dynabench_adversaries", plugins.references)


def make(name: str, **options: Any) -> Adversary:
    """The adversary called `name`; raises `NotFound` with the names that there are, `Invalid` for an unknown option."""
    known = adversaries()
    if name not in known:
        raise NotFound(f"There is no adversary {name!r}; there are {', '.join(sorted(known))}.")
    chosen = plugins.load_reference(known[name])
    strange = sorted(set(options) - set(signature(chosen).parameters))
    if strange:
        raise Invalid({"options": f"The adversary {name!r} takes no option {strange[0]!r}."})
    return cast(Adversary, chosen(**options))
