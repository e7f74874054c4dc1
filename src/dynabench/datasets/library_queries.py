"""Every select of datasets and their versions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, Update, func, or_, select, update

from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Act
from dynabench.rounds.tables import RefusedRow

Found = Select[Dataset, DatasetVersion | None]
Place = tuple[str, bool, str]
"""Where a dataset stands in a list: its task, whether it is retired, its name."""
RETIRED = Dataset.retired_at.is_not(None)


def named(task: str, name: str) -> Select[Dataset]:
    """A dataset by its name."""
    return select(Dataset).where(Dataset.task_id == task, Dataset.name == name)


def of_round(round_id: int) -> Select[Dataset]:
    """The dataset that was made of a round."""
    return select(Dataset).where(Dataset.round_id == round_id)


@dataclass(frozen=True)
class Sought:
    """A filter for datasets: of a task or of all tasks, with words in name or title.

    It finds the datasets that everybody may see (not hidden, with a version that is ready), and all datasets
    of the tasks in `mine`. With `everything` it finds all.
    """

    task: str = ""
    q: str = ""
    mine: Sequence[str] = ()
    everything: bool = False

    def conditions(self) -> Iterator[ColumnElement[bool]]:
        """Return the conditions that a dataset must fulfil."""
        if self.task:
            yield Dataset.task_id == self.task
        if self.q:
            words = "%" + self.q.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
            yield or_(Dataset.name.ilike(words, escape="\\"), Dataset.title.ilike(words, escape="\\"))
        if not self.everything:
            yield disclosure.listed_datasets(Dataset, Dataset.task_id.in_(self.mine))


def listed(sought: Sought, after: Place | None = None) -> Found:
    """Datasets with their newest ready version, by task and name, in each task retired ones last; those that come
    `after` a place."""
    found = select(Dataset, DatasetVersion).outerjoin(DatasetVersion, DatasetVersion.id == Dataset.version_id)
    found = found.order_by(Dataset.task_id, RETIRED, Dataset.name).where(*sought.conditions())
    if after is None:
        return found
    task, retired, name = after
    later = RETIRED & (Dataset.name > name) if retired else or_(RETIRED, Dataset.name > name)
    return found.where(or_(Dataset.task_id > task, (Dataset.task_id == task) & later))


def counts(sought: Sought) -> Select[str, int]:
    """Return the number of datasets that match, by task."""
    found = select(Dataset.task_id, func.count()).where(*sought.conditions())
    return found.group_by(Dataset.task_id).order_by(Dataset.task_id)


def hidden(task: str) -> Select[int]:
    """Return the number of a task's datasets that are hidden and in use."""
    return select(func.count()).select_from(Dataset).where(
        Dataset.task_id == task, ~disclosure.datasets_with_counts(Dataset), Dataset.version_id.is_not(None),
        Dataset.retired_at.is_(None),
    )  # fmt: skip


def versions(dataset: int) -> Select[DatasetVersion]:
    """The versions of a dataset, newest first."""
    return select(DatasetVersion).where(DatasetVersion.dataset_id == dataset).order_by(DatasetVersion.number.desc())


def refused(job: str) -> Select[int]:
    """Return the number of rows that a reading refused."""
    return select(func.count()).select_from(RefusedRow).where(RefusedRow.job_id == job)


def acts(task: str) -> Select[Any]:
    """Return the audit log's entries about the visibility of a task's datasets."""
    return select(Act.subject).where(Act.task_id == task, Act.kind.in_(("dataset.added", "dataset.changed")))


def forget(person: int) -> Iterator[Update]:
    """Take a name off datasets and versions that somebody made: reads all of them, some hundred."""
    yield update(Dataset).where(Dataset.created_by == person).values(created_by=None)
    yield update(DatasetVersion).where(DatasetVersion.created_by == person).values(created_by=None)
