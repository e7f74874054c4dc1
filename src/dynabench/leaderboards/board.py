"""What stands on a task's board: submissions x datasets x metrics, with paired replicates, kept in memory.

`Standing` is what everybody's board is made from, read once for each state of the data; `Board` is what one viewer may
see of it. Values are in the units that people read (percent, not shares).
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Pool
from sqlalchemy.orm import Session

from dynabench.accounts.tables import Person
from dynabench.benchmark.disclosure import Disclosure, label_without_name
from dynabench.leaderboards import queries
from dynabench.registry.tables import Submission, SubmissionState
from dynabench.rounds import service as rounds
from dynabench.scoring.measures import REPLICATES, Measure, measure
from dynabench.scoring.released import NOTHING, sources
from dynabench.tasks.sections import MetricSettings

Floats = NDArray[np.float64]
KEPT = 8  # tasks whose standings are kept in memory: 20 MB each with 100 models, 5 metrics and 10 datasets


@dataclass(frozen=True)
class Column:
    """A dataset in the version that counts now; `digest` is what everybody may know of it."""

    name: str
    title: str
    kind: str
    visibility: str
    weight: int
    version: int
    number: int
    digest: str
    rows: int
    licence: str
    languages: tuple[str, ...]

    @property
    def disclosure(self) -> Disclosure:
        """The part of it that everybody may see."""
        return Disclosure.of(None, self)


@dataclass(frozen=True)
class Entry:
    """A submission; of an anonymous one nothing is told but its number. Of a training set, how many `rows` it has and
    how many of them have each label (`balance`)."""

    id: int
    name: str
    kind: str
    model: str
    version: str
    submitter: str
    person_id: int | None
    visibility: str
    inside: bool
    withdrawn: bool
    licence: str
    languages: tuple[str, ...]
    bytes: int | None
    made_at: datetime
    mine: bool = False
    rows: int | None = None
    balance: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Standing:
    """All submissions of a task with their scores; shapes are (models M, datasets D, metrics K, replicates B).

    Missing scores are NaN. What has no replicates stands still: all of its replicates are the value.
    `held` (M, D) says where an earlier submission's scores are told, or none (`scoring.released`); `signatures` (M, D)
    are those of the records, empty where there is none.
    """

    entries: tuple[Entry, ...]
    datasets: tuple[Column, ...]
    metrics: tuple[Measure, ...]
    values: Floats
    low: Floats
    high: Floats
    n: NDArray[np.int64]
    replicates: NDArray[np.float32]
    signatures: NDArray[np.object_]
    held: NDArray[np.bool_]


@dataclass(frozen=True)
class Coming:
    """What will be scored: evaluations that go on, by submission and dataset version with how many are before them, and
    perturbed copies that are being made, by dataset version and axis."""

    queue: Mapping[tuple[int, int], int]
    copies: Set[tuple[int, str]]

    def ahead(self, submission: int, versions: Sequence[int]) -> int | None:
        """How many evaluations are before the last of a submission's on these versions; None where none goes on."""
        return max(
            (self.queue[submission, each] for each in versions if (submission, each) in self.queue), default=None
        )


@dataclass(frozen=True)
class Board:
    """A `Standing` as one viewer sees it: fewer rows, and of anonymous ones nothing but the scores.

    `places` are the rows' places in the standing.
    """

    task: str
    primary: str
    entries: tuple[Entry, ...]
    places: NDArray[np.intp]
    of: Standing
    coming: Coming

    @property
    def datasets(self) -> tuple[Column, ...]:
        """The datasets that count."""
        return self.of.datasets

    @property
    def metrics(self) -> tuple[Measure, ...]:
        """The primary metric first, then those reported, costs and kinds of perturbed rows."""
        return self.of.metrics

    @property
    def values(self) -> Floats:
        """Scores, shape (M, D, K)."""
        return self.of.values[self.places]

    @property
    def there(self) -> NDArray[np.bool_]:
        """Which metrics some row has on which datasets, shape (D, K)."""
        return np.asarray(np.isfinite(self.values).any(axis=0))

    def held(self, place: int, dataset: int) -> bool:
        """Whether a row shows an earlier submission's scores on a dataset, or none."""
        return bool(self.of.held[self.places[place], dataset])


_lock = threading.Lock()
_kept: WeakKeyDictionary[Pool, OrderedDict[str, tuple[Any, Standing]]] = WeakKeyDictionary()


def names(metrics: MetricSettings) -> tuple[str, ...]:
    """The metrics of a task, the primary one first, each once."""
    return tuple(dict.fromkeys([metrics.primary, *metrics.report, *metrics.perturb, *metrics.costs]))


def board(session: Session, viewer: Person | None, task: str) -> Board:
    """The board of a task as `viewer` sees it; raises `NotFound` where there is no such task."""
    config = rounds.task_config(session, task)
    found = standing(session, task, names(config.metrics))
    shown = [(place, _seen(entry, viewer)) for place, entry in enumerate(found.entries)]
    rows = [(place, entry) for place, entry in shown if entry is not None]
    places = np.array([place for place, _ in rows], np.intp)
    entries, versions = tuple(entry for _, entry in rows), [column.version for column in found.datasets]
    return Board(task, config.metrics.primary, entries, places, found, _coming(session, versions))


def _coming(session: Session, versions: Sequence[int]) -> Coming:
    queue = {(row.submission_id, row.version_id): at for at, row in enumerate(session.execute(queries.going()))}
    copies = {(row.version_id, row.axis) for row in session.execute(queries.perturbing(versions))}
    return Coming(queue, copies)


def _seen(entry: Entry, viewer: Person | None) -> Entry | None:
    disclosure = Disclosure.of(viewer, None, entry)
    if entry.withdrawn or not disclosure.scores:
        return None
    if disclosure.name:
        return replace(entry, mine=viewer is not None and viewer.id == entry.person_id)
    return replace(
        entry, name=label_without_name(entry.id, entry.visibility), model="", version="", submitter="", person_id=None,
        licence="", languages=(), bytes=None, rows=None, balance=(),
    )  # fmt: skip


def standing(session: Session, task: str, metrics: tuple[str, ...]) -> Standing:
    """All submissions that were ready once, with their scores; from memory while nothing has changed."""
    columns = tuple(_column(*row) for row in session.execute(queries.datasets(task)))
    entries = tuple(
        _entry(submission, person)
        for submission, person in session.execute(queries.submissions(task))
        if submission.model and submission.state in (SubmissionState.READY, SubmissionState.WITHDRAWN)
    )
    versions = [column.version for column in columns]
    stamp = (columns, entries, metrics, tuple(session.execute(queries.stamps(versions)).one()))
    pool = session.get_bind().engine.pool
    with _lock:
        kept = _kept.setdefault(pool, OrderedDict())
        if task in kept and kept[task][0] == stamp:
            kept.move_to_end(task)
            return kept[task][1]
    found = _read(session, entries, columns, metrics)
    with _lock:
        kept[task] = (stamp, found)
        kept.move_to_end(task)
        while len(kept) > KEPT:
            kept.popitem(last=False)
    return found


def _column(dataset: Any, version: Any) -> Column:
    digest = Disclosure.of(None, dataset).digest(version)
    return Column(
        dataset.name, dataset.title or dataset.name, dataset.kind, dataset.visibility, dataset.weight, version.id,
        version.number, digest, version.rows, dataset.licence, tuple(map(str, dataset.languages)),
    )  # fmt: skip


def _entry(of: Submission, person: Person | None) -> Entry:
    card = of.card or {}
    size = card.get("size_bytes")
    languages = card.get("languages")
    return Entry(
        id=of.id, name=of.name, kind=of.kind, model=of.model, version=of.version,
        submitter=person.public_name if person else "", person_id=of.person_id,
        visibility=of.visibility, inside=of.inside,
        withdrawn=of.state == SubmissionState.WITHDRAWN,
        licence=str(card.get("licence") or "")[:100],
        languages=tuple(str(each) for each in languages) if isinstance(languages, list | tuple) else (),
        bytes=size if isinstance(size, int) and size > 0 else None,
        made_at=of.created_at,
        rows=card.get("rows"),
        balance=tuple(card.get("balance", {}).items()),
    )  # fmt: skip


def _read(
    session: Session, entries: tuple[Entry, ...], columns: tuple[Column, ...], metrics: tuple[str, ...]
) -> Standing:
    measures = tuple(measure(name) for name in metrics)
    rows = {entry.id: place for place, entry in enumerate(entries)}
    places = {column.version: place for place, column in enumerate(columns)}
    numbers = {name: place for place, name in enumerate(metrics)}
    shape = (len(entries), len(columns), len(metrics))
    values, low, high = (np.full(shape, np.nan) for _ in range(3))
    counts = np.zeros(shape, np.int64)
    replicates = np.full((*shape, REPLICATES), np.nan, np.float32)
    for row in session.execute(queries.scores(list(places), metrics)):
        if row.submission_id not in rows:
            continue
        at = rows[row.submission_id], places[row.version_id], numbers[row.metric]
        values[at], counts[at] = row.value, row.n
        low[at], high[at] = _number(row.low), _number(row.high)
        drawn = np.frombuffer(row.replicates, "<f4") if row.replicates else None
        replicates[at] = drawn if drawn is not None and len(drawn) == REPLICATES else row.value
    scale = np.array([each.scale for each in measures])
    replicates *= scale.astype(np.float32)[:, None]
    signatures = np.full(shape[:2], "", object)
    for submission, version, signature in session.execute(queries.signed(list(places))):
        if submission in rows:
            signatures[rows[submission], places[version]] = signature
    values[~np.isfinite(values)] = np.nan
    return _released(
        Standing(
            entries, columns, measures, values * scale, low * scale, high * scale, counts, replicates, signatures,
            np.zeros(shape[:2], bool),
        )
    )  # fmt: skip


def _released(of: Standing) -> Standing:
    """The same with what is told of hidden datasets; costs are each model's own."""
    quality = np.array([not each.cost for each in of.metrics])
    people, visibilities = [each.person_id for each in of.entries], [each.visibility for each in of.entries]
    for at, column in enumerate(of.datasets):
        if not column.disclosure.hidden or not of.metrics:
            continue
        primary = of.metrics[0]
        values, drawn = of.values[:, at, 0] / primary.scale, of.replicates[:, at, 0] / primary.scale
        told = sources(people, visibilities, values, drawn, column.rows, primary.direction)
        of.held[:, at] = told != np.arange(len(told))
        for array in (of.values, of.low, of.high, of.n, of.replicates):
            array[:, at, quality] = array[told][:, at, quality]
        of.signatures[:, at] = np.where(told == NOTHING, "", of.signatures[told, at])
        nothing = np.ix_(told == NOTHING, np.arange(len(of.datasets)) == at, quality)
        of.n[nothing] = 0
        for array in (of.values, of.low, of.high, of.replicates):
            array[nothing] = np.nan
    return of


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
