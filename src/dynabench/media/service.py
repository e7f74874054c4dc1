"""Uploads: checked, counted against a person's daily limit, and bound to the contexts and examples that show them."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Select, delete, exists, func, insert, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.db import Database, now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.media import file_formats
from dynabench.media.file_formats import MediaFacts, MediaKind, UploadLimits, size_text
from dynabench.media.store import DIGEST, MediaStore, media_digests
from dynabench.media.tables import Media, MediaUpload, MediaUse
from dynabench.tasks.fields import Audio, Field, FileField, Group, Image, MediaField
from dynabench.tasks.fields.media import TYPES

DAY = timedelta(days=1)
MIB = 2**20
GONE = _("This file is missing. Upload it again.")


def upload_limits(settings: Settings, field: MediaField) -> UploadLimits:
    """Return the limits of a field, within those of the deployment."""
    size = min(field.max_mb, settings.media_audio_mb if isinstance(field, Audio) else settings.media_mb) * MIB
    if isinstance(field, Audio):
        return UploadLimits(int(size), seconds=min(field.max_seconds, settings.media_seconds))
    if isinstance(field, Image):
        return UploadLimits(int(size), pixels=min(field.max_pixels, settings.media_pixels))
    types = tuple(TYPES[type_name] for type_name in field.types) if isinstance(field, FileField) else ()
    return UploadLimits(int(size), settings.media_pixels, settings.media_seconds, types)


def check_daily_limit(session: Session, settings: Settings, person_id: int) -> None:
    """Refuse a person who has reached the limit of uploads within 24 hours. Raises TooMany."""
    files, size = session.execute(upload_usage(person_id, now() - DAY)).one()
    if files >= settings.media_files_per_day or size >= settings.media_mb_per_day * MIB:
        message = _(
            "The daily limit is %(media_files_per_day)s files and %(media_mb_per_day)s.",
            media_files_per_day=settings.media_files_per_day,
            media_mb_per_day=size_text(settings.media_mb_per_day * MIB),
        )
        raise errors.TooMany(_("%(told)s Try again tomorrow.", told=message), retry_after=3600)


def check_file(settings: Settings, content: bytes) -> tuple[bytes, MediaFacts]:
    """Return the content and facts to store of a file of any kind, checked as an upload for a field is.

    Raise `UploadRefused` for a file that an upload would not accept.
    """
    family = file_formats.media_type_of(content).partition("/")[0]
    kind: MediaKind = "image" if family == "image" else "audio" if family == "audio" else "file"
    size = settings.media_audio_mb if kind == "audio" else settings.media_mb
    limits = UploadLimits(int(size * 2**20), settings.media_pixels, settings.media_seconds)
    return file_formats.check_upload(content, kind, limits)


def store_upload(settings: Settings, content: bytes, field: MediaField) -> tuple[str, MediaFacts]:
    """Check and store content for a field, outside of any transaction; return its digest and facts."""
    stored, facts = file_formats.check_upload(content, field.kind, upload_limits(settings, field))
    return MediaStore.of(settings).put(stored), facts


def record_upload(
    session: Session, task_id: str, person_id: int | None, digest: str, facts: MediaFacts, name: str = ""
) -> None:
    """Record what was stored and who sent it for which task."""
    if session.get(Media, digest, with_for_update={"read": True}) is None:
        values = {"kind": facts.kind, "type": facts.type, "size": facts.size}
        values |= {"width": facts.width, "height": facts.height, "seconds": facts.seconds}
        try:
            with session.begin_nested():
                session.execute(insert(Media).values(digest=digest, created_at=now(), **values))
        except IntegrityError:  # another request sent the same at the same time
            pass
    plain = "".join(letter for letter in name if letter.isprintable())[-120:]
    session.add(MediaUpload(digest=digest, task_id=task_id, person_id=person_id, name=plain))


def record_uploads(
    session: Session, task_id: str, person_id: int | None, stored: Sequence[tuple[str, MediaFacts, str]]
) -> None:
    """Record several uploads: digests, facts and file names."""
    for digest, facts, name in stored:
        record_upload(session, task_id, person_id, digest, facts, name)


def fill_media_values(
    session: Session,
    task_id: str,
    fields: Sequence[Field],
    group: str,
    values: Any,
    *,
    person_id: int | None = None,
    already_shown: Collection[str] = (),
) -> Any:
    """Return `values` with the stored facts of each file in place of those that the client claimed.

    A file must have been sent for the task, by `person_id` where one is given, or be among `already_shown`, and
    be of its field's kind and within its limits. Raises `Invalid`, with keys such as `input.image`.
    """
    places = list(_places(fields, values, group))
    wanted_digests = {place.digest for place in places if DIGEST.fullmatch(place.digest)}
    if not wanted_digests:
        return values
    media_of = {media_row.digest: media_row for media_row in session.scalars(stored_media(wanted_digests))}
    theirs = set(session.scalars(sent_digests(wanted_digests, task_id, person_id))) | set(already_shown)
    wrong: dict[str, str] = {}
    facts_at: dict[str, dict[str, Any]] = {}
    for place in places:
        media = media_of.get(place.digest) if place.digest in theirs else None
        if unfit := _unfit(place.field, media):
            wrong[place.name] = unfit
        elif media is not None:
            facts_at[place.name] = _value_of(place.reference, media)
    if wrong:
        raise errors.Invalid(wrong)
    return _with_facts(values, group, facts_at)


class _Place(NamedTuple):
    """A reference to a file among the values: its dotted name, its field and the reference."""

    name: str
    field: MediaField
    reference: dict[str, Any]

    @property
    def digest(self) -> str:
        return str(self.reference["media"])


def _places(fields: Sequence[Field], values: Any, name: str) -> Iterator[_Place]:
    if not isinstance(values, Mapping):
        return
    for field in fields:
        value, below = values.get(field.name), f"{name}.{field.name}"
        if isinstance(field, MediaField) and (reference := _reference(value)) is not None:
            yield _Place(below, field, reference)
        elif isinstance(field, Group) and isinstance(value, list) and len(value) <= field.repeat:
            for number, row in enumerate(value):
                yield from _places(field.fields, row, f"{below}.{number}")
        elif isinstance(field, Group):
            yield from _places(field.fields, value, below)


def _with_facts(values: Any, name: str, facts_at: Mapping[str, dict[str, Any]]) -> Any:
    """The values with the facts of each place instead of the claimed ones."""
    if name in facts_at:
        return facts_at[name]
    if isinstance(values, Mapping):
        return {key: _with_facts(value, f"{name}.{key}", facts_at) for key, value in values.items()}
    if isinstance(values, list):
        return [_with_facts(value, f"{name}.{number}", facts_at) for number, value in enumerate(values)]
    return values


def _reference(value: object) -> dict[str, Any] | None:
    if isinstance(value, str) and value:
        return {"media": value}
    return dict(value) if isinstance(value, Mapping) and isinstance(value.get("media"), str) else None


def _unfit(field: MediaField, media: Media | None) -> str:
    if media is None:
        return GONE
    if field.kind != media.kind and not (
        isinstance(field, FileField) and media.type in {TYPES[t] for t in field.types}
    ):
        return field.missing
    if media.size > field.max_mb * MIB:
        return _(
            "This file takes %(size)s; the limit is %(max_mb)s MiB.",
            size=size_text(media.size),
            max_mb=f"{field.max_mb:g}",
        )
    if isinstance(field, Image) and (media.width or 0) * (media.height or 0) > field.max_pixels:
        return _("This picture has more than %(max_pixels)s pixels.", max_pixels=f"{field.max_pixels:,}")
    if isinstance(field, Audio) and (media.seconds or 0) > field.max_seconds:
        return _(
            "This sound takes %(seconds)s s; the limit is %(max_seconds)s s.",
            seconds=f"{media.seconds:.0f}",
            max_seconds=f"{field.max_seconds:g}",
        )
    return ""


def _value_of(value: Mapping[str, Any], media: Media) -> dict[str, Any]:
    descriptions = {name: value[name] for name in ("alt", "name") if name in value}
    facts = MediaFacts(media.kind, media.type, media.size, media.width, media.height, media.seconds)  # type: ignore[arg-type]
    return {"media": media.digest, **facts.document(), **descriptions}


def sent_references(session: Session, task_id: str, values: object) -> list[dict[str, str]]:
    """Return references to those files in unchecked values that were sent for the task."""
    wanted_digests = media_digests(values)
    rows = session.scalars(sent_digests(wanted_digests, task_id, None)) if wanted_digests else ()
    return [{"media": digest} for digest in sorted(set(rows))]


def bind_media(
    session: Session, task_id: str, values: object, *, context_id: int | None = None, example_id: int | None = None
) -> None:
    """Record that a context or an example shows the files in its values; a second call changes nothing."""
    wanted_digests = media_digests(values)
    if not wanted_digests:
        return
    stored = set(session.scalars(stored_media(wanted_digests).with_only_columns(Media.digest)))
    ids = ([context_id] if context_id else [], [example_id] if example_id else [])
    bound = {use.digest for use in session.scalars(uses_by(*ids))}
    rows = [
        {"digest": digest, "task_id": task_id, "context_id": context_id, "example_id": example_id}
        for digest in sorted(stored - bound)
    ]
    if rows:
        session.execute(insert(MediaUse), rows)


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


def latest_upload(digest: str, person_id: int) -> Select[MediaUpload]:
    """The latest upload of a file by a person."""
    mine = (MediaUpload.digest == digest, MediaUpload.person_id == person_id)
    return select(MediaUpload).where(*mine).order_by(MediaUpload.id.desc()).limit(1)


def unused_media(before: datetime, limit: int) -> Select[Media]:
    """Files that nothing shows and that no person has sent since a moment."""
    used = exists().where(MediaUse.digest == Media.digest)
    fresh = exists().where(MediaUpload.digest == Media.digest, MediaUpload.at > before)
    return select(Media).where(Media.created_at < before, ~used, ~fresh).order_by(Media.created_at).limit(limit)


def uses_by(context_ids: Collection[int], example_ids: Collection[int]) -> Select[MediaUse]:
    """Files that some contexts and examples show."""
    return select(MediaUse).where(or_(MediaUse.context_id.in_(context_ids), MediaUse.example_id.in_(example_ids)))


UNUSED_AGE = timedelta(days=1)
BATCH = 500


def delete_unused_media(database: Database, settings: Settings, min_age: timedelta = UNUSED_AGE) -> None:
    """Delete rows first and their files afterwards; then files that no row has named for as long."""
    store, before = MediaStore.of(settings), time.time() - min_age.total_seconds()
    while deleted := database.write(_delete_batch, min_age):
        for digest in deleted:
            store.remove(digest, before)
    _delete_stray_files(database, store, before)


def _delete_batch(session: Session, min_age: timedelta) -> list[str]:
    old = [media.digest for media in session.scalars(unused_media(now() - min_age, BATCH).with_for_update())]
    if old:
        session.execute(delete(MediaUpload).where(MediaUpload.digest.in_(old)))
        session.execute(delete(Media).where(Media.digest.in_(old)))
    return old


def _delete_stray_files(database: Database, store: MediaStore, before: float) -> None:
    if not store.folder.is_dir():
        return
    for folder in store.folder.iterdir():
        old = [path for path in folder.iterdir() if path.stat().st_mtime < before] if folder.is_dir() else []
        named = {path.name for path in old if DIGEST.fullmatch(path.name)}
        stored = set(database.read(_stored_digests, named)) if named else set()
        for path in old:
            if path.name not in stored:
                path.unlink(missing_ok=True)


def _stored_digests(session: Session, digests: set[str]) -> list[str]:
    return list(session.scalars(stored_media(digests).with_only_columns(Media.digest)))
