"""Doing one thing to many examples at once, and undoing it."""

from collections.abc import Collection, Sequence
from typing import Literal

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from dynabench.collection import notes, projections, withdrawal
from dynabench.collection.curation_tables import BulkAct, BulkMember, Note
from dynabench.collection.tables import Example, Standing
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.validation import moderation, queries

Kind = Literal["hide", "restore", "flag", "label", "unlabel", "note"]
MOST = 1000
"""Examples at once: one transaction, in which others wait to write and to vote on them."""
UNDO: dict[str, Kind] = {"hide": "restore", "restore": "hide", "label": "unlabel", "unlabel": "label"}
SOME = 500  # ids named in one statement


def act(session: Session, person: Person | None, task_id: str, kind: Kind, value: str, ids: Collection[int]) -> BulkAct:
    """Do something to examples of a task (owners and moderators); `value` is the reason, the label or the note.

    Hiding stands for taking out what others wrote: it can be undone, which a retraction by its author cannot.
    """
    rounds.require(session, person, Action.MODERATE, task_id)
    example_ids = sorted(set(ids))
    if not 0 < len(example_ids) <= MOST:
        raise errors.Invalid({"ids": _("Choose 1 to %(most)s examples.", most=f"{MOST:,}")})
    value = _clean(kind, value)
    if len(existing_ids := _of_task(session, task_id, example_ids)) < len(example_ids):
        raise errors.NotFound(
            _(
                "Task %(task_id)s has no example %(wanted)s.",
                task_id=repr(task_id),
                wanted=min(set(example_ids) - existing_ids),
            )
        )
    bulk_act = BulkAct(task_id=task_id, kind=kind, value=value, by=person.id if person else None, at=now())
    session.add(bulk_act)
    session.flush()
    # All of them before anything changes, in the order of their ids: nobody waits in a circle.
    for example_id in example_ids:
        projections.locked(session, example_id)
    changed = [
        example_id for example_id in example_ids if _change_example(session, person, kind, value, example_id, bulk_act)
    ]
    if changed:
        rows = [{"bulk_id": bulk_act.id, "example_id": example_id} for example_id in changed]
        session.execute(insert(BulkMember), rows)
    rounds.record_act(
        session, person, "examples.bulk", task=task_id, bulk=bulk_act.id, act=kind, value=value, changed=len(changed)
    )
    return bulk_act


def _clean(kind: Kind, value: str) -> str:
    if kind in ("label", "unlabel"):
        return notes.clean_label(value)
    return notes.clean_note(value) if kind == "note" else people.clean_reason(value, "value")


def _of_task(session: Session, task_id: str, ids: Sequence[int]) -> set[int]:
    existing_ids: set[int] = set()
    for start in range(0, len(ids), SOME):
        some = select(Example.id).join(Round, Round.id == Example.round_id).where(Round.task_id == task_id)
        existing_ids.update(session.scalars(some.where(Example.id.in_(ids[start : start + SOME]))))
    return existing_ids


def _change_example(
    session: Session, person: Person | None, kind: Kind, value: str, id: int, bulk_act: BulkAct
) -> bool:
    if kind in ("hide", "restore"):
        was = session.get_one(Standing, id).hidden
        (withdrawal.hide if kind == "hide" else withdrawal.restore)(session, person, id, value)
        return was != (kind == "hide")
    if kind in ("label", "unlabel"):
        return notes.label(session, person, id, value, kind == "label")
    if kind == "note":
        notes.add(session, person, id, value, bulk_act.at)
        return True
    before = _review(session, id)
    moderation.reopen(session, person, id, value)
    return before != "waiting"


def _review(session: Session, id: int) -> str:
    return moderation.review(session, id, session.scalars(queries.votes(id)).all())


def read_bulk_act(session: Session, person: Person | None, task_id: str, id: int) -> tuple[BulkAct, list[int]]:
    """A bulk act of the task with the examples that it changed (owners and moderators)."""
    rounds.require(session, person, Action.MODERATE, task_id)
    bulk_act = session.get(BulkAct, id)
    if bulk_act is None or bulk_act.task_id != task_id:
        raise errors.NotFound(_("There is no such action."))
    members = select(BulkMember.example_id).where(BulkMember.bulk_id == id).order_by(BulkMember.example_id)
    return bulk_act, list(session.scalars(members))


def undo(session: Session, person: Person | None, task_id: str, id: int) -> int:
    """Undo a bulk act where it stands still; how many examples it had changed. Twice changes nothing."""
    read_bulk_act(session, person, task_id, id)
    bulk_act = session.get_one(BulkAct, id, with_for_update=True, populate_existing=True)
    _, ids = read_bulk_act(session, person, task_id, id)
    if bulk_act.undone_at is not None:
        return len(ids)
    bulk_act.undone_at = now()
    for example_id in ids:
        projections.locked(session, example_id)
    for example_id in ids:
        _back(session, person, bulk_act, example_id)
    rounds.record_act(
        session, person, "examples.bulk_undone", task=task_id, bulk=id, act=bulk_act.kind, changed=len(ids)
    )
    return len(ids)


def _back(session: Session, person: Person | None, bulk_act: BulkAct, id: int) -> None:
    if bulk_act.kind in UNDO:
        _change_example(
            session, person, UNDO[bulk_act.kind], bulk_act.value if "label" in bulk_act.kind else "undone", id, bulk_act
        )
    elif bulk_act.kind == "note":
        mine = (Note.example_id == id, Note.text == bulk_act.value, Note.at == bulk_act.at, Note.removed_at.is_(None))
        for note in session.scalars(select(Note).where(*mine)):
            notes.remove(session, person, id, note.id)
    elif _review(session, id) == "waiting":
        moderation.dismiss(session, person, id, "undone")
