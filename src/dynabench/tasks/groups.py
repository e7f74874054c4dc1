"""Cleaning the values of a group of fields at once, with all problems told together."""

from collections.abc import Iterable, Sequence
from typing import Any

from dynabench.errors import Invalid
from dynabench.tasks.conditions import Facts
from dynabench.tasks.fields import Field, FieldError, Values, together


def clean(
    group: str, fields: Sequence[Field], values: object, beside: Values | None = None, facts: Facts | None = None
) -> dict[str, Any]:
    """The stored form of `values`; optional fields left empty, and fields that do not apply, are absent from it.

    `group` is `context`, `input`, `answer`, `ask` or `validation`; problems are raised as Invalid with keys such as
    `input.hypothesis`. `beside` holds the values that spans refer to.
    """
    try:
        return together.clean(fields, values, beside or {}, facts)
    except FieldError as error:
        raise Invalid(error.told(group)) from None


def from_form(group: str, fields: Sequence[Field], items: Iterable[tuple[str, object]]) -> dict[str, object]:
    """The raw values of a group from what an HTML form posted under names such as `input.hypothesis`."""
    posted: dict[str, list[str]] = {}
    for name, text in items:
        if isinstance(text, str):
            posted.setdefault(name, []).append(text)
    return {field.name: field.read_form(posted, f"{group}.{field.name}") for field in fields}
