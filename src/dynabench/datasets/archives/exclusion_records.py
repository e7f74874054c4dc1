"""Decisions on the votes of people, in an archive; the votes themselves are marked in the rows of examples."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import Field
from sqlalchemy import select

from dynabench.datasets.archives.layout import ArchivePart
from dynabench.datasets.archives.records import PERSON, RecordSource, RecordTarget
from dynabench.datasets.rows import Moment, format_moment
from dynabench.people.accounts.tables import Person
from dynabench.validation.tables import VoteExclusion


class ExclusionRecord(ArchivePart):
    """A person whose votes do not count, or count again."""

    person: Annotated[str, Field(max_length=200)]
    excluded: bool
    at: Moment


RECORD = ExclusionRecord


def write_records(source: RecordSource) -> Iterator[dict[str, Any]]:
    """Yield the decisions of the task's owners."""
    rows = select(VoteExclusion.excluded, VoteExclusion.at, *PERSON).join(Person, Person.id == VoteExclusion.person_id)
    rows = rows.where(VoteExclusion.task_id == source.task_id)
    named = [(source.name(row), row) for row in source.session.execute(rows)]
    for person, row in sorted(named, key=lambda pair: pair[0]):
        yield {"person": person, "excluded": row.excluded, "at": format_moment(row.at)}


def store_records(target: RecordTarget, rows: Sequence[tuple[int, ExclusionRecord]]) -> list[tuple[int, str]]:
    """Store the decisions, without the owners who made them."""
    people = target.people(row.person for _number, row in rows)
    for _number, row in rows:
        target.session.add(
            VoteExclusion(task_id=target.task_id, person_id=people[row.person], excluded=row.excluded, at=row.at)
        )
    target.session.flush()
    return []
