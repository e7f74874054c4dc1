"""Conditions under which a field is asked for, written as `when:` in the config.

A condition is `fooled`, `not_fooled`, a vote (`correct`, `incorrect`, `flagged`) or `field == value`;
several in a list, or joined with `or`, mean any of them.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dynabench.kit.language import _

VOTES = ("correct", "incorrect", "flagged")
OUTCOMES = ("fooled", "not_fooled")
_COMPARISON = re.compile(r"^([a-z][a-z0-9_]*) *== *(.+)$")


@dataclass(frozen=True)
class ConditionFacts:
    """Facts for conditions: the outcome, the vote and the values of other fields, as far as they are known."""

    fooled: bool | None = None
    vote: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)


def parse_conditions(raw: object) -> list[str]:
    """Return the alternatives of a config's `when`, each in its plain form. Raises ValueError on anything else."""
    items = raw if isinstance(raw, list) else [raw]
    parts = [part for part in items if isinstance(part, str)]
    if len(parts) < len(items):
        raise ValueError(_("A condition is text, or a list of texts."))
    conditions = [piece.strip() for part in parts for piece in re.split(r"\s+or\s+|\|", part)]
    for condition in conditions:
        if condition not in VOTES + OUTCOMES and not _COMPARISON.match(condition):
            raise ValueError(
                _(
                    "“%(condition)s” is not a condition. Use fooled, not_fooled, correct, incorrect, "
                    "flagged, or a comparison such as: label == neutral",
                    condition=condition[:60],
                )
            )
    return conditions


def parse_comparison(condition: str) -> tuple[str, str] | None:
    """Return the field and the value of a comparison, None for other conditions."""
    match = _COMPARISON.match(condition)
    return (match[1], match[2].strip().strip("'\"")) if match else None


def any_condition_holds(conditions: Sequence[str], facts: ConditionFacts) -> bool:
    """Return whether any of `conditions` is true; an empty list always holds."""
    return not conditions or any(_true(condition, facts) for condition in conditions)


def any_condition_may_hold(conditions: Sequence[str], facts: ConditionFacts, later: Collection[str]) -> bool:
    """Return whether any of `conditions` is true, or may become so once one of the fields in `later` is filled in."""
    named = [comparison[0] for comparison in map(parse_comparison, conditions) if comparison]
    return any_condition_holds(conditions, facts) or any(name in later for name in named)


def _true(condition: str, facts: ConditionFacts) -> bool:
    comparison = parse_comparison(condition)
    if comparison:
        name, value = comparison
        return name in facts.values and value in _words(facts.values[name])
    if condition in VOTES:
        return facts.vote == condition
    return facts.fooled is (condition == "fooled")


def _words(value: object) -> list[str]:
    """A value as it is written in a condition: of a list each member, of an answer with its reason the answer, of a
    comparison what was chosen."""
    if isinstance(value, list):
        return [word for item in value for word in _words(item)]
    if isinstance(value, Mapping):
        return [word for key in ("value", "choice") if key in value for word in _words(value[key])]
    return [{True: "yes", False: "no"}[value]] if isinstance(value, bool) else [str(value)]
