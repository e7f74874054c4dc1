"""Every `select` over boards: what stands on one, what may be kept of it, and the ledger; each with its cost."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Select, Update, func, select, true, tuple_, update
from sqlalchemy.orm import load_only

from dynabench.accounts.tables import Person
from dynabench.benchmark import disclosure
from dynabench.datasets.tables import EVALUATED, Dataset, DatasetState, DatasetVersion, Twin
from dynabench.db import PACKED
from dynabench.leaderboards.tables import Fork, Report, Snapshot
from dynabench.registry.tables import Submission, SubmissionState
from dynabench.scoring.queries import OPEN, SCORED
from dynabench.scoring.tables import Evaluation, EvaluationState, Record, Score


def datasets(task: str) -> Select[Dataset, DatasetVersion]:
    """The datasets of a task that count, with their current versions: one index range, some dozen rows."""
    return (
        select(Dataset, DatasetVersion)
        .join(DatasetVersion, DatasetVersion.id == Dataset.version_id)
        .where(Dataset.task_id == task, EVALUATED, DatasetVersion.state == DatasetState.READY)
        .order_by(Dataset.name)
    )


def submissions(task: str) -> Select[Submission, Person]:
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


def stamps(versions: Sequence[int]) -> Select[Any]:
    """What changes whenever scores on these versions do: one index range of evaluations, and the end of scores' key.

    A score is never changed in place but by a later one of its evaluation, whose `made_at` is newer.
    """
    newest = select(func.max(Score.id)).scalar_subquery()
    of = Evaluation.version_id.in_(versions)
    return select(func.count(), func.max(Evaluation.ended_at), func.sum(Evaluation.attempt), newest).where(of)


def scores(
    versions: Sequence[int], metrics: Sequence[str]
) -> Select[int, int, str, float, float | None, float | None, int, bytes | None]:
    """Whole scores of evaluations (`SCORED`), with replicates: the largest read of a board, 4 kB a row."""
    return (
        select(
            Evaluation.submission_id, Evaluation.version_id, Score.metric, Score.value, Score.low, Score.high, Score.n,
            Score.replicates,
        )
        .join(Score, Score.evaluation_id == Evaluation.id)
        .where(Evaluation.version_id.in_(versions), Evaluation.state.in_(SCORED))
        .where(Score.slice == "", Score.metric.in_(metrics))
        .execution_options(**PACKED)
    )  # fmt: skip


def going() -> Select[int, int]:
    """Submission and dataset version of evaluations that go on, in the order of their turns: the open ones alone."""
    found = select(Evaluation.submission_id, Evaluation.version_id).where(Evaluation.state.in_(OPEN))
    return found.order_by(Evaluation.id)


def perturbing(versions: Sequence[int]) -> Select[int, str]:
    """Perturbed copies of these versions that are being made: some ranges of the twins' index."""
    return select(Twin.version_id, Twin.axis).where(Twin.version_id.in_(versions), Twin.state == DatasetState.READING)


def slices(
    submission: int, versions: Sequence[int], metrics: Sequence[str]
) -> Select[int, str, str, float, float | None, float | None, int]:
    """One submission's scores by slice: the ranges of its evaluations."""
    return (
        select(Evaluation.version_id, Score.metric, Score.slice, Score.value, Score.low, Score.high, Score.n)
        .join(Score, Score.evaluation_id == Evaluation.id)
        .where(Evaluation.submission_id == submission, Evaluation.version_id.in_(versions))
        .where(Evaluation.state.in_(SCORED), Score.slice != "", Score.metric.in_(metrics))
        .order_by(Evaluation.version_id, Score.slice, Score.metric)
    )


def signed(versions: Sequence[int]) -> Select[int, int, str]:
    """Which evaluations on these versions have a signed record: by the records' key."""
    return (
        select(Evaluation.submission_id, Evaluation.version_id, Record.signature)
        .join(Record, Record.evaluation_id == Evaluation.id)
        .where(Evaluation.version_id.in_(versions), Evaluation.state.in_(SCORED), Record.signature != "")
    )


def readmes(task: str) -> Select[int, str]:
    """The READMEs of a task's public submissions that are ready: one index range."""
    mine = (
        Submission.task_id == task,
        Submission.state == SubmissionState.READY,
        disclosure.named_submissions(Submission),
    )
    return select(Submission.id, Submission.readme).where(*mine, Submission.readme != "").order_by(Submission.id)


def tries(task: str) -> Select[int, int]:
    """How many datasets each submission of a task was scored on: one range of submissions and their evaluations."""
    return (
        select(Submission.id, func.count(Evaluation.id))
        .join(Evaluation, Evaluation.submission_id == Submission.id)
        .where(Submission.task_id == task, Evaluation.state == EvaluationState.DONE)
        .group_by(Submission.id)
    )


def snapshots(task: str, after: tuple[Any, str] | None, limit: int) -> Select[Snapshot, Person]:
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


def forks(task: str, limit: int) -> Select[Fork, Person]:
    """Forks of a task's board, newest first: one index range."""
    return (
        select(Fork, Person)
        .outerjoin(Person, Person.id == Fork.person_id)
        .where(Fork.task_id == task)
        .order_by(Fork.made_at.desc(), Fork.slug.desc())
        .limit(limit)
    )


def forks_of(person: int) -> Select[int]:
    """How many forks somebody keeps: reads all forks, some hundred."""
    return select(func.count()).select_from(Fork).where(Fork.person_id == person)


def snapshots_since(person: int, moment: Any) -> Select[int]:
    """How many snapshots somebody took since: reads all snapshots' rows, some hundred."""
    return select(func.count()).select_from(Snapshot).where(Snapshot.person_id == person, Snapshot.made_at > moment)


def reports(task: str) -> Select[Report]:
    """The imports of others' results to a task, newest first: one index range, at most `reports.KEPT`."""
    return select(Report).where(Report.task_id == task).order_by(Report.id.desc())


def forget(person: int) -> Iterator[Update]:
    """Take a name off what somebody kept or brought: reads all snapshots, forks and reports, some hundred."""
    yield update(Report).where(Report.person_id == person).values(person_id=None)
    yield update(Snapshot).where(Snapshot.person_id == person).values(person_id=None)
    yield update(Fork).where(Fork.person_id == person).values(person_id=None)
