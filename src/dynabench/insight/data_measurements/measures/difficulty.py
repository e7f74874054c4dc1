"""Difficulty of examples: for validators and for models."""

from itertools import combinations

import numpy as np

from dynabench.evaluate.metrics.agreement import KrippendorffAlpha
from dynabench.insight.data_measurements.results import Figure, MeasureResult, Table, make_columns
from dynabench.insight.data_measurements.sample import Floats, Row, Sample
from dynabench.kit.language import Amount, _
from dynabench.stats.clusters import ClusteredEstimate
from dynabench.stats.rates import Rate

TITLE = _("Difficulty")
ABOUT = _(
    "For people: how often the votes on an example agree, and their Krippendorff’s alpha. For "
    "models: confidence in their own answer and in the author’s, and, if a round has several "
    "targets, how far these differ: disagreement between different models or seeds is a sign of a "
    "hard example. Intervals are clustered by writer."
)


def measure(sample: Sample) -> MeasureResult | None:
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


def _votes(sample: Sample) -> list[Figure]:
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


def _models(sample: Sample) -> list[Figure]:
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


def _means(sample: Sample, name: str) -> Floats:
    """The mean over models of a share, for each row; NaN where no model gave one."""
    values_by_row = [
        [value for prediction in row.answers if (value := getattr(prediction, name)) is not None] for row in sample.rows
    ]
    return np.array([np.mean(values) if values else np.nan for values in values_by_row], float)


def _apart(row: Row) -> float:
    """Of the pairs of models, the share that answered differently."""
    pairs = [first_answer.answer != other.answer for first_answer, other in combinations(row.answers, 2)]
    return float(np.mean(pairs)) if pairs else 0.0


def _spread(row: Row) -> float:
    """The standard deviation over models of the share for the author's answer; NaN with fewer than two."""
    values = [prediction.claimed for prediction in row.answers if prediction.claimed is not None]
    return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


def _figure(name: str, label: str, estimate: ClusteredEstimate | Rate, n: int, kind: str) -> Figure:
    return Figure(name, label, estimate.value, estimate.low, estimate.high, n, "share" if kind == "share" else "number")


def _by_model(sample: Sample) -> Table:
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
