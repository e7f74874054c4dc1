"""Diversity of texts."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import exp, log

import numpy as np

from dynabench.insight.data_measurements.results import Figure, MeasureResult
from dynabench.insight.data_measurements.sample import Floats, Sample
from dynabench.kit.language import Amount, _
from dynabench.stats import clusters

TITLE = _("Diversity")
ABOUT = _(
    "Self-BLEU is the mean BLEU-4 of each text against all others as references: lower is more "
    "diverse. Distinct-n is the share of different n-grams. Spread is the mean cosine distance "
    "between the sentence embeddings of two texts. All three depend on the number of texts, so they "
    "use 200 random texts, or all if a round has fewer."
)
TEXTS = 200
ORDERS = 4


def measure(sample: Sample) -> MeasureResult | None:
    """Self-BLEU, distinct-n for n from 1 to 3, and the spread of embeddings."""
    chosen = np.sort(sample.rng().permutation(len(sample.rows))[:TEXTS])
    texts = [sample.words[row] for row in chosen if sample.words[row]]
    writers = np.array([sample.writers[row] for row in chosen if sample.words[row]], np.int64)
    if len(texts) < 2:
        return None
    scores = self_bleu(texts)
    mean = clusters.ratio(np.bincount(writers, scores), np.bincount(writers))
    figures = [Figure("self_bleu", _("Self-BLEU"), mean.value, mean.low, mean.high, len(texts))]
    figures += [
        Figure(f"distinct_{n}", _("Distinct-%(n)s", n=n), distinct(texts, n), n=len(texts), kind="share")
        for n in (1, 2, 3)
    ]
    if sample.embed is not None:
        vectors = sample.embed([sample.whole[row] for row in chosen])
        figures.append(Figure("spread", _("Spread of embeddings"), spread(vectors), n=len(vectors)))
    people = len(np.unique(writers))
    note = (
        "" if len(texts) == TEXTS else _("Over %(n)s texts: compare only with rounds of the same number.", n=len(texts))
    )
    finding = _(
        "Self-BLEU %(bleu)s, distinct-2 %(distinct)s",
        bleu=Amount(mean.value or 0, ".2f"),
        distinct=Amount(figures[2].value or 0, ".0%"),
    )
    return MeasureResult(finding, tuple(figures), (), people, note)


def self_bleu(texts: Sequence[Sequence[str]]) -> Floats:
    """BLEU-4 of each text against all others, shape (n,): with one added to counts above unigrams (Lin and Och 2004).

    Zhu and others, Texygen, SIGIR 2018. An n-gram's largest count elsewhere is the largest of all, or, for the text
    that holds it, the second largest: so that one pass over all texts is enough.
    """
    logs = np.zeros(len(texts))
    for order in range(1, ORDERS + 1):
        counts = [Counter(zip(*(words[at:] for at in range(order)), strict=False)) for words in texts]
        best: dict[tuple[str, ...], tuple[int, int, int]] = defaultdict(lambda: (0, 0, -1))
        for row, held in enumerate(counts):
            for gram, count in held.items():
                first, second, owner = best[gram]
                best[gram] = (count, first, row) if count > first else (first, max(second, count), owner)
        for row, held in enumerate(counts):
            hits = sum(min(count, best[gram][1 if best[gram][2] == row else 0]) for gram, count in held.items())
            total, added = sum(held.values()), order > 1
            logs[row] += log((hits + added) / (total + added)) if hits + added and total + added else -np.inf
    lengths = np.array([len(words) for words in texts])
    return np.array([exp(logs[row] / ORDERS + _brevity(lengths, row)) for row in range(len(texts))])


def _brevity(lengths: np.ndarray, row: int) -> float:
    """The logarithm of the brevity penalty against the other text whose length is closest, the shorter of two."""
    others = np.delete(lengths, row)
    gaps = np.abs(others - lengths[row])
    closest = int(others[gaps == gaps.min()].min())
    return min(0.0, 1 - closest / int(lengths[row]))


def distinct(texts: Sequence[Sequence[str]], n: int) -> float | None:
    """The share of different n-grams among all (Li and others, NAACL 2016); None where there are none."""
    grams = [gram for words in texts for gram in zip(*(words[at:] for at in range(n)), strict=False)]
    return len(set(grams)) / len(grams) if grams else None


def spread(vectors: Floats) -> float | None:
    """The mean cosine distance of two different rows of `vectors`, shape (n, d)."""
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    n = len(units)
    total = float((units.sum(0) ** 2).sum())
    return 1 - (total - n) / (n * (n - 1)) if n > 1 else None
