"""Every select of stored media."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Select, exists, func, or_, select

from dynabench.media.tables import Media, MediaUpload, MediaUse


def stored_media(digests: Collection[str]) -> Select[Media]:
    """Stored files with these digests: primary key probes."""
    return select(Media).where(Media.digest.in_(digests))


def sent_digests(digests: Collection[str], task_id: str, person_id: int | None) -> Select[str]:
    """Those of these digests that were sent for a task, by this person where one is given."""
    statement = select(MediaUpload.digest).where(MediaUpload.task_id == task_id, MediaUpload.digest.in_(digests))
    return statement if person_id is None else statement.where(MediaUpload.person_id == person_id)


def upload_usage(person_id: int, since: datetime) -> Select[int, int]:
    """Number and bytes of files that a person has sent since a moment: a range of the person's uploads."""
    size = func.coalesce(func.sum(Media.size), 0)
    mine = (MediaUpload.person_id == person_id, MediaUpload.at > since)
    return select(func.count(), size).select_from(MediaUpload).join(Media).where(*mine)


def media_uses(digest: str) -> Select[MediaUse]:
    """Contexts and examples that show a file, and those that showed it."""
    return select(MediaUse).where(MediaUse.digest == digest).order_by(MediaUse.id)


def upload_name(digest: str, person_id: int) -> Select[str]:
    """The name under which a person sent a file, the latest first."""
    mine = (MediaUpload.digest == digest, MediaUpload.person_id == person_id)
    return select(MediaUpload.name).where(*mine).order_by(MediaUpload.id.desc()).limit(1)


def unused_media(before: datetime, limit: int) -> Select[Media]:
    """Files that nothing shows and that no person has sent since a moment."""
    used = exists().where(MediaUse.digest == Media.digest)
    fresh = exists().where(MediaUpload.digest == Media.digest, MediaUpload.at > before)
    return select(Media).where(Media.created_at < before, ~used, ~fresh).order_by(Media.created_at).limit(limit)


def uses_by(context_ids: Collection[int], example_ids: Collection[int]) -> Select[MediaUse]:
    """Files that some contexts and examples show."""
    return select(MediaUse).where(or_(MediaUse.context_id.in_(context_ids), MediaUse.example_id.in_(example_ids)))
