"""Perplexity of texts by a model of characters: which texts are unlike the others, in any language.

The probability of a character is interpolated over the characters before it, from none to `ORDER` - 1, by Witten and
Bell's method, and at the bottom a uniform share for characters never seen. Source: Witten and Bell, The zero-frequency
problem, IEEE Transactions on Information Theory 37 (1991); Chen and Goodman, An empirical study of smoothing techniques
for language modeling (1998), section 2.4.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import exp, log

import numpy as np
from numpy.typing import NDArray

ORDER = 5
LONGEST = 1_000
"""Characters of a text that are read."""
START = "\x02"
ALPHABET = 5_000
"""Characters that share the probability of what was never seen."""


class CharacterModel:
    """Counts of characters after contexts of up to `ORDER` - 1 characters."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.counts: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for text in texts:
            line = START + " ".join(text[:LONGEST].split())
            for at in range(1, len(line)):
                for begin in range(max(at - ORDER + 1, 0), at + 1):
                    following = self.counts[line[begin:at]]
                    following[line[at]] = following.get(line[at], 0) + 1
        self.totals = {context: sum(following.values()) for context, following in self.counts.items()}

    def probability(self, character: str, context: str) -> float:
        """Return the probability of a character after a context, of which the last `ORDER` - 1 characters count."""
        context = context[-(ORDER - 1) :]
        value = 1 / ALPHABET
        for begin in range(len(context), -1, -1):
            following = self.counts.get(context[begin:])
            if following is None:
                break
            kinds, total = len(following), self.totals[context[begin:]]
            value = (following.get(character, 0) + kinds * value) / (total + kinds)
        return value

    def perplexity(self, text: str) -> float:
        """Return the perplexity of a text by character; infinite for an empty one."""
        line = START + " ".join(text[:LONGEST].split())
        if len(line) < 2:
            return float("inf")
        total = sum(log(self.probability(line[at], line[max(at - ORDER + 1, 0) : at])) for at in range(1, len(line)))
        return exp(-total / (len(line) - 1))


def cross_fitted_perplexities(texts: Sequence[str], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return each text's perplexity by a model of the other half of the texts, shape (n,).

    Copies of a text are in the same half, so that none makes another likely.
    """
    kinds = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    side = rng.permutation(len(kinds)) % 2
    halves = np.array([side[kinds[text]] for text in texts], np.int64)
    values = np.zeros(len(texts))
    for half in (0, 1):
        model = CharacterModel([text for text, here in zip(texts, halves, strict=True) if here != half])
        for place in np.flatnonzero(halves == half).tolist():
            values[place] = model.perplexity(texts[place])
    return values
