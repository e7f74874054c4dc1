"""Fooling rules: when a model's answer and the claimed one are so different that the model was fooled.

One file here is one rule. The same rule says whether a validator's blind answer agrees with the claim, and which
answers count as right. A plug-in adds rules by the hook `dynabench_fooling_rules` (`dynabench.hooks`).
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, SerializeAsAny, WithJsonSchema

from dynabench import plugins
from dynabench.language import _
from dynabench.tasks.rules.base import Judge, Rule, Unclaimed
from dynabench.tasks.rules.chosen import Chosen
from dynabench.tasks.rules.differs import Differs
from dynabench.tasks.rules.f1_below import F1Below
from dynabench.tasks.rules.judged_by_annotator import JudgedByAnnotator
from dynabench.tasks.rules.judged_by_model import JudgedByModel
from dynabench.tasks.rules.judged_by_validators import JudgedByValidators
from dynabench.tasks.rules.matches import Matches
from dynabench.tasks.rules.metric_below import MetricBelow
from dynabench.tasks.rules.not_in import NotIn
from dynabench.tasks.rules.outside import Outside
from dynabench.tasks.rules.overlap_below import OverlapBelow
from dynabench.tasks.rules.uncertain import Uncertain
from dynabench.tasks.rules.vqa_below import VqaBelow
from dynabench.tasks.section import did_you_mean, refuse

__all__ = ["PLACE", "SHIPPED", "AnyRule", "Judge", "Rule", "Unclaimed", "rules"]
__all__ += ["Chosen", "Differs", "F1Below", "Matches", "MetricBelow", "NotIn", "Outside", "OverlapBelow", "Uncertain"]
__all__ += ["JudgedByAnnotator", "JudgedByModel", "JudgedByValidators", "VqaBelow"]

SHIPPED: tuple[type[Rule], ...] = (
    Differs,
    F1Below,
    NotIn,
    VqaBelow,
    Outside,
    OverlapBelow,
    Matches,
    MetricBelow,
    Uncertain,
    Chosen,
    JudgedByAnnotator,
    JudgedByValidators,
    JudgedByModel,
)
_named = plugins.classes(Rule, "rule")  # type: ignore[type-abstract]


def rules() -> Mapping[str, type[Rule]]:
    """All fooling rules by name, ours first."""
    return plugins.gather("dynabench_fooling_rules", _named)


def _build(raw: Any) -> Any:
    if isinstance(raw, Rule):
        return raw
    if not isinstance(raw, dict):
        raise ValueError(_("A fooling rule is a mapping with rule and its settings."))
    name = raw.get("rule", "differs")
    if not isinstance(name, str) or name not in rules():
        refuse({"rule": _("There is no fooling rule “%(name)s”.", name=name) + did_you_mean(name, rules())})
    return rules()[name].model_validate(raw)


PLACE: dict[str, Any] = {"$comment": "any fooling rule"}  # `schema.py` puts a reference here
AnyRule = Annotated[SerializeAsAny[Rule], BeforeValidator(_build), WithJsonSchema(PLACE)]
