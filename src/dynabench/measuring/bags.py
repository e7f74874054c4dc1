"""Bags of words: which texts have which words, as sparse arrays."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np


def bag(texts: Sequence[Sequence[str]], least: int, pairs: bool = False) -> tuple[Any, list[str]]:
    """Which of `texts` (lists of words) have a word: a sparse array of 0 and 1, shape (n, words), and the words.

    Words that fewer than `least` texts have are left out; with `pairs`, two words in a row count as one more word.
    """
    from scipy.sparse import csr_array

    sets = [sorted({*words, *(map(" ".join, pairwise(words)) if pairs else ())}) for words in texts]
    counts = Counter(word for held in sets for word in held)
    kept = sorted(word for word, count in counts.items() if count >= least)
    number = {word: place for place, word in enumerate(kept)}
    places = [[number[word] for word in held if word in number] for held in sets]
    starts = np.concatenate([[0], np.cumsum([len(each) for each in places])]).astype(np.int64)
    held = np.array([place for each in places for place in each], np.int64)
    return csr_array((np.ones(len(held)), held, starts), shape=(len(texts), len(kept))), kept
