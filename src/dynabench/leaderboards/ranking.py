"""A board as weighed: scores, their intervals, rank intervals and tie groups, and who cannot be ranked and why.

Scores are `stats.dynascore`. Intervals come from the stored replicates, which are paired over models: in each replicate
all models answer the same sample of rows. They are taken at the exchange rates of the board as it stands, so that they
say how sure the order under these rates is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from dynabench.benchmark.disclosure import may_answer
from dynabench.language import _
from dynabench.leaderboards.board import Board, Entry, Floats
from dynabench.leaderboards.weights import Weights
from dynabench.scoring.measures import Measure
from dynabench.stats.averages import dataset_shares
from dynabench.stats.dynascore import dynascore, exchange_rates, guarded_dynascore, guarded_exchange_rates
from dynabench.stats.ranks import RankInterval, rank_intervals

LEVEL = 0.95
ENDS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
OFFSETS = {"memory": 32.0}
"""What is added to a metric of which less is better, as in the published tables: GiB of their machine."""


@dataclass(frozen=True)
class Cell:
    """A number with its 95 % interval, in the metric's unit; all None where there is none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Row:
    """One submission as weighed. `rank` is None where `why` says what is lacking; `cells` go by metric."""

    entry: Entry
    place: int
    score: Cell
    rank: RankInterval | None
    why: str
    cells: tuple[Cell, ...]
    verified: bool
    held: bool


@dataclass(frozen=True)
class Ranking:
    """The rows, ranked ones first and best first, then the others by name."""

    board: Board
    weights: Weights
    rows: tuple[Row, ...]

    @property
    def unmeasured(self) -> tuple[Measure, ...]:
        """Metrics other than the primary one that are weighed and that no row has on any weighed dataset, so that
        nobody can be ranked."""
        data = [at for at, each in enumerate(self.board.datasets) if self.weights.datasets[each.name]]
        there = np.asarray(self.board.there[data].any(axis=0)).tolist()
        return tuple(
            each
            for each, known in zip(self.board.metrics, there, strict=True)
            if not known and self.weights.metrics[each.name] and each.name != self.board.primary
        )


def ranking(board: Board, weights: Weights) -> Ranking:
    """The board as `weights` say."""
    share = _shares(board, weights)
    needed = [weights.metrics[each.name] > 0 or each.name == board.primary for each in board.metrics]
    means, drawn = _means(board, share)
    whole = np.isfinite(means[:, needed]).all(1) & bool(board.datasets)
    scores = np.full(len(means), np.nan)
    ranks: list[RankInterval | None] = [None] * len(means)
    bounds = np.full((2, len(means)), np.nan)
    if whole.any():
        found = _scores(board, weights, means[whole], drawn[whole])
        scores[whole], bounds[:, whole] = np.round(found[0], 9), found[1]  # the last digits depend on the order of sums
        for place, each in zip(np.flatnonzero(whole), found[2], strict=True):
            ranks[place] = each
    low, high = np.quantile(drawn, ENDS, axis=-1) if len(means) else (means, means)
    rows = [
        _row(board, weights, place, Cell(_told(scores[place]), *map(_told, bounds[:, place])), ranks[place], share,
             [Cell(*map(_told, three)) for three in zip(means[place], low[place], high[place], strict=True)])
        for place in range(len(means))
    ]  # fmt: skip
    return Ranking(board, weights, tuple(sorted(rows, key=_order)))


def _shares(board: Board, weights: Weights) -> Floats:
    """How much each dataset weighs in each metric (D, K), by `stats.averages.shares`: only datasets on which some row
    of the board has the metric count in it, so that one whose copies are not perturbed yet unranks nobody."""
    found = np.zeros((len(board.datasets), len(board.metrics)))
    steps = {each.name: float(weights.datasets[each.name]) for each in board.datasets}
    if not any(steps.values()):
        return found
    has = {
        each.name: {metric.name: 1.0 for metric, known in zip(board.metrics, board.there[at], strict=True) if known}
        for at, each in enumerate(board.datasets)
    }
    share = dataset_shares({"any": has}, steps)
    for k, metric in enumerate(board.metrics):
        for d, data in enumerate(board.datasets):
            found[d, k] = share.get(metric.name, {}).get(data.name, 0.0)
    return found


def _means(board: Board, share: Floats) -> tuple[Floats, NDArray[np.float32]]:
    """Each model's metrics over the weighted datasets: (M, K), and their replicates (M, K, B); NaN where one lacks."""
    values, all_drawn = board.values, board.of.replicates
    means = np.where(share.any(0), 0.0, np.nan) * np.ones((len(values), 1))
    drawn = np.zeros((len(all_drawn), *all_drawn.shape[2:]), np.float32)
    for at, row in enumerate(share):
        if row.all():
            means += row * values[:, at]
            drawn += row.astype(np.float32)[:, None] * all_drawn[:, at]
            continue
        for k in np.flatnonzero(row):
            means[:, k] += row[k] * values[:, at, k]
            drawn[:, k] += np.float32(row[k]) * all_drawn[:, at, k]
    drawn[:, ~share.any(0)] = np.nan
    return means, drawn[board.places]


def _told(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _order(row: Row) -> tuple[bool, float, str, int]:
    return row.rank is None, -(row.score.value or 0.0), row.entry.name.casefold(), row.entry.id


def _row(
    board: Board,
    weights: Weights,
    place: int,
    score: Cell,
    rank: RankInterval | None,
    share: Floats,
    cells: Sequence[Cell],
) -> Row:
    entry, at = board.entries[place], board.places[place]
    used = share.any(1)
    signed = board.of.signatures[at] != ""
    ranked = rank is not None and rank.low is not None
    return Row(
        entry=entry,
        place=place,
        score=score,
        rank=rank if ranked else None,
        why="" if ranked else rank.reason if rank is not None else lacking(board, weights, place),
        cells=tuple(cells),
        verified=bool(used.any() and signed[used].all()),
        held=bool(board.of.held[at][used].any()),
    )


def lacking(board: Board, weights: Weights, place: int) -> str:
    """Why a submission is not ranked: what it has no score of, whether that is coming, and what ranks it without."""
    if not board.datasets:
        return _("No dataset of this task is ready to be scored on.")
    values = board.values[place]
    data = [at for at, each in enumerate(board.datasets) if weights.datasets[each.name]]
    metrics = [at for at, each in enumerate(board.metrics) if weights.metrics[each.name] or each.name == board.primary]
    if held := [board.datasets[at].title for at in data if _untold(board, place, at)]:
        where = ", ".join(held)
        return _(
            "Held back on %(where)s: not significantly better than an earlier submission. "
            "Set its weight to 0 to rank without it.",
            where=where,
        )
    gone = ~np.isfinite(values)
    without = [board.metrics[at] for at in metrics if gone[data, at].all()]
    if without and len(without) < len(metrics):
        return _lacks(board, place, without, data)
    missing = [at for at in data if (gone & board.there)[at, metrics].any()]
    return _without(board, place, missing or data)


def _lacks(board: Board, place: int, metrics: Sequence[Measure], data: Sequence[int]) -> str:
    """That a row has some metrics on no dataset."""
    entry, what = board.entries[place], ", ".join(each.title.lower() for each in metrics)
    this = len(metrics) == 1
    rank = _("set its weight to 0 to rank without it") if this else _("set their weights to 0 to rank without them")
    if entry.kind == "predictions":
        return _("A file of predictions has no %(what)s; %(rank)s.", what=what, rank=rank)
    versions = [board.datasets[at].version for at in data]
    if (ahead := board.coming.ahead(entry.id, versions)) is not None:
        return _(
            "Measuring %(what)s: %(ahead)s. Until then, %(rank)s.",
            what=what,
            ahead=_queued(ahead),
            rank=rank,
        )
    if any((version, each.name) in board.coming.copies for version in versions for each in metrics):
        return _(
            "It has no %(what)s yet, since the perturbed copies are still being made; until then, %(rank)s.",
            what=what,
            rank=rank,
        )
    return _("It has no %(what)s; %(rank)s.", what=what, rank=rank)


def _queued(ahead: int) -> str:
    return _("place %(n)s in the queue", n=ahead) if ahead else _("running now")


def _untold(board: Board, place: int, dataset: int) -> bool:
    """Whether a row is held back on a dataset without another's scores in the place of its own."""
    return board.held(place, dataset) and not np.isfinite(board.values[place, dataset, 0])


def _without(board: Board, place: int, missing: Sequence[int]) -> str:
    """That a row has no score on some datasets."""
    entry, data = board.entries[place], [board.datasets[at] for at in missing]
    names = ", ".join(each.title for each in data)
    if (ahead := board.coming.ahead(entry.id, [each.version for each in data])) is not None:
        return _("Being scored on %(names)s: %(ahead)s.", names=names, ahead=_queued(ahead))
    if not all(may_answer(each, entry) for each in data):
        return _("It runs outside, so it is not evaluated on hidden data: no score on %(names)s.", names=names)
    return _("Not yet scored on %(names)s.", names=names)


def _scores(
    board: Board, weights: Weights, means: Floats, drawn: NDArray[np.float32]
) -> tuple[list[float], Floats, list[RankInterval]]:
    """Scores (M,), their limits (2, M) and rank intervals of the models that have all that is weighed."""
    names = [each.name for each in board.metrics]
    guarded = weights.form == "guarded"
    ends = {each.name: each.ends for each in board.metrics if guarded and each.ends is not None}
    if ends:
        means, drawn = means.copy(), drawn.copy()
        for at, name in enumerate(names):
            if name in ends:  # beyond the best value nothing is won: one absurd entry moves nobody else
                means[:, at] = np.clip(means[:, at], min(ends[name]), max(ends[name]))
                drawn[:, at] = np.clip(drawn[:, at], min(ends[name]), max(ends[name]))
    table = {str(place): dict(zip(names, map(float, row), strict=True)) for place, row in enumerate(means)}
    table = {model: {name: value for name, value in its.items() if isfinite(value)} for model, its in table.items()}
    known = {name for its in table.values() for name in its}
    steps = {name: float(step) for name, step in weights.metrics.items() if name in known}
    directions = {each.name: each.direction for each in board.metrics if each.name in known}
    if guarded:
        scales = {name: scale for name, scale in ends.items() if name in known}
        scores = guarded_dynascore(table, board.primary, steps, directions, scales)
        factor = guarded_exchange_rates(table, board.primary, steps, directions, scales)
    else:
        offsets = {name: offset for name, offset in OFFSETS.items() if name in known}
        scores = dynascore(table, board.primary, steps, directions, offsets)
        factor = exchange_rates(table, board.primary, steps, directions)
    told = list(scores.values())
    replicates = np.zeros((len(means), drawn.shape[-1]), np.float32)
    for at, name in enumerate(names):
        if factor.get(name):
            replicates += np.float32(factor[name]) * drawn[:, at]
    ranks = rank_intervals(told, replicates.T, LEVEL)
    # The score is these factors' sum but for a number that all models share.
    shared = told[0] - sum(factor[name] * table["0"][name] for name in factor)
    bounds: Floats = np.quantile(replicates, ENDS, axis=-1).astype(float) + shared
    return told, bounds, ranks
