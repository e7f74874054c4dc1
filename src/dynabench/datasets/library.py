"""Every select of datasets and their versions."""

import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, Update, func, or_, select, update
from sqlalchemy.orm import Session

from dynabench.datasets import twins
from dynabench.datasets.schemas import DatasetChange, DatasetSettings
from dynabench.datasets.stored import WrittenRows
from dynabench.datasets.tables import NAME, Dataset, DatasetState, DatasetVersion
from dynabench.kit import errors, jobs
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people import disclosure, may
from dynabench.people.accounts.tables import Act, Person
from dynabench.people.disclosure import Disclosure, lists_dataset
from dynabench.people.may import Action
from dynabench.people.notices import service as notices
from dynabench.people.notices import webhooks
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import RefusedRow

DatasetRows = Select[Dataset, DatasetVersion | None]
Place = tuple[str, bool, str]
"""Where a dataset stands in a list: its task, whether it is retired, its name."""
RETIRED = Dataset.retired_at.is_not(None)


def dataset_named(task: str, name: str) -> Select[Dataset]:
    """A dataset by its name."""
    return select(Dataset).where(Dataset.task_id == task, Dataset.name == name)


def dataset_of_round(round_id: int) -> Select[Dataset]:
    """The dataset that was made of a round."""
    return select(Dataset).where(Dataset.round_id == round_id)


@dataclass(frozen=True)
class DatasetFilter:
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


def list_datasets(sought: DatasetFilter, after: Place | None = None) -> DatasetRows:
    """Datasets with their newest ready version, by task and name, in each task retired ones last; those that come
    `after` a place."""
    statement = select(Dataset, DatasetVersion).outerjoin(DatasetVersion, DatasetVersion.id == Dataset.version_id)
    statement = statement.order_by(Dataset.task_id, RETIRED, Dataset.name).where(*sought.conditions())
    if after is None:
        return statement
    task, retired, name = after
    later = RETIRED & (Dataset.name > name) if retired else or_(RETIRED, Dataset.name > name)
    return statement.where(or_(Dataset.task_id > task, (Dataset.task_id == task) & later))


def count_by_task(sought: DatasetFilter) -> Select[str, int]:
    """Return the number of datasets that match, by task."""
    statement = select(Dataset.task_id, func.count()).where(*sought.conditions())
    return statement.group_by(Dataset.task_id).order_by(Dataset.task_id)


def count_hidden(task: str) -> Select[int]:
    """Return the number of a task's datasets that are hidden and in use."""
    return select(func.count()).select_from(Dataset).where(
        Dataset.task_id == task, ~disclosure.datasets_with_counts(Dataset), Dataset.version_id.is_not(None),
        Dataset.retired_at.is_(None),
    )  # fmt: skip


def dataset_versions(dataset: int) -> Select[DatasetVersion]:
    """The versions of a dataset, newest first."""
    return select(DatasetVersion).where(DatasetVersion.dataset_id == dataset).order_by(DatasetVersion.number.desc())


def count_refused(job: str) -> Select[int]:
    """Return the number of rows that a reading refused."""
    return select(func.count()).select_from(RefusedRow).where(RefusedRow.job_id == job)


def visibility_acts(task: str) -> Select[Any]:
    """Return the audit log's entries about the visibility of a task's datasets."""
    return select(Act.subject).where(Act.task_id == task, Act.kind.in_(("dataset.added", "dataset.changed")))


def forget_statements(person: int) -> Iterator[Update]:
    """Take a name off datasets and versions that a person made: reads all of them, some hundred."""
    yield update(Dataset).where(Dataset.created_by == person).values(created_by=None)
    yield update(DatasetVersion).where(DatasetVersion.created_by == person).values(created_by=None)


READ_KIND = "read_dataset"
RESERVED_NAMES = ("files", "hub", "preview", "rounds")  # names that are addresses


def find_dataset(session: Session, viewer: Person | None, task: str, name: str) -> Dataset:
    """A dataset that the viewer may know of; `NotFound` for all others, hidden ones of other people among them."""
    rounds.get_task(session, task)
    dataset = session.scalar(dataset_named(task, name))
    owner = bool(may.may_in(session, viewer, Action.MANAGE_DATASETS, task))
    if dataset is None or not lists_dataset(dataset, owner):
        raise errors.NotFound(
            _("Task %(task)s has no dataset %(name)s that you can see.", task=repr(task), name=repr(name))
        )
    return dataset


def owned_dataset(session: Session, person: Person | None, task: str, name: str) -> Dataset:
    """A dataset, for the task's owners."""
    rounds.require(session, person, Action.MANAGE_DATASETS, task)
    dataset = session.scalar(dataset_named(task, name).with_for_update())
    if dataset is None:
        raise errors.NotFound(_("Task %(task)s has no dataset %(name)s.", task=repr(task), name=repr(name)))
    return dataset


def readable_version(session: Session, viewer: Person | None, task: str, name: str) -> DatasetVersion:
    """The version whose rows the viewer may have: of public datasets, after the task's warning. Raises `Forbidden`,
    also for owners: rows of other datasets leave by no way."""
    dataset = find_dataset(session, viewer, task, name)
    Disclosure.of(viewer, dataset).require_rows()
    if viewer is None and rounds.task_config(session, task).content_warning:
        raise errors.Unauthenticated(_("This task has a content warning. Log in to see it."))
    if dataset.version_id is None:
        raise errors.NotFound(_("No version of this dataset is ready yet."))
    return session.get_one(DatasetVersion, dataset.version_id)


def dataset_filter(session: Session, viewer: Person | None, task: str = "", q: str = "") -> DatasetFilter:
    """The datasets that the viewer may see, of a task or of all, with these words in name or title."""
    mine = list(session.scalars(round_queries.owned_tasks(viewer.id))) if viewer else []
    return DatasetFilter(task, q.strip(), mine, bool(may.may(viewer, Action.SEE_EVERY_DATASET)))


def add_dataset(
    session: Session, person: Person | None, task: str, name: str, settled: DatasetSettings, **more: Any
) -> Dataset:
    """A dataset without rows yet (owners). Raises `Invalid` under `name` where one is called so already."""
    rounds.require(session, person, Action.MANAGE_DATASETS, task)
    if not re.fullmatch(NAME, name) or name in RESERVED_NAMES:
        raise errors.Invalid({"name": _("Use 2 to 62 lowercase letters, digits and hyphens, such as news-2026.")})
    if session.scalar(dataset_named(task, name)):
        raise errors.Invalid(
            {
                "name": _(
                    "A dataset %(name)s already exists: upload a new version or choose another name.", name=repr(name)
                )
            }
        )
    values = settled.model_dump()
    dataset = Dataset(task_id=task, name=name, created_by=person.id if person else None, **(values | more))
    dataset.title = dataset.title or name
    session.add(dataset)
    session.flush()
    rounds.record_act(session, person, "dataset.added", task=task, dataset=name, visibility=dataset.visibility)
    return dataset


def draft_version(session: Session, person: Person | None, dataset: Dataset) -> DatasetVersion:
    """A new version that is being read. Raises `Conflict` while another one is, or where the dataset is retired."""
    if dataset.retired_at:
        raise errors.Conflict(_("This dataset is retired. Restore it before you upload a new version."))
    newest = session.scalars(dataset_versions(dataset.id).limit(1)).first()
    if newest and newest.state == DatasetState.READING:
        raise errors.Conflict(_("Version %(number)s is still being read. Wait until it is done.", number=newest.number))
    number = newest.number + 1 if newest else 1
    by = person.id if person else None
    version = DatasetVersion(dataset_id=dataset.id, number=number, created_by=by)
    session.add(version)
    session.flush()
    return version


def publish_version(session: Session, version_id: int, written: WrittenRows) -> DatasetVersion:
    """Let a version stand with its rows; every model of the task is evaluated on it. Done twice it is done once.

    A version whose rows are those of the current one fails: nothing changed.
    """
    version = session.get_one(DatasetVersion, version_id, with_for_update=True)
    if version.state != DatasetState.READING:
        return version
    dataset = session.get_one(Dataset, version.dataset_id, with_for_update=True)
    current = session.get_one(DatasetVersion, dataset.version_id) if dataset.version_id else None
    if current and current.digest == written.digest:
        return fail_version(
            session, version_id, _("Nothing changed: these are the rows of version %(number)s.", number=current.number)
        )
    version.state, version.digest, version.rows, version.slices = (
        DatasetState.READY,
        written.digest,
        written.rows,
        written.tags,
    )
    dataset.version_id = version.id
    session.flush()
    actor = session.get(Person, version.created_by) if version.created_by else None
    rounds.record_act(
        session, actor, "dataset.ready", task=dataset.task_id, dataset=dataset.name, version=version.number
    )
    _announce(session, dataset, version)
    return version


def _announce(session: Session, dataset: Dataset, version: DatasetVersion) -> None:
    """Ask for what follows from a version that is ready, in its transaction."""
    page = f"/tasks/{dataset.task_id}/datasets/{dataset.name}"
    subject = {
        "task": dataset.task_id,
        "dataset": dataset.name,
        "title": dataset.title,
        "visibility": dataset.visibility,
    }
    webhooks.emit_event(session, dataset.task_id, "dataset.ready", {**subject, "version": version.number, "page": page})
    _tell(
        session,
        dataset,
        version,
        _("Version %(number)s of %(title)s is ready.", number=version.number, title=dataset.title),
    )
    if dataset.kind == "pool":
        jobs.enqueue(session, "enter_baselines", {"task": dataset.task_id})
        return
    twins.request_twins(session, version)
    jobs.enqueue(session, "queue_evaluations", {"dataset": dataset.id}, version.created_by)


def fail_version(session: Session, version_id: int, reason: str) -> DatasetVersion:
    """Let a version fail; the current one stays."""
    version = session.get_one(DatasetVersion, version_id, with_for_update=True)
    if version.state == DatasetState.READING:
        version.state, version.reason = DatasetState.FAILED, reason[:2000]
        dataset = session.get_one(Dataset, version.dataset_id)
        text = f"Version {version.number} of {dataset.title} could not be read"
        _tell(session, dataset, version, f"{text}: {version.reason}"[:500], f"{text}.")
    return version


def _tell(session: Session, dataset: Dataset, version: DatasetVersion, text: str, outside: str = "") -> None:
    """Tell who sent the version; why it failed may quote rows, which leave for no mail."""
    if version.created_by is not None:
        link = f"/tasks/{dataset.task_id}/datasets/{dataset.name}"
        notices.notify_person(session, version.created_by, "dataset", text, link=link, outside=outside)


def change_dataset(session: Session, person: Person | None, task: str, name: str, change: DatasetChange) -> str:
    """Change what is given of a dataset (owners), with an entry in the audit log; a warning, or nothing.

    Raises `Invalid` under the field, `Conflict` where it would show what is hidden for good.
    """
    dataset = owned_dataset(session, person, task, name)
    values = {key: value for key, value in change.model_dump(exclude={"retired"}).items() if value is not None}
    changed = {key: value for key, value in values.items() if getattr(dataset, key) != value}
    if "visibility" in changed and disclosure.is_hidden_for_good(dataset):
        raise errors.Conflict(_("This dataset has rows from the hidden part of a release, which stays hidden forever."))
    warning = ""
    hides = "visibility" in changed and Disclosure.at_most(changed["visibility"]).hidden
    if hides and was_public(session, dataset):
        warning = _("This dataset was public: anyone may have its rows, so scores on it mean less from now on.")
    for key, value in changed.items():
        setattr(dataset, key, value)
    if change.retired is not None and change.retired != (dataset.retired_at is not None):
        dataset.retired_at = now() if change.retired else None
        changed["retired"] = change.retired
    if changed:
        logged = {key: value for key, value in changed.items() if key in ("visibility", "weight", "retired")}
        rounds.record_act(session, person, "dataset.changed", task=task, dataset=name, fields=sorted(changed), **logged)
    if changed.get("retired") is False and dataset.version_id:
        _announce(session, dataset, session.get_one(DatasetVersion, dataset.version_id))
    return warning


def was_public(session: Session, dataset: Dataset) -> bool:
    """Return whether the rows of a dataset are or ever were available to everybody."""
    acts = [act for act in session.scalars(visibility_acts(dataset.task_id)) if act.get("dataset") == dataset.name]
    visibilities = [dataset.visibility, *(act["visibility"] for act in acts if "visibility" in act)]
    return any(Disclosure.at_most(visibility).rows for visibility in visibilities)


def bibtex_entry(dataset: Dataset, version: DatasetVersion, address: str) -> str:
    """A BibTeX entry that names the very rows by their digest."""
    title = re.sub(r"[\\{}\s]+", " ", dataset.title)
    return (
        f"@misc{{{dataset.task_id}-{dataset.name}-v{version.number},\n"
        f"  title = {{{title}}},\n  howpublished = {{Dynabench, task {dataset.task_id}, version {version.number}}},\n"
        f"  year = {{{version.created_at.year}}},\n  url = {{{address}}},\n  note = {{sha256:{version.digest}}}\n}}"
    )


def fresh_name(session: Session, task: str, title: str) -> str:
    """A name like `wanted` that is free in the task."""
    plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:50].strip("-")
    name = plain if re.fullmatch(NAME, plain) and plain not in RESERVED_NAMES else "dataset"
    while session.scalar(dataset_named(task, name)):
        name = f"{name[:50]}-{secrets.token_hex(2)}"
    return name


def forget_person(session: Session, person_id: int) -> None:
    """Remove the name of a person who leaves from the datasets that they made.

    The datasets stay with their tasks.
    """
    for statement in forget_statements(person_id):
        session.execute(statement)
