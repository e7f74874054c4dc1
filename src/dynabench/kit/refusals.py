"""Translations of pydantic's error messages, which are found again as texts of the catalogues."""

from collections.abc import Mapping
from typing import Any

from dynabench.kit.language import Phrase, _, ngettext, recognised

_SENTENCES = (
    _("Field required"),
    _("Extra inputs are not permitted"),
    _("Input should be a valid string"),
    _("Input should be a valid integer"),
    _("Input should be a valid integer, unable to parse string as an integer"),
    _("Input should be a valid integer, got a number with a fractional part"),
    _("Input should be a valid number"),
    _("Input should be a valid number, unable to parse string as a number"),
    _("Input should be a finite number"),
    _("Input should be a valid boolean"),
    _("Input should be a valid boolean, unable to interpret input"),
    _("Input should be a valid list"),
    _("Input should be a valid dictionary"),
    _("Input should be greater than or equal to %(bound)s"),
    _("Input should be greater than %(bound)s"),
    _("Input should be less than or equal to %(bound)s"),
    _("Input should be less than %(bound)s"),
    _("Input should be %(options)s or %(last)s"),
    _("Input should be %(only)s"),
    _("String should match pattern '%(pattern)s'"),
    ngettext("String should have at least %(num)s character", "String should have at least %(num)s characters", 2),
    ngettext("String should have at most %(num)s character", "String should have at most %(num)s characters", 2),
    ngettext(
        "List should have at least %(num)s item after validation, not %(found)s",
        "List should have at least %(num)s items after validation, not %(found)s",
        2,
        found=0,
    ),
    ngettext(
        "List should have at most %(num)s item after validation, not %(found)s",
        "List should have at most %(num)s items after validation, not %(found)s",
        2,
        found=0,
    ),
    ngettext(
        "Dictionary should have at most %(num)s item after validation, not %(found)s",
        "Dictionary should have at most %(num)s items after validation, not %(found)s",
        2,
        found=0,
    ),
)


def told(error: Mapping[str, Any], instead: Mapping[str, str] | None = None) -> str:
    """One of `ValidationError.errors()` as a text, with its translation where there is one.

    `instead` has other words for some types of errors. What validators of our own say stays as they said it.
    """
    if instead and error["type"] in instead:
        return instead[error["type"]]
    context = error.get("ctx") or {}
    if error["type"] == "dynabench":
        return str(context["message"])
    cause = context.get("error")
    if isinstance(cause, Exception) and cause.args and isinstance(cause.args[0], Phrase):
        return cause.args[0]
    return phrased(str(error["msg"]).removeprefix("Value error, "))


def phrased(sentence: str) -> str:
    """A sentence of pydantic's that knows its translation; any other as it is."""
    return recognised(sentence, _SENTENCES)
