"""Words that speak for an answer: enough for a first model that says different things of different texts."""

import re

from dynabench.tasks.fields import Choice

DOUBT = "may might perhaps probably some several hope wants plans likely tall sad brother friend because later"
DENIAL = "not no never nobody none nothing neither nor without isn't doesn't don't didn't hardly sleeping empty alone"
CUES = {
    "positive": "good great better best love loves happy glad wonderful excellent fine enjoy enjoyed recommend 😍 👍 ❤",
    "negative": "bad worse worst hate boring awful terrible poor sad waste broken disappointed flickers late 😡 🙄",
    "neutral": DOUBT,
    "entailment": "a the there is are someone person people outside something two",
    "contradiction": DENIAL,
    "hateful": "hate stupid vermin disgusting inferior filthy subhuman they're",
    "true": "is are was were did",
    "false": DENIAL,
    "yes": "is are was were did",
    "no": DENIAL,
}


def cues(field: Choice) -> dict[str, list[str]]:
    """For each option some words: those of its name and description, and common ones for names that are common."""
    told = {}
    for option in field.options:
        said = f"{option.value} {option.label} {option.description} {CUES.get(option.value, '')}".casefold()
        told[option.value] = set(re.findall(r"\w+|[^\w\s]", said)) - {"_", "-", ".", ",", ":", "'", ";", "’"}
    shared = {word for value in told for word in told[value] if sum(word in words for words in told.values()) > 1}
    return {value: sorted(words - shared) or [value.casefold()] for value, words in told.items()}
