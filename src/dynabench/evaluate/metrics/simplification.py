"""Scores of simplified and split sentences: SARI and WikiSplit.

Source: Xu et al. 2016, with the two changes of tensor2tensor that the `evaluate` library has: 0 / 0 is 1, and
the recall of kept n-grams is of all of them together.
"""

import re
from collections.abc import Sequence
from string import punctuation
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.metrics import bleu
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ngrams import count_ngrams, encode_tokens, flatten_references, map_in_blocks
from dynabench.evaluate.states import Sums
from dynabench.evaluate.tokens import mteval_tokens, tokenize_all
from dynabench.evaluate.values import ratio

ORDERS = 4


def sari_scores(sources: Sequence[str], predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Floats:
    """SARI (0-1) of each row, shape (n,)."""
    return map_in_blocks(_rows, sources, predictions, references)


def _rows(sources: Sequence[str], predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Floats:
    texts, owners = flatten_references(references)
    n = len(sources)
    tokens = tokenize_all([*sources, *predictions, *texts], _words)
    rows = np.arange(n)
    columns = encode_tokens((tokens[:n], rows), (tokens[n : 2 * n], rows), (tokens[2 * n :], owners))
    many = np.bincount(owners, minlength=n)
    parts: Floats = np.zeros(n)
    for row, (source, predicted, right) in count_ngrams(columns, ORDERS):
        times = many[row]
        parts += _keep_scores(source * times, predicted * times, right, row, n)
        parts += _deleted(source * times, predicted * times, right, row, n)
        parts += _added(source, predicted, right, row, n)
    return parts / (3 * ORDERS)


def _words(text: str) -> list[str]:
    return mteval_tokens(text.lower()) or [""]  # no words are one word that is empty, as splitting at spaces has it


def _keep_scores(source: Ints, predicted: Ints, right: Ints, row: Ints, n: int) -> Floats:
    """F1 of the n-grams that stay; counts are as many times those of the row as it has references."""
    kept_counts, right_kept = np.minimum(source, predicted), np.minimum(source, right)
    good = np.minimum(kept_counts, right)
    precision = _share(ratio(good, kept_counts), kept_counts > 0, row, n)
    return _f1(precision, _share(good, right_kept, row, n))


def _deleted(source: Ints, predicted: Ints, right: Ints, row: Ints, n: int) -> Floats:
    """Precision of the n-grams that go."""
    gone = np.maximum(source - predicted, 0)
    return _share(ratio(np.maximum(gone - right, 0), gone), gone > 0, row, n)


def _added(source: Ints, predicted: Ints, right: Ints, row: Ints, n: int) -> Floats:
    """F1 of the different n-grams that come."""
    new, right_added = (predicted > 0) & (source == 0), (right > 0) & (source == 0)
    good = new & right_added
    return _f1(_share(good, new, row, n), _share(good, right_added, row, n))


def _share(top: NDArray[Any], bottom: NDArray[Any], row: Ints, n: int) -> Floats:
    return ratio(np.bincount(row, top, n), np.bincount(row, bottom, n), 1.0)


def _f1(precision: Floats, recall: Floats) -> Floats:
    return ratio(2 * precision * recall, precision + recall)


class Sari(Metric, name="sari"):
    """Words that a simplified text keeps, deletes and adds as its references do."""

    columns = {"sources": Texts(), "predictions": Texts(), "references": References()}

    def update(self, sources: list[str], predictions: list[str], references: list[list[str]]) -> Sums:
        """SARI of each row: see `simplification`."""
        return Sums(sari_scores(sources, predictions, references))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Return the mean of the rows."""
        return {"sari": 100 * total[..., 0] / total[..., -1]}


ARTICLES = re.compile(r"\b(a|an|the)\b")
MARKS = str.maketrans("", "", punctuation)


class WikiSplit(Metric, name="wiki_split"):
    """SARI, BLEU and exact matches together."""

    columns = {"sources": Texts(), "predictions": Texts(), "references": References()}

    def update(self, sources: list[str], predictions: list[str], references: list[list[str]]) -> Sums:
        """SARI, exact match and BLEU's counts of each row, shape (n, 12)."""
        exact = [
            _plain(predicted) in map(_plain, right) for predicted, right in zip(predictions, references, strict=True)
        ]
        scores = np.stack([sari_scores(sources, predictions, references), np.array(exact, float)], 1)
        return Sums(np.concatenate([scores, bleu.sacrebleu_state(predictions, references, "13a").rows], 1))

    def formula(self, total: Floats) -> dict[str, Any]:
        """Two means, and BLEU of sums of shape (..., 13)."""
        sari, exact = (100 * total[..., place] / total[..., -1] for place in (0, 1))
        return {"sari": sari, "sacrebleu": bleu.sacrebleu_scores(total[..., 2:])["score"], "exact": exact}


def _plain(text: str) -> str:
    """Lower case, no punctuation, no articles, single spaces: as SQuAD compares answers."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(MARKS)).split())
