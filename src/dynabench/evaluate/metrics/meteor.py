"""METEOR.

Sources: Banerjee and Lavie 2005, Lavie and Agarwal 2007; NLTK's `meteor_score` for the order of matching.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import pairwise

import numpy as np

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ngrams import flatten_references
from dynabench.evaluate.states import Sums
from dynabench.evaluate.tokens import Tokenizer, tokenize_all
from dynabench.evaluate.values import MissingLibrary
from dynabench.kit.distributions import LIBRARY, install_command

Synonyms = Callable[[str], Iterable[str]]
Places = list[tuple[int, str]]


def meteor_score(
    predicted: Sequence[str],
    right: Sequence[str],
    stem: Callable[[str], str],
    synonyms: Synonyms | None,
    alpha: float,
    beta: float,
    gamma: float,
) -> float:
    """METEOR (0-1) of one prediction against one reference, both as words in lower case; 0 without a match."""
    pairs = match_words(predicted, right, stem, synonyms)
    if not pairs:
        return 0.0
    precision, recall = len(pairs) / len(predicted), len(pairs) / len(right)
    mean = precision * recall / (alpha * precision + (1 - alpha) * recall)
    breaks = sum(after != (before[0] + 1, before[1] + 1) for before, after in pairwise(pairs))
    return float((1 - gamma * ((breaks + 1) / len(pairs)) ** beta) * mean)


def match_words(
    predicted: Sequence[str], right: Sequence[str], stem: Callable[[str], str], synonyms: Synonyms | None
) -> list[tuple[int, int]]:
    """Return pairs of places, in the order of the prediction.

    Equal words first, then equal stems, then synonyms of stems.
    """
    pairs, first, second = _match_stage(list(enumerate(predicted)), list(enumerate(right)), _itself)
    first, second = ([(place, stem(word)) for place, word in words] for words in (first, second))
    more, first, second = _match_stage(first, second, _itself)
    pairs += more
    if synonyms is not None:
        pairs += _match_stage(first, second, lambda word: {word, *synonyms(word)})[0]
    return sorted(pairs)


def _itself(word: str) -> Iterable[str]:
    return (word,)


def _match_stage(first: Places, second: Places, options: Synonyms) -> tuple[list[tuple[int, int]], Places, Places]:
    """From the end on, each word takes the last free one that is among its options; and what is left of both."""
    if not first or not second:
        return [], first, second
    free: dict[str, list[int]] = {}
    for place, word in second:
        free.setdefault(word, []).append(place)
    pairs = []
    for place, word in reversed(first):
        best = max(
            (option for option in options(word) if free.get(option)), key=lambda item: free[item][-1], default=""
        )
        if free.get(best):
            pairs.append((place, free[best].pop()))
    first_matched, second_matched = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    return (
        pairs,
        [item for item in first if item[0] not in first_matched],
        [item for item in second if item[0] not in second_matched],
    )


@cache
def porter_stemmer() -> Callable[[str], str]:
    """Return Porter's stemmer with NLTK's extensions. Raises MissingLibrary where NLTK is not installed."""
    try:
        from nltk.stem.porter import PorterStemmer
    except ImportError:
        raise MissingLibrary(f"METEOR's stems need nltk: {install_command(LIBRARY, 'metrics')}") from None
    return lru_cache(1 << 16)(PorterStemmer().stem)


@cache
def treebank_splitter() -> Callable[[str], list[str]]:
    """Return NLTK's tokenizer of the Penn treebank, with Punkt's sentence rules, which need no data of a language.

    Raises MissingLibrary where NLTK is not installed.
    """
    try:
        from nltk.tokenize import NLTKWordTokenizer
        from nltk.tokenize.punkt import PunktSentenceTokenizer
    except ImportError:
        raise MissingLibrary(
            f"METEOR's words need nltk: {install_command(LIBRARY, 'metrics')}, or give a tokenizer"
        ) from None
    sentences, words = PunktSentenceTokenizer(), NLTKWordTokenizer()
    return lambda text: [word for sentence in sentences.tokenize(text) for word in words.tokenize(sentence)]


def wordnet_synonyms() -> Synonyms:
    """Return a function to the single words of a word's WordNet synsets.

    Raises ValueError where NLTK has no WordNet.
    """
    try:
        from nltk.corpus import wordnet as corpus

        corpus.synsets("word")
    except (ImportError, LookupError, OSError):
        raise ValueError(
            "synonyms='wordnet' needs NLTK's corpus wordnet, which is not here and is not downloaded: install it "
            "(python -m nltk.downloader wordnet), give a function from a word to its synonyms, or None"
        ) from None

    @lru_cache(1 << 16)
    def synonyms_of(word: str) -> frozenset[str]:
        return frozenset(name for synset in corpus.synsets(word) for name in synset.lemma_names() if "_" not in name)

    return synonyms_of


class Meteor(Metric):
    """Words matched by form, stem and perhaps meaning, less a penalty where their order differs."""

    columns = {"predictions": Texts(), "references": References()}

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        alpha: float = 0.9,
        beta: float = 3,
        gamma: float = 0.5,
        synonyms: Synonyms | str | None = None,
        tokenizer: str | Tokenizer | None = None,
    ) -> Sums:
        """METEOR of each row with its best reference."""
        for name, weight in (("alpha", alpha), ("gamma", gamma)):
            if not 0 <= weight <= 1:
                raise ValueError(f"{name} lies between 0 and 1, not at {weight}")
        same, stem = _synonyms(synonyms), porter_stemmer()
        texts, owners = flatten_references(references)
        split = treebank_splitter() if tokenizer is None else tokenizer
        predicted, right = (
            [[word.lower() for word in words] for words in tokenize_all(column, split)]
            for column in (predictions, texts)
        )
        best = np.zeros(len(predicted))
        for row, words in zip(owners.tolist(), right, strict=True):
            best[row] = max(best[row], meteor_score(predicted[row], words, stem, same, alpha, beta, gamma))
        return Sums(best)

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The mean of the rows."""
        return {"meteor": total[..., 0] / total[..., -1]}


def _synonyms(synonyms: Synonyms | str | None) -> Synonyms | None:
    if synonyms == "wordnet":
        return wordnet_synonyms()
    if isinstance(synonyms, str):
        raise ValueError(f"no synonyms {synonyms!r}; give wordnet, a function from a word to its synonyms, or None")
    return synonyms
