"""Every `select` over evaluations, their scores and the standings made of these, with its cost."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, func, or_, select
from sqlalchemy.orm import load_only

from dynabench.benchmark.evaluations.tables import Evaluation, EvaluationState, Record, Score, Shard
from dynabench.benchmark.registry.tables import Submission, SubmissionState
from dynabench.datasets.tables import EVALUATED, Dataset, DatasetState, DatasetVersion, Twin
from dynabench.kit.db import PACKED
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Round

OPEN_STATES = (EvaluationState.QUEUED, EvaluationState.CHECKING, EvaluationState.RUNNING, EvaluationState.SCORING)
"""States of an evaluation that goes on."""
SCORED_STATES = (EvaluationState.DONE, *OPEN_STATES)
"""States in which scores count: an evaluation that is run again keeps those of its last run until it has new ones."""


def missing_evaluations(
    submission: int | None = None, dataset: int | None = None
) -> Select[Submission, DatasetVersion]:
    """Ready submissions with the newest versions of their task's datasets that they have no evaluation on.

    Hidden datasets are for models that run inside the platform alone, never for files of predictions.
    """
    exists = select(Evaluation.id).where(
        Evaluation.submission_id == Submission.id, Evaluation.version_id == DatasetVersion.id
    )
    statement = (
        select(Submission, DatasetVersion)
        .join(Dataset, Dataset.task_id == Submission.task_id)
        .join(DatasetVersion, DatasetVersion.id == Dataset.version_id)
        .where(Submission.state == SubmissionState.READY, Submission.withdrawn_at.is_(None), EVALUATED)
        .where(DatasetVersion.state == DatasetState.READY, disclosure.answerable(Dataset, Submission), ~exists.exists())
        .order_by(Submission.id, DatasetVersion.id)
    )
    if submission is not None:
        statement = statement.where(Submission.id == submission)
    return statement if dataset is None else statement.where(Dataset.id == dataset)


def dataset_version(task: str, dataset: str, number: int) -> Select[DatasetVersion]:
    """A version of a dataset by its number."""
    conditions = (Dataset.task_id == task, Dataset.name == dataset, DatasetVersion.number == number)
    return select(DatasetVersion).join(Dataset, Dataset.id == DatasetVersion.dataset_id).where(*conditions)


def versions_in_use(task: str) -> Select[DatasetVersion]:
    """The current versions of a task's datasets that models are evaluated on, oldest first."""
    statement = select(DatasetVersion).join(Dataset, Dataset.version_id == DatasetVersion.id)
    return statement.where(Dataset.task_id == task, EVALUATED, DatasetVersion.state == DatasetState.READY).order_by(
        DatasetVersion.id
    )


def evaluations_of_version(version: int) -> Select[Evaluation]:
    """All evaluations on a version."""
    return select(Evaluation).where(Evaluation.version_id == version)


def outdated_evaluations(metric: str, version: int) -> Select[Evaluation]:
    """Evaluations with a score that an earlier version of the metric made, of submissions that still stand."""
    older = select(Score.evaluation_id).where(Score.metric == metric, Score.version < version)
    statement = select(Evaluation).join(Submission, Submission.id == Evaluation.submission_id)
    return statement.where(
        Evaluation.id.in_(older), Evaluation.state == EvaluationState.DONE, Submission.withdrawn_at.is_(None)
    )


def scored_evaluations(task: str) -> Select[Evaluation]:
    """Evaluations on the newest versions of a task's datasets that have scores or get them now.

    Those of withdrawn submissions are left out. Those in an earlier state will score by the task's newest metrics.
    """
    return (
        select(Evaluation)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .join(Dataset, Dataset.version_id == Evaluation.version_id)
        .where(
            Dataset.task_id == task,
            Submission.withdrawn_at.is_(None),
            Evaluation.state.in_((EvaluationState.DONE, EvaluationState.SCORING)),
        )
        .order_by(Evaluation.id)
    )


def open_evaluations(submission: int) -> Select[Evaluation]:
    """A submission's evaluations that go on, locked."""
    statement = select(Evaluation).where(Evaluation.submission_id == submission, Evaluation.state.in_(OPEN_STATES))
    return statement.order_by(Evaluation.id).with_for_update()


def scored_metrics() -> Select[str, int]:
    """Metrics that made scores, each with the earliest of its versions that did."""
    return select(Score.metric, func.min(Score.version)).group_by(Score.metric)


def submissions_entered(task: str) -> Select[int, int | None, str]:
    """Submissions of a task that were ready once, with submitter and visibility, oldest first: one index range."""
    conditions = (Submission.task_id == task, Submission.state.in_((SubmissionState.READY, SubmissionState.WITHDRAWN)))
    statement = select(Submission.id, Submission.person_id, Submission.visibility).where(*conditions)
    return statement.order_by(Submission.created_at, Submission.id)


def scores_by_metric(task: str, versions: list[int], metric: str) -> Select[int, int, float, bytes | None]:
    """Select the scores of a task's submissions in one metric on some versions, with replicates: one probe for each
    pair."""
    conditions = (Submission.task_id == task, Submission.state.in_((SubmissionState.READY, SubmissionState.WITHDRAWN)))
    return (
        select(Evaluation.submission_id, Evaluation.version_id, Score.value, Score.replicates)
        .join(Score, Score.evaluation_id == Evaluation.id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(*conditions, Evaluation.version_id.in_(versions), Evaluation.state.in_(SCORED_STATES))
        .where(Score.metric == metric, Score.slice == "")
        .execution_options(**PACKED)
    )


def current_twins(version: int) -> Select[Twin]:
    """Twins of a version that count, newest first."""
    ready = (Twin.version_id == version, Twin.state == DatasetState.READY, Twin.replaced_at.is_(None))
    return select(Twin).where(*ready).order_by(Twin.id.desc())


def finished_shards(evaluation: int) -> Select[Shard]:
    """Shards that are done, in order."""
    return select(Shard).where(Shard.evaluation_id == evaluation).order_by(Shard.part, Shard.first)


def answered_evaluations() -> Select[int, int]:
    """Evaluations that ended well and have stored answers, with the rows of their datasets: a scan of the ledger."""
    has_answers = select(Shard.number).where(Shard.evaluation_id == Evaluation.id, Shard.part == "rows").exists()
    return (
        select(Evaluation.id, DatasetVersion.rows)
        .join(DatasetVersion, DatasetVersion.id == Evaluation.version_id)
        .where(Evaluation.state == EvaluationState.DONE, has_answers)
        .order_by(Evaluation.id)
    )


def answering_speed(submission: int) -> Select[int, float]:
    """Rows that a submission answered so far, and the seconds that took."""
    answered = select(func.sum(Shard.rows), func.sum(Shard.seconds)).join(Evaluation)
    return answered.where(Evaluation.submission_id == submission)


def evaluation_with_dataset(evaluation: int) -> Select[Evaluation, Submission, DatasetVersion, Dataset]:
    """Select an evaluation with its submission, dataset version and dataset."""
    return _joined().where(Evaluation.id == evaluation)


def evaluations_of_task(
    task: str, after: int | None, limit: int, state: str = "", submission: int | None = None, dataset: str = ""
) -> Select[Evaluation, Submission, DatasetVersion, Dataset]:
    """Evaluations of a task, newest first, from below the id `after`."""
    statement = _joined().where(Submission.task_id == task).order_by(Evaluation.id.desc()).limit(limit)
    if after is not None:
        statement = statement.where(Evaluation.id < after)
    if state:
        statement = statement.where(Evaluation.state == state)
    if submission is not None:
        statement = statement.where(Submission.id == submission)
    return statement.where(Dataset.name == dataset) if dataset else statement


def _joined() -> Select[Evaluation, Submission, DatasetVersion, Dataset]:
    return (
        select(Evaluation, Submission, DatasetVersion, Dataset)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .join(DatasetVersion, DatasetVersion.id == Evaluation.version_id)
        .join(Dataset, Dataset.id == DatasetVersion.dataset_id)
    )


def all_scores(evaluation: int) -> Select[Score]:
    """All scores of an evaluation: of the whole first, then by slice."""
    return select(Score).where(Score.evaluation_id == evaluation).order_by(Score.slice, Score.id)


def one_score(evaluation: int, metric: str, part: str) -> Select[Score]:
    """One score."""
    return select(Score).where(Score.evaluation_id == evaluation, Score.metric == metric, Score.slice == part)


def failed_before(moment: datetime, codes: tuple[str, ...], attempts: int) -> Select[Evaluation]:
    """Evaluations of submissions that are still there which failed before `moment` with one of these codes, after fewer
    than so many attempts: by an index."""
    return (
        select(Evaluation)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(Evaluation.state == EvaluationState.FAILED, Evaluation.code.in_(codes), Evaluation.ended_at < moment)
        .where(
            Evaluation.attempt < attempts, Submission.state == SubmissionState.READY, Submission.withdrawn_at.is_(None)
        )
    )


def count_before(evaluation: Evaluation) -> Select[int]:
    """Count the open evaluations that were requested earlier."""
    return select(func.count()).where(Evaluation.state.in_(OPEN_STATES), Evaluation.id < evaluation.id)


def unfinished_before(evaluation: Evaluation) -> Select[int, int]:
    """Select the remaining rows of each submission with open evaluations, up to this one."""
    rows_left = func.sum(DatasetVersion.rows - Evaluation.rows_done)
    return (
        select(Evaluation.submission_id, rows_left)
        .join(DatasetVersion, DatasetVersion.id == Evaluation.version_id)
        .where(Evaluation.state.in_(OPEN_STATES), Evaluation.id <= evaluation.id)
        .group_by(Evaluation.submission_id)
    )


def answering_speeds(submissions: list[int]) -> Select[int, int, float]:
    """Of each submission the rows that it answered and the seconds that took."""
    answered = select(Evaluation.submission_id, func.sum(Shard.rows), func.sum(Shard.seconds)).join(Evaluation)
    return answered.where(Evaluation.submission_id.in_(submissions)).group_by(Evaluation.submission_id)


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
    waiting = or_(Evaluation.state.in_(OPEN_STATES[1:]), and_(Evaluation.state == EvaluationState.QUEUED, earlier))
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


def task_datasets(task: str) -> Select[Dataset, DatasetVersion, int | None]:
    """The datasets of a task, retired ones too, with their current versions and rounds' numbers: some dozen rows."""
    return (
        select(Dataset, DatasetVersion, Round.number)
        .join(DatasetVersion, DatasetVersion.id == Dataset.version_id)
        .outerjoin(Round, Round.id == Dataset.round_id)
        .where(Dataset.task_id == task, Dataset.kind != "pool", DatasetVersion.state == DatasetState.READY)
        .order_by(Dataset.id)
    )


def task_submissions(task: str) -> Select[Submission, Person]:
    """All that was ever entered for a task, oldest first, withdrawn ones too: one index range."""
    return (
        select(Submission, Person)
        .outerjoin(Person, Person.id == Submission.person_id)
        .where(Submission.task_id == task)
        .order_by(Submission.created_at, Submission.id)
        .options(load_only(Submission.id, Submission.kind, Submission.name, Submission.model, Submission.version,
                           Submission.inside, Submission.card, Submission.visibility, Submission.state,
                           Submission.person_id, Submission.created_at, Submission.withdrawn_at, Submission.baseline))
    )  # fmt: skip


def score_stamp(versions: Sequence[int]) -> Select[Any]:
    """Figures that change whenever scores on these versions do: a range of evaluations, and the end of scores' key.

    A score is never changed in place but by a later one of its evaluation, whose `made_at` is newer.
    """
    newest = select(func.max(Score.id)).scalar_subquery()
    columns = func.count(), func.max(Evaluation.ended_at), func.sum(Evaluation.attempt), newest
    return select(*columns).where(Evaluation.version_id.in_(versions))


def board_scores(
    versions: Sequence[int], metrics: Sequence[str]
) -> Select[int, int, str, float, float | None, float | None, int, bytes | None]:
    """Whole scores of evaluations (`SCORED`), with replicates: the largest read of a board, 4 kB a row."""
    return (
        select(Evaluation.submission_id, Evaluation.version_id, Score.metric, *_figures(), Score.replicates)
        .join(Score, Score.evaluation_id == Evaluation.id)
        .where(Evaluation.version_id.in_(versions), Evaluation.state.in_(SCORED_STATES))
        .where(Score.slice == "", Score.metric.in_(metrics))
        .execution_options(**PACKED)
    )


def scores_of_submissions(
    submissions: Sequence[int], versions: Sequence[int]
) -> Select[int, int, str, float, float | None, float | None, int]:
    """Whole scores of some submissions in every metric: one probe for each pair."""
    return (
        select(Evaluation.submission_id, Evaluation.version_id, Score.metric, *_figures())
        .join(Score, Score.evaluation_id == Evaluation.id)
        .where(Evaluation.submission_id.in_(submissions), Evaluation.version_id.in_(versions))
        .where(Evaluation.state.in_(SCORED_STATES), Score.slice == "")
        .order_by(Score.id)
    )


def slice_scores(
    submissions: Sequence[int], versions: Sequence[int], metrics: Sequence[str]
) -> Select[int, int, str, str, float, float | None, float | None, int]:
    """Scores by slice of some submissions: the ranges of their evaluations."""
    return (
        select(Evaluation.submission_id, Evaluation.version_id, Score.metric, Score.slice, *_figures())
        .join(Score, Score.evaluation_id == Evaluation.id)
        .where(Evaluation.submission_id.in_(submissions), Evaluation.version_id.in_(versions))
        .where(Evaluation.state.in_(SCORED_STATES), Score.slice != "", Score.metric.in_(metrics))
        .order_by(Evaluation.version_id, Score.slice, Score.metric)
    )


def _figures() -> tuple[Any, ...]:
    return Score.value, Score.low, Score.high, Score.n


def evaluation_queue() -> Select[int, int]:
    """Submission and dataset version of evaluations that go on, in the order of their turns: the open ones alone."""
    pairs = select(Evaluation.submission_id, Evaluation.version_id).where(Evaluation.state.in_(OPEN_STATES))
    return pairs.order_by(Evaluation.id)


def copies_in_progress(versions: Sequence[int]) -> Select[int, str]:
    """Perturbed copies of these versions that are being made: some ranges of the twins' index."""
    return select(Twin.version_id, Twin.axis).where(Twin.version_id.in_(versions), Twin.state == DatasetState.READING)


def submission_records(submission: int) -> Select[int, int, str]:
    """Dataset version, number and record's signature of a submission's scored evaluations: by the records' key."""
    return (
        select(Evaluation.version_id, Evaluation.id, Record.signature)
        .join(Record, Record.evaluation_id == Evaluation.id)
        .where(Evaluation.submission_id == submission, Evaluation.state.in_(SCORED_STATES), Record.signature != "")
    )


def record_signatures(versions: Sequence[int]) -> Select[int, int, str]:
    """Signatures of the records of evaluations on these versions: by the records' key."""
    return (
        select(Evaluation.submission_id, Evaluation.version_id, Record.signature)
        .join(Record, Record.evaluation_id == Evaluation.id)
        .where(Evaluation.version_id.in_(versions), Evaluation.state.in_(SCORED_STATES), Record.signature != "")
    )
