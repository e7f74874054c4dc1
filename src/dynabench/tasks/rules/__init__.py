"""Fooling rules: when a model's answer differs so much from the claimed one that the model was fooled.

The same rule says whether a validator's blind answer agrees with the claim, and
which answers count as right. A plug-in adds rules by the hook `dynabench_fooling_rules` (`dynabench.kit.hooks`).
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, SerializeAsAny, WithJsonSchema

from dynabench.kit import plugins
from dynabench.kit.language import _
from dynabench.tasks.rules.base import Differs, Judge, Rule, Unclaimed
from dynabench.tasks.rules.judged import ChosenRule, JudgedByAnnotator, JudgedByModel, JudgedByValidators, Uncertain
from dynabench.tasks.rules.matches import Matches, NotIn, OutsideRule
from dynabench.tasks.rules.similarity import F1Below, MetricBelow, OverlapBelow, VqaBelow
from dynabench.tasks.section import did_you_mean, refuse_keys

__all__ = ["ANY_RULE_SCHEMA", "SHIPPED", "AnyRule", "Judge", "Rule", "Unclaimed", "fooling_rules"]
__all__ += [
    "ChosenRule",
    "Differs",
    "F1Below",
    "Matches",
    "MetricBelow",
    "NotIn",
    "OutsideRule",
    "OverlapBelow",
    "Uncertain",
]
__all__ += ["JudgedByAnnotator", "JudgedByModel", "JudgedByValidators", "VqaBelow"]

SHIPPED: tuple[type[Rule], ...] = (
    *(Differs, F1Below, NotIn, VqaBelow, OutsideRule, OverlapBelow, Matches, MetricBelow),
    *(Uncertain, ChosenRule, JudgedByAnnotator, JudgedByValidators, JudgedByModel),
)
_named = plugins.classes(Rule, "rule")  # type: ignore[type-abstract]


def fooling_rules() -> Mapping[str, type[Rule]]:
    """Return all fooling rules by name, those of the platform first."""
    return plugins.gather("dynabench_fooling_rules", _named)


def _build(raw: Any) -> Any:
    if isinstance(raw, Rule):
        return raw
    if not isinstance(raw, dict):
        raise ValueError(_("A fooling rule is a mapping with rule and its settings."))
    name = raw.get("rule", "differs")
    if not isinstance(name, str) or name not in fooling_rules():
        refuse_keys(
            {"rule": _("There is no fooling rule “%(name)s”.", name=name) + did_you_mean(name, fooling_rules())}
        )
    return fooling_rules()[name].model_validate(raw)


ANY_RULE_SCHEMA: dict[str, Any] = {"$comment": "any fooling rule"}  # `schema.py` puts a reference here
AnyRule = Annotated[SerializeAsAny[Rule], BeforeValidator(_build), WithJsonSchema(ANY_RULE_SCHEMA)]
