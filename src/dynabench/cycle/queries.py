"""Every select about turns of the cycle, and the graph of a task's rounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Select, case, func, select
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations.tables import Evaluation, Score
from dynabench.benchmark.releases.tables import Release, ReleaseState
from dynabench.collection.tables import Example, Standing
from dynabench.cycle.tables import CandidateState, CycleCandidate, CycleTurn, RoundParent, TurnState
from dynabench.datasets.tables import EVALUATED, Dataset, DatasetState, DatasetVersion
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.rounds import queries as round_queries
from dynabench.rounds.tables import Round

RUNNING_STATES = (TurnState.QUEUED, TurnState.RUNNING)
"""States of a turn that a job works on."""
OPEN_STATES = (*RUNNING_STATES, TurnState.PAUSED, TurnState.FAILED)
"""States of a turn that may go on; a task has one such turn at most."""


def turns_of_task(task: str) -> Select[CycleTurn]:
    """The turns of a task, newest first: one index range."""
    return select(CycleTurn).where(CycleTurn.task_id == task).order_by(CycleTurn.id.desc())


def running_jobs() -> Select[str | None, int]:
    """Jobs of turns that have not ended, with the turn: few, by a scan."""
    return select(CycleTurn.job_id, CycleTurn.id).where(CycleTurn.state.in_(RUNNING_STATES))


def candidates_of_turn(turn: int) -> Select[CycleCandidate]:
    """A turn's candidates in the order of its plan."""
    return select(CycleCandidate).where(CycleCandidate.turn_id == turn).order_by(CycleCandidate.position)


def trained_candidates(task: str) -> Select[str, int | None, float | None]:
    """Select method, rows and seconds of every trained candidate of a task."""
    columns = (CycleCandidate.method, CycleCandidate.rows, CycleCandidate.seconds)
    statement = select(*columns).join(CycleTurn, CycleTurn.id == CycleCandidate.turn_id)
    return statement.where(CycleTurn.task_id == task, CycleCandidate.state == CandidateState.READY)


def example_counts(round_id: int) -> Select[int, int]:
    """Select the number of a round's examples that are not retracted, and of the verified ones: one index range."""
    verified = func.coalesce(func.sum(case((Standing.verdict == "correct", 1), else_=0)), 0)
    statement = select(func.count(), verified).select_from(Standing)
    return statement.where(Standing.round_id == round_id, Standing.retracted.is_(False))


def declared_parents(task: str) -> Select[int, int]:
    """Select the declared parents of a task's rounds, as pairs of ids (round, parent)."""
    statement = select(RoundParent.round_id, RoundParent.parent_id).join(Round, Round.id == RoundParent.round_id)
    return statement.where(Round.task_id == task)


def ready_releases(rounds: list[int]) -> Select[Round, Release]:
    """The releases of some rounds that are ready, in the rounds' order."""
    statement = select(Round, Release).join(Release, Release.round_id == Round.id)
    return statement.where(Round.id.in_(rounds), Release.state == ReleaseState.READY).order_by(Round.number)


def dataset_version(id: int) -> Select[DatasetVersion]:
    """A version of a dataset."""
    return select(DatasetVersion).where(DatasetVersion.id == id)


def neutral_datasets(task: str) -> Select[Dataset, DatasetVersion]:
    """Datasets of a task that come from no round and are in use, with their current version, by name."""
    statement = select(Dataset, DatasetVersion).join(DatasetVersion, DatasetVersion.id == Dataset.version_id)
    statement = statement.where(Dataset.task_id == task, Dataset.kind == "rows", Dataset.round_id.is_(None), EVALUATED)
    return statement.where(DatasetVersion.state == DatasetState.READY).order_by(Dataset.name)


def evaluations_on(submission: int, versions: list[int]) -> Select[Evaluation]:
    """Select the evaluations of a submission on some dataset versions."""
    return select(Evaluation).where(Evaluation.submission_id == submission, Evaluation.version_id.in_(versions))


def metric_score(evaluation: int, metric: str) -> Select[Score]:
    """Select the score of one metric on a whole evaluation."""
    return select(Score).where(Score.evaluation_id == evaluation, Score.metric == metric, Score.slice == "")


def any_example(round_id: int) -> Select[int]:
    """Select the id of one example of a round, if it has any: one probe."""
    return select(Example.id).where(Example.round_id == round_id).limit(1)


@dataclass(frozen=True)
class LineageLink:
    """A round with the numbers of its parents (the rounds that it follows) and of its children."""

    round: Round
    parents: tuple[int, ...]
    children: tuple[int, ...]


def lineage_links(session: Session, task: str) -> list[LineageLink]:
    """Return the graph of a task's rounds, newest first."""
    rounds = list(session.scalars(round_queries.rounds(task)))
    parents_by_round = parent_numbers(session, task, rounds)
    children: dict[int, list[int]] = {}
    for number in sorted(parents_by_round):
        for parent in parents_by_round[number]:
            children.setdefault(parent, []).append(number)
    return [
        LineageLink(round_, parents_by_round[round_.number], tuple(children.get(round_.number, ())))
        for round_ in rounds
    ]


def parent_numbers(session: Session, task: str, rounds: Sequence[Round]) -> dict[int, tuple[int, ...]]:
    """Return the parents of each round, by number; a round without declared parents follows the one before it."""
    numbers = {round_.id: round_.number for round_ in rounds}
    declared: dict[int, list[int]] = {}
    for round_id, parent_id in session.execute(declared_parents(task)):
        declared.setdefault(numbers[round_id], []).append(numbers[parent_id])
    earlier = sorted(numbers.values())
    before = dict(zip(earlier[1:], earlier, strict=False))
    return {n: tuple(sorted(declared[n])) if n in declared else (before[n],) if n in before else () for n in earlier}


def generations(parents_by_round: Mapping[int, Sequence[int]], number: int) -> dict[int, int]:
    """Return the age in generations of round `number` (0) and of all its ancestors, by number.

    Where several paths lead to an ancestor, the shortest counts.
    """
    age_by_round, level, age = {number: 0}, [number], 0
    while level:
        age += 1
        level = sorted({parent for child in level for parent in parents_by_round.get(child, ())} - age_by_round.keys())
        age_by_round |= dict.fromkeys(level, age)
    return age_by_round


def add_parents(session: Session, task: str, new_round: Round, numbers: Sequence[int]) -> None:
    """Record the parents of a new round. Raises `Invalid` for a number that is no earlier round."""
    for number in sorted(set(numbers)):
        parent = session.scalar(round_queries.round_numbered(task, number))
        if parent is None or parent.number >= new_round.number:
            raise errors.Invalid({"next.parents": _("There is no earlier round %(number)s.", number=number)})
        session.merge(RoundParent(round_id=new_round.id, parent_id=parent.id))
