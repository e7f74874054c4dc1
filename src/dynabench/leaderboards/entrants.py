"""Who stands on a task's boards, as one viewer sees it, and on which datasets. Knows no web framework.

A public submission stands under its name, an anonymous one as such, a private one for its submitter alone; admins see
all. Of a hidden dataset there are nothing but scores of the whole.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import numpy as np
from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.accounts.tables import Person
from dynabench.benchmark.disclosure import Disclosure, is_anonymous, label_without_name
from dynabench.language import _
from dynabench.leaderboards import view_queries as queries
from dynabench.registry.tables import Submission, SubmissionState
from dynabench.rounds import service as rounds
from dynabench.scoring import released
from dynabench.scoring.measures import Measure, Replicates, measure, unpacked
from dynabench.scoring.tables import Score
from dynabench.tasks import TaskConfig

T = TypeVar("T")


@dataclass(frozen=True)
class Entrant:
    """A submission as one viewer sees it. `model` is empty where the viewer may not know it; files have no page."""

    id: int
    label: str
    model: str
    version: str
    entered_at: datetime
    mine: bool = False
    anonymous: bool = False
    withdrawn: bool = False
    file: bool = False


@dataclass(frozen=True)
class Data:
    """A dataset in its current version; `round` is the number of the round that it was released from."""

    id: int
    name: str
    title: str
    kind: str
    visibility: str
    version_id: int
    digest: str
    rows: int
    slices: Mapping[str, int]
    weight: int
    round_id: int | None
    round: int | None

    @property
    def disclosure(self) -> Disclosure:
        """The part of it that everybody may see."""
        return Disclosure.of(None, self)


@dataclass(frozen=True)
class Cell:
    """One score; the limits are None where nothing is known of its spread."""

    value: float
    low: float | None
    high: float | None
    n: int
    replicates: Replicates | None = None


Scores = dict[tuple[int, int, str], Cell]
"""By submission, dataset and metric."""


@dataclass(frozen=True)
class Field:
    """Everything a view of a task's board is made of. `metrics` has the primary one first."""

    config: TaskConfig
    entrants: tuple[Entrant, ...]
    data: tuple[Data, ...]
    metrics: tuple[Measure, ...]

    def entrant(self, wanted: int) -> Entrant:
        """The entrant of this number; raises `NotFound` where the viewer may see none."""
        return _one(
            self.entrants,
            lambda each: each.id == wanted,
            _("There is no entry %(wanted)s on this task's board.", wanted=wanted),
        )

    def dataset(self, name: str) -> Data:
        """The dataset of this name; raises `NotFound`."""
        return _one(
            self.data,
            lambda each: each.name == name,
            _("This task has no dataset %(name)s with scores.", name=repr(name)),
        )

    def metric(self, name: str = "") -> Measure:
        """The measure of this name, by default the primary one; raises `NotFound`."""
        wanted = name or self.metrics[0].name
        return _one(
            self.metrics, lambda each: each.name == wanted, _("This task has no metric %(name)s.", name=repr(name))
        )


def field(session: Session, viewer: Person | None, task_id: str, withdrawn: bool = False) -> Field:
    """The board's entrants and data as `viewer` may see them; `withdrawn` entrants on demand. Raises `NotFound`."""
    config = rounds.task_config(session, task_id)
    seen = tuple(each for each in entrants(session, viewer, task_id) if withdrawn or not each.withdrawn)
    return Field(config, seen, data(session, task_id), measures(config))


def entrants(session: Session, viewer: Person | None, task_id: str) -> list[Entrant]:
    """The submissions of a task that `viewer` may see, by number."""
    every = [
        (submission, Disclosure.of(viewer, None, submission))
        for submission in session.scalars(queries.submissions(task_id))
    ]
    seen = [(submission, disclosure) for submission, disclosure in every if disclosure.scores]
    names = Counter(submission.name for submission, disclosure in seen if disclosure.name)
    return [
        _entrant(submission, viewer, disclosure.name, names[submission.name] > 1) for submission, disclosure in seen
    ]


def data(session: Session, task_id: str) -> tuple[Data, ...]:
    """A task's datasets: rounds by number, then the others as they were made."""
    found = [
        Data(
            of.id, of.name, of.title or of.name, of.kind, of.visibility, version.id, version.digest, version.rows,
            version.slices, of.weight, of.round_id, number,
        )
        for of, version, number in session.execute(queries.datasets(task_id))
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda each: (each.round is None, each.round or 0, each.id)))


def measures(config: TaskConfig) -> tuple[Measure, ...]:
    """What the task measures, the primary metric first."""
    of = config.metrics
    return tuple(measure(name) for name in dict.fromkeys([of.primary, *of.report, *of.perturb, *of.costs]))


def scores(
    session: Session, field: Field, entrants: Sequence[Entrant], data: Iterable[Data], metrics: Iterable[Measure] = ()
) -> Scores:
    """What the entrants scored on the data as a whole; on hidden data as `scoring.released` tells it."""
    versions = {each.version_id: each for each in data}
    told = _told(session, field, entrants, versions.values())
    ids, names = {each.id for each in entrants} | set(told.values()), [each.name for each in metrics]
    rows = session.execute(queries.scores(sorted(ids), list(versions), names))
    found = {(submission, versions[version].id, score.metric): cell(score) for submission, version, score in rows}
    costs = {each.name for each in field.metrics if each.cost}
    own = {each.id for each in entrants}
    kept = {key: each for key, each in found.items() if key[0] in own and (key[:2] not in told or key[2] in costs)}
    for (submission, of), source in told.items():
        kept |= {
            (submission, of, metric): each
            for (one, data_id, metric), each in found.items()
            if one == source and data_id == of and metric not in costs
        }
    return kept


def slices(
    session: Session, field: Field, entrants: Sequence[Entrant], of: Data, metric: Measure
) -> dict[tuple[int, str], Cell]:
    """What the entrants scored on the slices of one dataset that may be shown, by submission and slice."""
    told = _told(session, field, entrants, [of])
    source_of = {each.id: told.get((each.id, of.id), each.id) for each in entrants}
    rows = session.execute(queries.scores(sorted(set(source_of.values())), [of.version_id], [metric.name], slices=True))
    found = {(submission, score.slice): cell(score) for submission, _, score in rows}
    shown = {key: each for key, each in found.items() if of.disclosure.shows_slice(each.n, of.rows)}
    return {(id, tag): each for id, source in source_of.items() for (one, tag), each in shown.items() if one == source}


def _told(
    session: Session, field: Field, entrants: Sequence[Entrant], data: Iterable[Data]
) -> dict[tuple[int, int], int]:
    """Whose scores are told of an entrant on hidden data where it is held back (`released.told`), by both numbers."""
    hidden = {each.version_id: each for each in data if each.disclosure.hidden}
    rows = {version: each.rows for version, each in hidden.items()}
    found = released.told(session, field.config.id, rows, field.metrics[0])
    own = {each.id for each in entrants}
    return {(id, hidden[version].id): source for (id, version), source in found.items() if id in own}


def cell(score: Score) -> Cell:
    """A score as it was stored."""
    drawn = unpacked(score.replicates) if score.replicates else None
    return Cell(score.value, score.low, score.high, score.n, drawn)


def mean(cells: Sequence[Cell], weights: Sequence[float]) -> Cell:
    """The weighted mean of one model's scores on several datasets, whose rows were drawn independently of each other.

    The interval is that of the mean's replicates (percentiles); None where a score has none.
    """
    share = np.asarray(weights, float) / float(np.sum(weights))
    value, n = float(share @ [each.value for each in cells]), sum(each.n for each in cells)
    drawn = [each.replicates for each in cells if each.replicates is not None]
    if len(drawn) < len(cells):
        return Cell(value, None, None, n)
    low, high = np.quantile(total := share @ np.stack(drawn), [0.025, 0.975])
    return Cell(value, float(low), float(high), n, total)


def _one(found: Iterable[T], fits: Callable[[T], bool], otherwise: str) -> T:
    for each in found:
        if fits(each):
            return each
    raise errors.NotFound(otherwise)


def _entrant(of: Submission, viewer: Person | None, named: bool, twice: bool) -> Entrant:
    name = f"{of.name} #{of.id}" if twice else of.name
    label = name if named else label_without_name(of.id, of.visibility)
    return Entrant(
        id=of.id,
        label=label,
        model=of.model if named else "",
        version=of.version if named else "",
        entered_at=of.created_at,
        mine=viewer is not None and viewer.id == of.person_id,
        anonymous=is_anonymous(of.visibility),
        withdrawn=of.state == SubmissionState.WITHDRAWN,
        file=of.kind == "predictions",
    )
