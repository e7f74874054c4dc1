"""Every select about turns of the cycle."""

from sqlalchemy import Select, case, func, select

from dynabench.collection.tables import Example, Standing
from dynabench.cycle.tables import CandidateState, CycleCandidate, CycleTurn, RoundParent, TurnState
from dynabench.datasets.tables import EVALUATED, Dataset, DatasetState, DatasetVersion
from dynabench.releases.tables import Release, ReleaseState
from dynabench.rounds.tables import Round
from dynabench.scoring.tables import Evaluation, Score

GOING = (TurnState.QUEUED, TurnState.RUNNING)
"""States of a turn that a job works on."""
OPEN = (*GOING, TurnState.PAUSED, TurnState.FAILED)
"""States of a turn that may go on; a task has one such turn at most."""


def newest(task: str) -> Select[CycleTurn]:
    """The turns of a task, newest first: one index range."""
    return select(CycleTurn).where(CycleTurn.task_id == task).order_by(CycleTurn.id.desc())


def going() -> Select[str | None, int]:
    """Jobs of turns that have not ended, with the turn: few, by a scan."""
    return select(CycleTurn.job_id, CycleTurn.id).where(CycleTurn.state.in_(GOING))


def candidates(turn: int) -> Select[CycleCandidate]:
    """A turn's candidates in the order of its plan."""
    return select(CycleCandidate).where(CycleCandidate.turn_id == turn).order_by(CycleCandidate.position)


def trained(task: str) -> Select[str, int | None, float | None]:
    """Of all candidates of a task that were trained: the method, the rows, the seconds."""
    columns = (CycleCandidate.method, CycleCandidate.rows, CycleCandidate.seconds)
    found = select(*columns).join(CycleTurn, CycleTurn.id == CycleCandidate.turn_id)
    return found.where(CycleTurn.task_id == task, CycleCandidate.state == CandidateState.READY)


def counts(round_id: int) -> Select[int, int]:
    """How many examples a round has that stand, and how many of them are verified: one walk over its standings."""
    verified = func.coalesce(func.sum(case((Standing.verdict == "correct", 1), else_=0)), 0)
    found = select(func.count(), verified).select_from(Standing)
    return found.where(Standing.round_id == round_id, Standing.retracted.is_(False))


def parents(task: str) -> Select[int, int]:
    """Each round of a task and one that it follows, by their ids, where that was said."""
    found = select(RoundParent.round_id, RoundParent.parent_id).join(Round, Round.id == RoundParent.round_id)
    return found.where(Round.task_id == task)


def released(rounds: list[int]) -> Select[Round, Release]:
    """The releases of some rounds that are ready, in the rounds' order."""
    found = select(Round, Release).join(Release, Release.round_id == Round.id)
    return found.where(Round.id.in_(rounds), Release.state == ReleaseState.READY).order_by(Round.number)


def version(id: int) -> Select[DatasetVersion]:
    """A version of a dataset."""
    return select(DatasetVersion).where(DatasetVersion.id == id)


def neutral(task: str) -> Select[Dataset, DatasetVersion]:
    """Datasets of a task that come from no round and are in use, with their current version, by name."""
    found = select(Dataset, DatasetVersion).join(DatasetVersion, DatasetVersion.id == Dataset.version_id)
    found = found.where(Dataset.task_id == task, Dataset.kind == "rows", Dataset.round_id.is_(None), EVALUATED)
    return found.where(DatasetVersion.state == DatasetState.READY).order_by(Dataset.name)


def evaluations(submission: int, versions: list[int]) -> Select[Evaluation]:
    """How a submission was evaluated on some versions."""
    return select(Evaluation).where(Evaluation.submission_id == submission, Evaluation.version_id.in_(versions))


def score(evaluation: int, metric: str) -> Select[Score]:
    """What one metric says of a whole evaluation."""
    return select(Score).where(Score.evaluation_id == evaluation, Score.metric == metric, Score.slice == "")


def any_example(round_id: int) -> Select[int]:
    """Whether anything was written in a round: one probe."""
    return select(Example.id).where(Example.round_id == round_id).limit(1)
