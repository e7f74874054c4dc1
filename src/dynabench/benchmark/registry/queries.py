"""Every `select` over models' listings and submissions, with its cost."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Select, Update, and_, func, or_, select, update

from dynabench.benchmark.registry.tables import ModelListing, Submission, SubmissionState
from dynabench.datasets.tables import EVALUATED, Dataset, DatasetVersion
from dynabench.kit.jobs import Job
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Person
from dynabench.people.roles import Ban, Role
from dynabench.rounds.tables import Round, RoundState, Target


def listings() -> Select[ModelListing, Person]:
    """All listings with their keepers: one row for each model that a person described, a few dozen."""
    return select(ModelListing, Person).outerjoin(Person, Person.id == ModelListing.keeper_id)


def roles(person_id: int) -> Select[str, str]:
    """Select a person's roles by task, without tasks that ban the person: one index range."""
    banned = select(Ban.task_id).where(Ban.person_id == person_id)
    return select(Role.task_id, Role.role).where(Role.person_id == person_id, Role.task_id.not_in(banned))


def rounds_against(model: str, limit: int) -> Select[Round, str]:
    """Rounds that were opened against a model, newest first, and its version there: reads all targets, some hundred."""
    return (
        select(Round, Target.version)
        .join(Target, Target.round_id == Round.id)
        .where(Target.model == model, Round.state != RoundState.DRAFT)
        .order_by(Round.id.desc())
        .limit(limit)
    )


def remove_keeper(person_id: int) -> Update:
    """Take a keeper's name off their models: one index range."""
    return update(ModelListing).where(ModelListing.keeper_id == person_id).values(keeper_id=None)


GOING = (SubmissionState.QUEUED, SubmissionState.CHECKING)


def submissions_of_task(task_id: str, before: int, limit: int) -> Select[Submission, str]:
    """A task's submissions and who sent them, newest first, from below the id `before`: one index range."""
    return (
        select(Submission, Person.username)
        .outerjoin(Person, Person.id == Submission.person_id)
        .where(Submission.task_id == task_id, Submission.id < before)
        .order_by(Submission.id.desc())
        .limit(limit)
    )


def submissions_named(name: str) -> Select[Submission]:
    """Submissions under a name, of any task, oldest first: one index range."""
    return select(Submission).where(Submission.name == name).order_by(Submission.id)


def baseline_submissions(task_id: str) -> Select[Submission]:
    """The training sets that the platform itself entered for a task: its submissions, one index range."""
    conditions = (Submission.task_id == task_id, Submission.kind == "training_set", Submission.person_id.is_(None))
    return select(Submission).where(*conditions)


def submission_of_model(task_id: str, model: str, version: str) -> Select[Submission]:
    """A model that was entered for a task already and not withdrawn: those of the task in a state, one range."""
    return (
        select(Submission)
        .where(
            Submission.task_id == task_id,
            Submission.state == SubmissionState.READY,
            Submission.model == model,
            Submission.version == version,
        )
        .limit(1)
    )


def open_checks() -> Select[str | None, int]:
    """Jobs of checks that have not ended, with the submission: few, by a scan of the submissions' states."""
    return select(Submission.job_id, Submission.id).where(Submission.state.in_(GOING))


def needed_sources() -> Select[dict[str, Any]]:
    """Select the sources of submissions whose files are needed: of those that wait for their check or are being
    checked, and of training sets, which stay until they are withdrawn."""
    stored_training_set = and_(Submission.kind == "training_set", Submission.state == SubmissionState.READY)
    return select(Submission.source).where(or_(Submission.state.in_(GOING), stored_training_set))


def read_submissions() -> Select[str, dict[str, Any]]:
    """Jobs that read a file or a dataset of the hub: a scan of the jobs."""
    kinds = ("import_contexts", "import_data", "import_task", "perturb_dataset", "read_dataset")
    return select(Job.id, Job.payload).where(Job.kind.in_(kinds))


def endpoints_in_use() -> Select[dict[str, Any]]:
    """Select the endpoints of submitted models that are not withdrawn: a scan of the submissions."""
    return select(Submission.source).where(Submission.kind == "endpoint", Submission.state != SubmissionState.WITHDRAWN)


def submissions_of_person(person_id: int) -> Select[Submission]:
    """All that a person submitted: one index range."""
    return select(Submission).where(Submission.person_id == person_id)


def ready_submissions(task_id: str, since: datetime | None) -> Select[Submission]:
    """A task's models that passed their check after a moment, the 50 newest: its ready ones, one index range."""
    statement = select(Submission).where(Submission.task_id == task_id, Submission.state == SubmissionState.READY)
    statement = statement if since is None else statement.where(Submission.ready_at > since)
    return statement.order_by(Submission.id.desc()).limit(50)


def counted_times(task_id: str, person_id: int, since: datetime) -> Select[datetime]:
    """Select the times of a person's submissions that count towards the daily limit: open or ready ones, by one
    index range."""
    return (
        select(Submission.created_at)
        .where(
            Submission.person_id == person_id,
            Submission.task_id == task_id,
            Submission.created_at > since,
            or_(Submission.ready_at.is_not(None), Submission.state.in_(GOING)),
        )
        .order_by(Submission.created_at)
    )


def count_attempts(task_id: str, person_id: int, since: datetime) -> Select[int | None, datetime | None]:
    """Count a person's attempts, with the time of the first: one index range."""
    return select(func.sum(Submission.attempt), func.min(Submission.created_at)).where(
        Submission.person_id == person_id, Submission.task_id == task_id, Submission.created_at > since
    )


def evaluated_datasets(task_id: str) -> Select[Dataset, DatasetVersion]:
    """The datasets that a task's models are scored on and whose rows people may see, by name: a few dozen at most."""
    return (
        select(Dataset, DatasetVersion)
        .join(DatasetVersion, DatasetVersion.id == Dataset.version_id)
        .where(Dataset.task_id == task_id, disclosure.datasets_with_counts(Dataset), EVALUATED)
        .order_by(Dataset.name)
    )


def private_models_of_others(models: Iterable[str], person_id: int | None) -> Select[str]:
    """Select those of the models that other people submitted privately: one probe for each."""
    return select(Submission.model).where(
        Submission.name.in_(list(models)),
        ~disclosure.named_submissions(Submission, person_id),
    )


def remove_person(person_id: int) -> Update:
    """Take a submitter's name off what they entered: one index range."""
    return update(Submission).where(Submission.person_id == person_id).values(person_id=None)
