"""Every `select` over the evaluations of one submission, with its cost."""

from datetime import datetime

from sqlalchemy import Select, and_, func, or_, select

from dynabench.benchmark.evaluations import queries
from dynabench.benchmark.evaluations.tables import Evaluation, EvaluationState, Score
from dynabench.datasets.tables import Dataset, DatasetVersion

OPEN = queries.OPEN_STATES


def evaluations_of_submission(submission_id: int) -> Select[Evaluation, DatasetVersion, Dataset]:
    """A submission's evaluations with their datasets, by name: one index range, a few dozen rows."""
    return (
        select(Evaluation, DatasetVersion, Dataset)
        .join(DatasetVersion, DatasetVersion.id == Evaluation.version_id)
        .join(Dataset, Dataset.id == DatasetVersion.dataset_id)
        .where(Evaluation.submission_id == submission_id)
        .order_by(Dataset.name, DatasetVersion.number)
    )


def evaluation_prices(submission_id: int) -> Select[int, float]:
    """Select the price of the answers of a submission's evaluations, by evaluation: one score each, by their unique
    index."""
    of_submission = Evaluation.submission_id == submission_id
    statement = select(Score.evaluation_id, Score.value).join(Evaluation, Evaluation.id == Score.evaluation_id)
    return statement.where(of_submission, Score.metric == "spent", Score.slice == "")


def waiting_ahead(created_at: datetime, id: int) -> Select[int, int | None]:
    """Count the evaluations before a waiting one, and their remaining rows: the open ones, by an index."""
    earlier = or_(Evaluation.created_at < created_at, and_(Evaluation.created_at == created_at, Evaluation.id < id))
    waiting = or_(Evaluation.state.in_(OPEN[1:]), and_(Evaluation.state == EvaluationState.QUEUED, earlier))
    rows_left = func.sum(Evaluation.rows - Evaluation.rows_done)
    return select(func.count(), rows_left).select_from(Evaluation).where(waiting, Evaluation.id != id)


def recent_evaluations(limit: int) -> Select[int, datetime | None, datetime | None]:
    """Rows and times of the last evaluations that were done: the newest of one state, by an index."""
    return (
        select(Evaluation.rows, Evaluation.started_at, Evaluation.ended_at)
        .where(Evaluation.state == EvaluationState.DONE, Evaluation.rows > 0, Evaluation.started_at.is_not(None))
        .order_by(Evaluation.created_at.desc())
        .limit(limit)
    )
