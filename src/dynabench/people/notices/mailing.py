"""Mails: gathered, composed with their signed links, handed to the operator's server, tried again."""

import hmac
import logging
import smtplib
import ssl
import time
import unicodedata
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, parseaddr
from enum import StrEnum
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench.kit import jobs
from dynabench.kit.db import Database, now
from dynabench.kit.errors import NotFound
from dynabench.kit.language import _, ngettext, said, speaking
from dynabench.kit.security import keyed
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Notice, Person
from dynabench.people.notices import queries, retrying
from dynabench.people.notices.tables import CHANNELS, Mailing, MailingState, Wish
from dynabench.web.environment import environment

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
        send(settings, letter)
        outcome = Outcome(MailOutcome.SENT)
    except Refused as refused:
        outcome = Outcome(MailOutcome.REFUSED, one_line(str(refused), 300))
    except Later as later:
        outcome = Outcome(MailOutcome.LATER, one_line(str(later), 300))
    return {"state": database.write(_ended, id, job_id, outcome), "said": outcome.said}


def _taken(session: Session, settings: Settings, id: int, job_id: str) -> EmailMessage | None:
    """The mail as it is now wanted, closed for more notices; None where it is not wanted or not this job's."""
    found = session.get(Mailing, id, with_for_update=True)
    if found is None or found.job_id != job_id or found.state not in (MailingState.GATHERING, MailingState.SENDING):
        return None
    wish = session.get(Wish, found.person_id)
    with speaking(session.get_one(Person, found.person_id).language):
        letter = _wanted_letter(session, settings, found, wish) if wish and wish.address and settings.mails else None
    found.state = MailingState.SENDING if letter else MailingState.DROPPED
    return letter


def _wanted_letter(session: Session, settings: Settings, of: Mailing, wish: Wish) -> EmailMessage | None:
    if of.kind == "verify":
        return None if wish.verified_at else verification(settings, of, wish)
    told = session.scalars(queries.notices_in(of.id)).all() if wish.verified_at else []
    wanted = [each for each in told if "mail" in wish.channels.get(each.kind, CHANNELS)]
    return notices(settings, of, wish, wanted) if wanted else None


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


VERIFY = "verify mail"
UNSUBSCRIBE = "unsubscribe"
VERIFY_SECONDS = 48 * 3600
GONE = _("This link does not work: it is too old, was changed on its way, or is for another address.")


def make(key: bytes, purpose: str, person_id: int, address: str, seconds: int = 0) -> str:
    """A token for `purpose` that holds for this person and address, for `seconds` (0: for good).

    `person.until.signature`; the signature is an HMAC-SHA-256 under the deployment's key, in URL-safe base64.
    """
    until = int(time.time()) + seconds if seconds else 0
    return f"{person_id}.{until}.{_signature(key, purpose, person_id, until, address)}"


def person_in(token: str) -> int:
    """Return the id of the person that a token names; the token is not checked yet.

    Raise `NotFound` for a text that is no token.
    """
    return _parts(token)[0]


def check(key: bytes, purpose: str, token: str, address: str) -> None:
    """Raises `NotFound` unless the token was made for this purpose and address, and has not ended."""
    person_id, until, signature = _parts(token)
    right = _signature(key, purpose, person_id, until, address)
    if not hmac.compare_digest(signature.encode(), right.encode()) or (until and until < time.time()):
        raise NotFound(GONE)


def masked(address: str) -> str:
    """An address as whoever has a link to it may read it: links are passed on, and end in logs of proxies."""
    local, _, domain = address.rpartition("@")
    return f"{local[:1]}…@{domain}"


def _parts(token: str) -> tuple[int, int, str]:
    person, _, rest = token.partition(".")
    until, _, signature = rest.partition(".")
    for number in (person, until):
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            raise NotFound(GONE)
    return int(person), int(until), signature


def _signature(key: bytes, purpose: str, person_id: int, until: int, address: str) -> str:
    return urlsafe_b64encode(keyed(key, purpose, f"{person_id} {until} {address}")).decode().rstrip("=")


SUBJECT, TEXT = 120, 2000  # characters


@dataclass(frozen=True)
class Item:
    """One thing that somebody is told, and where there is more."""

    text: str
    address: str


def one_line(text: str, most: int) -> str:
    """Text for a header: no line breaks, no control characters, no longer than `most`."""
    plain = "".join(" " if unicodedata.category(each)[0] in "CZ" else each for each in text)
    words = " ".join(plain.split())
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


def verification(settings: Settings, mailing: Mailing, wish: Wish) -> EmailMessage:
    """Asks whether the address is that person's."""
    token = make(settings.key, VERIFY, wish.person_id, wish.address, VERIFY_SECONDS)
    address = f"{settings.site}/mail/verify/{token}"
    return _own(settings, mailing, wish, said(_("Confirm your address for Dynabench")), "verify", address=address)


def notices(settings: Settings, mailing: Mailing, wish: Wish, told: Sequence[Notice]) -> EmailMessage:
    """Return a person's notices in one mail, with a link to stop such mail."""
    items = [Item(said(each.told_outside)[:TEXT], f"{settings.site}{each.link}" if each.link else "") for each in told]
    subject = (
        items[0].text
        if len(items) == 1
        else said(ngettext("%(num)s notice from Dynabench", "%(num)s notices from Dynabench", len(items)))
    )
    token = make(settings.key, UNSUBSCRIBE, wish.person_id, wish.address)
    choices = f"{settings.site}/settings/notifications"
    stop = f"{settings.site}/mail/unsubscribe/{token}"
    made = _own(settings, mailing, wish, subject, "notices", items=items, choices=choices, stop=stop)
    made["List-Unsubscribe"] = f"<{settings.site}/api/v1/mail/unsubscribe/{token}>"
    made["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return made


def invitation(settings: Settings, to: str, key: str, at: datetime, **values: str) -> EmailMessage:
    """Invites somebody who need not have an account; `key` is the same in each try, `values` are the template's."""
    subject = said(_("An invitation to %(task)s", task=values["task"]))
    return _letter(settings, to, key, at, subject, "invitation", **values)


def _own(
    settings: Settings, mailing: Mailing, wish: Wish, subject: str, template: str, **values: object
) -> EmailMessage:
    return _letter(settings, wish.address, str(mailing.id), mailing.created_at, subject, template, **values)


def _letter(
    settings: Settings, to: str, key: str, at: datetime, subject: str, template: str, **values: object
) -> EmailMessage:
    name, sender = parseaddr(settings.smtp_sender)
    local, _, domain = sender.rpartition("@")
    made = EmailMessage(policy=SMTP)
    made["From"] = Address(one_line(name, 60) or "Dynabench", local, domain)
    made["To"] = to
    made["Subject"] = one_line(subject, SUBJECT)
    made["Date"] = formatdate(at.timestamp())
    # The same in each try, so that mail programs show a mail once that a broken connection made us send twice.
    made["Message-ID"] = f"<{keyed(settings.key, 'mail', key).hex()[:32]}@{domain}>"
    made["Auto-Submitted"] = "auto-generated"
    made.set_content(environment().get_template(f"notices/mail_{template}.txt").render(**values))
    html = environment().get_template(f"notices/mail_{template}.html").render(subject=made["Subject"], **values)
    made.add_alternative(html, subtype="html")
    return made


SECONDS = 30.0


class Later(Exception):
    """It was not taken, and may be if it is sent again: 4xx answers, broken connections, a server set up wrongly."""


class Refused(Exception):
    """It was not taken and never will be: the server does not know the recipient or does not want the mail."""


def send(settings: Settings, message: EmailMessage) -> None:
    """Send to the one recipient of `message`; raises `Later` or `Refused` with what the server said."""
    try:
        with _connected(settings) as server:
            server.send_message(message)
    except smtplib.SMTPRecipientsRefused as error:
        [(code, said)] = error.recipients.values()
        raise _meaning(code, said) from error
    except smtplib.SMTPDataError as error:
        raise _meaning(error.smtp_code, error.smtp_error) from error
    except smtplib.SMTPNotSupportedError as error:
        raise (Refused if "SMTPUTF8" in str(error) else Later)(str(error)) from error
    except smtplib.SMTPResponseException as error:  # before any recipient was named: log-in, sender
        raise Later(_said(error.smtp_code, error.smtp_error)) from error
    except (smtplib.SMTPException, OSError, EOFError) as error:
        raise Later(f"{type(error).__name__}: {error}") from error


def _connected(settings: Settings) -> smtplib.SMTP:
    """A connection to the server, encrypted and logged in as the settings say; an unencrypted one is never fallen
    back to."""
    host, port, way = settings.smtp_host, settings.smtp_port, settings.smtp_security
    if way == "tls":
        server: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=SECONDS, context=ssl.create_default_context())
    else:
        server = smtplib.SMTP(host, port, timeout=SECONDS)
    try:
        if way == "starttls":
            server.starttls(context=ssl.create_default_context())
        if settings.smtp_user:
            server.login(settings.smtp_user, settings.smtp_password)
    except BaseException:
        server.close()
        raise
    return server


def _meaning(code: int, said: bytes | str) -> Later | Refused:
    return (Refused if code >= 500 else Later)(_said(code, said))


def _said(code: int, said: bytes | str) -> str:
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return f"{code} {text}"
