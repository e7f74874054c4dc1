"""Control items in an archive, with the answers to them and the decisions that followed.

An item that is an example names it; one whose example is withdrawn, hidden or withheld is left out, with its answers.
Places in which controls stand now are left out too: the people of an archive check nothing.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, RootModel
from sqlalchemy import func, select
from sqlalchemy.orm import aliased

from dynabench.collection import queries as collected
from dynabench.collection.tables import Example
from dynabench.datasets.archives.layout import ArchivePart
from dynabench.datasets.archives.records import PERSON, UNSTORED, RecordSource, RecordTarget
from dynabench.datasets.rows import Moment, format_moment
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.validation.controls.tables import (
    Consequence,
    ControlAnswer,
    ControlDecision,
    ControlItem,
    ControlKind,
)
from dynabench.validation.tables import Undo, Validation

Name = Annotated[str, Field(max_length=200)]
Uid = Annotated[str, Field(max_length=64)]
Vote = Literal["correct", "incorrect", "flagged"]
Values = dict[str, Any]


class ArchivedItem(ArchivePart):
    """A control item: an example, or values of its own under the digest of these."""

    kind: Literal["item"]
    control: ControlKind
    example: Uid | None = None
    digest: Annotated[str, Field(max_length=64)] = ""
    context: Values = Field({})
    input: Values = Field({})
    answer: Values = Field({})
    predictions: Annotated[list[Any], Field(max_length=20)] = Field([])
    right_vote: Vote
    source: Annotated[str, Field(max_length=200)]
    at: Moment
    retired: bool


class ArchivedControlAnswer(ArchivePart):
    """An answer to a control: the vote of a person under the number of an `example`.

    `content_of` is the example that the person saw in its place.
    """

    kind: Literal["answer"]
    person: Name
    example: Uid
    control: ControlKind
    item: Annotated[str, Field(max_length=64)] | None
    content_of: Uid | None
    vote: Vote
    blind_answer: Values | None
    values: Values
    expected: Vote
    is_right: bool
    taken_back: bool
    at: Moment


class ArchivedDecision(ArchivePart):
    """A consequence for a person; `last_at` is when the newest answer was given that it is made from."""

    kind: Literal["decision"]
    person: Name
    consequence: Consequence
    answers: Annotated[int, Field(ge=0, le=10**6)]
    right: Annotated[int, Field(ge=0, le=10**6)]
    threshold: Annotated[float, Field(ge=0, le=1)]
    last_at: Moment | None
    at: Moment
    ended_at: Moment | None


class ControlRecord(RootModel[ArchivedItem | ArchivedControlAnswer | ArchivedDecision]):
    """A row of the list."""

    root: Annotated[ArchivedItem | ArchivedControlAnswer | ArchivedDecision, Field(discriminator="kind")]


RECORD = ControlRecord


def write_records(source: RecordSource) -> Iterator[dict[str, Any]]:
    """Yield items first, then answers and decisions."""
    keys: dict[int, str] = {}
    rows = select(ControlItem, Example.uid).outerjoin(Example, Example.id == ControlItem.example_id)
    visible = ControlItem.example_id.is_(None) | ~collected.concealed(ControlItem.example_id.expression)
    for item, uid in source.session.execute(
        rows.where(ControlItem.task_id == source.task_id, visible).order_by(ControlItem.id)
    ):
        keys[item.id] = uid or item.digest
        content = {"example": uid} if uid else {"digest": item.digest, "context": item.context, "input": item.input,
                                                "answer": item.answer, "predictions": item.predictions}  # fmt: skip
        yield {"kind": "item", "control": item.kind, **content, "right_vote": item.right_vote, "source": item.source,
               "at": format_moment(item.at), "retired": item.retired_at is not None}  # fmt: skip
    yield from _answers(source, keys)
    yield from _decisions(source)


def _answers(source: RecordSource, keys: dict[int, str]) -> Iterator[dict[str, Any]]:
    seen_example = aliased(Example)
    rows = (
        select(ControlAnswer, Validation, Example.uid, seen_example.uid.label("content_of"), *PERSON)
        .join(Validation, Validation.id == ControlAnswer.validation_id)
        .join(Example, Example.id == Validation.example_id)
        .join(Person, Person.id == ControlAnswer.person_id)
        .outerjoin(seen_example, seen_example.id == ControlAnswer.shown_id)
        .where(ControlAnswer.task_id == source.task_id, ~collected.concealed(Validation.example_id.expression))
        .where(ControlAnswer.shown_id.is_(None) | ~collected.concealed(ControlAnswer.shown_id.expression))
    )
    for row in source.session.execute(rows.order_by(Validation.at, Validation.id)):
        answer, cast = row.ControlAnswer, row.Validation
        if answer.item_id is not None and answer.item_id not in keys:
            continue
        yield {
            "kind": "answer", "person": source.name(row), "example": row.uid, "control": answer.kind,
            "item": keys.get(answer.item_id), "content_of": row.content_of, "vote": cast.vote, "values": cast.values,
            "blind_answer": cast.blind_answer, "expected": answer.expected, "is_right": answer.is_right,
            "taken_back": answer.taken_back, "at": format_moment(cast.at),
        }  # fmt: skip


def _decisions(source: RecordSource) -> Iterator[dict[str, Any]]:
    rows = (
        select(ControlDecision, Validation.at.label("last_at"), *PERSON)
        .join(Person, Person.id == ControlDecision.person_id)
        .outerjoin(Validation, Validation.id == ControlDecision.last_answer)
        .where(ControlDecision.task_id == source.task_id)
    )
    for row in source.session.execute(rows.order_by(ControlDecision.at, ControlDecision.id)):
        decision = row.ControlDecision
        yield {
            "kind": "decision", "person": source.name(row), "consequence": decision.consequence,
            "answers": decision.answers, "right": decision.right, "threshold": decision.threshold,
            "last_at": format_moment(row.last_at) if row.last_at else None, "at": format_moment(decision.at),
            "ended_at": format_moment(decision.ended_at) if decision.ended_at else None,
        }  # fmt: skip


def store_records(target: RecordTarget, rows: Sequence[tuple[int, ControlRecord]]) -> list[tuple[int, str]]:
    """Store the rows; those that name an example or item that is not here are returned."""
    records = [(number, row.root) for number, row in rows]
    people = target.people(record.person for _number, record in records if not isinstance(record, ArchivedItem))
    names = [
        getattr(record, member, None) for _number, record in records for member in ("example", "content_of", "item")
    ]
    examples = target.examples(names)
    unstored = []
    for number, record in records:
        if isinstance(record, ArchivedItem):
            stored = _store_item(target, record, examples)
        elif isinstance(record, ArchivedControlAnswer):
            stored = _store_answer(target, record, people[record.person], examples)
        else:
            stored = _store_decision(target, record, people[record.person])
        if not stored:
            unstored.append((number, str(_(UNSTORED))))
    target.session.flush()
    return unstored


def _store_item(target: RecordTarget, record: ArchivedItem, examples: dict[str, int]) -> bool:
    example_id = examples.get(record.example or "")
    if record.example and example_id is None:
        return False
    values = record.model_dump(include={"context", "input", "answer", "predictions", "right_vote", "source", "at"})
    target.session.add(
        ControlItem(
            **values,
            task_id=target.task_id,
            kind=record.control,
            example_id=example_id,
            digest=f"example:{example_id}" if example_id else record.digest,
            retired_at=now() if record.retired else None,
        )
    )
    return True


def _store_answer(target: RecordTarget, record: ArchivedControlAnswer, person: int, examples: dict[str, int]) -> bool:
    session, example_id, item_id = target.session, examples.get(record.example), None
    if record.item:
        digest = f"example:{examples[record.item]}" if record.item in examples else record.item
        same = (ControlItem.task_id == target.task_id, ControlItem.digest == digest)
        session.flush()
        item_id = session.scalar(select(ControlItem.id).where(*same))
    if (
        example_id is None
        or (record.item and item_id is None)
        or (record.content_of and record.content_of not in examples)
    ):
        return False
    members = {"vote", "blind_answer", "values", "at"}
    cast = Validation(example_id=example_id, person_id=person, by_owner=False, **record.model_dump(include=members))
    session.add(cast)
    session.flush()
    members = {"expected", "is_right", "taken_back"}
    session.add(Undo(validation_id=cast.id, at=record.at))
    session.add(
        ControlAnswer(
            validation_id=cast.id,
            task_id=target.task_id,
            person_id=person,
            kind=record.control,
            item_id=item_id,
            shown_id=examples.get(record.content_of or ""),
            **record.model_dump(include=members),
        )
    )
    return True


def _store_decision(target: RecordTarget, record: ArchivedDecision, person: int) -> bool:
    session, last = target.session, 0
    if record.last_at:
        session.flush()
        newest = select(func.max(Validation.id)).join(ControlAnswer, ControlAnswer.validation_id == Validation.id)
        mine = (ControlAnswer.task_id == target.task_id, ControlAnswer.person_id == person)
        last = session.scalar(newest.where(*mine, Validation.at <= record.last_at)) or 0
    values = record.model_dump(exclude={"kind", "person", "last_at"})
    session.add(ControlDecision(**values, task_id=target.task_id, person_id=person, last_answer=last))
    return True
