"""Probabilities of the options from the log-probabilities of the tokens that an answer might have begun with."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from dynabench.models.protocol import Card

MOST = 20
"""Alternatives that chat APIs tell for a token at most."""
UNCLEAR = 0.01
"""Share of the alternatives that may fit several options and be left out."""


def probabilities(card: Card, choice: Mapping[str, Any], start: int) -> dict[str, float] | None:
    """The options' shares of what might have stood where the answer starts, in characters of the text, by label.

    A token counts for the one option that it begins, or that begins it. None where nothing can be told: without
    log-probabilities, or where more than `UNCLEAR` of them fits several options, as `not` fits `not sure` and `not
    true`. Options that are not among the alternatives have less than the least of these, and get 0.
    """
    at = 0
    for token in _tokens(choice):
        end = at + len(token["token"])
        if at <= start < end:
            return _shares(card, token, start - at)
        at = end
    return None


def _shares(card: Card, token: Mapping[str, Any], lead: int) -> dict[str, float] | None:
    shares = dict.fromkeys(card.labels, 0.0)
    unclear = 0.0
    for other, logprob in _alternatives(token):
        said = (other[lead:] if other.startswith(token["token"][:lead]) else other).strip(" \"'").casefold()
        fitting = [label for label in card.labels if said and _begins(said, label.casefold())]
        if len(fitting) == 1:
            shares[fitting[0]] += math.exp(logprob)
        elif fitting:
            unclear += math.exp(logprob)
    total = sum(shares.values())
    if total <= 0 or unclear > UNCLEAR * total:
        return None
    return {label: share / total for label, share in shares.items()}


def _begins(said: str, label: str) -> bool:
    return label.startswith(said) or said.startswith(label)


def _tokens(choice: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    told = choice.get("logprobs")
    content = told.get("content") if isinstance(told, Mapping) else None
    tokens = content if isinstance(content, list) else []
    fine = all(isinstance(token, Mapping) and isinstance(token.get("token"), str) for token in tokens)
    return tokens if fine else []


def _alternatives(token: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Texts and log-probabilities of what might have stood there; a text that is told twice counts twice."""
    told = token.get("top_logprobs")
    for other in told if isinstance(told, list) else []:
        value = other.get("logprob") if isinstance(other, Mapping) else None
        if isinstance(value, int | float) and -1e9 < value <= 0 and isinstance(other.get("token"), str):
            yield other["token"], float(value)
