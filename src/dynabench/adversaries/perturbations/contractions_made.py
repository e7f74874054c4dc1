"""Two words contracted into one: do not, don't."""

import re
from random import Random

from dynabench.adversaries.perturbations.base import PerText
from dynabench.adversaries.perturbations.edits import Edit
from dynabench.adversaries.perturbations.words import like

SHORT = {
    "is not": "isn't", "are not": "aren't", "was not": "wasn't", "were not": "weren't", "do not": "don't",
    "does not": "doesn't", "did not": "didn't", "has not": "hasn't", "have not": "haven't", "had not": "hadn't",
    "can not": "can't", "cannot": "can't", "could not": "couldn't", "will not": "won't", "would not": "wouldn't",
    "should not": "shouldn't", "must not": "mustn't", "need not": "needn't", "i am": "i'm", "you are": "you're",
    "we are": "we're", "they are": "they're", "i have": "i've", "you have": "you've", "we have": "we've",
    "they have": "they've", "i will": "i'll", "you will": "you'll", "he will": "he'll", "she will": "she'll",
    "it will": "it'll", "we will": "we'll", "they will": "they'll",
}  # fmt: skip
"""Without what may stand for two things ('s, 'd)."""
_LONG = re.compile(rf"(?<![\w'’-])(?:{'|'.join(SHORT)})(?=[ ,][a-z])", re.IGNORECASE)
_STAY = re.compile(r"(?:have|has) (?:to|a|an|the|my|your|our|no)\b", re.IGNORECASE)


def _rule(text: str, rng: Random) -> list[Edit]:
    made = []
    for match in _LONG.finditer(text):
        if _STAY.match(text, match.end() - 4):
            continue
        said = SHORT[match[0].lower()]
        made.append(Edit(match.start(), match.end(), like(match[0][:1] + "x", said)))
    return made


TRANSFORMATION = PerText("contractions_made", "Contractions made", _rule)
