"""Mails under way: what somebody is told within a minute goes out in one, tried again until it is taken or given up."""

import logging
from dataclasses import dataclass
from datetime import timedelta
from email.message import EmailMessage
from enum import StrEnum
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench.kit import jobs
from dynabench.kit.db import Database, now
from dynabench.kit.language import speaking
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.people.notices import letters, post, queries, retrying
from dynabench.people.notices.tables import CHANNELS, Mailing, MailingState, Wish

log = logging.getLogger(__name__)
GATHER = 60.0
"""Seconds from the first notice of a mail to its sending."""


def gather(session: Session, person_id: int) -> Mailing:
    """The person's mail that notices of the moment go into; it is sent `GATHER` seconds after its first one."""
    found = session.scalars(queries.gathering(person_id)).first()
    if found is None:
        found = Mailing(person_id=person_id)
        try:
            with session.begin_nested():
                session.add(found)
        except IntegrityError:  # another transaction began one in the meantime
            return session.scalars(queries.gathering(person_id)).first() or gather(session, person_id)
        _enqueue(session, found, GATHER)
    return found


def ask(session: Session, person_id: int) -> Mailing:
    """Send the question whether an address is the person's, at once."""
    made = Mailing(person_id=person_id, kind="verify", state=MailingState.SENDING)
    session.add(made)
    session.flush()
    _enqueue(session, made, 0)
    return made


def again(session: Session, id: int) -> None:
    """Enqueue a mail anew whose job was given up."""
    found = session.get(Mailing, id, with_for_update=True)
    if found is not None and found.state in (MailingState.GATHERING, MailingState.SENDING):
        _enqueue(session, found, 0)


def _enqueue(session: Session, mailing: Mailing, seconds: float) -> None:
    due = now() + timedelta(seconds=seconds) if seconds else None
    mailing.job_id = jobs.enqueue(session, "send_mail", {"mailing": mailing.id}, mailing.person_id, due_at=due).id


class MailOutcome(StrEnum):
    """Outcomes of a try: the server took the mail, refuses it for good, or may take it later."""

    SENT = "sent"
    REFUSED = "refused"
    LATER = "later"


@dataclass(frozen=True)
class Outcome:
    """The `MailOutcome` of a try, and what the server said."""

    state: MailOutcome
    said: str = ""


def attempt(database: Database, settings: Settings, id: int, job_id: str) -> dict[str, Any]:
    """Try once to send a mail; what another job is at is left to it."""
    letter = database.write(_taken, settings, id, job_id)
    if letter is None:
        return {"state": "dropped"}
    try:
        post.send(settings, letter)
        outcome = Outcome(MailOutcome.SENT)
    except post.Refused as refused:
        outcome = Outcome(MailOutcome.REFUSED, letters.one_line(str(refused), 300))
    except post.Later as later:
        outcome = Outcome(MailOutcome.LATER, letters.one_line(str(later), 300))
    return {"state": database.write(_ended, id, job_id, outcome), "said": outcome.said}


def _taken(session: Session, settings: Settings, id: int, job_id: str) -> EmailMessage | None:
    """The mail as it is now wanted, closed for more notices; None where it is not wanted or not this job's."""
    found = session.get(Mailing, id, with_for_update=True)
    if found is None or found.job_id != job_id or found.state not in (MailingState.GATHERING, MailingState.SENDING):
        return None
    wish = session.get(Wish, found.person_id)
    with speaking(session.get_one(Person, found.person_id).language):
        letter = _letter(session, settings, found, wish) if wish and wish.address and settings.mails else None
    found.state = MailingState.SENDING if letter else MailingState.DROPPED
    return letter


def _letter(session: Session, settings: Settings, of: Mailing, wish: Wish) -> EmailMessage | None:
    if of.kind == "verify":
        return None if wish.verified_at else letters.verification(settings, of, wish)
    told = session.scalars(queries.notices_in(of.id)).all() if wish.verified_at else []
    wanted = [each for each in told if "mail" in wish.channels.get(each.kind, CHANNELS)]
    return letters.notices(settings, of, wish, wanted) if wanted else None


def _ended(session: Session, id: int, job_id: str, outcome: Outcome) -> str:
    """Note how a try went, and ask for the next in the same transaction where there is one."""
    found = session.get(Mailing, id, with_for_update=True)
    if found is None or found.job_id != job_id or found.state != MailingState.SENDING:
        return "dropped"
    found.tries, found.reason = found.tries + 1, outcome.said
    wish = session.get(Wish, found.person_id, with_for_update=True)
    due = retrying.next_try(found.tries) if outcome.state is MailOutcome.LATER else None
    if outcome.state is MailOutcome.SENT:
        found.state = MailingState.SENT
    elif due:
        found.job_id = jobs.enqueue(session, "send_mail", {"mailing": id}, found.person_id, due_at=due).id
    else:
        found.state = MailingState.FAILED
        log.warning("mail %s was given up after %s tries: %s", id, found.tries, outcome.said)
    if wish and found.state in (MailingState.SENT, MailingState.FAILED):
        wish.problem = outcome.said
        if outcome.state is MailOutcome.REFUSED:  # no more goes there until somebody confirms it again
            wish.verified_at = None
    return found.state
