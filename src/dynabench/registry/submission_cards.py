"""What a board shows of a submission: of what the model says of itself, and of what its submitter says of it."""

import re
from typing import Any

from dynabench import errors
from dynabench.language import _
from dynabench.models.protocol import Card

SAID = ("licence", "languages", "parameters", "paper", "link")
"""What a submitter may say of a model in a form or a request."""


def told(card: Card) -> dict[str, Any]:
    """What a board shows and filters by, from what a model says of itself."""
    return {
        "kind": card.kind,
        "summary": card.summary,
        "licence": card.licence,
        "languages": list(card.languages),
        "size_bytes": card.size_bytes,
    } | ({"encoder": card.encoder} if card.encoder else {})


def learnt(source: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    """Of a training set how many `rows` the platform's learner learnt from, how many have each label (`balance`), and
    which version of the `pool` they were chosen from; of other submissions nothing."""
    step = next((each for each in report["steps"] if each["name"] == "rows"), None)
    if step is None or "pool" not in source:
        return {}
    told = {name: step["details"][name] for name in ("rows", "balance")}
    return told | {"pool": source["pool"], "baseline": source.get("baseline", "")}


def describe(given: dict[str, str]) -> dict[str, Any]:
    """A card of what somebody wrote into a form or a request; raises `Invalid` by field."""
    card: dict[str, Any] = {"licence": given.get("licence", "").strip()[:100]}
    card["languages"] = [each.strip() for each in given.get("languages", "").split(",") if each.strip()][:50]
    wrong = {}
    if any(not re.fullmatch(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}", each) for each in card["languages"]):
        wrong["languages"] = _("Give BCP 47 tags separated by commas, such as en, de-CH.")
    parameters = given.get("parameters", "").strip().replace(",", "").replace("_", "")
    if parameters and not re.fullmatch(r"[0-9]{1,15}", parameters):
        wrong["parameters"] = _("Give a whole number, such as 22000000.")
    for name in ("paper", "link"):
        card[name] = given.get(name, "").strip()
        if card[name] and not re.fullmatch(r"https?://[\x21-\x7e]{3,500}", card[name]):
            wrong[name] = _("Give an address that begins with https://.")
    if wrong:
        raise errors.Invalid(wrong)
    card["parameters"] = int(parameters) if parameters else None
    return {name: value for name, value in card.items() if value not in ("", [], None)}
