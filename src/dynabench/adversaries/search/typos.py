"""Typing errors in the words that matter most, in the manner of DeepWordBug."""

from collections.abc import Iterator, Sequence

from dynabench.adversaries.perturbations import find
from dynabench.adversaries.perturbations.base import generator
from dynabench.adversaries.perturbations.words import NEGATIONS
from dynabench.adversaries.proposing import Adversary, Budget, Candidate, Context, Target
from dynabench.adversaries.search import lexicon
from dynabench.adversaries.search.greedy import Limits, greedy

KINDS = ("swapped_letters", "dropped_letters", "doubled_letters", "keyboard_typos")
SHORTEST = 5


class Typos(Adversary):
    """One typing error in each of few words: letters swapped, left out, doubled, or a key beside.

    Only words of five letters and more, never their first and last letter, no negation, and no word becomes another
    one. `draws` is how often each kind of error is tried in a word.
    """

    name = "typos"
    version = "1"

    def __init__(
        self, similarity: float = 0.7, share: float = 0.25, draws: int = 4, seed: int = 0, fields: Sequence[str] = ()
    ) -> None:
        self._draws, self._seed = draws, seed
        self._limits, self._fields = Limits(similarity, share), tuple(fields)
        self._kinds = find(KINDS)

    def propose(self, context: Context, target: Target, budget: Budget) -> Iterator[Candidate]:
        """The text that fools the target, or else the nearest to it that was found."""
        return greedy(context, target, budget, self._misspelt, self._limits, self._fields)

    def _misspelt(self, words: Sequence[str], at: int) -> list[str]:
        word = words[at]
        if len(word) < SHORTEST or word.lower() in NEGATIONS or not word.isascii():
            return []
        made = list[str]()
        for kind in self._kinds:
            rng = generator(self._seed, word, kind.name)
            for _ in range(self._draws):
                found = kind.apply({"": word.lower()}, rng)
                if found and found[""].text not in lexicon.real():
                    made.append(word[0] + found[""].text[1:])
        return list(dict.fromkeys(made))
