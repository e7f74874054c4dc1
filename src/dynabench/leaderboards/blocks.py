"""What a model's page says of its scores, and a dataset's page of its models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.accounts.tables import Person
from dynabench.benchmark.disclosure import counts_as_try
from dynabench.language import _
from dynabench.leaderboards import entrants as known
from dynabench.leaderboards import view_queries as queries
from dynabench.leaderboards.comparing import NOTHING, paired
from dynabench.leaderboards.entrants import Cell, Data, Entrant, Field
from dynabench.registry import service as registry
from dynabench.registry.tables import Submission
from dynabench.scoring.measures import Measure
from dynabench.stats.corrections import holm

TOP = 10
HARDEST = 8


@dataclass(frozen=True)
class Entry:
    """All that one entrant scored. `scores` by dataset and metric, `slices` of the primary metric by dataset and tag.

    `tries` counts the submissions of its submitter in the task's ledger as that does, None of anonymous ones.
    """

    field: Field
    entrant: Entrant
    data: tuple[Data, ...]
    scores: Mapping[tuple[int, str], Cell]
    slices: tuple[tuple[Data, tuple[tuple[str, Cell], ...]], ...]
    tries: int | None


@dataclass(frozen=True)
class Leader:
    """An entrant on one dataset; `tied` where the data do not tell it from the best."""

    entrant: Entrant
    cell: Cell
    tied: bool


@dataclass(frozen=True)
class Best:
    """Who does best on a dataset, and the slices that are hardest for the best `TOP`, by their mean."""

    data: Data
    metric: Measure
    leaders: tuple[Leader, ...]
    others: int
    slices: tuple[tuple[str, Cell], ...]


def of_model(session: Session, viewer: Person | None, name: str) -> list[Entry]:
    """What the submissions of this model scored, as `viewer` may know.

    Anonymous ones are not linked to its name, and a model that is listed for few people is there for these alone.
    """
    found = []
    for task in session.scalars(queries.tasks_of(name)):
        if not registry.visible(session, viewer, name, task):
            continue
        field = known.field(session, viewer, task, withdrawn=True)
        found += [_entry(session, field, each) for each in field.entrants if each.model == name]
    return found


def _entry(session: Session, field: Field, entrant: Entrant) -> Entry:
    scores = {
        (data, name): cell for (_, data, name), cell in known.scores(session, field, [entrant], field.data).items()
    }
    scored = tuple(each for each in field.data if any(id == each.id for id, _ in scores))
    return Entry(
        field, entrant, scored, scores, tuple(_sliced(session, field, entrant, scored)), _tries(session, entrant)
    )


def _sliced(
    session: Session, field: Field, entrant: Entrant, data: Sequence[Data]
) -> list[tuple[Data, tuple[tuple[str, Cell], ...]]]:
    """The slices of each dataset on which the entrant does worst, worst first."""
    metric, found = field.metrics[0], []
    for each in data:
        cells = known.slices(session, field, [entrant], each, metric)
        worst = sorted(
            ((tag, cell) for (_dataset, tag), cell in cells.items()), key=lambda pair: metric.direction * pair[1].value
        )
        if worst:
            found.append((each, tuple(worst[:HARDEST])))
    return found


def _tries(session: Session, entrant: Entrant) -> int | None:
    submission = session.get_one(Submission, entrant.id)
    if submission.person_id is None or not counts_as_try(submission):
        return None
    return session.scalar(queries.tries(submission.person_id, submission.task_id))


def best(session: Session, viewer: Person | None, task: str, name: str, limit: int = TOP) -> Best:
    """Who does best on a dataset. Raises `NotFound` where there is no such dataset."""
    field = known.field(session, viewer, task)
    data, metric = field.dataset(name), field.metric()
    scores = known.scores(session, field, field.entrants, [data], [metric])
    ranked = sorted(
        ((each, scores[key]) for each in field.entrants if (key := (each.id, data.id, metric.name)) in scores),
        key=lambda pair: (-metric.direction * pair[1].value, pair[0].id),
    )
    top = ranked[:limit]
    tied = ties([cell for _, cell in top])
    leaders = tuple(Leader(each, cell, tie) for (each, cell), tie in zip(top, tied, strict=True))
    cells = known.slices(session, field, [each for each, _ in top], data, metric)
    return Best(data, metric, leaders, len(ranked) - len(top), hardest(cells, metric))


def ties(cells: Sequence[Cell], level: float = 0.05) -> list[bool]:
    """Whether each is not told from the first, by paired replicates with Holm's correction; without them, if equal."""
    if not cells:
        return []
    first, asked = cells[0], []
    for each in cells:
        if first.replicates is None or each.replicates is None:
            asked.append(1.0 if abs(first.value - each.value) < NOTHING else 0.0)
        else:
            asked.append(paired(first.replicates, each.replicates, first.value - each.value)[2])
    return [True, *(bool(p > level) for p in (holm(asked[1:]) if asked[1:] else []))]


def hardest(cells: Mapping[tuple[int, str], Cell], metric: Measure) -> tuple[tuple[str, Cell], ...]:
    """Tags with their mean score over models, hardest first.

    The interval is from the mean of the lower limits to that of the upper ones, which is right where all models fail on
    the same rows, and wider than need be where they do not.
    """
    by: dict[str, list[Cell]] = {}
    for (_dataset, tag), cell in cells.items():
        by.setdefault(tag, []).append(cell)
    found = [(tag, _mean(some)) for tag, some in by.items()]
    return tuple(sorted(found, key=lambda each: (metric.direction * each[1].value, each[0]))[:HARDEST])


def _mean(some: Sequence[Cell]) -> Cell:
    low, high = (_limit([getattr(each, end) for each in some]) for end in ("low", "high"))
    return Cell(fmean(each.value for each in some), low, high, some[0].n)


def _limit(limits: Sequence[float | None]) -> float | None:
    known = [each for each in limits if each is not None]
    return fmean(known) if len(known) == len(limits) else None


def shown_model(session: Session, viewer: Person | None, name: str) -> list[Entry]:
    """As `of_model`; raises `NotFound` where there is nothing to show."""
    found = of_model(session, viewer, name)
    if not found:
        raise errors.NotFound(_("There are no scores of %(name)s to show.", name=repr(name)))
    return found
