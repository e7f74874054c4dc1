"""Datasets of tasks: who sees them, what their owners may change, and how a version comes to be."""

import re
import secrets
from typing import Any

from sqlalchemy.orm import Session

from dynabench.datasets import library_queries as queries
from dynabench.datasets import twins
from dynabench.datasets.library_schemas import Change, Settled
from dynabench.datasets.stored import Written
from dynabench.datasets.tables import NAME, Dataset, DatasetState, DatasetVersion
from dynabench.kit import errors, jobs
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people import disclosure, may
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import Disclosure, lists_dataset
from dynabench.people.may import Action
from dynabench.people.notices import service as notices
from dynabench.people.notices import webhooks
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds

READ = "read_dataset"
RESERVED = ("files", "hub", "preview", "rounds")  # names that are addresses


def find(session: Session, viewer: Person | None, task: str, name: str) -> Dataset:
    """A dataset that the viewer may know of; `NotFound` for all others, hidden ones of other people among them."""
    rounds.task(session, task)
    found = session.scalar(queries.named(task, name))
    owner = bool(may.may_in(session, viewer, Action.MANAGE_DATASETS, task))
    if found is None or not lists_dataset(found, owner):
        raise errors.NotFound(
            _("Task %(task)s has no dataset %(name)s that you may see.", task=repr(task), name=repr(name))
        )
    return found


def owned(session: Session, person: Person | None, task: str, name: str) -> Dataset:
    """A dataset, for the task's owners."""
    rounds.require(session, person, Action.MANAGE_DATASETS, task)
    found = session.scalar(queries.named(task, name).with_for_update())
    if found is None:
        raise errors.NotFound(_("Task %(task)s has no dataset %(name)s.", task=repr(task), name=repr(name)))
    return found


def rows_for(session: Session, viewer: Person | None, task: str, name: str) -> DatasetVersion:
    """The version whose rows the viewer may have: of public datasets, after the task's warning. Raises `Forbidden`,
    also for owners: rows of other datasets leave by no way."""
    found = find(session, viewer, task, name)
    Disclosure.of(viewer, found).require_rows()
    if viewer is None and rounds.task_config(session, task).content_warning:
        raise errors.Unauthenticated(_("This task's contents come with a warning. Log in to see them."))
    if found.version_id is None:
        raise errors.NotFound(_("No version of this dataset is ready yet."))
    return session.get_one(DatasetVersion, found.version_id)


def sought(session: Session, viewer: Person | None, task: str = "", q: str = "") -> queries.Sought:
    """The datasets that the viewer may see, of a task or of all, with these words in name or title."""
    mine = list(session.scalars(round_queries.owned(viewer.id))) if viewer else []
    return queries.Sought(task, q.strip(), mine, bool(may.may(viewer, Action.SEE_EVERY_DATASET)))


def add(session: Session, person: Person | None, task: str, name: str, settled: Settled, **more: Any) -> Dataset:
    """A dataset without rows yet (owners). Raises `Invalid` under `name` where one is called so already."""
    rounds.require(session, person, Action.MANAGE_DATASETS, task)
    if not re.fullmatch(NAME, name) or name in RESERVED:
        raise errors.Invalid({"name": _("Use 2 to 62 small letters, digits and hyphens, such as news-2026.")})
    if session.scalar(queries.named(task, name)):
        raise errors.Invalid(
            {
                "name": _(
                    "There is a dataset %(name)s already: send it a new version, or choose a name.", name=repr(name)
                )
            }
        )
    values = settled.model_dump()
    found = Dataset(task_id=task, name=name, created_by=person.id if person else None, **(values | more))
    found.title = found.title or name
    session.add(found)
    session.flush()
    rounds.act(session, person, "dataset.added", task=task, dataset=name, visibility=found.visibility)
    return found


def draft(session: Session, person: Person | None, dataset: Dataset) -> DatasetVersion:
    """A new version that is being read. Raises `Conflict` while another one is, or where the dataset is retired."""
    if dataset.retired_at:
        raise errors.Conflict(_("This dataset is retired. Restore it before you send a new version."))
    newest = session.scalars(queries.versions(dataset.id).limit(1)).first()
    if newest and newest.state == DatasetState.READING:
        raise errors.Conflict(
            _("Version %(number)s is still being read. Wait until it has ended.", number=newest.number)
        )
    number = newest.number + 1 if newest else 1
    by = person.id if person else None
    made = DatasetVersion(dataset_id=dataset.id, number=number, created_by=by)
    session.add(made)
    session.flush()
    return made


def ready(session: Session, version_id: int, written: Written) -> DatasetVersion:
    """Let a version stand with its rows; every model of the task is evaluated on it. Done twice it is done once.

    A version whose rows are those of the current one fails: nothing changed.
    """
    version = session.get_one(DatasetVersion, version_id, with_for_update=True)
    if version.state != DatasetState.READING:
        return version
    dataset = session.get_one(Dataset, version.dataset_id, with_for_update=True)
    current = session.get_one(DatasetVersion, dataset.version_id) if dataset.version_id else None
    if current and current.digest == written.digest:
        return fail(
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
    rounds.act(session, actor, "dataset.ready", task=dataset.task_id, dataset=dataset.name, version=version.number)
    _announce(session, dataset, version)
    return version


def _announce(session: Session, dataset: Dataset, version: DatasetVersion) -> None:
    """Ask for what follows from a version that is ready, in its transaction."""
    page = f"/tasks/{dataset.task_id}/datasets/{dataset.name}"
    told = {"task": dataset.task_id, "dataset": dataset.name, "title": dataset.title, "visibility": dataset.visibility}
    webhooks.emit_event(session, dataset.task_id, "dataset.ready", {**told, "version": version.number, "page": page})
    _tell(
        session,
        dataset,
        version,
        _("Version %(number)s of %(title)s is ready.", number=version.number, title=dataset.title),
    )
    if dataset.kind == "pool":
        jobs.enqueue(session, "enter_baselines", {"task": dataset.task_id})
        return
    twins.ask(session, version)
    jobs.enqueue(session, "queue_evaluations", {"dataset": dataset.id}, version.created_by)


def fail(session: Session, version_id: int, reason: str) -> DatasetVersion:
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


def change(session: Session, person: Person | None, task: str, name: str, wanted: Change) -> str:
    """Change what is given of a dataset (owners), with an entry in the audit log; a warning, or nothing.

    Raises `Invalid` under the field, `Conflict` where it would show what is hidden for good.
    """
    found = owned(session, person, task, name)
    given = {key: value for key, value in wanted.model_dump(exclude={"retired"}).items() if value is not None}
    changed = {key: value for key, value in given.items() if getattr(found, key) != value}
    if "visibility" in changed:
        _keep_secret(found)
    warning = ""
    hides = "visibility" in changed and Disclosure.at_most(changed["visibility"]).hidden
    if hides and was_public(session, found):
        warning = _(
            "This dataset was public: anyone who has its rows keeps them, so scores on it say less from now on."
        )
    for key, value in changed.items():
        setattr(found, key, value)
    if wanted.retired is not None and wanted.retired != (found.retired_at is not None):
        found.retired_at = now() if wanted.retired else None
        changed["retired"] = wanted.retired
    if changed:
        told = {key: value for key, value in changed.items() if key in ("visibility", "weight", "retired")}
        rounds.act(session, person, "dataset.changed", task=task, dataset=name, fields=sorted(changed), **told)
    if changed.get("retired") is False and found.version_id:
        _announce(session, found, session.get_one(DatasetVersion, found.version_id))
    return warning


def _keep_secret(dataset: Dataset) -> None:
    if disclosure.is_hidden_for_good(dataset):
        raise errors.Conflict(_("This dataset has rows of the hidden part of a release, which is hidden for good."))


def was_public(session: Session, dataset: Dataset) -> bool:
    """Return whether the rows of a dataset are or ever were available to everybody."""
    acts = [act for act in session.scalars(queries.acts(dataset.task_id)) if act.get("dataset") == dataset.name]
    visibilities = [dataset.visibility, *(act["visibility"] for act in acts if "visibility" in act)]
    return any(Disclosure.at_most(visibility).rows for visibility in visibilities)


def citation(dataset: Dataset, version: DatasetVersion, address: str) -> str:
    """A BibTeX entry that names the very rows by their digest."""
    title = re.sub(r"[\\{}\s]+", " ", dataset.title)
    return (
        f"@misc{{{dataset.task_id}-{dataset.name}-v{version.number},\n"
        f"  title = {{{title}}},\n  howpublished = {{Dynabench, task {dataset.task_id}, version {version.number}}},\n"
        f"  year = {{{version.created_at.year}}},\n  url = {{{address}}},\n  note = {{sha256:{version.digest}}}\n}}"
    )


def fresh_name(session: Session, task: str, wanted: str) -> str:
    """A name like `wanted` that is free in the task."""
    plain = re.sub(r"[^a-z0-9]+", "-", wanted.lower()).strip("-")[:50].strip("-")
    name = plain if re.fullmatch(NAME, plain) and plain not in RESERVED else "dataset"
    while session.scalar(queries.named(task, name)):
        name = f"{name[:50]}-{secrets.token_hex(2)}"
    return name


def forget(session: Session, person_id: int) -> None:
    """Remove the name of a person who leaves from the datasets that they made.

    The datasets stay with their tasks.
    """
    for statement in queries.forget(person_id):
        session.execute(statement)
