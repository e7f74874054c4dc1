"""A reader's weights, and the board as weighed: Dynascores, their intervals, rank intervals and tie groups."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from dynabench.benchmark.evaluations.measures import Measure
from dynabench.benchmark.standings import Entrant, FloatArray, ScoredDataset, TaskBoard
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people.disclosure import may_answer
from dynabench.stats.averages import dataset_shares
from dynabench.stats.dynascore import dynascore, exchange_rates, guarded_dynascore, guarded_exchange_rates
from dynabench.stats.ranks import RankInterval, rank_intervals
from dynabench.stats.rates import FEW_ROWS

STEPS = 5
FORMS = ("guarded", "exact")
"""0 to 100 between values that are declared (the default), and the Dynascore as published."""
PREFIXES = {"m": "metrics", "d": "datasets"}


@dataclass(frozen=True)
class BoardWeights:
    """Steps of all metrics and datasets of a board, by name, and the form of the Dynascore."""

    metrics: Mapping[str, int]
    datasets: Mapping[str, int]
    form: str = "guarded"

    def document(self) -> dict[str, Any]:
        """Return them as they are stored and sent."""
        return {"metrics": dict(self.metrics), "datasets": dict(self.datasets), "form": self.form}

    def parameters(self) -> dict[str, str]:
        """Return them as parameters of an address."""
        return weight_parameters(self.metrics, self.datasets, self.form)

    def differing(self, usual: "BoardWeights") -> dict[str, str]:
        """Return the parameters that a link has to carry where `usual` is the default."""
        default = usual.parameters()
        return {name: value for name, value in self.parameters().items() if value != default[name]}


def default_weights(board: TaskBoard) -> BoardWeights:
    """Return the task's own weights: the primary metric 4, each other one 1; datasets by `dataset_steps`."""
    metrics = {metric.name: 4 if metric == board.primary else 1 for metric in board.metrics}
    steps = dataset_steps([(dataset.weight, dataset.rows) for dataset in board.datasets])
    return BoardWeights(metrics, dict(zip((dataset.name for dataset in board.datasets), steps, strict=True)))


def dataset_steps(datasets: Sequence[tuple[int, int]]) -> list[int]:
    """Return the default step of each (owner's weight, rows): the owner's weight, and 0 below `FEW` rows.

    Where that leaves none, datasets of enough rows weigh alike, and without any such one all do.
    """
    enough = [int(rows >= FEW_ROWS) for _weight, rows in datasets]
    steps = [min(max(weight, 0), STEPS) * factor for (weight, _rows), factor in zip(datasets, enough, strict=True)]
    if any(steps):
        return steps
    return enough if any(enough) else [1] * len(datasets)


def read_weights(board: TaskBoard, params: Mapping[str, str], usual: BoardWeights | None = None) -> BoardWeights:
    """Return the weights in an address: `m.accuracy=4`, `d.first=0`, `form=guarded`; else those of `usual` (defaults).

    Raises `Invalid` by parameter for anything but whole steps from 0 to 5, and for names that the board does not have.
    """
    usual, wrong = usual or default_weights(board), dict[str, str]()
    chosen = {"metrics": dict(usual.metrics), "datasets": dict(usual.datasets)}
    for name, text in params.items():
        prefix, dot, key = name.partition(".")
        if not dot or prefix not in PREFIXES:
            continue
        group = chosen[PREFIXES[prefix]]
        if key not in group:
            wrong[name] = _("This board has no %(value)s of this name.", value=PREFIXES[prefix][:-1])
        elif text not in map(str, range(STEPS + 1)):
            wrong[name] = _("Give a whole number from 0 to %(steps)s.", steps=STEPS)
        else:
            group[key] = int(text)
    form = params.get("form", usual.form)
    if form not in FORMS:
        wrong["form"] = _("Choose one of %(forms)s.", forms=", ".join(FORMS))
    for prefix, kind in PREFIXES.items():
        if chosen[kind] and not any(chosen[kind].values()):
            wrong[f"{prefix}.{next(iter(chosen[kind]))}"] = _(
                "Give at least one of the %(group)s a weight above 0.", group=kind
            )
    if wrong:
        raise errors.Invalid(dict(list(wrong.items())[:20]))
    return BoardWeights(chosen["metrics"], chosen["datasets"], form)


def weight_parameters(metrics: Mapping[str, int], datasets: Mapping[str, int], form: str) -> dict[str, str]:
    """Return weights as parameters of an address."""
    return {
        **{f"m.{name}": str(step) for name, step in metrics.items()},
        **{f"d.{name}": str(step) for name, step in datasets.items()},
        "form": form,
    }


def stored_weights(board: TaskBoard, stored: Mapping[str, Any]) -> BoardWeights:
    """Return weights that a reader kept, on the board as it is now: new names count 0, names that are gone nothing.

    Where nothing is left that they weigh, the task's own stand in.
    """
    usual = default_weights(board)
    metrics, datasets = (
        {name: int((stored.get(group) or {}).get(name, 0)) for name in steps}
        for group, steps in (("metrics", usual.metrics), ("datasets", usual.datasets))
    )
    return BoardWeights(
        metrics if any(metrics.values()) else usual.metrics,
        datasets if any(datasets.values()) else usual.datasets,
        str(stored.get("form", "exact")),
    )


def weights_query(parameters: Iterable[tuple[str, str]] | Mapping[str, str]) -> str:
    """Return `?a=b`, or nothing."""
    text = urlencode(dict(parameters))
    return f"?{text}" if text else ""


LEVEL = 0.95
ENDS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
OFFSETS = {"memory": 32.0}
"""Numbers added to metrics of which less is better, as in the published tables: GiB of their machine."""


@dataclass(frozen=True)
class DisplayedScore:
    """A number with its 95 % interval, in the metric's unit; all None where there is none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class RankedEntrant:
    """One row as weighed. `rank` is None where `why` says what is lacking; `cells` go by metric.

    `place` is the row's place on the board, which is not ordered.
    """

    entrant: Entrant
    place: int
    score: DisplayedScore
    rank: RankInterval | None
    why: str
    cells: tuple[DisplayedScore, ...]
    verified: bool
    held: bool


@dataclass(frozen=True)
class BoardRanking:
    """The rows, ranked ones first and best first, then the others by name."""

    board: TaskBoard
    weights: BoardWeights
    rows: tuple[RankedEntrant, ...]

    @property
    def unmeasured(self) -> tuple[Measure, ...]:
        """Metrics other than the primary one that are weighed and that no row has on any weighed dataset, so that
        nobody can be ranked."""
        weighed = [place for place, data in enumerate(self.board.datasets) if self.weights.datasets[data.name]]
        measured = np.asarray(self.board.measured[weighed].any(axis=0)).tolist()
        return tuple(
            metric
            for metric, known_to_some in zip(self.board.metrics, measured, strict=True)
            if not known_to_some and self.weights.metrics[metric.name] and metric != self.board.primary
        )


def rank_entrants(board: TaskBoard, weights: BoardWeights) -> BoardRanking:
    """Return the board as `weights` say."""
    share = _shares(board, weights)
    needed = [weights.metrics[metric.name] > 0 or metric == board.primary for metric in board.metrics]
    means, drawn = _means(board, share)
    rankable = np.array([not entrant.baseline for entrant in board.entrants], bool)
    whole = np.isfinite(means[:, needed]).all(1) & bool(board.datasets) & rankable
    scores = np.full(len(means), np.nan)
    ranks: list[RankInterval | None] = [None] * len(means)
    bounds = np.full((2, len(means)), np.nan)
    if whole.any():
        values, bounds[:, whole], intervals = _scores(board, weights, means[whole], drawn[whole])
        scores[whole] = np.round(values, 9)  # the last digits depend on the order of sums
        for place, interval in zip(np.flatnonzero(whole), intervals, strict=True):
            ranks[place] = interval
    low, high = np.quantile(drawn, ENDS, axis=-1) if len(means) else (means, means)
    rows = [
        _row(board, weights, place, displayed(scores[place], *bounds[:, place]), ranks[place], share,
             [displayed(*limits) for limits in zip(means[place], low[place], high[place], strict=True)])
        for place in range(len(means))
    ]  # fmt: skip
    return BoardRanking(board, weights, tuple(sorted(rows, key=_order)))


def displayed(value: float, low: float, high: float) -> DisplayedScore:
    """Return numbers as they are shown, None for those that are not finite."""
    return DisplayedScore(*(float(number) if np.isfinite(number) else None for number in (value, low, high)))


def _shares(board: TaskBoard, weights: BoardWeights) -> FloatArray:
    """Return the share of each dataset in each metric (D, K), by `stats.averages.dataset_shares`.

    Only datasets on which some row of the board has the metric count in it, so that one whose copies are not perturbed
    yet unranks nobody.
    """
    table = np.zeros((len(board.datasets), len(board.metrics)))
    steps = {data.name: float(weights.datasets[data.name]) for data in board.datasets}
    if not any(steps.values()):
        return table
    measured = {
        data.name: {metric.name: 1.0 for metric, present in zip(board.metrics, row, strict=True) if present}
        for data, row in zip(board.datasets, board.measured, strict=True)
    }
    share = dataset_shares({"any": measured}, steps)
    for k, metric in enumerate(board.metrics):
        for d, data in enumerate(board.datasets):
            table[d, k] = share.get(metric.name, {}).get(data.name, 0.0)
    return table


def _means(board: TaskBoard, share: FloatArray) -> tuple[FloatArray, NDArray[np.float32]]:
    """Return each model's metrics over the weighted datasets (M, K), and their replicates (M, K, B), in the metrics'
    units; NaN where one lacks."""
    values, replicates = board.values, board.standings.replicates
    means = np.where(share.any(0), 0.0, np.nan) * np.ones((len(values), 1))
    drawn = np.zeros((len(replicates), *replicates.shape[2:]), np.float32)
    for d, row in enumerate(share):
        column = board.columns[d]
        if row.all():
            means += row * values[:, d]
            drawn += row.astype(np.float32)[:, None] * replicates[:, column]
            continue
        for k in np.flatnonzero(row):
            means[:, k] += row[k] * values[:, d, k]
            drawn[:, k] += np.float32(row[k]) * replicates[:, column, k]
    drawn[:, ~share.any(0)] = np.nan
    return means, drawn[board.rows] * np.array([[metric.scale] for metric in board.metrics], np.float32)


def _order(row: RankedEntrant) -> tuple[bool, float, str, int]:
    return row.rank is None, -(row.score.value or 0.0), row.entrant.name.casefold(), row.entrant.id


def _row(
    board: TaskBoard,
    weights: BoardWeights,
    place: int,
    score: DisplayedScore,
    rank: RankInterval | None,
    share: FloatArray,
    cells: Sequence[DisplayedScore],
) -> RankedEntrant:
    entrant, used = board.entrants[place], np.asarray(share.any(axis=1))
    signed = board.standings.signatures[board.rows[place], board.columns[used]] != ""
    ranked = rank is not None and rank.low is not None
    return RankedEntrant(
        entrant=entrant,
        place=place,
        score=score,
        rank=rank if ranked else None,
        why="" if ranked else rank.reason if rank is not None else lacking(board, weights, place),
        cells=tuple(cells),
        verified=bool(used.any() and signed.all()),
        held=any(board.held(entrant, data) for at, data in enumerate(board.datasets) if used[at]),
    )


def lacking(board: TaskBoard, weights: BoardWeights, place: int) -> str:
    """Return why a submission is not ranked: the scores it lacks, whether they are coming, what ranks it without."""
    if not board.datasets:
        return _("No dataset of this task is ready for scoring.")
    entrant, missing = board.entrants[place], ~np.isfinite(board.values[place])
    if entrant.baseline:
        return _("A baseline: shown for comparison, not ranked.")
    data = [at for at, dataset in enumerate(board.datasets) if weights.datasets[dataset.name]]
    metrics = [at for at, metric in enumerate(board.metrics) if weights.metrics[metric.name] or metric == board.primary]
    held = [
        board.datasets[at].title
        for at in data
        if missing[at, 0] and board.held(entrant, board.datasets[at])  # no other submission's score in its place
    ]
    if held:
        return _(
            "Held back on %(where)s: not significantly better than an earlier submission. "
            "Set its weight to 0 to rank without it.",
            where=", ".join(held),
        )
    without = [board.metrics[at] for at in metrics if missing[data, at].all()]
    if without and len(without) < len(metrics):
        return _without_metrics(board, entrant, without, [board.datasets[at] for at in data])
    gaps = [at for at in data if (missing & board.measured)[at, metrics].any()]
    return _without_datasets(board, entrant, [board.datasets[at] for at in gaps or data])


def _without_metrics(
    board: TaskBoard, entrant: Entrant, metrics: Sequence[Measure], datasets: Sequence[ScoredDataset]
) -> str:
    names, versions = ", ".join(metric.title.lower() for metric in metrics), [data.version_id for data in datasets]
    rank = (
        _("set its weight to 0 to rank without it")
        if len(metrics) == 1
        else _("set their weights to 0 to rank without them")
    )
    if entrant.file:
        return _("A file of predictions has no %(what)s; %(rank)s.", what=names, rank=rank)
    if (ahead := board.pending.ahead(entrant.id, versions)) is not None:
        return _("Measuring %(what)s: %(ahead)s. Until then, %(rank)s.", what=names, ahead=_queued(ahead), rank=rank)
    if any((version, metric.name) in board.pending.copies for version in versions for metric in metrics):
        return _(
            "No %(what)s yet: the perturbed copies are still being made; until then, %(rank)s.",
            what=names,
            rank=rank,
        )
    return _("No %(what)s; %(rank)s.", what=names, rank=rank)


def _queued(ahead: int) -> str:
    return _("place %(n)s in the queue", n=ahead) if ahead else _("running now")


def _without_datasets(board: TaskBoard, entrant: Entrant, datasets: Sequence[ScoredDataset]) -> str:
    names = ", ".join(data.title for data in datasets)
    if (ahead := board.pending.ahead(entrant.id, [data.version_id for data in datasets])) is not None:
        return _("Being scored on %(names)s: %(ahead)s.", names=names, ahead=_queued(ahead))
    if not all(may_answer(data, entrant) for data in datasets):
        return _(
            "This model runs elsewhere, so it is not evaluated on hidden data: no score on %(names)s.", names=names
        )
    return _("Not yet scored on %(names)s.", names=names)


def _scores(
    board: TaskBoard, weights: BoardWeights, means: FloatArray, drawn: NDArray[np.float32]
) -> tuple[list[float], FloatArray, list[RankInterval]]:
    """Return scores (M,), their limits (2, M) and rank intervals of the models that have all that is weighed."""
    names = [metric.name for metric in board.metrics]
    guarded = weights.form == "guarded"
    ends = {metric.name: metric.ends for metric in board.metrics if guarded and metric.ends is not None}
    if ends:
        means, drawn = means.copy(), drawn.copy()
        for at, name in enumerate(names):
            if name in ends:  # beyond the best value nothing is won: one absurd entry moves nobody else
                means[:, at] = np.clip(means[:, at], min(ends[name]), max(ends[name]))
                drawn[:, at] = np.clip(drawn[:, at], min(ends[name]), max(ends[name]))
    table = {
        str(place): {name: float(value) for name, value in zip(names, row, strict=True) if isfinite(value)}
        for place, row in enumerate(means)
    }
    measured = {name for scores in table.values() for name in scores}
    steps = {name: float(step) for name, step in weights.metrics.items() if name in measured}
    directions = {metric.name: metric.direction for metric in board.metrics if metric.name in measured}
    primary = board.primary.name
    if guarded:
        scales = {name: scale for name, scale in ends.items() if name in measured}
        scores = guarded_dynascore(table, primary, steps, directions, scales)
        factor = guarded_exchange_rates(table, primary, steps, directions, scales)
    else:
        offsets = {name: offset for name, offset in OFFSETS.items() if name in measured}
        scores = dynascore(table, primary, steps, directions, offsets)
        factor = exchange_rates(table, primary, steps, directions)
    values = list(scores.values())
    replicates = np.zeros((len(means), drawn.shape[-1]), np.float32)
    for at, name in enumerate(names):
        if factor.get(name):
            replicates += np.float32(factor[name]) * drawn[:, at]
    ranks = rank_intervals(values, replicates.T, LEVEL)
    # The score is these factors' sum but for a number that all models share.
    shared = values[0] - sum(factor[name] * table["0"][name] for name in factor)
    bounds: FloatArray = np.quantile(replicates, ENDS, axis=-1).astype(float) + shared
    return values, bounds, ranks
