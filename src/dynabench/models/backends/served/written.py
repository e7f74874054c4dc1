"""Written answers read as one of the options, strictly: what is none of them is no answer."""

import json
from collections.abc import Mapping
from typing import Any

from dynabench.models.protocol import Card, Output
from dynabench.models.validity import Broken


def schema(card: Card) -> dict[str, Any]:
    """JSON Schema of an object with the answer, one of the labels or a text."""
    answer: dict[str, Any] = {"type": "string"}
    if card.returns == "label":
        answer["enum"] = list(card.labels)
    return of_fields({card.answer: answer})


def of_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """JSON Schema of an object with exactly these fields, which have a schema each."""
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


def structured(card: Card, text: str) -> str:
    """The answer in a JSON object that follows the schema; raises `Broken`."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Broken(
            f"{card.name} wrote {_short(text)} instead of a JSON object; where its server has no `response_format`, "
            "say `answers: plain`."
        ) from error
    answer = found.get(card.answer) if isinstance(found, dict) and set(found) == {card.answer} else None
    if not isinstance(answer, str) or (card.returns == "label" and answer not in card.labels):
        raise Broken(f"{card.name} wrote {_short(text)}, which does not hold {card.answer!r} as it was asked to.")
    return answer


def option(card: Card, text: str) -> str:
    """The label that a text is, but for case, quotes, and a full stop; raises `Broken` for anything more or less."""
    said = text.strip().strip("\"'`*").removesuffix(".").strip().casefold()
    found = [label for label in card.labels if label.casefold() == said]
    if len(found) != 1:
        raise Broken(f"{card.name} wrote {_short(text)}, which is none of the options {', '.join(card.labels)}.")
    return found[0]


def output(card: Card, text: str) -> Output:
    """Return a written text as an answer of this model."""
    extras = {"generated": text}
    return Output({card.answer: option(card, text) if card.returns == "label" else text.strip()}, None, extras)


def _short(text: str) -> str:
    told = repr(text)
    return told if len(told) <= 120 else f"{told[:117]}..."
