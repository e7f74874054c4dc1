"""Mails as they are sent: plain text with a simple HTML twin (RFC 5322, RFC 8058)."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, parseaddr

from dynabench.kit.language import _, ngettext, said
from dynabench.kit.security import keyed
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Notice
from dynabench.people.notices import links
from dynabench.people.notices.tables import Mailing, Wish
from dynabench.web.environment import environment

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
    token = links.make(settings.key, links.VERIFY, wish.person_id, wish.address, links.VERIFY_SECONDS)
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
    token = links.make(settings.key, links.UNSUBSCRIBE, wish.person_id, wish.address)
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
