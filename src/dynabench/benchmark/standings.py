"""The one model of a board: entrants x datasets x metrics, with intervals and paired replicates. Pure.

`Standings` are those of everybody; a `TaskBoard` is what one viewer may see of them (`reading`). The leaderboard, the
matrix, Pareto plots, slices, comparisons, people beside models, exports and snapshots all read a board. Numbers are as
they are stored (shares, not percent); `Measure.scale` makes them what people read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dynabench.benchmark.evaluations.measures import Measure, Replicates
from dynabench.benchmark.evaluations.score_ladder import NO_SCORES
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people.disclosure import Disclosure, is_anonymous
from dynabench.tasks import TaskConfig

T = TypeVar("T")
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class ScoredDataset:
    """A dataset in its current version; `digest` is that which everybody may know, `round` the number of the round that
    it was released from."""

    id: int
    name: str
    title: str
    kind: str
    visibility: str
    weight: int
    version_id: int
    number: int
    digest: str
    rows: int
    licence: str
    languages: tuple[str, ...]
    slices: Mapping[str, int]
    round: int | None = None
    retired: bool = False

    @property
    def disclosure(self) -> Disclosure:
        """The part of it that everybody may see."""
        return Disclosure.of(None, self)


@dataclass(frozen=True)
class Entrant:
    """A submission. To viewers who may not know it, an anonymous one is a number; then `model` is empty.

    `label` tells submissions of one name apart. A `baseline` has scores and no rank. Of a training set, `rows` counts
    its rows and `balance` those of each label.
    """

    id: int
    name: str
    kind: str
    model: str
    version: str
    entered_at: datetime
    submitter: str = ""
    person_id: int | None = None
    visibility: str = "public"
    inside: bool = True
    withdrawn: bool = False
    licence: str = ""
    languages: tuple[str, ...] = ()
    bytes: int | None = None
    rows: int | None = None
    balance: tuple[tuple[str, int], ...] = ()
    label: str = ""
    mine: bool = False
    baseline: bool = False

    @property
    def anonymous(self) -> bool:
        """True where others see its scores without its name."""
        return is_anonymous(self.visibility)

    @property
    def file(self) -> bool:
        """True of a file of predictions, which has no page."""
        return self.kind == "predictions"


@dataclass(frozen=True)
class ScoreCell:
    """One score; the limits are None where nothing is known of its spread."""

    value: float
    low: float | None
    high: float | None
    n: int
    replicates: Replicates | None = None


@dataclass(frozen=True)
class Standings:
    """All submissions of a task with their scores; shapes are (models M, datasets D, metrics K, replicates B).

    Missing scores are NaN. A score without replicates stands still: all of them are its value, and `resampled` is
    False. `sources` (M, D) are the places of the models whose scores are shown in each one's stead, or `NOTHING`
    (`evaluations.score_ladder`); `signatures` (M, D) are those of the records, empty where there is none.
    """

    entrants: tuple[Entrant, ...]
    datasets: tuple[ScoredDataset, ...]
    metrics: tuple[Measure, ...]
    values: FloatArray
    low: FloatArray
    high: FloatArray
    n: NDArray[np.int64]
    replicates: NDArray[np.float32]
    resampled: NDArray[np.bool_]
    signatures: NDArray[np.object_]
    sources: NDArray[np.intp]


@dataclass(frozen=True)
class Pending:
    """Scores to come: evaluations that go on, by submission and dataset version with how many are before them, and
    perturbed copies that are being made, by dataset version and axis."""

    queue: Mapping[tuple[int, int], int]
    copies: Set[tuple[int, str]]

    def ahead(self, submission: int, versions: Sequence[int]) -> int | None:
        """Return how many evaluations are before the last of a submission's on these versions, None without any."""
        places = (self.queue.get((submission, version)) for version in versions)
        return max((place for place in places if place is not None), default=None)


@dataclass(frozen=True)
class TaskBoard:
    """Standings as one viewer sees them: the entrants `rows` and the datasets `columns` of all.

    `metrics` has the primary one first, then those reported, kinds of perturbed rows and costs.
    """

    config: TaskConfig
    standings: Standings
    entrants: tuple[Entrant, ...]
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    pending: Pending

    @cached_property
    def datasets(self) -> tuple[ScoredDataset, ...]:
        """Rounds by number, then the others as they were made."""
        return tuple(self.standings.datasets[column] for column in self.columns)

    @property
    def metrics(self) -> tuple[Measure, ...]:
        """The task's measures."""
        return self.standings.metrics

    @property
    def primary(self) -> Measure:
        """The measure that models are ranked by first."""
        return self.metrics[0]

    @cached_property
    def values(self) -> FloatArray:
        """Scores in the units that people read, shape (M, D, K)."""
        return self.standings.values[np.ix_(self.rows, self.columns)] * [metric.scale for metric in self.metrics]

    @cached_property
    def measured(self) -> NDArray[np.bool_]:
        """True where some row has the metric on the dataset, shape (D, K)."""
        return np.asarray(np.isfinite(self.values).any(axis=0))

    @cached_property
    def _places(self) -> tuple[dict[int, int], dict[int, int], dict[str, int]]:
        return (
            {entrant.id: int(row) for entrant, row in zip(self.entrants, self.rows, strict=True)},
            {dataset.id: int(column) for dataset, column in zip(self.datasets, self.columns, strict=True)},
            {metric.name: place for place, metric in enumerate(self.metrics)},
        )

    def cell(self, entrant: Entrant, dataset: ScoredDataset, metric: Measure) -> ScoreCell | None:
        """Return a score, None where there is none to show."""
        rows, columns, metrics = self._places
        at, standings = (rows[entrant.id], columns[dataset.id], metrics[metric.name]), self.standings
        if np.isnan(standings.values[at]):
            return None
        value, low, high = (float(array[at]) for array in (standings.values, standings.low, standings.high))
        replicates = standings.replicates[at].astype(np.float64) if standings.resampled[at] else None
        return ScoreCell(
            value, None if low != low else low, None if high != high else high, int(standings.n[at]), replicates
        )

    def cells(
        self, entrant: Entrant, metric: Measure, datasets: Sequence[ScoredDataset]
    ) -> tuple[ScoreCell | None, ...]:
        """Return an entrant's scores in one metric."""
        return tuple(self.cell(entrant, dataset, metric) for dataset in datasets)

    def scored(self, metrics: Iterable[Measure]) -> tuple[ScoredDataset, ...]:
        """Return the datasets on which some entrant has one of the metrics."""
        places = [self._places[2][metric.name] for metric in metrics]
        return tuple(dataset for at, dataset in enumerate(self.datasets) if self.measured[at, places].any())

    def source(self, entrant: Entrant, dataset: ScoredDataset) -> int | None:
        """Return the id of the submission whose scores are shown in an entrant's row, None where none are."""
        place = self.standings.sources[self._places[0][entrant.id], self._places[1][dataset.id]]
        return None if place == NO_SCORES else self.standings.entrants[place].id

    def held(self, entrant: Entrant, dataset: ScoredDataset) -> bool:
        """Return whether a row shows an earlier submission's scores on a dataset, or none."""
        return self.source(entrant, dataset) != entrant.id

    def entrant(self, number: int) -> Entrant:
        """Return the entrant of this number; raises `NotFound` where the viewer may see none."""
        message = _("This task's board has no entry %(wanted)s.", wanted=number)
        return _first(self.entrants, lambda entrant: entrant.id == number, message)

    def dataset(self, name: str) -> ScoredDataset:
        """Return the dataset of this name; raises `NotFound`."""
        message = _("This task has no dataset %(name)s with scores.", name=repr(name))
        return _first(self.datasets, lambda dataset: dataset.name == name, message)

    def metric(self, name: str = "") -> Measure:
        """Return the measure of this name, by default the primary one; raises `NotFound`."""
        message = _("This task has no metric %(name)s.", name=repr(name))
        return _first(self.metrics, lambda metric: metric.name == (name or self.primary.name), message)


def _first(candidates: Iterable[T], fits: Callable[[T], bool], message: str) -> T:
    for candidate in candidates:
        if fits(candidate):
            return candidate
    raise errors.NotFound(message)


def mean(cells: Sequence[ScoreCell], weights: Sequence[float]) -> ScoreCell:
    """Return the weighted mean of one model's scores on several datasets, whose rows were drawn independently.

    The interval is that of the mean's replicates (percentiles); None where a score has none.
    """
    share = np.asarray(weights, float) / float(np.sum(weights))
    return combination(cells, share)


def combination(cells: Sequence[ScoreCell], factors: FloatArray) -> ScoreCell:
    """Return the sum of scores on independent datasets times their factors, with the interval of its replicates."""
    value, n = float(factors @ [cell.value for cell in cells]), sum(cell.n for cell in cells)
    drawn = [cell.replicates for cell in cells if cell.replicates is not None]
    if len(drawn) < len(cells):
        return ScoreCell(value, None, None, n)
    low, high = np.quantile(total := factors @ np.stack(drawn), [0.025, 0.975])
    return ScoreCell(value, float(low), float(high), n, total)
