"""Every `select` that standings are read by, with its cost."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import load_only

from dynabench.benchmark.evaluations.queries import OPEN_STATES, SCORED_STATES
from dynabench.benchmark.evaluations.tables import Evaluation, Record, Score
from dynabench.benchmark.registry.tables import Submission
from dynabench.datasets.tables import Dataset, DatasetState, DatasetVersion, Twin
from dynabench.kit.db import PACKED
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Round


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
                           Submission.person_id, Submission.created_at, Submission.withdrawn_at))
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


def record_signatures(versions: Sequence[int]) -> Select[int, int, str]:
    """Signatures of the records of evaluations on these versions: by the records' key."""
    return (
        select(Evaluation.submission_id, Evaluation.version_id, Record.signature)
        .join(Record, Record.evaluation_id == Evaluation.id)
        .where(Evaluation.version_id.in_(versions), Evaluation.state.in_(SCORED_STATES), Record.signature != "")
    )
