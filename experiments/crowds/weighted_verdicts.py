"""The plain rule against the weighted one: on simulated crowds whose truth is known, and on ANLI's vote lists.

A simulated example has a true label and gets one vote after the other until a rule decides. The first half of the
examples is decided by the plain rule; the votes give the weights with which the second half is decided anew.
"""

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.stats.dawid_skene import VoteTable, fit_dawid_skene, fit_one_coin, vote_weight
from dynabench.stats.rates import Rate, wilson
from dynabench.stats.verdict import LABELS, Verdict, Vote, verdict

NAMES = sorted(LABELS)
SHARES = {"correct": 0.7, "incorrect": 0.25, "flagged": 0.05}
ITEMS = 2_000
CROWDS: dict[str, tuple[float, ...]] = {
    "all careful: 30 validators, 90 %": (0.9,) * 30,
    "mixed: 20 at 92 %, 10 at 65 %": (0.92,) * 20 + (0.65,) * 10,
    "spammers: 20 at 90 %, 10 at chance": (0.9,) * 20 + (1 / 3,) * 10,
    "weak: 30 from 50 % to 80 %": tuple(np.linspace(0.5, 0.8, 30)),
}
RULES = ((2, 3), (2, 5), (3, 5))
Weigh = Callable[[int], float | None]


@dataclass(frozen=True)
class RuleFigures:
    """One rule on one crowd: right verdicts of all examples, disputed ones, and votes for an example."""

    right: Rate
    disputed: Rate
    votes: float


@dataclass(frozen=True)
class CrowdComparison:
    """The rules on one crowd under one quota; `ideal` uses the validators' true abilities."""

    crowd: str
    need: int
    cap: int
    plain: RuleFigures
    weighted: RuleFigures
    ideal: RuleFigures


def compare_rules(seed: int = 20) -> Iterator[CrowdComparison]:
    """Yield each crowd under each quota of `RULES`."""
    for crowd, accuracies in CROWDS.items():
        for need, cap in RULES:
            rng = np.random.default_rng(seed)
            truth = rng.choice(list(SHARES), 2 * ITEMS, p=list(SHARES.values()))
            ballots = [_ballots(rng, str(label), accuracies, cap) for label in truth]
            seen: list[tuple[int, int, str]] = []
            for item in range(ITEMS):
                vote_count = _collect(ballots[item], need, cap, lambda _rater: None)[1]
                seen += [(item, rater, label) for rater, label in ballots[item][:vote_count]]
            fitted = fit_one_coin(VoteTable.of(seen, NAMES))
            estimated = dict(zip(fitted.table.rater_names, map(float, fitted.weights()), strict=True))
            true_weights = {rater: vote_weight(accuracy, len(NAMES)) for rater, accuracy in enumerate(accuracies)}
            rest = [str(label) for label in truth[ITEMS:]]
            sides = []
            for weigh in (lambda _rater: None, partial(_weight, estimated), partial(_weight, true_weights)):
                decisions = [_collect(row, need, cap, weigh) for row in ballots[ITEMS:]]
                sides.append(_figures(decisions, rest))
            yield CrowdComparison(crowd, need, cap, *sides)


def _weight(weights: Mapping[Any, float], rater: int) -> float:
    return weights.get(rater, 1.0)


def _ballots(rng: np.random.Generator, label: str, accuracies: Sequence[float], cap: int) -> list[tuple[int, str]]:
    others = [name for name in NAMES if name != label]
    raters = rng.choice(len(accuracies), cap, replace=False)
    return [
        (int(rater), label if rng.random() < accuracies[rater] else others[rng.integers(len(others))])
        for rater in raters
    ]


def _collect(ballots: Sequence[tuple[int, str]], need: int, cap: int, weigh: Weigh) -> tuple[Verdict, int]:
    votes: list[Vote] = []
    for rater, label in ballots:
        votes.append(Vote(label, weight=weigh(rater)))
        decided = verdict(votes, need, cap)
        if decided.final:
            break
    return decided, len(votes)


def _figures(decisions: Sequence[tuple[Verdict, int]], truth: Sequence[str]) -> RuleFigures:
    right = sum(decided == label for (decided, _), label in zip(decisions, truth, strict=True))
    disputed = sum(decided == Verdict.DISPUTED for decided, _ in decisions)
    mean = sum(votes for _, votes in decisions) / len(decisions)
    return RuleFigures(wilson(right, len(decisions)), wilson(disputed, len(decisions)), mean)


@dataclass(frozen=True)
class PublishedComparison:
    """The rules on ANLI's vote lists.

    Of all `lists`: how often the label of the rule is the most frequent label of the whole list (`plain`, `weighted`,
    `model`: the most probable label by Dawid-Skene). Of the development rows, all of which were accepted: how often the
    verdict is that the author's label is right.
    """

    lists: int
    plain: Rate
    weighted: Rate
    model: Rate
    gold_plain: Rate
    gold_weighted: Rate
    accuracies: tuple[Rate, ...]


def compare_on_anli(folder: Path) -> PublishedComparison:
    """Compare the rules on the lists in `folder`, which name no verifier: the place in the list stands for one."""
    lists = {row["uid"]: row["verifier labels"] for row in _rows(folder / "verifier_labels.jsonl.gz")}
    votes = [(uid, place, label) for uid, labels in lists.items() for place, label in enumerate(labels)]
    fitted = fit_dawid_skene(VoteTable.of(votes, ("e", "n", "c")))
    weights = fitted.weights()
    best = dict(
        zip(fitted.table.item_names, np.array(fitted.table.label_names)[fitted.posterior.argmax(1)], strict=True)
    )
    clear = {uid: _most_frequent(labels) for uid, labels in lists.items()}
    clear = {uid: label for uid, label in clear.items() if label}
    gold = {row["id"]: row["label"][0] for part in "123" for row in _rows(folder / f"r{part}_dev.jsonl.gz")}

    def consensus(weighing: NDArray[Any] | None) -> Rate:
        return _share([_label(lists[uid], weighing) == label for uid, label in clear.items()])

    def accepted(weighing: NDArray[Any] | None) -> Rate:
        return _share([_verdict(lists[uid], label, weighing) == Verdict.CORRECT for uid, label in gold.items()])

    return PublishedComparison(
        lists=len(lists),
        plain=consensus(None),
        weighted=consensus(weights),
        model=_share([best[uid] == label for uid, label in clear.items()]),
        gold_plain=accepted(None),
        gold_weighted=accepted(weights),
        accuracies=tuple(fitted.accuracy_rates()),
    )


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def _most_frequent(labels: Sequence[str]) -> str | None:
    """The most frequent label, None where two are."""
    (label, most), *others = Counter(labels).most_common(2)
    return None if others and others[0][1] == most else label


def _votes(labels: Sequence[str], claim: str, weights: NDArray[Any] | None) -> list[Vote]:
    return [
        Vote("correct" if label == claim else "incorrect", weight=None if weights is None else float(weights[place]))
        for place, label in enumerate(labels)
    ]


def _verdict(labels: Sequence[str], claim: str, weights: NDArray[Any] | None) -> Verdict:
    return verdict(_votes(labels, claim, weights), 2, 3)


def _label(labels: Sequence[str], weights: NDArray[Any] | None) -> str | None:
    """The label that a rule accepts, as if each of the three had been the author's."""
    accepted = [claim for claim in "enc" if _verdict(labels, claim, weights) == Verdict.CORRECT]
    return accepted[0] if len(accepted) == 1 else None


def _share(hits: Sequence[bool]) -> Rate:
    return wilson(sum(hits), len(hits))
