"""Cleaning the values of a group of fields at once, with all problems told together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dynabench.errors import Invalid
from dynabench.tasks import conditions
from dynabench.tasks.conditions import Facts
from dynabench.tasks.fields import Field, FieldError, Values
from dynabench.tasks.section import did_you_mean, printable


def clean(
    group: str, fields: Sequence[Field], values: object, beside: Values | None = None, facts: Facts | None = None
) -> dict[str, Any]:
    """The stored form of `values`; optional fields left empty, and fields that do not apply, are absent from it.

    `group` is `context`, `input`, `answer`, `ask` or `validation`; problems are raised as Invalid with keys such as
    `input.hypothesis`. `beside` holds the values that spans refer to.
    """
    if not isinstance(values, Mapping):
        raise Invalid({group: "This must be an object with one value per field."})
    known = [field.name for field in fields]
    problems = {
        f"{group}.{printable(key)}": "There is no such field." + did_you_mean(key, known)
        for key in [key for key in values if key not in known][:20]
    }
    cleaned: dict[str, Any] = {}
    about = facts or Facts()
    for field in fields:
        if field.when and not conditions.holds(field.when, replace(about, values={**about.values, **cleaned})):
            continue
        try:
            value = field.clean(values.get(field.name), {**(beside or {}), **cleaned})
        except FieldError as error:
            problems[f"{group}.{field.name}"] = str(error)
        else:
            if value is not None:
                cleaned[field.name] = value
    if problems:
        raise Invalid(problems)
    return cleaned


def from_form(group: str, fields: Sequence[Field], items: Iterable[tuple[str, object]]) -> dict[str, object]:
    """The raw values of a group from what an HTML form posted under names such as `input.hypothesis`."""
    posted: dict[str, list[str]] = {}
    for name, text in items:
        if isinstance(text, str):
            posted.setdefault(name, []).append(text)
    return {field.name: field.read_form(posted, f"{group}.{field.name}") for field in fields}
