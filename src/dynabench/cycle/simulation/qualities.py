"""What the collected examples are like: diversity, artifacts, balance, cost. The measures are those of rounds' data."""

import numpy as np
from numpy.typing import NDArray

from dynabench.cycle.simulation.encoding import Vectors, key
from dynabench.cycle.simulation.history import Floats, History
from dynabench.cycle.simulation.material import Ints
from dynabench.data_measurements import naive_bayes
from dynabench.data_measurements.measures import diversity
from dynabench.data_measurements.naive_bayes import bag_of_words
from dynabench.data_measurements.sample import words

OF_A_ROUND = ("self_bleu", "distinct_2", "spread", "fooled", "fooled_per_try", "tries_per_example", "tries_per_fooling")


def of_rounds(history: History, arm: str, vectors: Vectors) -> dict[str, Floats]:
    """Figures of each round's training examples, each of shape (seeds, rounds). Texts are the last input field."""
    shape = (history.plan.seeds, history.plan.rounds)
    found = {name: np.zeros(shape) for name in OF_A_ROUND}
    for seed, number in np.ndindex(shape):
        texts = _texts(history, history.collected(seed, arm, number + 1, number + 1))
        tokens = [held for text in texts if (held := words(text))]
        found["self_bleu"][seed, number] = diversity.self_bleu(tokens).mean() if len(tokens) > 1 else np.nan
        found["distinct_2"][seed, number] = diversity.distinct(tokens, 2) or np.nan
        values = np.array([vectors[key(text)] for text in texts], float)
        found["spread"][seed, number] = diversity.spread(values)
    tries, fooled = history.numbers(arm, "tries"), history.numbers(arm, "fooled")
    found["fooled"] = fooled / history.plan.each
    found["fooled_per_try"] = fooled / tries
    found["tries_per_example"] = tries / history.plan.each
    found["tries_per_fooling"] = tries / np.maximum(fooled, 1)
    return found


def artifacts(history: History, arm: str, last: int) -> Floats:
    """How far naive Bayes over the last input field alone is above the most frequent answer, on all that was collected
    up to round `last`; shape (seeds,). Cross-validated with whole groups."""
    found = []
    for seed in range(history.plan.seeds):
        places = history.collected(seed, arm, 1, last)
        present, _ = bag_of_words([words(text) for text in _texts(history, places)], 2, pairs=True)
        labels = history.material.pool.labels[places]
        groups = np.unique(history.material.pool.groups[places], return_inverse=True)[1].astype(np.int64)
        folds = naive_bayes.assign_folds(groups, np.random.default_rng(seed))
        right = (
            naive_bayes.cross_validated_predictions(present, labels[None], folds, len(history.material.labels))[0]
            == labels
        )
        found.append(right.mean() - np.bincount(labels).max() / len(labels))
    return np.array(found)


def shares(history: History, arm: str, of: NDArray[np.int64], kinds: int) -> Floats:
    """The share of each kind (`of` says it for every row of the pool) among all that the arm collected; shape
    (seeds, kinds)."""
    counts = [np.bincount(of[history.collected(seed, arm)], minlength=kinds) for seed in range(history.plan.seeds)]
    each = np.array(counts, float)
    found: Floats = each / each.sum(1, keepdims=True)
    return found


def _texts(history: History, places: Ints) -> list[str]:
    return [history.material.pool.texts[place][-1] for place in places]
