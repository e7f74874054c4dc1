"""Perturbed copies of one row: its texts changed, its answers kept true."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session

from dynabench.adversaries import perturbations
from dynabench.adversaries.perturbations import EditedText, Span, Transformation, generator
from dynabench.datasets.stored import StoredRow
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
from dynabench.rounds import uploaded_files
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Spans, Text

DEFAULT_COPIES = 2
"""Copies of each row on each axis where nothing else is said: every copy costs a model's answer."""
MOST_COPIES = 30


@dataclass(frozen=True)
class CopyFields:
    """The fields whose values may change in copies of a task's rows.

    `lengths` gives the most code points of each text field that models get. `marks` gives, for each answer
    field with spans, the text field that it marks. `written` has the answer fields that are free text.
    """

    lengths: Mapping[str, int]
    marks: Mapping[str, str]
    written: frozenset[str]

    @classmethod
    def of(cls, config: TaskConfig) -> "CopyFields":
        """By a task's config."""
        texts = [field for field in (*config.context, *config.input) if isinstance(field, Text)]
        return cls(
            {field.name: field.max_length for field in texts},
            {field.name: field.of for field in config.answer if isinstance(field, Spans)},
            frozenset(field.name for field in config.answer if isinstance(field, Text)),
        )

    def texts(self, row: StoredRow) -> dict[str, str]:
        """The row's texts by field; a picture sent as text is none."""
        values = {name: row.inputs.get(name) for name in self.lengths}
        return {name: text for name, text in values.items() if isinstance(text, str) and not text.startswith("data:")}

    def marked(self, row: StoredRow) -> dict[str, list[Span]]:
        """The spans of each text field that some acceptable answer marks."""
        spans: dict[str, list[Span]] = {}
        for answer in row.answers:
            for name, text_field in self.marks.items():
                spans.setdefault(text_field, []).extend((span["start"], span["end"]) for span in answer.get(name) or ())
        return spans


def perturbed_copies(
    row: StoredRow, fields: CopyFields, chosen: Sequence[Transformation], seed: int, most: int = DEFAULT_COPIES
) -> Iterator[StoredRow]:
    """Up to `most` copies of a row, each by another transformation, drawn by the seed and the row's uid alone.

    A span's text in a copy is what the changed text has at its place. A copy that would be too long for its field, or
    whose answer one cannot be sure of, is not made.
    """
    texts, marked = fields.texts(row), fields.marked(row)
    written = any(answer.get(name) for answer in row.answers for name in fields.written)
    count = 0
    for transformation in _shuffled(chosen, generator(seed, row.uid, "order")):
        if count == most:
            return
        if transformation.axis == "fairness" and written:
            continue  # what was written in answer may speak of those whose names and words would be changed
        locked = marked if transformation.axis == "robustness" else {}
        edited = transformation.apply(texts, generator(seed, row.uid, transformation.name), locked)
        if edited and (copy := _copy(row, fields, transformation.name, edited)) is not None:
            count += 1
            yield copy


def _shuffled(chosen: Sequence[Transformation], rng: Random) -> Iterator[Transformation]:
    """All of them in the order of `rng.sample(chosen, len(chosen))`, drawn as they are asked for: few are."""
    pool = list(chosen)
    for remaining in range(len(pool), 0, -1):
        at = rng.randrange(remaining)
        yield pool[at]
        pool[at] = pool[remaining - 1]


def _copy(
    row: StoredRow, fields: CopyFields, transformation: str, edited: Mapping[str, EditedText]
) -> StoredRow | None:
    if any(len(text.text) > fields.lengths[name] for name, text in edited.items()):
        return None
    answers = tuple(_moved_answer(answer, fields, edited) for answer in row.answers)
    if any(answer is None for answer in answers):
        return None
    return StoredRow(
        uid=f"{row.uid}#{transformation}",
        inputs={**row.inputs, **{name: text.text for name, text in edited.items()}},
        answers=tuple(answer for answer in answers if answer is not None),
        tags=row.tags,
        original_uid=row.uid,
        transformation=transformation,
    )


def _moved_answer(
    answer: Mapping[str, Any], fields: CopyFields, edited: Mapping[str, EditedText]
) -> dict[str, Any] | None:
    """The answer with its spans where they are now; None where an edit reaches across a border of one."""
    new = dict(answer)
    for name, text_field in fields.marks.items():
        if text_field not in edited or not answer.get(name):
            continue
        moved = [edited[text_field].span(span["start"], span["end"]) for span in answer[name]]
        if any(span is None for span in moved):
            return None
        new[name] = [{"start": s[0], "end": s[1], "text": edited[text_field].text[s[0] : s[1]]} for s in moved if s]
    return new


PERTURB_KIND = "perturb_dataset"
AXES = ("fairness", "robustness")
MOST_SEED = 2**31 - 1


def current_twin(version_id: int, axis: str) -> Select[Twin]:
    """The twin that counts: the newest that is ready and not replaced. One index range."""
    mine = select(Twin).where(Twin.version_id == version_id, Twin.axis == axis)
    return mine.where(Twin.state == DatasetState.READY, Twin.replaced_at.is_(None)).order_by(Twin.id.desc()).limit(1)


def newest_twin(version_id: int, axis: str) -> Select[Twin]:
    """The twin that was asked for last, whatever became of it."""
    mine = select(Twin).where(Twin.version_id == version_id, Twin.axis == axis)
    return mine.order_by(Twin.id.desc()).limit(1)


def visible_version(
    session: Session, viewer: Person | None, task: str, name: str
) -> tuple[Dataset, DatasetVersion, bool]:
    """A dataset with its ready version, and whether the viewer owns it; `NotFound` for others unless it is public."""
    mine = bool(may.may_in(session, viewer, Action.MANAGE_DATASETS, rounds.get_task(session, task).id))
    dataset = session.scalar(select(Dataset).where(Dataset.task_id == task, Dataset.name == name))
    if dataset is None or not (mine or Disclosure.of(viewer, dataset).rows):
        raise errors.NotFound(_("This task has no dataset %(name)s that you can see.", name=repr(name)))
    version = session.get(DatasetVersion, dataset.version_id) if dataset.version_id else None
    if version is None:
        raise errors.NotFound(_("This dataset has no rows yet. Its owner can see the import's progress."))
    return dataset, version, mine


def owned_version(session: Session, person: Person | None, task: str, name: str) -> tuple[Dataset, DatasetVersion]:
    """A dataset of one's task with its ready version."""
    rounds.require(session, person, Action.MANAGE_DATASETS, task)
    dataset = session.scalar(select(Dataset).where(Dataset.task_id == task, Dataset.name == name))
    version = session.get(DatasetVersion, dataset.version_id) if dataset and dataset.version_id else None
    if dataset is None or version is None:
        raise errors.NotFound(_("This task has no dataset %(name)s with rows.", name=repr(name)))
    return dataset, version


def request_twins(session: Session, version: DatasetVersion) -> list[Twin]:
    """Ask for the twins that the task's config names, of a version that became ready; what is there stays."""
    dataset = session.get_one(Dataset, version.dataset_id)
    axes = rounds.newest_config(session, dataset.task_id).metrics.perturb
    return [
        _generate(session, version, axis, 0, (), DEFAULT_COPIES, None)
        for axis in AXES
        if axis in axes and session.scalar(newest_twin(version.id, axis)) is None
    ]


def generate_twin(
    session: Session, person: Person | None, task: str, name: str, axis: str, seed: int = 0,
    transformations: Sequence[str] = (), copies: int = DEFAULT_COPIES,
) -> Twin:  # fmt: skip
    """Make an axis's twin anew (owners), by these transformations, or by all of the axis where none is named."""
    dataset, version = owned_version(session, person, task, name)
    wrong = {}
    if axis not in AXES:
        raise errors.Invalid({"axis": _("Choose %(axes)s.", axes=" or ".join(AXES))})
    if not 0 <= seed <= MOST_SEED:
        wrong["seed"] = _("Give a number from 0 to %(most_seed)s.", most_seed=MOST_SEED)
    if not 1 <= copies <= MOST_COPIES:
        wrong["copies"] = _("Give a number from 1 to %(most_copies)s.", most_copies=MOST_COPIES)
    if any(transformation.axis != axis for transformation in perturbations.find_transformations(transformations)):
        wrong["transformations"] = _("All of them must be transformations of %(axis)s.", axis=axis)
    if wrong:
        raise errors.Invalid(wrong)
    _require_none_running(session, version, axis)
    twin = _generate(session, version, axis, seed, transformations, copies, person)
    rounds.record_act(session, person, "twin.asked", task=task, dataset=dataset.name, axis=axis, seed=seed)
    return twin


def replace_twin(
    session: Session, person: Person | None, settings: Settings, task: str, name: str, axis: str, file: Path
) -> Twin:
    """Put the rows of a file that waits (`waiting.keep`) in the place of an axis's twin (owners), once all are valid.

    What a row must be: see `twin_files.read`. The file is the job's from now on.
    """
    dataset, version = owned_version(session, person, task, name)
    if axis not in AXES:
        raise errors.Invalid({"axis": _("Choose %(axes)s.", axes=" or ".join(AXES))})
    _require_none_running(session, version, axis)
    twin = _add_twin(session, version, axis, "uploaded", 0)
    claimed = uploaded_files.claim_named_upload(settings, file)
    _enqueue_twin(session, twin, person, {"file": str(claimed), "name": uploaded_files.original_name(file)})
    rounds.record_act(
        session,
        person,
        "twin.sent",
        task=task,
        dataset=dataset.name,
        axis=axis,
        file=uploaded_files.original_name(file),
    )
    return twin


def _require_none_running(session: Session, version: DatasetVersion, axis: str) -> None:
    last = session.scalar(newest_twin(version.id, axis))
    if last is not None and last.state == DatasetState.READING:
        raise errors.Conflict(_("Copies of this axis are already being made. Wait until they are ready."))


def _generate(
    session: Session, version: DatasetVersion, axis: str, seed: int, names: Sequence[str], copies: int,
    person: Person | None,
) -> Twin:  # fmt: skip
    twin = _add_twin(session, version, axis, "generated", seed)
    _enqueue_twin(
        session, twin, person, {"transformations": list(names) or perturbations.names_on_axis(axis), "copies": copies}
    )
    return twin


def _add_twin(session: Session, version: DatasetVersion, axis: str, origin: str, seed: int) -> Twin:
    twin = Twin(version_id=version.id, axis=axis, origin=origin, seed=seed)
    session.add(twin)
    session.flush()
    return twin


def _enqueue_twin(session: Session, twin: Twin, person: Person | None, payload: dict[str, Any]) -> None:
    job = jobs.enqueue(session, PERTURB_KIND, {"twin": twin.id, **payload}, person.id if person else None)
    twin.job_id = job.id


def publish_twin(session: Session, twin: Twin) -> None:
    """A twin whose rows are stored takes the place of those before it; the evaluations of its version get it."""
    twin.state = DatasetState.READY
    session.flush()
    mine = Twin.version_id == twin.version_id, Twin.axis == twin.axis, Twin.replaced_at.is_(None)
    session.execute(update(Twin).where(*mine, Twin.id < twin.id).values(replaced_at=now()))
    jobs.enqueue(session, "queue_evaluations", {"twin": twin.id})
