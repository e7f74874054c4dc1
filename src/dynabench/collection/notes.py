"""Notes and labels on examples, by and for owners and moderators: nobody else sees them, no export has them."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Executable, Select, select, update
from sqlalchemy.orm import Session

from dynabench.collection import eligibility, search, terms
from dynabench.collection.curation_tables import BulkAct, Label, Note
from dynabench.collection.tables import Example
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds

LONGEST, LABEL, MOST = 1000, 40, 20
Some = Callable[[Any], ColumnElement[bool]]


def clean_note(text: str) -> str:
    """A note; raises `Invalid` under `value`."""
    text = text.strip()
    if not 0 < len(text) <= LONGEST:
        raise errors.Invalid({"value": _("Write a note of at most %(longest)s characters.", longest=f"{LONGEST:,}")})
    return text


def clean_label(name: str) -> str:
    """A label in its normal form; raises `Invalid` under `value`."""
    name = " ".join(name.split())
    if not 0 < len(name) <= LABEL or not name.isprintable():
        raise errors.Invalid({"value": _("Give a label of at most %(label)s printable characters.", label=LABEL)})
    return name


def task_of(session: Session, person: Person | None, example_id: int) -> str:
    """The example's task, for its owners and moderators; others are not told whether there is such an example."""
    task_id = eligibility.known_round(session, person, example_id).task_id
    rounds.require(session, person, Action.MODERATE, task_id)
    return task_id


def add(session: Session, person: Person | None, example_id: int, text: str, at: datetime | None = None) -> Note:
    """Write a note (owners and moderators)."""
    text, task = clean_note(text), task_of(session, person, example_id)
    note = Note(example_id=example_id, text=text, by=person.id if person else None, at=at or now())
    session.add(note)
    session.flush()
    search.change(session, example_id, noted=True)
    rounds.record_act(session, person, "note.added", task=task, example=example_id, note=note.id)
    return note


def remove(session: Session, person: Person | None, example_id: int, note_id: int) -> None:
    """Take a note away (owners and moderators); twice changes nothing."""
    task = task_of(session, person, example_id)
    note = session.get(Note, note_id, with_for_update=True)
    if note is None or note.example_id != example_id:
        raise errors.NotFound(_("There is no such note."))
    if note.removed_at is None:
        note.removed_at = now()
        session.flush()
        search.change(session, example_id, noted=session.scalar(_standing([example_id]).limit(1)) is not None)
        rounds.record_act(session, person, "note.removed", task=task, example=example_id, note=note_id)


def label(session: Session, person: Person | None, example_id: int, name: str, on: bool = True) -> bool:
    """Put a label on an example, or take it off (owners and moderators); whether that changed anything."""
    name, task = clean_label(name), task_of(session, person, example_id)
    session.get(Example, example_id, with_for_update=True)  # labels are counted one at a time
    label_row = session.get(Label, (example_id, name))
    if (label_row is not None) == on:
        return False
    if label_row is not None:
        session.delete(label_row)
    else:
        if len(session.scalars(select(Label.name).where(Label.example_id == example_id)).all()) >= MOST:
            raise errors.Conflict(
                _("Example %(example_id)s has %(most)s labels. Remove one first.", example_id=example_id, most=MOST)
            )
        session.add(Label(example_id=example_id, name=name, by=person.id if person else None))
    session.flush()
    search.label(session, example_id, name, on)
    rounds.record_act(session, person, "label.put" if on else "label.taken", task=task, example=example_id, label=name)
    return True


def _standing(ids: Sequence[int]) -> Select[Note]:
    return select(Note).where(Note.example_id.in_(ids), Note.removed_at.is_(None)).order_by(Note.id)


@dataclass(frozen=True)
class NoteView:
    """A note as pages show it; `by` is empty for the operator and for a person who left."""

    id: int
    text: str
    by: str
    at: datetime


def read_notes_and_labels(
    session: Session, ids: Sequence[int]
) -> tuple[dict[int, list[NoteView]], dict[int, list[str]]]:
    """Return the notes and the labels of some examples, by example: two index ranges for each example."""
    notes: dict[int, list[NoteView]] = defaultdict(list)
    for note, by in session.execute(_standing(ids).add_columns(Person).outerjoin(Person, Person.id == Note.by)):
        notes[note.example_id].append(NoteView(note.id, note.text, by.public_name if by else "", note.at))
    labels: dict[int, list[str]] = defaultdict(list)
    for row in session.execute(
        select(Label.example_id, Label.name).where(Label.example_id.in_(ids)).order_by(Label.name)
    ):
        labels[row.example_id].append(row.name)
    return notes, labels


@dataclass(frozen=True)
class Marks:
    """The notes and labels that the index knows."""

    noted_ids: set[int]
    labels: dict[int, list[str]]


def marks(session: Session, some: Some) -> Marks:
    """Read the marks of some examples."""
    noted_ids = session.scalars(select(Note.example_id).where(Note.removed_at.is_(None), some(Note.example_id)))
    labels = defaultdict(list)
    for row in session.execute(select(Label.example_id, Label.name).where(some(Label.example_id))):
        labels[row.example_id].append(terms.facet(search.LABELLED, row.name))
    return Marks(set(noted_ids), labels)


def forget(person_id: int) -> Iterator[Executable]:
    """Statements after which notes, labels and bulk acts of a person who leaves have no author."""
    yield update(Note).where(Note.by == person_id).values(by=None)
    yield update(Label).where(Label.by == person_id).values(by=None)
    yield update(BulkAct).where(BulkAct.by == person_id).values(by=None)
