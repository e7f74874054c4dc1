"""Bytes that people have sent to routes for large files, counted for all web processes together."""

from datetime import datetime, timedelta

from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench.people.accounts.tables import UploadedBytes

DAY = timedelta(days=1)


def counted_bytes(session: Session, person_id: int, most: int, at: datetime) -> int:
    """Return the bytes of a person that still count at a moment, where `most` are forgotten in a day."""
    return _counted_bytes(session.get(UploadedBytes, person_id), most, at)


def add(session: Session, person_id: int, size: int, most: int, at: datetime) -> int:
    """Count further bytes of a person; returns all that count now."""
    row = session.get(UploadedBytes, person_id, with_for_update=True)
    if row is None:
        try:
            with session.begin_nested():
                session.execute(insert(UploadedBytes).values(person_id=person_id, size=0, at=at))
        except IntegrityError:  # another request of the same person was first
            pass
        row = session.get_one(UploadedBytes, person_id, with_for_update=True)
    row.size, row.at = _counted_bytes(row, most, at) + size, max(row.at, at)
    return row.size


def _counted_bytes(row: UploadedBytes | None, most: int, at: datetime) -> int:
    if row is None:
        return 0
    return max(0, row.size - round(max(timedelta(), at - row.at) / DAY * most))
