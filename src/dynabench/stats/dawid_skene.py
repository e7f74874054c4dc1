"""Abilities of raters and true labels from votes alone: the models of Dawid and Skene.

Fitted by expectation-maximisation. Sources: Dawid and Skene, Journal of the Royal Statistical Society C 28 (1979) 20-28
(a confusion matrix for each rater); Zhang, Chen, Zhou and Jordan, Journal of Machine Learning Research 17 (2016) 1-44
(one coin: one accuracy for each rater). In agreement with `crowdkit.aggregation` after the same number of steps. It
stops where the likelihood of the votes no longer rises; crowd-kit stops by a bound that counts the prior once for each
vote, so it may stop earlier or later.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.stats.rates import Rate, wilson

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SMALLEST = 1e-10
"""The probability of a vote that was never seen where it would have to be taken as impossible."""
STEPS = 200
PSEUDO_VOTES = 8.0
"""Votes of average accuracy that are added to those of each rater before a weight is computed."""
HEAVIEST = 4.0
"""The largest weight of a vote: that of 98 % accuracy between two labels."""


@dataclass(frozen=True)
class VoteTable:
    """Votes as codes: the vote `n` of `raters[n]` on `items[n]` is `labels[n]`; names are in the order of the codes."""

    items: Ints
    raters: Ints
    labels: Ints
    item_names: tuple[Hashable, ...]
    rater_names: tuple[Hashable, ...]
    label_names: tuple[Hashable, ...]

    @classmethod
    def of(
        cls, votes: Sequence[tuple[Hashable, Hashable, Hashable]], labels: Sequence[Hashable] | None = None
    ) -> "VoteTable":
        """Return the table of (item, rater, label) triples; `labels` names all possible ones in order, else those seen.

        Raises ValueError for a vote outside `labels`.
        """
        columns = list(zip(*votes, strict=True)) if votes else [(), (), ()]
        names = [tuple(dict.fromkeys(column)) for column in columns]
        if labels is not None:
            names[2] = tuple(dict.fromkeys(labels))
        places = [{name: code for code, name in enumerate(column)} for column in names]
        strange = set(columns[2]) - places[2].keys()
        if strange:
            raise ValueError(f"the votes {sorted(map(repr, strange))} are none of {list(names[2])}")
        items, raters, codes = (
            np.array([place[name] for name in column], np.int64) for place, column in zip(places, columns, strict=True)
        )
        return cls(items, raters, codes, *names)


@dataclass(frozen=True)
class CrowdEstimates:
    """The fitted model of a crowd.

    `posterior` (items, K) is the probability of each true label, `prior` (K) the share of each, `confusion`
    (raters, K, K) the probability of a vote (last axis) by the true label. `right` (raters) is the expected number of
    right votes of the `votes` (raters) that each rater cast. `log_likelihood` has its value after each step.
    """

    table: VoteTable
    posterior: Floats
    prior: Floats
    confusion: Floats
    right: Floats
    votes: Ints
    log_likelihood: tuple[float, ...]

    @property
    def accuracy(self) -> Floats:
        """Expected share of right votes of each rater (raters,)."""
        result: Floats = self.right / np.maximum(self.votes, 1)
        return result

    @property
    def average_accuracy(self) -> float:
        """Expected share of right votes among all votes; that of chance without votes."""
        total = int(self.votes.sum())
        return float(self.right.sum()) / total if total else 1 / max(len(self.prior), 1)

    @property
    def evidence(self) -> Floats:
        """Expected number of items with each true label among those that each rater voted on (raters, K)."""
        raters, size = len(self.table.rater_names), self.posterior.shape[1]
        votes = self.posterior[self.table.items]
        return np.stack([_sum_by(self.table.raters, raters, votes[:, true]) for true in range(size)], 1)

    def accuracy_rates(self, level: float = 0.95) -> list[Rate]:
        """Return the accuracy of each rater with Wilson's interval over its votes, true labels taken as estimated."""
        return [
            wilson(min(float(right), int(votes)), int(votes), level)
            for right, votes in zip(self.right, self.votes, strict=True)
        ]

    def weights(self, pseudo_votes: float = PSEUDO_VOTES) -> Floats:
        """Return the weight of a vote of each rater (raters,): see `vote_weight`."""
        shrunk = (self.right + pseudo_votes * self.average_accuracy) / (self.votes + pseudo_votes)
        return np.array([vote_weight(float(share), len(self.prior)) for share in shrunk])


def vote_weight(accuracy: float, labels: int) -> float:
    """Return the log-odds that a vote adds to its label where its rater has this accuracy over so many labels.

    Other labels are taken to be equally likely mistakes. Between 0 (chance, or worse) and `HEAVIEST`.
    """
    if labels < 2 or accuracy <= 1 / labels:
        return 0.0
    return HEAVIEST if accuracy >= 1 else min(log(accuracy * (labels - 1) / (1 - accuracy)), HEAVIEST)


def fit_dawid_skene(
    table: VoteTable,
    true_labels: Mapping[Any, Hashable] | None = None,
    *,
    steps: int = STEPS,
    tolerance: float = 1e-7,
) -> CrowdEstimates:
    """Return the estimates with one confusion matrix for each rater.

    `true_labels` has those of some items, by their names (gold items, decisions of experts). Ends after `steps`, or
    where a step raises the mean log-likelihood of a vote by less than `tolerance`.
    """
    return _fit(table, true_labels, steps, tolerance, one_coin=False)


def fit_one_coin(
    table: VoteTable,
    true_labels: Mapping[Any, Hashable] | None = None,
    *,
    steps: int = STEPS,
    tolerance: float = 1e-7,
) -> CrowdEstimates:
    """Return the estimates with one accuracy for each rater and mistakes spread evenly over the other labels.

    The better choice where most raters cast few votes. Arguments as for `fit_dawid_skene`.
    """
    return _fit(table, true_labels, steps, tolerance, one_coin=True)


def _fit(
    table: VoteTable, true_labels: Mapping[Any, Hashable] | None, steps: int, tolerance: float, *, one_coin: bool
) -> CrowdEstimates:
    label_count, fixed = len(table.label_names), _fixed(table, true_labels or {})
    counts = _sum_by(table.items * label_count + table.labels, len(table.item_names) * label_count)
    posterior = counts.reshape(-1, label_count)
    posterior = _corrected(posterior / np.maximum(posterior.sum(1, keepdims=True), 1), fixed)
    model = _one_coin_matrices if one_coin else _full_matrices
    prior, confusion = posterior.mean(0) if len(posterior) else np.zeros(label_count), model(table, posterior)
    history: list[float] = []
    for _step in range(steps if len(table.items) else 0):
        posterior, likelihood = _expect(table, prior, confusion)
        posterior = _corrected(posterior, fixed)
        prior, confusion = posterior.mean(0), model(table, posterior)
        history.append(likelihood / len(table.items))
        if len(history) > 1 and history[-1] - history[-2] < tolerance:
            break
    votes = np.bincount(table.raters, minlength=len(table.rater_names))
    right = _sum_by(table.raters, len(table.rater_names), posterior[table.items, table.labels])
    return CrowdEstimates(table, posterior, prior, confusion, right, votes, tuple(history))


def _fixed(table: VoteTable, true_labels: Mapping[Any, Hashable]) -> tuple[Ints, Ints]:
    items = {name: code for code, name in enumerate(table.item_names)}
    labels = {name: code for code, name in enumerate(table.label_names)}
    pairs = [(items[name], labels[label]) for name, label in true_labels.items() if name in items and label in labels]
    codes = np.array(pairs, np.int64).reshape(-1, 2)
    return codes[:, 0], codes[:, 1]


def _corrected(posterior: Floats, fixed: tuple[Ints, Ints]) -> Floats:
    items, labels = fixed
    if len(items):
        posterior = posterior.copy()
        posterior[items] = 0
        posterior[items, labels] = 1
    return posterior


def _sum_by(codes: Ints, size: int, weights: Floats | None = None) -> Floats:
    sums: Floats = np.bincount(codes, weights, minlength=size).astype(float)
    return sums


def _full_matrices(table: VoteTable, posterior: Floats) -> Floats:
    """Confusion matrices (raters, K, K): true label by vote. A label that a rater never used keeps probability 0."""
    size, raters = posterior.shape[1], len(table.rater_names)
    cells = table.raters * size + table.labels
    used = _sum_by(cells, raters * size) > 0
    sums = np.stack([_sum_by(cells, raters * size, posterior[table.items, true]) for true in range(size)])
    matrices = np.where(used, np.maximum(sums, SMALLEST), 0).reshape(size, raters, size).transpose(1, 0, 2)
    result: Floats = matrices / matrices.sum(2, keepdims=True)
    return result


def _one_coin_matrices(table: VoteTable, posterior: Floats) -> Floats:
    size, raters = posterior.shape[1], len(table.rater_names)
    votes = np.bincount(table.raters, minlength=raters)
    skill = _sum_by(table.raters, raters, posterior[table.items, table.labels]) / np.maximum(votes, 1)
    others = (1 - skill) / max(size - 1, 1)
    same = np.eye(size, dtype=bool)
    matrices = np.where(same, skill[:, None, None], others[:, None, None])
    return np.clip(matrices, SMALLEST, 1 - SMALLEST)


def _expect(table: VoteTable, prior: Floats, confusion: Floats) -> tuple[Floats, float]:
    """Probabilities of the true labels (items, K), and the log-likelihood of all votes."""
    with np.errstate(divide="ignore"):  # labels that a rater never used: their cells are never read
        logs = np.log(confusion)
    of_votes = logs[table.raters, :, table.labels]
    size, items = confusion.shape[1], len(table.item_names)
    joint = np.stack([_sum_by(table.items, items, of_votes[:, true]) for true in range(size)], 1)
    joint += np.log(np.maximum(prior, SMALLEST))
    top = joint.max(1, keepdims=True)
    scaled = np.exp(joint - top)
    sums = scaled.sum(1, keepdims=True)
    return scaled / sums, float((top + np.log(sums)).sum())
