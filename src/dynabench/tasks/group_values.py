"""Values of a group of fields: cleaning, with all problems in one error, and reading from HTML forms."""

from collections.abc import Iterable, Sequence
from typing import Any

from dynabench.kit.errors import Invalid
from dynabench.tasks.conditions import ConditionFacts
from dynabench.tasks.fields import Field, FieldError, Values, field_cleaning


def clean_group(
    group: str,
    fields: Sequence[Field],
    values: object,
    beside: Values | None = None,
    facts: ConditionFacts | None = None,
) -> dict[str, Any]:
    """Return the stored form of `values`, without empty optional fields and fields that do not apply.

    `group` is `context`, `input`, `answer`, `ask` or `validation`; problems are raised as Invalid with keys such as
    `input.hypothesis`. `beside` holds the values that spans refer to.
    """
    try:
        return field_cleaning.clean_fields(fields, values, beside or {}, facts)
    except FieldError as error:
        raise Invalid(error.told(group)) from None


def read_group_form(group: str, fields: Sequence[Field], items: Iterable[tuple[str, object]]) -> dict[str, object]:
    """Return the raw values of a group from an HTML form with names such as `input.hypothesis`."""
    posted: dict[str, list[str]] = {}
    for name, text in items:
        if isinstance(text, str):
            posted.setdefault(name, []).append(text)
    return {field.name: field.read_form(posted, f"{group}.{field.name}") for field in fields}
