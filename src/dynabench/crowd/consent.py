"""The text that workers consent to: versions of a task's own, and the one that new tasks begin with."""

from importlib.resources import files

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.crowd.tables import ConsentText
from dynabench.kit.errors import Invalid
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds

LONGEST = 20_000
"""Characters of a consent text."""
BLANK = "[CONTACT]"
"""The place in the first text where an owner names the person to write to; a study with it is not published."""


def first_text() -> str:
    """Return the text that a task's owner begins with."""
    return files("dynabench.crowd").joinpath("consent.md").read_text(encoding="utf-8")


def newest_text(session: Session, task_id: str) -> ConsentText | None:
    """Return the newest version of a task's consent text; None where the owner has saved none."""
    versions = select(ConsentText).where(ConsentText.task_id == task_id)
    return session.scalar(versions.order_by(ConsentText.version.desc()).limit(1))


def save_text(session: Session, owner: Person | None, task_id: str, text: str) -> ConsentText:
    """Keep a new version of a task's consent text; the same text again is the version that there is.

    Raises `Invalid` for an empty or too long text, and for one that still lacks the contact.
    """
    rounds.require(session, owner, Action.RUN_STUDIES, task_id)
    cleaned = text.replace("\r\n", "\n").strip()
    if not cleaned or len(cleaned) > LONGEST:
        raise Invalid({"text": _("Write a text of at most %(most)s characters.", most=f"{LONGEST:,}")})
    if BLANK in cleaned:
        raise Invalid(
            {"text": _("Replace %(blank)s by a name and a mail address that workers can write to.", blank=BLANK)}
        )
    newest = newest_text(session, task_id)
    if newest is not None and newest.text == cleaned:
        return newest
    version = ConsentText(
        task_id=task_id,
        version=newest.version + 1 if newest else 1,
        text=cleaned,
        created_by=owner.id if owner else None,
    )
    session.add(version)
    session.flush()
    rounds.record_act(session, owner, "consent.saved", task=task_id, version=version.version)
    return version
