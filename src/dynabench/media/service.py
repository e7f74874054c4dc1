"""Uploads: checked, counted against what a person may send a day, and bound to what shows them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.db import now
from dynabench.language import _
from dynabench.media import looking, queries
from dynabench.media.facts import Facts, Limits, mib
from dynabench.media.store import DIGEST, Store, digests
from dynabench.media.tables import Media, MediaUpload, MediaUse
from dynabench.settings import Settings
from dynabench.tasks.fields import Audio, Field, File, Group, Image, MediaField
from dynabench.tasks.fields.file import TYPES

DAY = timedelta(days=1)
MIB = 2**20
GONE = _("This file is not here. Send it again.")


def limits(settings: Settings, field: MediaField) -> Limits:
    """What a field takes, within what the deployment does."""
    size = min(field.max_mb, settings.media_audio_mb if isinstance(field, Audio) else settings.media_mb) * MIB
    if isinstance(field, Audio):
        return Limits(int(size), seconds=min(field.max_seconds, settings.media_seconds))
    if isinstance(field, Image):
        return Limits(int(size), pixels=min(field.max_pixels, settings.media_pixels))
    types = tuple(TYPES[each] for each in field.types) if isinstance(field, File) else ()
    return Limits(int(size), settings.media_pixels, settings.media_seconds, types)


def admit(session: Session, settings: Settings, person_id: int) -> None:
    """Refuse somebody who has sent as much within 24 hours as one person may."""
    files, size = session.execute(queries.spent(person_id, now() - DAY)).one()
    if files >= settings.media_files_per_day or size >= settings.media_mb_per_day * MIB:
        told = _(
            "%(media_files_per_day)s files and %(media_mb_per_day)s may be sent a day.",
            media_files_per_day=settings.media_files_per_day,
            media_mb_per_day=mib(settings.media_mb_per_day * MIB),
        )
        raise errors.TooMany(_("%(told)s Try again tomorrow.", told=told), retry_after=3600)


def put(settings: Settings, content: bytes, field: MediaField) -> tuple[str, Facts]:
    """Check and store bytes for a field, outside of any transaction; their digest and what they are."""
    kept, facts = looking.taken(content, field.kind, limits(settings, field))
    return Store.of(settings).put(kept), facts


def note(session: Session, task_id: str, person_id: int | None, digest: str, facts: Facts, name: str = "") -> None:
    """Write down what was stored and who sent it for which task."""
    if session.get(Media, digest, with_for_update={"read": True}) is None:
        told = {"kind": facts.kind, "type": facts.type, "size": facts.size}
        told |= {"width": facts.width, "height": facts.height, "seconds": facts.seconds}
        try:
            with session.begin_nested():
                session.execute(insert(Media).values(digest=digest, created_at=now(), **told))
        except IntegrityError:  # somebody sent the same at the same time
            pass
    plain = "".join(letter for letter in name if letter.isprintable())[-120:]
    session.add(MediaUpload(digest=digest, task_id=task_id, person_id=person_id, name=plain))


def note_all(session: Session, task_id: str, person_id: int | None, stored: Sequence[tuple[str, Facts, str]]) -> None:
    """`note` of several: digests, what they are, what they were called."""
    for digest, facts, name in stored:
        note(session, task_id, person_id, digest, facts, name)


def fill(
    session: Session,
    task_id: str,
    fields: Sequence[Field],
    group: str,
    values: Any,
    *,
    person_id: int | None = None,
    shown: Collection[str] = (),
) -> Any:
    """`values` with what is known of each file in place of what was claimed of it.

    A file must have been sent for the task, by `person_id` where one is given, or be among those that are `shown`
    already, and be of its field's kind and within its limits. Raises `Invalid`, with keys such as `input.image`.
    """
    places = list(_places(fields, values, group))
    asked = {place.digest for place in places if DIGEST.fullmatch(place.digest)}
    if not asked:
        return values
    known = {each.digest: each for each in session.scalars(queries.known(asked))}
    theirs = set(session.scalars(queries.sent(asked, task_id, person_id))) | set(shown)
    wrong: dict[str, str] = {}
    told: dict[str, dict[str, Any]] = {}
    for place in places:
        media = known.get(place.digest) if place.digest in theirs else None
        if unfit := _unfit(place.field, media):
            wrong[place.name] = unfit
        elif media is not None:
            told[place.name] = _told(place.reference, media)
    if wrong:
        raise errors.Invalid(wrong)
    return _filled(values, group, told)


class _Place(NamedTuple):
    """Where among the values a file is referred to, by which field and how."""

    name: str
    field: MediaField
    reference: dict[str, Any]

    @property
    def digest(self) -> str:
        return str(self.reference["media"])


def _places(fields: Sequence[Field], values: Any, name: str) -> Iterator[_Place]:
    """All references to files, also those within groups; names are dotted, such as `input.people.0.photo`."""
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


def _filled(values: Any, name: str, told: Mapping[str, dict[str, Any]]) -> Any:
    """The values with what is told of each place in the place of what was there."""
    if name in told:
        return told[name]
    if isinstance(values, Mapping):
        return {key: _filled(value, f"{name}.{key}", told) for key, value in values.items()}
    if isinstance(values, list):
        return [_filled(value, f"{name}.{number}", told) for number, value in enumerate(values)]
    return values


def _reference(value: object) -> dict[str, Any] | None:
    if isinstance(value, str) and value:
        return {"media": value}
    return dict(value) if isinstance(value, Mapping) and isinstance(value.get("media"), str) else None


def _unfit(field: MediaField, media: Media | None) -> str:
    """Why a field does not take a file; empty where it does."""
    if media is None:
        return GONE
    if field.kind != media.kind and not (isinstance(field, File) and media.type in {TYPES[t] for t in field.types}):
        return field.missing
    if media.size > field.max_mb * MIB:
        return _("This takes %(size)s; %(max_mb)s MiB are allowed.", size=mib(media.size), max_mb=f"{field.max_mb:g}")
    if isinstance(field, Image) and (media.width or 0) * (media.height or 0) > field.max_pixels:
        return _("This picture has more than %(max_pixels)s points.", max_pixels=f"{field.max_pixels:,}")
    if isinstance(field, Audio) and (media.seconds or 0) > field.max_seconds:
        return _(
            "This takes %(seconds)s s; %(max_seconds)s s are allowed.",
            seconds=f"{media.seconds:.0f}",
            max_seconds=f"{field.max_seconds:g}",
        )
    return ""


def _told(value: Mapping[str, Any], media: Media) -> dict[str, Any]:
    """The reference with the facts of the table; `alt` and `name` are people's own words."""
    said = {name: value[name] for name in ("alt", "name") if name in value}
    facts = Facts(media.kind, media.type, media.size, media.width, media.height, media.seconds)  # type: ignore[arg-type]
    return {"media": media.digest, **facts.document(), **said}


def sent(session: Session, task_id: str, values: object) -> list[dict[str, str]]:
    """References to those of the files in values, which nobody has checked, that were sent for the task."""
    asked = digests(values)
    found = session.scalars(queries.sent(asked, task_id, None)) if asked else ()
    return [{"media": digest} for digest in sorted(set(found))]


def bind(
    session: Session, task_id: str, values: object, *, context_id: int | None = None, example_id: int | None = None
) -> None:
    """Write down that a context or an example shows the files that its values refer to; twice changes nothing."""
    asked = digests(values)
    if not asked:
        return
    there = set(session.scalars(queries.known(asked).with_only_columns(Media.digest)))
    ids = ([context_id] if context_id else [], [example_id] if example_id else [])
    bound = {each.digest for each in session.scalars(queries.shown(*ids))}
    rows = [
        {"digest": digest, "task_id": task_id, "context_id": context_id, "example_id": example_id}
        for digest in sorted(there - bound)
    ]
    if rows:
        session.execute(insert(MediaUse), rows)
