"""Qualities of the collected examples: diversity, artifacts, balance, cost, by the measurements of rounds' data."""

import numpy as np

from dynabench.insight.data_measurements.measures import artifacts, similarity
from dynabench.insight.data_measurements.measures.artifacts import bag_of_words
from dynabench.insight.data_measurements.sample import words
from experiments.simulation.history import ExperimentHistory
from experiments.simulation.selection import FloatArray
from experiments.simulation.task_data import IntArray
from experiments.simulation.text_vectors import VectorsByKey, hash_text

ROUND_QUALITIES = (
    "self_bleu", "distinct_2", "spread", "fooled", "fooled_per_try", "tries_per_example", "tries_per_fooling",
)  # fmt: skip


def measure_rounds(history: ExperimentHistory, arm: str, vectors: VectorsByKey) -> dict[str, FloatArray]:
    """Measure each round's training examples, whose text is the last input field; arrays have shape (seeds, rounds)."""
    shape = (history.plan.seeds, history.plan.rounds)
    qualities = {name: np.zeros(shape) for name in ROUND_QUALITIES}
    for seed, number in np.ndindex(shape):
        texts = _texts(history, history.collected(seed, arm, number + 1, number + 1))
        tokens = [text_words for text in texts if (text_words := words(text))]
        qualities["self_bleu"][seed, number] = similarity.self_bleu(tokens).mean() if len(tokens) > 1 else np.nan
        qualities["distinct_2"][seed, number] = similarity.distinct(tokens, 2) or np.nan
        values = np.array([vectors[hash_text(text)] for text in texts], float)
        qualities["spread"][seed, number] = similarity.spread(values)
    tries, fooled = history.numbers(arm, "tries"), history.numbers(arm, "fooled")
    qualities["fooled"] = fooled / history.plan.examples
    qualities["fooled_per_try"] = fooled / tries
    qualities["tries_per_example"] = tries / history.plan.examples
    qualities["tries_per_fooling"] = tries / np.maximum(fooled, 1)
    return qualities


def measure_artifacts(history: ExperimentHistory, arm: str, last: int) -> FloatArray:
    """Measure by how much naive Bayes over the last input field alone exceeds the most frequent answer.

    Computed on all that the arm collected up to round `last`, cross-validated with whole groups; shape (seeds,).
    """
    gains = []
    for seed in range(history.plan.seeds):
        rows = history.collected(seed, arm, 1, last)
        present, _ = bag_of_words([words(text) for text in _texts(history, rows)], 2, pairs=True)
        labels = history.data.pool.labels[rows]
        groups = np.unique(history.data.pool.groups[rows], return_inverse=True)[1].astype(np.int64)
        folds = artifacts.assign_folds(groups, np.random.default_rng(seed))
        correct = (
            artifacts.cross_validated_predictions(present, labels[None], folds, len(history.data.labels))[0] == labels
        )
        gains.append(correct.mean() - np.bincount(labels).max() / len(labels))
    return np.array(gains)


def measure_shares(history: ExperimentHistory, arm: str, kinds: IntArray, count: int) -> FloatArray:
    """Return the share of each of `count` kinds among all that the arm collected, shape (seeds, count).

    `kinds` has the kind of every row of the pool.
    """
    counts = np.array(
        [np.bincount(kinds[history.collected(seed, arm)], minlength=count) for seed in range(history.plan.seeds)],
        float,
    )
    shares: FloatArray = counts / counts.sum(1, keepdims=True)
    return shares


def _texts(history: ExperimentHistory, rows: IntArray) -> list[str]:
    return [history.data.pool.texts[row][-1] for row in rows]
