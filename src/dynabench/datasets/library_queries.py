"""Every select of datasets and their versions."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Select, Update, func, or_, select, update

from dynabench.accounts.tables import Act
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.rounds.tables import RefusedRow

Found = Select[Dataset, DatasetVersion | None]


def named(task: str, name: str) -> Select[Dataset]:
    """A dataset by its name."""
    return select(Dataset).where(Dataset.task_id == task, Dataset.name == name)


def of_round(round_id: int) -> Select[Dataset]:
    """The dataset that was made of a round."""
    return select(Dataset).where(Dataset.round_id == round_id)


def listed(task: str = "", q: str = "", mine: list[str] | None = None, everything: bool = False) -> Found:
    """Datasets with their newest ready version, by task and name: those that everybody may see, and all of tasks that
    are `mine`; only those of which a version is ready are for everybody."""
    found = select(Dataset, DatasetVersion).outerjoin(DatasetVersion, DatasetVersion.id == Dataset.version_id)
    found = found.order_by(Dataset.task_id, Dataset.retired_at.is_not(None), Dataset.name)
    if task:
        found = found.where(Dataset.task_id == task)
    if q:
        words = "%" + q.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        found = found.where(or_(Dataset.name.ilike(words, escape="\\"), Dataset.title.ilike(words, escape="\\")))
    if everything:
        return found
    shown = (Dataset.visibility != "hidden") & Dataset.version_id.is_not(None)
    return found.where(or_(shown, Dataset.task_id.in_(mine or [])))


def hidden(task: str) -> Select[int]:
    """How many datasets of a task are hidden and in use."""
    return select(func.count()).select_from(Dataset).where(
        Dataset.task_id == task, Dataset.visibility == "hidden", Dataset.version_id.is_not(None),
        Dataset.retired_at.is_(None),
    )  # fmt: skip


def versions(dataset: int) -> Select[DatasetVersion]:
    """The versions of a dataset, newest first."""
    return select(DatasetVersion).where(DatasetVersion.dataset_id == dataset).order_by(DatasetVersion.number.desc())


def refused(job: str) -> Select[int]:
    """How many rows a reading refused."""
    return select(func.count()).select_from(RefusedRow).where(RefusedRow.job_id == job)


def acts(task: str) -> Select[Any]:
    """What the audit log says of the visibility of a task's datasets."""
    return select(Act.subject).where(Act.task_id == task, Act.kind.in_(("dataset.added", "dataset.changed")))


def forget(person: int) -> Iterator[Update]:
    """Take a name off datasets and versions that somebody made: reads all of them, some hundred."""
    yield update(Dataset).where(Dataset.created_by == person).values(created_by=None)
    yield update(DatasetVersion).where(DatasetVersion.created_by == person).values(created_by=None)
