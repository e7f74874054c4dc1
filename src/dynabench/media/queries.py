"""Every select of stored media."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Select, exists, func, or_, select

from dynabench.media.tables import Media, MediaUpload, MediaUse


def known(digests: Collection[str]) -> Select[Media]:
    """Those of some files that are stored: primary key probes."""
    return select(Media).where(Media.digest.in_(digests))


def sent(digests: Collection[str], task_id: str, person_id: int | None) -> Select[str]:
    """Which of these were sent for a task, by this person where one is named."""
    found = select(MediaUpload.digest).where(MediaUpload.task_id == task_id, MediaUpload.digest.in_(digests))
    return found if person_id is None else found.where(MediaUpload.person_id == person_id)


def spent(person_id: int, since: datetime) -> Select[int, int]:
    """How many files, and bytes, somebody has sent since a moment: a range of their uploads."""
    size = func.coalesce(func.sum(Media.size), 0)
    mine = (MediaUpload.person_id == person_id, MediaUpload.at > since)
    return select(func.count(), size).select_from(MediaUpload).join(Media).where(*mine)


def uses(digest: str) -> Select[MediaUse]:
    """The contexts and examples that show a file, and those that showed it."""
    return select(MediaUse).where(MediaUse.digest == digest).order_by(MediaUse.id)


def upload(digest: str, person_id: int) -> Select[str]:
    """The name under which somebody sent a file, last time first."""
    mine = (MediaUpload.digest == digest, MediaUpload.person_id == person_id)
    return select(MediaUpload.name).where(*mine).order_by(MediaUpload.id.desc()).limit(1)


def unused(before: datetime, limit: int) -> Select[Media]:
    """Files that nothing shows and nobody has sent since a moment."""
    used = exists().where(MediaUse.digest == Media.digest)
    fresh = exists().where(MediaUpload.digest == Media.digest, MediaUpload.at > before)
    return select(Media).where(Media.created_at < before, ~used, ~fresh).order_by(Media.created_at).limit(limit)


def shown(context_ids: Collection[int], example_ids: Collection[int]) -> Select[MediaUse]:
    """What some contexts and examples show."""
    return select(MediaUse).where(or_(MediaUse.context_id.in_(context_ids), MediaUse.example_id.in_(example_ids)))
