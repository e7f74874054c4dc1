"""Twins of datasets: asking for perturbed copies, replacing them, and who may look at them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session

from dynabench.adversaries import perturbations
from dynabench.datasets import waiting
from dynabench.datasets.copies import COPIES, MOST_COPIES
from dynabench.datasets.tables import Dataset, DatasetState, DatasetVersion, Twin
from dynabench.kit import errors, jobs
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import Disclosure
from dynabench.people.may import Action
from dynabench.rounds import service as rounds

KIND = "perturb_dataset"
AXES = ("fairness", "robustness")
MOST_SEED = 2**31 - 1


def current(version_id: int, axis: str) -> Select[Twin]:
    """The twin that counts: the newest that is ready and not replaced. One index range."""
    mine = select(Twin).where(Twin.version_id == version_id, Twin.axis == axis)
    return mine.where(Twin.state == DatasetState.READY, Twin.replaced_at.is_(None)).order_by(Twin.id.desc()).limit(1)


def newest(version_id: int, axis: str) -> Select[Twin]:
    """The twin that was asked for last, whatever became of it."""
    mine = select(Twin).where(Twin.version_id == version_id, Twin.axis == axis)
    return mine.order_by(Twin.id.desc()).limit(1)


def seen(session: Session, viewer: Person | None, task: str, name: str) -> tuple[Dataset, DatasetVersion, bool]:
    """A dataset with its ready version, and whether the viewer owns it; `NotFound` for others unless it is public."""
    mine = bool(may.may_in(session, viewer, Action.MANAGE_DATASETS, rounds.task(session, task).id))
    dataset = session.scalar(select(Dataset).where(Dataset.task_id == task, Dataset.name == name))
    if dataset is None or not (mine or Disclosure.of(viewer, dataset).rows):
        raise errors.NotFound(_("There is no dataset %(name)s of this task that you may see.", name=repr(name)))
    version = session.get(DatasetVersion, dataset.version_id) if dataset.version_id else None
    if version is None:
        raise errors.NotFound(_("This dataset has no rows yet. Its owner can see how its file is read."))
    return dataset, version, mine


def owned(session: Session, person: Person | None, task: str, name: str) -> tuple[Dataset, DatasetVersion]:
    """A dataset of one's task with its ready version."""
    rounds.require(session, person, Action.MANAGE_DATASETS, task)
    dataset = session.scalar(select(Dataset).where(Dataset.task_id == task, Dataset.name == name))
    version = session.get(DatasetVersion, dataset.version_id) if dataset and dataset.version_id else None
    if dataset is None or version is None:
        raise errors.NotFound(_("There is no dataset %(name)s of this task with rows.", name=repr(name)))
    return dataset, version


def ask(session: Session, version: DatasetVersion) -> list[Twin]:
    """Ask for the twins that the task's config names, of a version that became ready; what is there stays."""
    dataset = session.get_one(Dataset, version.dataset_id)
    wanted = rounds.newest_config(session, dataset.task_id).metrics.perturb
    return [
        _generate(session, version, axis, 0, (), COPIES, None)
        for axis in AXES
        if axis in wanted and session.scalar(newest(version.id, axis)) is None
    ]


def generate(
    session: Session, person: Person | None, task: str, name: str, axis: str, seed: int = 0,
    transformations: Sequence[str] = (), copies: int = COPIES,
) -> Twin:  # fmt: skip
    """Make an axis's twin anew (owners), by these transformations, or by all of the axis where none is named."""
    dataset, version = owned(session, person, task, name)
    wrong = {}
    if axis not in AXES:
        raise errors.Invalid({"axis": _("Choose %(axes)s.", axes=" or ".join(AXES))})
    if not 0 <= seed <= MOST_SEED:
        wrong["seed"] = _("Give a number from 0 to %(most_seed)s.", most_seed=MOST_SEED)
    if not 1 <= copies <= MOST_COPIES:
        wrong["copies"] = _("Give a number from 1 to %(most_copies)s.", most_copies=MOST_COPIES)
    if any(one.axis != axis for one in perturbations.find_transformations(transformations)):
        wrong["transformations"] = _("All of them must be transformations of %(axis)s.", axis=axis)
    if wrong:
        raise errors.Invalid(wrong)
    _none_under_way(session, version, axis)
    twin = _generate(session, version, axis, seed, transformations, copies, person)
    rounds.act(session, person, "twin.asked", task=task, dataset=dataset.name, axis=axis, seed=seed)
    return twin


def replace(
    session: Session, person: Person | None, settings: Settings, task: str, name: str, axis: str, file: Path
) -> Twin:
    """Put the rows of a file that waits (`waiting.keep`) in the place of an axis's twin (owners), once all are valid.

    What a row must be: see `twin_files.read`. The file is the job's from now on.
    """
    dataset, version = owned(session, person, task, name)
    if axis not in AXES:
        raise errors.Invalid({"axis": _("Choose %(axes)s.", axes=" or ".join(AXES))})
    _none_under_way(session, version, axis)
    twin = _new(session, version, axis, "uploaded", 0)
    taken = waiting.take(settings, file)
    _start(session, twin, person, {"file": str(taken), "name": waiting.named(file)})
    rounds.act(session, person, "twin.sent", task=task, dataset=dataset.name, axis=axis, file=waiting.named(file))
    return twin


def _none_under_way(session: Session, version: DatasetVersion, axis: str) -> None:
    last = session.scalar(newest(version.id, axis))
    if last is not None and last.state == DatasetState.READING:
        raise errors.Conflict(_("Copies of this axis are being made already. Wait until they are ready."))


def _generate(
    session: Session, version: DatasetVersion, axis: str, seed: int, names: Sequence[str], copies: int,
    person: Person | None,
) -> Twin:  # fmt: skip
    twin = _new(session, version, axis, "generated", seed)
    _start(
        session, twin, person, {"transformations": list(names) or perturbations.names_on_axis(axis), "copies": copies}
    )
    return twin


def _new(session: Session, version: DatasetVersion, axis: str, origin: str, seed: int) -> Twin:
    twin = Twin(version_id=version.id, axis=axis, origin=origin, seed=seed)
    session.add(twin)
    session.flush()
    return twin


def _start(session: Session, twin: Twin, person: Person | None, payload: dict[str, Any]) -> None:
    job = jobs.enqueue(session, KIND, {"twin": twin.id, **payload}, person.id if person else None)
    twin.job_id = job.id


def ready(session: Session, twin: Twin) -> None:
    """A twin whose rows are stored takes the place of those before it; the evaluations of its version get it."""
    twin.state = DatasetState.READY
    session.flush()
    mine = Twin.version_id == twin.version_id, Twin.axis == twin.axis, Twin.replaced_at.is_(None)
    session.execute(update(Twin).where(*mine, Twin.id < twin.id).values(replaced_at=now()))
    jobs.enqueue(session, "queue_evaluations", {"twin": twin.id})
