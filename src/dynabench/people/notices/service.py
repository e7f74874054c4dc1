"""Telling people, and how they want to be told. Knows no web framework; runs in the caller's transaction."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import delete, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _, phrase_document
from dynabench.people.accounts.rules import clean_email, email_problem
from dynabench.people.accounts.service import NOTICE_KINDS
from dynabench.people.accounts.tables import Notice, Person
from dynabench.people.link_tokens import DeadLink, check_link_token, linked_person
from dynabench.people.mailings import Mailing, MailingKind, send_mail
from dynabench.people.notices import mailing, webhooks
from dynabench.people.notices.tables import CHANNELS, Hook, Wish

ALWAYS_SHOWN = ("warning", "ban", "lifted", "webhook")
"""Kinds that are shown on the pages whatever the person wants."""


def notify_person(session: Session, person_id: int, kind: str, text: str, *, link: str = "", outside: str = "") -> None:
    """Send a person a notice in the ways that they chose for this kind; what leaves does so after the transaction.

    `link` is the path of the page that has more; `outside` stands in for `text` in mails and webhooks where that may
    quote what does not leave the platform.
    """
    if kind not in NOTICE_KINDS:
        raise ValueError(kind)
    wish = session.get(Wish, person_id)
    notice = Notice(person_id=person_id, kind=kind, text=text, link=link, outside=outside)
    notice.phrases = {"text": phrase_document(text), "outside": phrase_document(outside)}
    if not wants_channel(wish, kind, "page"):
        notice.seen_at = now()
    if wish and wish.verified_at and wants_channel(wish, kind, "mail"):
        notice.mailing_id = mailing.open_mail(session, person_id).id
    session.add(notice)
    if wants_channel(wish, kind, "webhook"):
        webhooks.send_notice(session, notice)


def wants_channel(wish: Wish | None, kind: str, channel: str) -> bool:
    """Return whether notices of this kind go by this channel."""
    if channel == "page" and kind in ALWAYS_SHOWN:
        return True
    return wish is None or channel in wish.channels.get(kind, CHANNELS)


def wish_of(session: Session, person_id: int) -> Wish:
    """Return how a person wants to be notified; not stored yet where the person never chose."""
    return session.get(Wish, person_id) or Wish(person_id=person_id, address="", channels={}, problem="")


def _locked_wish(session: Session, person_id: int) -> Wish:
    """The same, stored and held until the transaction ends."""
    wish = session.get(Wish, person_id, with_for_update=True, populate_existing=True)
    if wish is None:
        wish = Wish(person_id=person_id, address="", channels={}, problem="")
        try:
            with session.begin_nested():
                session.add(wish)
        except IntegrityError:  # made in the meantime
            return session.get_one(Wish, person_id, with_for_update=True)
    return wish


def choose_channels(session: Session, person_id: int, channels: Mapping[str, Sequence[str]]) -> Wish:
    """Keep which kinds take which ways; kinds that are not named stay as they are. Raises `Invalid`."""
    problems = {
        f"channels.{kind}"[:60]: _("There is no such kind of notice.") for kind in channels if kind not in NOTICE_KINDS
    }
    problems |= {
        f"channels.{kind}"[:60]: _("Choose from %(channels)s.", channels=", ".join(CHANNELS))
        for kind, chosen in channels.items()
        if set(chosen) - set(CHANNELS)
    }
    if problems:
        raise errors.Invalid(problems)
    wish = _locked_wish(session, person_id)
    changes = {kind: [channel for channel in CHANNELS if channel in chosen] for kind, chosen in channels.items()}
    wish.channels = {**wish.channels, **changes}
    return wish


def choose_address(session: Session, person_id: int, typed: str) -> Wish:
    """Ask by mail whether this address is the person's; until they confirm nothing else goes there.

    The confirmed address of the account is taken at once. An empty text means no mail. Raises `Invalid`.
    """
    typed = typed.strip()
    if typed and (problem := email_problem(typed)):
        raise errors.Invalid({"address": problem})
    address = clean_email(typed) if typed else ""
    wish = _locked_wish(session, person_id)
    if address and address == wish.address and wish.verified_at:
        return wish
    wish.address, wish.verified_at, wish.problem = address, None, ""
    person = session.get_one(Person, person_id)
    if address and person.email_confirmed_at and address.lower() == person.email.lower():
        wish.verified_at = now()
    elif address:
        send_mail(session, person_id, MailingKind.VERIFY)
    return wish


def confirm_address(session: Session, key: bytes, token: str) -> Wish:
    """The reader of a mail followed the link that was sent to the address; raises `NotFound` for any other link."""
    wish = _locked_wish_of_link(session, key, mailing.VERIFY, token)
    wish.verified_at, wish.problem = wish.verified_at or now(), ""
    return wish


def unsubscribe(session: Session, key: bytes, token: str) -> Wish:
    """No more mail of any kind; what was gathered is not sent. Twice changes nothing."""
    wish = _locked_wish_of_link(session, key, mailing.UNSUBSCRIBE, token)
    wish.channels = {kind: [c for c in wish.channels.get(kind, CHANNELS) if c != "mail"] for kind in NOTICE_KINDS}
    return wish


def wish_of_link(session: Session, key: bytes, purpose: str, token: str) -> Wish:
    """Return the mail choices of the person that a link is about.

    Raise `NotFound` where the link does not work.
    """
    wish = session.get(Wish, linked_person(token))
    if wish is None or not wish.address:
        raise DeadLink
    check_link_token(key, purpose, token, wish.address)
    return wish


def _locked_wish_of_link(session: Session, key: bytes, purpose: str, token: str) -> Wish:
    wish_of_link(session, key, purpose, token)
    wish = _locked_wish(session, linked_person(token))
    check_link_token(key, purpose, token, wish.address)
    return wish


def forget_person(session: Session, person_id: int) -> None:
    """Before an account is deleted: its address, mails and webhooks go; the webhooks of tasks that it made stay."""
    tables: tuple[Any, ...] = (Wish, Mailing, Hook)
    for table in tables:
        session.execute(delete(table).where(table.person_id == person_id))
    session.execute(update(Hook).where(Hook.created_by == person_id).values(created_by=None))
