"""Measures of answers, their difficulty, the conditions of their writing and their writers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log

import numpy as np

from dynabench.evaluate.metrics.agreement import KrippendorffAlpha
from dynabench.insight.data_measurements.results import (
    LEAST,
    Figure,
    MeasureResult,
    Table,
    describe_measure,
    make_columns,
)
from dynabench.insight.data_measurements.sample import ConditionCounts, Floats, RoundSample, SampledExample
from dynabench.kit.language import Amount, _, joined
from dynabench.stats import clusters
from dynabench.stats.clusters import ClusteredEstimate
from dynabench.stats.p_values import holm
from dynabench.stats.rates import Rate, clustered_rate


@describe_measure(
    _("Label balance"),
    _(
        "The share of each answer, with intervals clustered by writer. Evenness is the entropy of the "
        "shares divided by that of equal shares: 1 if all answers are equally frequent, 0 if there is "
        "only one."
    ),
)
def label_balance(sample: RoundSample) -> MeasureResult | None:
    """Shares of labels, and their evenness."""
    counts = Counter(row.label for row in sample.rows if row.label is not None)
    n = sum(counts.values())
    if len(sample.labels) < 2 or not n:
        return None
    shares = {label: counts[label] / n for label in sample.labels}
    even = -sum(share * log(share) for share in shares.values() if share) / log(len(shares))
    most = max(shares, key=lambda label: shares[label])
    rows, people = [], []
    for label, share in sorted(shares.items(), key=lambda pair: -pair[1]):
        mine: Counter[int] = Counter(row.writer for row in sample.rows if row.label == label)
        all_of: Counter[int] = Counter(row.writer for row in sample.rows if row.label is not None)
        rate = clustered_rate([mine[writer] for writer in all_of], list(all_of.values()))
        rows.append((label, share, rate.low, rate.high, counts[label]))
        people.append(sample.people)
    header = make_columns(
        ("answer", _("Answer"), "text"), ("share", _("Share"), "share"),
        ("low", _("from"), "share"), ("high", _("to"), "share"),
        ("n", "n", "count"),
    )  # fmt: skip
    table = Table(
        "answers", _("Share of each answer"), header, tuple(rows), tuple(people), "intervals", 1 / len(shares)
    )
    figures = (
        Figure("evenness", _("Evenness of answers"), even, n=n),
        Figure("most_frequent", _("Share of the most frequent answer"), shares[most], n=n, kind="share"),
    )
    finding = (
        _("Answers are about equally frequent")
        if even > 0.98
        else _("“%(answer)s” is the most frequent answer", answer=most)
    )
    return MeasureResult(finding, figures, (table,), sample.people)


@describe_measure(
    _("Difficulty"),
    _(
        "For people: how often the votes on an example agree, and their Krippendorff’s alpha. For "
        "models: confidence in their own answer and in the author’s, and, if a round has several "
        "targets, how far these differ: disagreement between different models or seeds is a sign of a "
        "hard example. Intervals are clustered by writer."
    ),
)
def difficulty(sample: RoundSample) -> MeasureResult | None:
    """Agreement of people, confidence of models, disagreement between models."""
    figures, table = [*_votes(sample), *_models(sample)], _by_model(sample)
    if not figures and not table.rows:
        return None
    shares = [entry for entry in figures if entry.kind == "share" and entry.value is not None]
    finding = _("How often each target was wrong")
    if shares:
        share = Amount(shares[0].value or 0, ".0%")
        finding = _("%(figure)s: %(share)s", figure=shares[0].label, share=share)
    return MeasureResult(finding, tuple(figures), (table,) if table.rows else (), sample.people)


def _votes(sample: RoundSample) -> list[Figure]:
    """Agreement among the votes on one example, of examples with two or more."""
    voted = np.array([len(row.votes) > 1 for row in sample.rows], bool)
    if not voted.any():
        return []
    alike = sample.share([float(len(set(row.votes)) == 1) for row in sample.rows], voted)
    ratings = [list(row.votes) for row, here in zip(sample.rows, voted, strict=True) if here]
    longest = max(map(len, ratings))
    padded = [[*votes, *[None] * (longest - len(votes))] for votes in ratings]
    kinds = {vote for votes in ratings for vote in votes}
    alpha = KrippendorffAlpha().compute(ratings=padded)["krippendorff_alpha"] if len(kinds) > 1 else None
    figures = [_figure("agreement", _("Examples with unanimous votes"), alike, int(voted.sum()), "share")]
    if alpha is not None:
        figures.append(Figure("alpha", _("Krippendorff’s alpha of votes"), float(alpha), n=int(voted.sum())))
    return figures


def _models(sample: RoundSample) -> list[Figure]:
    """Confidence of models, and the differences between several of them."""
    has_answers = np.array([bool(row.answers) for row in sample.rows], bool)
    sure = _means(sample, "sure")
    claimed = _means(sample, "claimed")
    several = np.array([len(row.answers) > 1 for row in sample.rows], bool)
    figures = []
    for name, label, values in (
        ("claimed", _("Models’ confidence in the author’s answer"), claimed),
        ("sure", _("Models’ confidence in their own answer"), sure),
    ):
        is_finite = np.isfinite(values)
        if is_finite.any():
            part = sample.mean(np.nan_to_num(values), is_finite)
            figures.append(_figure(name, label, part, int(is_finite.sum()), "share"))
    if several.any():
        apart = sample.mean([_apart(row) for row in sample.rows], several)
        figures.append(
            _figure("apart", _("Pairs of models that answer differently"), apart, int(several.sum()), "share")
        )
        spread = np.array([_spread(row) for row in sample.rows])
        is_finite = np.isfinite(spread)
        if is_finite.any():
            part = sample.mean(np.nan_to_num(spread), is_finite)
            label = _("Spread of models’ confidence in the author’s answer")
            figures.append(_figure("spread", label, part, int(is_finite.sum()), "number"))
    return figures if has_answers.any() else []


def _means(sample: RoundSample, name: str) -> Floats:
    """The mean over models of a share, for each row; NaN where no model gave one."""
    values_by_row = [
        [value for prediction in row.answers if (value := getattr(prediction, name)) is not None] for row in sample.rows
    ]
    return np.array([np.mean(values) if values else np.nan for values in values_by_row], float)


def _apart(row: SampledExample) -> float:
    """Of the pairs of models, the share that answered differently."""
    pairs = [first_answer.answer != other.answer for first_answer, other in combinations(row.answers, 2)]
    return float(np.mean(pairs)) if pairs else 0.0


def _spread(row: SampledExample) -> float:
    """The standard deviation over models of the share for the author's answer; NaN with fewer than two."""
    values = [prediction.claimed for prediction in row.answers if prediction.claimed is not None]
    return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


def _figure(name: str, label: str, estimate: ClusteredEstimate | Rate, n: int, kind: str) -> Figure:
    return Figure(name, label, estimate.value, estimate.low, estimate.high, n, "share" if kind == "share" else "number")


def _by_model(sample: RoundSample) -> Table:
    """The share of wrong answers by target."""
    models = sorted({prediction.model for row in sample.rows for prediction in row.answers})
    rows = []
    for model in models:
        wrong = [
            next((prediction.wrong for prediction in row.answers if prediction.model == model), None)
            for row in sample.rows
        ]
        is_known = np.array([outcome is not None for outcome in wrong], bool)
        if is_known.any():
            part = sample.share([float(bool(outcome)) for outcome in wrong], is_known)
            rows.append((model, part.value, part.low, part.high, int(is_known.sum())))
    header = make_columns(
        ("model", _("Model"), "text"), ("wrong", _("Wrong"), "share"),
        ("low", _("from"), "share"), ("high", _("to"), "share"),
        ("n", "n", "count"),
    )  # fmt: skip
    title = _("Examples on which each target was wrong")
    return Table("targets", title, header, tuple(rows), (sample.people,) * len(rows), "intervals")


NAMES = {"start": _("vMER: starts"), "source": _("vMER: authors"), "arm": _("vMER: arms")}
LEVEL = 0.05
HEADER = make_columns(
    ("condition", _("Condition"), "text"), ("vmer", "vMER", "share"),
    ("low", _("from"), "share"), ("high", _("to"), "share"),
    ("difference", _("Against all others"), "share"), ("difference_low", _("from"), "share"),
    ("difference_high", _("to"), "share"), ("p", _("p (Holm)"), "p"), ("n", "n", "count"),
)  # fmt: skip


@dataclass
class ConditionComparison:
    """A condition beside the rest of its `breakdown`; `p` is corrected, None where nothing can be said."""

    breakdown: str
    group: ConditionCounts
    gap: clusters.ClusteredEstimate
    p: float | None = None

    @property
    def people(self) -> int:
        """Return the number of writers in this condition."""
        return int((self.group.examples > 0).sum())

    @property
    def row(self) -> tuple[object, ...]:
        """A row of the table."""
        rate = clustered_rate(self.group.validated, self.group.examples)
        gap = (self.gap.value, self.gap.low, self.gap.high)
        return (self.group.name or _("none"), rate.value, rate.low, rate.high, *gap, self.p, rate.n)


@describe_measure(
    _("Starts, experts and arms"),
    _(
        "Validated model error rate (vMER) by starting point, by kind of author and by arm, over all "
        "examples for which a model was asked. Each group is compared with all other examples: the "
        "difference is in points, with an interval clustered by writer and p values Holm-corrected over "
        "all comparisons."
    ),
)
def conditions(sample: RoundSample) -> MeasureResult | None:
    """vMER of each condition, and its difference to the rest."""
    several = {name: groups for name, groups in sample.groups.items() if len(groups) > 1}
    if not several:
        return None
    comparisons = [
        ConditionComparison(name, item, _against(item, groups)) for name, groups in several.items() for item in groups
    ]
    tested = [item for item in comparisons if item.gap.p is not None]
    for item, p in zip(tested, holm([item.gap.p or 0.0 for item in tested]).tolist() if tested else (), strict=True):
        item.p = p
    clear = [
        item.group.name or _("none")
        for item in comparisons
        if item.p is not None and item.p < LEVEL and item.people >= LEAST
    ]
    finding = _("No condition differs clearly")
    if clear:
        finding = _("Different from the rest: %(names)s", names=joined(", ", clear))
    tables = tuple(_table(name, [item for item in comparisons if item.breakdown == name]) for name in several)
    everybody = [item.group.person[item.group.examples > 0] for item in comparisons]
    return MeasureResult(finding, (), tables, len(np.unique(np.concatenate(everybody))))


def _table(name: str, comparisons: Sequence[ConditionComparison]) -> Table:
    return Table(
        name,
        NAMES[name],
        HEADER,
        tuple(comparison.row for comparison in comparisons),
        tuple(comparison.people for comparison in comparisons),
        "intervals",
    )


def _against(group: ConditionCounts, groups: tuple[ConditionCounts, ...]) -> clusters.ClusteredEstimate:
    """The group's rate minus that of the others together, clustered by person."""
    people = np.unique(np.concatenate([other_group.person for other_group in groups]))
    own, rest = np.zeros((2, len(people))), np.zeros((2, len(people)))
    for other_group in groups:
        at, sums = np.searchsorted(people, other_group.person), own if other_group is group else rest
        np.add.at(sums[0], at, other_group.validated)
        np.add.at(sums[1], at, other_group.examples)
    return clusters.difference(*own, *rest)


@describe_measure(
    _("Writers"),
    _(
        "How evenly examples are spread over writers. The effective number is the number of equally "
        "active writers that would be as diverse (the inverse of Simpson’s index); Gini is 0 if all "
        "wrote equally much and near 1 if one person wrote everything."
    ),
)
def writers(sample: RoundSample) -> MeasureResult | None:
    """Concentration of examples on writers."""
    counts = np.sort(np.bincount(sample.writers).astype(float))[::-1]
    if not len(counts):
        return None
    tenth = max(round(len(counts) / 10), 1)
    n = len(sample.rows)
    figures = (
        Figure("effective", _("Effective number of writers"), effective(counts), n=n),
        Figure("writers", _("Writers"), float(len(counts)), n=n, kind="count"),
        Figure("gini", _("Gini"), gini(counts), n=len(counts)),
        Figure("top_writer", _("Share of the most active writer"), top(counts, 1), n=n, kind="share"),
        Figure("top_tenth", _("Share of the most active tenth"), top(counts, tenth), n=n, kind="share"),
    )
    finding = _(
        "%(n)s writers, as diverse as %(effective)s equally active ones",
        n=Amount(len(counts)),
        effective=Amount(effective(counts), ".1f"),
    )
    return MeasureResult(finding, figures, (_curve(counts),), len(counts))


def effective(counts: Floats) -> float:
    """1 / sum of squared shares, of counts of shape (writers,)."""
    return float(counts.sum() ** 2 / (counts**2).sum())


def gini(counts: Floats) -> float:
    """Gini's coefficient of counts of shape (writers,)."""
    n = len(counts)
    return float((2 * np.arange(1, n + 1) - n - 1) @ np.sort(counts) / (n * counts.sum()))


def top(counts: Floats, most: int) -> float:
    """The share of the `most` busiest, of counts in falling order."""
    return float(counts[:most].sum() / counts.sum())


def _curve(counts: Floats) -> Table:
    """The share of examples by that of the busiest writers, each point of all writers up to it."""
    places = sorted({max(round(share * len(counts)), 1) for share in np.linspace(0.1, 1, 10)})
    rows = tuple((place / len(counts), float(counts[:place].sum() / counts.sum()), place) for place in places)
    header = make_columns(
        ("writers", _("Writers, most active first"), "share"), ("examples", _("Examples"), "share"),
        ("n", _("Writers"), "count"),
    )  # fmt: skip
    return Table("curve", _("Share of the most active writers"), header, rows, tuple(row[2] for row in rows), "lines")
