"""Every `select` over kept boards, the ledger, others' reports and results row by row, with its cost."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, Update, case, func, select, true, tuple_, update
from sqlalchemy.orm import load_only

from dynabench.benchmark.evaluations.queries import SCORED_STATES
from dynabench.benchmark.evaluations.tables import Evaluation, EvaluationState, Shard
from dynabench.benchmark.leaderboards.tables import Fork, Report, Snapshot
from dynabench.benchmark.registry.tables import Submission, SubmissionState
from dynabench.datasets.tables import Dataset
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Person


def public_readmes(task: str) -> Select[int, str]:
    """The READMEs of a task's public submissions that are ready: one index range."""
    mine = (
        Submission.task_id == task,
        Submission.state == SubmissionState.READY,
        disclosure.named_submissions(Submission),
    )
    return select(Submission.id, Submission.readme).where(*mine, Submission.readme != "").order_by(Submission.id)


def scored_dataset_counts(task: str) -> Select[int, int]:
    """Select the number of datasets that each submission of a task was scored on.

    Cost: one range of submissions and their evaluations.
    """
    return (
        select(Submission.id, func.count(Evaluation.id))
        .join(Evaluation, Evaluation.submission_id == Submission.id)
        .where(Submission.task_id == task, Evaluation.state == EvaluationState.DONE)
        .group_by(Submission.id)
    )


def snapshots_of_task(task: str, after: tuple[Any, str] | None, limit: int) -> Select[Snapshot, Person]:
    """Snapshots of a task, newest first, without their documents: one index range."""
    older = tuple_(Snapshot.made_at, Snapshot.slug) < after if after else true()
    return (
        select(Snapshot, Person)
        .outerjoin(Person, Person.id == Snapshot.person_id)
        .where(Snapshot.task_id == task, older)
        .order_by(Snapshot.made_at.desc(), Snapshot.slug.desc())
        .limit(limit)
        .options(load_only(Snapshot.slug, Snapshot.task_id, Snapshot.title, Snapshot.digest, Snapshot.made_at))
    )


def forks_of_task(task: str, limit: int) -> Select[Fork, Person]:
    """Forks of a task's board, newest first: one index range."""
    return (
        select(Fork, Person)
        .outerjoin(Person, Person.id == Fork.person_id)
        .where(Fork.task_id == task)
        .order_by(Fork.made_at.desc(), Fork.slug.desc())
        .limit(limit)
    )


def count_forks(person: int) -> Select[int]:
    """Select the number of forks that a person keeps: reads all forks, some hundred."""
    return select(func.count()).select_from(Fork).where(Fork.person_id == person)


def count_snapshots(person: int, moment: Any) -> Select[int]:
    """Select the number of snapshots that a person took after `moment`.

    Cost: reads all snapshots' rows, some hundred.
    """
    return select(func.count()).select_from(Snapshot).where(Snapshot.person_id == person, Snapshot.made_at > moment)


def reports_of_task(task: str) -> Select[Report]:
    """The imports of others' results to a task, newest first: one index range, at most `reports.KEPT`."""
    return select(Report).where(Report.task_id == task).order_by(Report.id.desc())


def detach_person(person: int) -> Iterator[Update]:
    """Take a name off what a person kept or brought: reads all snapshots, forks and reports, some hundred."""
    yield update(Report).where(Report.person_id == person).values(person_id=None)
    yield update(Snapshot).where(Snapshot.person_id == person).values(person_id=None)
    yield update(Fork).where(Fork.person_id == person).values(person_id=None)


def tasks_of_model(model: str) -> Select[str]:
    """The tasks for which a model of this name was entered: reads all submissions, some thousand at most."""
    return select(Submission.task_id).where(Submission.model == model).distinct().order_by(Submission.task_id)


def count_tries(person_id: int, task_id: str) -> Select[int]:
    """Number of scored submissions, but for anonymous ones, of a person in a task's ledger: one index range."""
    conditions = (
        Submission.person_id == person_id,
        Submission.task_id == task_id,
        disclosure.counted_tries(Submission),
    )
    mine = (*conditions, Submission.state.in_((SubmissionState.READY, SubmissionState.WITHDRAWN)))
    return select(func.count()).select_from(Submission).where(*mine)


def finished_evaluations(submission_ids: Sequence[int], version_id: int) -> Select[Evaluation]:
    """The evaluations of some submissions on a version that ended well: one range of the version's index."""
    mine = (Evaluation.version_id == version_id, Evaluation.submission_id.in_(submission_ids))
    return select(Evaluation).where(*mine, Evaluation.state == EvaluationState.DONE).order_by(Evaluation.id)


def row_shards(evaluation_ids: Sequence[int]) -> Select[Shard]:
    """The answered parts of the datasets' own rows, in order: one range of the primary key for each evaluation."""
    mine = (Shard.evaluation_id.in_(evaluation_ids), Shard.part == "rows")
    return select(Shard).where(*mine).order_by(Shard.evaluation_id, Shard.number)


def dataset_facts() -> Select[str, int, int | None, int, str, datetime | None]:
    """Select the weight of the datasets of all tasks in their boards: reads all datasets, some for each task."""
    columns = (Dataset.id, Dataset.version_id, Dataset.weight, Dataset.visibility, Dataset.retired_at)
    return select(Dataset.task_id, *columns).where(Dataset.version_id.is_not(None)).order_by(Dataset.id)


def submission_facts() -> Select[str, str, str, int, int, int, int]:
    """Select the number of submissions of each task by state and visibility: reads all, some thousand at most."""
    key = (Submission.task_id, Submission.state, Submission.visibility)
    withdrawn, baselines = func.count(Submission.withdrawn_at), func.count(case((Submission.baseline, 1)))
    counts = func.count(), func.max(Submission.id), withdrawn, baselines
    return select(*key, *counts).group_by(*key).order_by(*key)


def evaluation_facts() -> Select[str, int, datetime | None, int]:
    """Figures of each task that change whenever a score does: reads all evaluations."""
    counts = func.count(Evaluation.id), func.max(Evaluation.ended_at), func.sum(Evaluation.attempt)
    return (
        select(Submission.task_id, *counts)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(Evaluation.state.in_(SCORED_STATES))
        .group_by(Submission.task_id)
    )
