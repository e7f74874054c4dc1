"""SARI of each row: what a simplification keeps, deletes and adds, against references; shared by sari, wiki_split.

Source: Xu et al. 2016, with the two changes of tensor2tensor that the `evaluate` library has: 0 / 0 is 1, and the
recall of kept n-grams is of all of them together.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.texts.gram_counts import counted, encoded, flattened, in_blocks
from dynabench.evaluate.texts.tokenizers import mteval, tokenized

ORDERS = 4


def sari(sources: Sequence[str], predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Floats:
    """SARI (0-1) of each row, shape (n,)."""
    return in_blocks(_rows, sources, predictions, references)


def _rows(sources: Sequence[str], predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Floats:
    texts, owners = flattened(references)
    n = len(sources)
    tokens = tokenized([*sources, *predictions, *texts], _words)
    rows = np.arange(n)
    columns = encoded((tokens[:n], rows), (tokens[n : 2 * n], rows), (tokens[2 * n :], owners))
    many = np.bincount(owners, minlength=n)
    parts: Floats = np.zeros(n)
    for row, (source, said, right) in counted(columns, ORDERS):
        times = many[row]
        parts += _kept(source * times, said * times, right, row, n)
        parts += _deleted(source * times, said * times, right, row, n)
        parts += _added(source, said, right, row, n)
    return parts / (3 * ORDERS)


def _words(text: str) -> list[str]:
    return mteval(text.lower()) or [""]  # no words are one word that is empty, as splitting at spaces has it


def _kept(source: Ints, said: Ints, right: Ints, row: Ints, n: int) -> Floats:
    """F1 of the n-grams that stay; counts are as many times those of the row as it has references."""
    kept, wanted = np.minimum(source, said), np.minimum(source, right)
    good = np.minimum(kept, right)
    precision = _share(ratio(good, kept), kept > 0, row, n)
    return _f1(precision, _share(good, wanted, row, n))


def _deleted(source: Ints, said: Ints, right: Ints, row: Ints, n: int) -> Floats:
    """Precision of the n-grams that go."""
    gone = np.maximum(source - said, 0)
    return _share(ratio(np.maximum(gone - right, 0), gone), gone > 0, row, n)


def _added(source: Ints, said: Ints, right: Ints, row: Ints, n: int) -> Floats:
    """F1 of the different n-grams that come."""
    new, wanted = (said > 0) & (source == 0), (right > 0) & (source == 0)
    good = new & wanted
    return _f1(_share(good, new, row, n), _share(good, wanted, row, n))


def _share(top: NDArray[Any], bottom: NDArray[Any], row: Ints, n: int) -> Floats:
    return ratio(np.bincount(row, top, n), np.bincount(row, bottom, n), 1.0)


def _f1(precision: Floats, recall: Floats) -> Floats:
    return ratio(2 * precision * recall, precision + recall)
