"""Changes in what people contributed (examples, votes, models), for what is counted of them afterwards.

A row is written in the transaction of its cause and removed by the fold that has counted it (`recognition.badges`), so
that nothing is lost where a process dies in between. Rows of one person may wait in any number.
"""

from collections.abc import Iterable
from typing import cast

from sqlalchemy import ForeignKey, Table, insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from dynabench.kit.db import Base, Key


class Contribution(Base):
    """A person whose contributions changed, or an example that changed, which concerns its author and validators."""

    __tablename__ = "contributions"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    person_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"))
    example_id: Mapped[int | None] = mapped_column(ForeignKey("examples.id"))


_TABLE = cast(Table, Contribution.__table__)


def note_person(session: Session, person_id: int) -> None:
    """Write that a person's contributions changed, such as by a vote."""
    session.connection().execute(insert(_TABLE), [{"person_id": person_id, "example_id": None}])


def note_examples(session: Session, example_ids: Iterable[int]) -> None:
    """Write that examples changed, each once."""
    if rows := [{"person_id": None, "example_id": example_id} for example_id in sorted(set(example_ids))]:
        session.connection().execute(insert(_TABLE), rows)
