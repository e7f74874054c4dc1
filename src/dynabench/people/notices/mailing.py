"""Mails: gathered, composed with their signed links, handed to the operator's server, tried again."""

import logging
import secrets
import smtplib
import ssl
import unicodedata
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
from dynabench.kit.language import _, ngettext, speaking, translate
from dynabench.kit.security import keyed
from dynabench.kit.settings import Settings
from dynabench.people.accounts import recovery
from dynabench.people.accounts.tables import Notice, Person
from dynabench.people.link_tokens import make_link_token
from dynabench.people.mailings import Mailing, MailingKind, MailingState, enqueue_mail
from dynabench.people.notices import queries
from dynabench.people.notices.tables import CHANNELS, Wish
from dynabench.web.environment import environment

log = logging.getLogger(__name__)
GATHER = 60.0
"""Seconds from the first notice of a mail to its sending."""


def open_mail(session: Session, person_id: int) -> Mailing:
    """The person's mail that notices of the moment go into; it is sent `GATHER` seconds after its first one."""
    mailing = session.scalars(queries.open_mail(person_id)).first()
    if mailing is None:
        mailing = Mailing(person_id=person_id)
        try:
            with session.begin_nested():
                session.add(mailing)
        except IntegrityError:  # another transaction began one in the meantime
            return session.scalars(queries.open_mail(person_id)).first() or open_mail(session, person_id)
        enqueue_mail(session, mailing, GATHER)
    return mailing


def enqueue_again(session: Session, id: int) -> None:
    """Enqueue a mail anew whose job was given up."""
    mailing = session.get(Mailing, id, with_for_update=True)
    if mailing is not None and mailing.state in (MailingState.GATHERING, MailingState.SENDING):
        enqueue_mail(session, mailing)


class MailOutcome(StrEnum):
    """Outcomes of a try: the server took the mail, refuses it for good, or may take it later."""

    SENT = "sent"
    REFUSED = "refused"
    LATER = "later"


@dataclass(frozen=True)
class SendingResult:
    """The `MailOutcome` of a try, and what the server said."""

    state: MailOutcome
    answer: str = ""


def try_sending(database: Database, settings: Settings, id: int, job_id: str) -> dict[str, Any]:
    """Try once to send a mail; what another job is at is left to it."""
    letter = database.write(_take_letter, settings, id, job_id)
    if letter is None:
        return {"state": "dropped"}
    try:
        send_letter(settings, letter)
        outcome = SendingResult(MailOutcome.SENT)
    except RefusedMail as refused:
        outcome = SendingResult(MailOutcome.REFUSED, one_line(str(refused), 300))
    except Later as later:
        outcome = SendingResult(MailOutcome.LATER, one_line(str(later), 300))
    return {"state": database.write(_record_try, id, job_id, outcome), "said": outcome.answer}


def _take_letter(session: Session, settings: Settings, id: int, job_id: str) -> EmailMessage | None:
    """The mail as it is now wanted, closed for more notices; None where it is not wanted or not this job's."""
    mailing = session.get(Mailing, id, with_for_update=True)
    if (
        mailing is None
        or mailing.job_id != job_id
        or mailing.state not in (MailingState.GATHERING, MailingState.SENDING)
    ):
        return None
    person = session.get_one(Person, mailing.person_id)
    with speaking(person.language):
        letter = (
            _wanted_letter(session, settings, mailing, person) if settings.mails and not person.deleted_at else None
        )
    mailing.state = MailingState.SENDING if letter else MailingState.DROPPED
    return letter


def _wanted_letter(session: Session, settings: Settings, mailing: Mailing, person: Person) -> EmailMessage | None:
    if mailing.kind == MailingKind.RESET:
        late = now() - mailing.created_at > timedelta(seconds=recovery.RESET_SECONDS)
        return None if late else reset_letter(settings, mailing, person)
    if mailing.kind == MailingKind.CONFIRM:
        return None if person.email_confirmed_at else confirmation_letter(settings, mailing, person)
    wish = session.get(Wish, person.id)
    if wish is None or not wish.address:
        return None
    if mailing.kind == MailingKind.VERIFY:
        return None if wish.verified_at else verification_letter(settings, mailing, wish)
    bundled = session.scalars(queries.notices_in(mailing.id)).all() if wish.verified_at else []
    chosen = [notice for notice in bundled if "mail" in wish.channels.get(notice.kind, CHANNELS)]
    return notices_letter(settings, mailing, wish, chosen) if chosen else None


def _record_try(session: Session, id: int, job_id: str, outcome: SendingResult) -> str:
    """Note how a try went, and ask for the next in the same transaction where there is one."""
    mailing = session.get(Mailing, id, with_for_update=True)
    if mailing is None or mailing.job_id != job_id or mailing.state != MailingState.SENDING:
        return "dropped"
    mailing.tries, mailing.reason = mailing.tries + 1, outcome.answer
    about_wish = mailing.kind in (MailingKind.NOTICES, MailingKind.VERIFY)
    wish = session.get(Wish, mailing.person_id, with_for_update=True) if about_wish else None
    due = next_try(mailing.tries) if outcome.state is MailOutcome.LATER else None
    if outcome.state is MailOutcome.SENT:
        mailing.state = MailingState.SENT
    elif due:
        mailing.job_id = jobs.enqueue(session, "send_mail", {"mailing": id}, mailing.person_id, due_at=due).id
    else:
        mailing.state = MailingState.FAILED
        log.warning("mail %s was given up after %s tries: %s", id, mailing.tries, outcome.answer)
    if wish and mailing.state in (MailingState.SENT, MailingState.FAILED):
        wish.problem = outcome.answer
        if outcome.state is MailOutcome.REFUSED:  # no more goes there until its owner confirms it again
            wish.verified_at = None
    return mailing.state


VERIFY = "verify mail"
UNSUBSCRIBE = "unsubscribe"
VERIFY_SECONDS = 48 * 3600


def mask_address(address: str) -> str:
    """An address as those who have a link to it may read it: links are passed on, and end in logs of proxies."""
    local, _, domain = address.rpartition("@")
    return f"{local[:1]}…@{domain}"


SUBJECT, TEXT = 120, 2000  # characters


@dataclass(frozen=True)
class MailItem:
    """One piece of news for a person, and where there is more."""

    text: str
    address: str


def one_line(text: str, most: int) -> str:
    """Text for a header: no line breaks, no control characters, no longer than `most`."""
    plain = "".join(" " if unicodedata.category(character)[0] in "CZ" else character for character in text)
    words = " ".join(plain.split())
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


def verification_letter(settings: Settings, mailing: Mailing, wish: Wish) -> EmailMessage:
    """Asks whether the address is that person's."""
    token = make_link_token(settings.key, VERIFY, wish.person_id, wish.address, VERIFY_SECONDS)
    address = f"{settings.site}/mail/verify/{token}"
    return _letter_to_person(
        settings, mailing, wish, translate(_("Confirm your email address for Dynabench")), "verify", address=address
    )


def confirmation_letter(settings: Settings, mailing: Mailing, person: Person) -> EmailMessage:
    """Asks whether the address of an account is right."""
    address = f"{settings.site}/mail/confirm/{recovery.confirmation_token(settings.key, person)}"
    subject = translate(_("Confirm your email address for Dynabench"))
    return _letter_to_account(settings, mailing, person, subject, "confirm", address=address)


def reset_letter(settings: Settings, mailing: Mailing, person: Person) -> EmailMessage:
    """Brings the link for a new password."""
    address = f"{settings.site}/login/reset/{recovery.reset_token(settings.key, person)}"
    subject = translate(_("Reset your Dynabench password"))
    return _letter_to_account(settings, mailing, person, subject, "reset", address=address)


def notices_letter(settings: Settings, mailing: Mailing, wish: Wish, bundled: Sequence[Notice]) -> EmailMessage:
    """Return a person's notices in one mail, with a link to stop such mail."""
    items = [
        MailItem(translate(notice.translated_outside)[:TEXT], f"{settings.site}{notice.link}" if notice.link else "")
        for notice in bundled
    ]
    subject = (
        items[0].text
        if len(items) == 1
        else translate(ngettext("%(num)s notice from Dynabench", "%(num)s notices from Dynabench", len(items)))
    )
    token = make_link_token(settings.key, UNSUBSCRIBE, wish.person_id, wish.address)
    choices = f"{settings.site}/settings/notifications"
    stop = f"{settings.site}/mail/unsubscribe/{token}"
    letter = _letter_to_person(settings, mailing, wish, subject, "notices", items=items, choices=choices, stop=stop)
    letter["List-Unsubscribe"] = f"<{settings.site}/api/v1/mail/unsubscribe/{token}>"
    letter["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return letter


def invitation_letter(settings: Settings, to: str, key: str, at: datetime, **values: str) -> EmailMessage:
    """Invites a person who need not have an account; `key` is the same in each try, `values` are the template's."""
    subject = translate(_("An invitation to %(task)s", task=values["task"]))
    return _letter(settings, to, key, at, subject, "invitation", **values)


def _letter_to_person(
    settings: Settings, mailing: Mailing, wish: Wish, subject: str, template: str, **values: object
) -> EmailMessage:
    return _letter(settings, wish.address, str(mailing.id), mailing.created_at, subject, template, **values)


def _letter_to_account(
    settings: Settings, mailing: Mailing, person: Person, subject: str, template: str, **values: object
) -> EmailMessage:
    values |= {"name": person.username}
    return _letter(settings, person.email, str(mailing.id), mailing.created_at, subject, template, **values)


def _letter(
    settings: Settings, to: str, key: str, at: datetime, subject: str, template: str, **values: object
) -> EmailMessage:
    name, sender = parseaddr(settings.smtp_sender)
    local, _, domain = sender.rpartition("@")
    letter = EmailMessage(policy=SMTP)
    letter["From"] = Address(one_line(name, 60) or "Dynabench", local, domain)
    letter["To"] = to
    letter["Subject"] = one_line(subject, SUBJECT)
    letter["Date"] = formatdate(at.timestamp())
    # The same in each try, so that mail programs show a mail once that a broken connection made us send twice.
    letter["Message-ID"] = f"<{keyed(settings.key, 'mail', key).hex()[:32]}@{domain}>"
    letter["Auto-Submitted"] = "auto-generated"
    letter.set_content(environment().get_template(f"notices/mail_{template}.txt").render(**values))
    html = environment().get_template(f"notices/mail_{template}.html").render(subject=letter["Subject"], **values)
    letter.add_alternative(html, subtype="html")
    return letter


SECONDS = 30.0


class Later(Exception):
    """It was not taken, and may be if it is sent again: 4xx answers, broken connections, a server set up wrongly."""


class RefusedMail(Exception):
    """It was not taken and never will be: the server does not know the recipient or does not want the mail."""


def send_letter(settings: Settings, message: EmailMessage) -> None:
    """Send to the one recipient of `message`; raises `Later` or `RefusedMail` with what the server said."""
    try:
        with _connected(settings) as server:
            server.send_message(message)
    except smtplib.SMTPRecipientsRefused as error:
        [(code, answer)] = error.recipients.values()
        raise _refusal_of(code, answer) from error
    except smtplib.SMTPDataError as error:
        raise _refusal_of(error.smtp_code, error.smtp_error) from error
    except smtplib.SMTPNotSupportedError as error:
        raise (RefusedMail if "SMTPUTF8" in str(error) else Later)(str(error)) from error
    except smtplib.SMTPResponseException as error:  # before any recipient was named: log-in, sender
        raise Later(_answer_text(error.smtp_code, error.smtp_error)) from error
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


def _refusal_of(code: int, answer: bytes | str) -> Later | RefusedMail:
    return (RefusedMail if code >= 500 else Later)(_answer_text(code, answer))


def _answer_text(code: int, answer: bytes | str) -> str:
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    return f"{code} {text}"


WAITS = (5, 300, 1800, 7200, 18_000, 28_800, 28_800)
"""Seconds before the second try and each later one: eight tries in about a day."""
MOST = len(WAITS) + 1
JITTER = 0.2
_random = secrets.SystemRandom()


def next_try(tries: int) -> datetime | None:
    """Return when to try again after `tries` tries; None after the last try.

    The time is spread by a fifth either way, so that messages that failed together do not come back
    together.
    """
    if tries >= MOST:
        return None
    return now() + timedelta(seconds=WAITS[tries - 1] * _random.uniform(1 - JITTER, 1 + JITTER))
