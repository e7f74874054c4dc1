"""Every `select` of the views around a board, with its cost."""

from collections.abc import Sequence

from sqlalchemy import Select, and_, func, select

from dynabench.benchmark import disclosure
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.db import PACKED
from dynabench.registry.tables import Submission, SubmissionState
from dynabench.rounds.tables import Round
from dynabench.scoring.queries import SCORED
from dynabench.scoring.tables import Evaluation, EvaluationState, Score, Shard

ENTERED = (SubmissionState.READY, SubmissionState.WITHDRAWN)


def submissions(task_id: str) -> Select[Submission]:
    """The submissions of a task that were scored or will be, withdrawn ones too, by id: one index range."""
    mine = (Submission.task_id == task_id, Submission.state.in_(ENTERED))
    return select(Submission).where(*mine).order_by(Submission.id)


def tasks_of(model: str) -> Select[str]:
    """The tasks for which a model of this name was entered: reads all submissions, some thousand at most."""
    return select(Submission.task_id).where(Submission.model == model).distinct().order_by(Submission.task_id)


def tries(person_id: int, task_id: str) -> Select[int]:
    """How many scored submissions, but for anonymous ones, somebody has in a task's ledger: one index range."""
    of = (Submission.person_id == person_id, Submission.task_id == task_id, disclosure.counted_tries(Submission))
    mine = (*of, Submission.state.in_(ENTERED))
    return select(func.count()).select_from(Submission).where(*mine)


def datasets(task_id: str) -> Select[Dataset, DatasetVersion, int | None]:
    """The datasets of a task with their current version and round's number: the task's datasets, some dozen."""
    return (
        select(Dataset, DatasetVersion, Round.number)
        .join(DatasetVersion, DatasetVersion.id == Dataset.version_id)
        .outerjoin(Round, Round.id == Dataset.round_id)
        .where(Dataset.task_id == task_id, Dataset.kind != "pool")
        .order_by(Dataset.id)
    )


def scores(
    submission_ids: Sequence[int], version_ids: Sequence[int], metrics: Sequence[str], slices: bool = False
) -> Select[int, int, Score]:
    """Submission, dataset version and score, of whole versions or of their slices: one probe for each pair."""
    whole = Score.slice != "" if slices else Score.slice == ""
    of = and_(Evaluation.submission_id.in_(submission_ids), Evaluation.version_id.in_(version_ids))
    wanted = (of, Score.metric.in_(metrics)) if metrics else (of,)
    return (
        select(Evaluation.submission_id, Evaluation.version_id, Score)
        .join(Score, Score.evaluation_id == Evaluation.id)
        .where(*wanted, whole, Evaluation.state.in_(SCORED))
        .order_by(Score.id)
        .execution_options(**PACKED)
    )


def finished(submission_ids: Sequence[int], version_id: int) -> Select[Evaluation]:
    """The evaluations of some submissions on a version that ended well: one range of the version's index."""
    mine = (Evaluation.version_id == version_id, Evaluation.submission_id.in_(submission_ids))
    return select(Evaluation).where(*mine, Evaluation.state == EvaluationState.DONE).order_by(Evaluation.id)


def shards(evaluation_ids: Sequence[int]) -> Select[Shard]:
    """The answered parts of the datasets' own rows, in order: one range of the primary key for each evaluation."""
    mine = (Shard.evaluation_id.in_(evaluation_ids), Shard.part == "rows")
    return select(Shard).where(*mine).order_by(Shard.evaluation_id, Shard.number)
