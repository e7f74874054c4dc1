"""The right to see a stored file: only people who may see a context or example that shows it have it."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from dynabench.collection.tables import Standing
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.media import queries
from dynabench.media.tables import Media, MediaUse
from dynabench.people import disclosure, may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState
from dynabench.stats.verdict import Verdict
from dynabench.validation.places import REMEMBER
from dynabench.validation.queries import votes
from dynabench.validation.tables import Reservation

NONE = _("There is no file here that you may see.")


@dataclass(frozen=True)
class Seen:
    """A file that somebody may see, and what it is called where they sent it."""

    digest: str
    kind: str
    type: str
    name: str


def find(session: Session, viewer: Person | None, digest: str) -> Seen:
    """The file, for those who may see it; `NotFound` for everybody else, and `Unauthenticated` for visitors.

    What a context shows is for whoever may write or check for its task. What an example shows is for its author, for
    those who check it, for the task's owners and moderators, and once it is shown in public for everybody. Of one that
    was taken back nothing leaves, of a hidden one only to owners and moderators.
    """
    media = session.get(Media, digest)
    if media is not None:
        uses = session.scalars(queries.media_uses(digest)).all()
        name = session.scalar(queries.upload_name(digest, viewer.id)) if viewer else None
        if any(_shows(session, viewer, use) for use in uses) or (not uses and name is not None):
            return Seen(digest, media.kind, media.type, name or "")
    if viewer is None:  # whether there is such a file or not
        raise errors.Unauthenticated(_("Log in to see this file, if it is one that you may see."))
    raise errors.NotFound(NONE)


def _shows(session: Session, viewer: Person | None, use: MediaUse) -> bool:
    if use.example_id is not None:
        return _example(session, viewer, use.task_id, use.example_id)
    try:
        people.require_seat(session, viewer, use.task_id)
    except (errors.Forbidden, errors.Unauthenticated):
        return _looks_after(session, viewer, use.task_id)
    return True


def _looks_after(session: Session, viewer: Person | None, task_id: str) -> bool:
    return bool(may.may_in(session, viewer, Action.MODERATE, task_id))


def _example(session: Session, viewer: Person | None, task_id: str, example_id: int) -> bool:
    standing = session.get(Standing, example_id)
    if standing is None or standing.retracted:
        return False
    if disclosure.is_withheld(standing):
        return _involved(session, viewer, standing)
    if _looks_after(session, viewer, task_id):
        return True
    if standing.hidden:
        return False
    return _involved(session, viewer, standing) or _public(session, viewer, task_id, standing)


def _involved(session: Session, viewer: Person | None, standing: Standing) -> bool:
    """Its author, and who was handed it to check or has voted on it."""
    if viewer is None:
        return False
    if standing.author_id == viewer.id:
        return True
    place = session.get(Reservation, (standing.example_id, viewer.id))
    if place is not None and place.expires_at > now() - REMEMBER:  # a page may be open for longer than its place
        return True
    return any(cast.person_id == viewer.id for cast in session.scalars(votes(standing.example_id)))


def _public(session: Session, viewer: Person | None, task_id: str, standing: Standing) -> bool:
    """Return whether pages or exports show the example to everybody.

    They show verified examples that fooled a model, and the examples of released rounds.
    """
    if viewer is None and rounds.task_config(session, task_id).content_warning:
        return False
    if standing.fooled and standing.verdict == Verdict.CORRECT:
        return True
    return session.get_one(Round, standing.round_id).state == RoundState.RELEASED
