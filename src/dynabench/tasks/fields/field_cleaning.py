"""Cleaning of fields that stand beside each other, with all problems in one error."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dynabench.kit.language import _
from dynabench.tasks import conditions
from dynabench.tasks.conditions import ConditionFacts
from dynabench.tasks.fields.base import NOTHING, Field, FieldError, Values
from dynabench.tasks.section import did_you_mean, printable

_UNKNOWN = 20  # told at most


def clean_fields(
    fields: Sequence[Field], values: object, beside: Values = NOTHING, facts: ConditionFacts | None = None
) -> dict[str, Any]:
    """Return the stored form of `values`, without empty optional fields and fields that do not apply.

    `beside` holds the values of other fields that these may refer to, `facts` further facts for their conditions.
    Raises FieldError with the messages by name.
    """
    if not isinstance(values, Mapping):
        raise FieldError(_("This must be an object with one value per field."))
    names = [field.name for field in fields]
    problems = {
        printable(key): _("There is no such field.") + did_you_mean(key, names)
        for key in [key for key in values if key not in names][:_UNKNOWN]
    }
    cleaned: dict[str, Any] = {}
    base_facts = facts or ConditionFacts()
    for field in fields:
        if field.when and not conditions.any_condition_holds(
            field.when, replace(base_facts, values={**base_facts.values, **cleaned})
        ):
            continue
        try:
            value = field.clean(values.get(field.name), {**beside, **cleaned})
        except FieldError as error:
            problems |= error.told(field.name)
        else:
            if value is not None:
                cleaned[field.name] = value
    if problems:
        raise FieldError(within=problems)
    return cleaned


def impossible_reason(condition: str, named: Mapping[str, Field]) -> str:
    """Return the reason why `condition` can never hold where `named` are the fields to compare; "" if it can."""
    comparison = conditions.parse_comparison(condition)
    if not comparison:
        return _(
            "“%(condition)s” is not known here: compare an earlier field, such as: kind == other",
            condition=condition,
        )
    name, value = comparison
    if name not in named:
        return _("There is no field “%(name)s” to compare.", name=name) + did_you_mean(name, named)
    values = named[name].comparable()
    if values is not None and value not in values:
        return _("“%(value)s” is no option of %(name)s.", value=value[:60], name=name) + did_you_mean(value, values)
    return ""
