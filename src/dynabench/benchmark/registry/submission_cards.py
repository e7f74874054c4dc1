"""The facts about a submission that a board shows: from the model's card and from its submitter."""

import re
from typing import Any

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.models.protocol import Card

CARD_FIELDS = ("licence", "languages", "parameters", "paper", "link")
"""What a submitter may say of a model in a form or a request."""


def board_fields(card: Card) -> dict[str, Any]:
    """Return the fields of a model's card that a board shows and filters by."""
    return {
        "kind": card.kind,
        "summary": card.summary,
        "licence": card.licence,
        "languages": list(card.languages),
        "size_bytes": card.size_bytes,
    } | ({"encoder": card.encoder} if card.encoder else {})


def training_fields(source: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    """Of a training set how many `rows` the platform's learner learnt from, how many have each label (`balance`), and
    which version of the `pool` they were chosen from; of other submissions nothing."""
    step = next((step_entry for step_entry in report["steps"] if step_entry["name"] == "rows"), None)
    if step is None or "pool" not in source:
        return {}
    details = {name: step["details"][name] for name in ("rows", "balance")}
    return details | {"pool": source["pool"], "baseline": source.get("baseline", "")}


def card_from_form(form_values: dict[str, str]) -> dict[str, Any]:
    """A card of what somebody wrote into a form or a request; raises `Invalid` by field."""
    card: dict[str, Any] = {"licence": form_values.get("licence", "").strip()[:100]}
    card["languages"] = [
        language.strip() for language in form_values.get("languages", "").split(",") if language.strip()
    ][:50]
    wrong = {}
    if any(not re.fullmatch(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}", language) for language in card["languages"]):
        wrong["languages"] = _("Give BCP 47 tags separated by commas, such as en, de-CH.")
    parameters = form_values.get("parameters", "").strip().replace(",", "").replace("_", "")
    if parameters and not re.fullmatch(r"[0-9]{1,15}", parameters):
        wrong["parameters"] = _("Give a whole number, such as 22000000.")
    for name in ("paper", "link"):
        card[name] = form_values.get(name, "").strip()
        if card[name] and not re.fullmatch(r"https?://[\x21-\x7e]{3,500}", card[name]):
            wrong[name] = _("Give an address that begins with https://.")
    if wrong:
        raise errors.Invalid(wrong)
    card["parameters"] = int(parameters) if parameters else None
    return {name: value for name, value in card.items() if value not in ("", [], None)}
