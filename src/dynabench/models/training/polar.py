"""Statements turned into questions that yes or no answers, by moving the auxiliary verb to the front."""

import re

AUXILIARIES = frozenset({"is", "are", "was", "were", "am", "can", "could", "will", "would", "should", "must", "might"})
"""Not *has* or *does*: nothing here tells “has gone” from “has a hat”."""
NEGATED = re.compile(r"\b(?:not|never)\b|n[’']t\b", re.I)
RELATIVE = frozenset({"who", "that", "which", "whose", "where", "when", "while", "as", "because", "if"})
"""After these an auxiliary may belong to another clause."""


def question(statement: str) -> str:
    """The question that a plain statement answers with yes, such as “Is the dog wet?”; empty where this cannot tell.

    Statements without an auxiliary, with a negation, or with an inner clause before the auxiliary are left alone.
    """
    words = statement.strip().rstrip(".!").split()
    places = [place for place, word in enumerate(words) if word.lower() in AUXILIARIES]
    if not places or not 0 < places[0] < len(words) - 1 or NEGATED.search(statement):
        return ""
    verb = places[0]
    before = [words[0] if words[0] == "I" else words[0][0].lower() + words[0][1:], *words[1:verb]]
    if any(word.lower().strip(",") in RELATIVE for word in before):
        return ""
    return " ".join([words[verb].capitalize(), *before, *words[verb + 1 :]]) + "?"
