"""Cleaning fields that stand beside each other, with all problems told at once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dynabench.language import _
from dynabench.tasks import conditions
from dynabench.tasks.conditions import Facts
from dynabench.tasks.fields.base import NOTHING, Field, FieldError, Values
from dynabench.tasks.section import did_you_mean, printable

_UNKNOWN = 20  # told at most


def clean(
    fields: Sequence[Field], values: object, beside: Values = NOTHING, facts: Facts | None = None
) -> dict[str, Any]:
    """The stored form of `values`; optional fields left empty, and fields that do not apply, are absent from it.

    `beside` holds the values of other fields that these may refer to, `facts` what their conditions are about besides.
    Raises FieldError with the messages by name.
    """
    if not isinstance(values, Mapping):
        raise FieldError(_("This must be an object with one value per field."))
    known = [field.name for field in fields]
    problems = {
        printable(key): _("There is no such field.") + did_you_mean(key, known)
        for key in [key for key in values if key not in known][:_UNKNOWN]
    }
    cleaned: dict[str, Any] = {}
    about = facts or Facts()
    for field in fields:
        if field.when and not conditions.holds(field.when, replace(about, values={**about.values, **cleaned})):
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


def never(condition: str, named: Mapping[str, Field]) -> str:
    """Why `condition` can never hold where `named` are the fields to compare; empty if it can."""
    comparison = conditions.compared(condition)
    if not comparison:
        return _(
            "“%(condition)s” is not known here: compare an earlier field, such as: kind == other",
            condition=condition,
        )
    name, value = comparison
    if name not in named:
        return _("There is no field “%(name)s” to compare.", name=name) + did_you_mean(name, named)
    known = named[name].comparable()
    if known is not None and value not in known:
        return _("“%(value)s” is no option of %(name)s.", value=value[:60], name=name) + did_you_mean(value, known)
    return ""
