"""Rules for usernames, mail addresses, pseudonyms and passwords: pure functions over texts."""

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass

from email_validator import EmailNotValidError, validate_email

from dynabench.kit.errors import Invalid
from dynabench.kit.language import _
from dynabench.people.accounts.tables import SCOPES

USERNAME = re.compile(r"[A-Za-z0-9_.-]{3,40}")
PSEUDONYM = re.compile(r"[\w][\w .-]{1,38}[\w]")
LANGUAGE_CODE = re.compile(r"[a-z]{2,3}")
MOST_LANGUAGES = 50
OFFERED_LANGUAGES = tuple(
    "ar bg bn ca cs da de el en es et fa fi fr gu he hi hr hu id it ja ko lt lv mr ms nl no pa pl pt ro ru sk sl sr sv"
    " sw ta te th tr uk ur vi zh".split()
)
"""Codes of the languages that the settings offer; others are typed."""
PASSWORD_LENGTH = (10, 200)
USUAL_SCOPES = ("read", "annotate", "manage")  # of a token where nothing else is said: all but the account itself
DELETED = "deleted-"  # names of deleted accounts begin with it; nobody may take one

# What people type first when ten characters are asked for; repeats and plain runs are caught by `_too_plain`.
# fmt: off
COMMON = frozenset(
    [
        "1q2w3e4r5t", "1qaz2wsx3edc", "administrator", "adminadmin", "baseball123", "changeme123", "computer123",
        "dragon1234", "dynabench1", "dynabench123", "football123", "football1234", "helloworld", "iloveyou12",
        "iloveyou123", "internet123", "letmein123", "letmein1234", "master1234", "michael123", "monkey1234",
        "mypassword", "password00", "password01", "password1!", "password11", "password12", "password123",
        "password1234", "password12345", "passw0rd123", "princess123", "qazwsxedcrfv", "qwerty1234", "qwerty12345",
        "qwerty123456", "qwertyuiop", "qwertyuiop123", "samsung123", "starwars123", "sunshine123", "superman123",
        "trustno1234", "welcome123", "welcome1234",
    ]
)
# fmt: on
RUNS = ("01234567890123456789", "abcdefghijklmnopqrstuvwxyz", "qwertyuiopasdfghjklzxcvbnm")


@dataclass(frozen=True)
class Newcomer:
    """A checked registration, its password not hashed yet."""

    username: str
    email: str
    password: str


def check_registration(username: str, email: str, password: str | None, agree: bool) -> Newcomer:
    """The checked fields of a registration; raises `Invalid` with a message for each field that is not right.

    Without a password (None) it is for a person who logs in at a provider.
    """
    username, email = username.strip(), email.strip()
    problems = {
        "username": username_problem(username),
        "email": email_problem(email),
        "password": "" if password is None else password_problem(password, username, email),
        "agree": "" if agree else _("Accept the terms and the data licence to join."),
    }
    if wrong := {name: text for name, text in problems.items() if text}:
        raise Invalid(wrong)
    return Newcomer(username, clean_email(email), password or "")


def username_problem(username: str) -> str:
    """Why this username cannot be taken, or an empty text."""
    if not USERNAME.fullmatch(username):
        return _("Use 3 to 40 letters, digits, dots, hyphens or underscores.")
    if username.lower().startswith(DELETED):
        return _("Names that start with “%(deleted)s” are reserved.", deleted=DELETED)
    return ""


def clean_email(email: str) -> str:
    """The address in its normal form; raises `EmailNotValidError`."""
    return validate_email(email, check_deliverability=False).normalized


def email_problem(email: str) -> str:
    """Why this is no mail address, or an empty text; nobody is asked whether it exists."""
    try:
        return "" if len(clean_email(email)) <= 254 else _("This email address is too long.")
    except EmailNotValidError:  # its reasons are English sentences
        return _("Enter a full mail address, such as name@example.org.")


def password_problem(password: str, username: str, email: str = "") -> str:
    """Why this password is refused, or an empty text. Length counts, and what is guessed first is refused."""
    least, most = PASSWORD_LENGTH
    if not least <= len(password) <= most:
        return _("Use %(least)s to %(most)s characters.", least=least, most=most)
    lowered = password.lower()
    if lowered in {username.lower(), email.lower(), email.partition("@")[0].lower()}:
        return _("Choose something other than your name or address.")
    if lowered in COMMON or _too_plain(lowered):
        return _("This password is easy to guess. Choose another, such as four random words.")
    return ""


def _too_plain(password: str) -> bool:
    return len(set(password)) < 4 or any(password in run or password in run[::-1] for run in RUNS)


def clean_pseudonym(text: str) -> str:
    """A pseudonym in its normal form, empty for none; raises `Invalid`."""
    name = " ".join(unicodedata.normalize("NFKC", text).split())
    if name and (not PSEUDONYM.fullmatch(name) or name.lower().startswith(DELETED)):
        raise Invalid({"pseudonym": _("Use 3 to 40 letters, digits, spaces, dots, hyphens or underscores.")})
    return name


def clean_language_code(code: object) -> str:
    """The ISO 639 code of a language, in small letters; empty for none. Raises `Invalid`."""
    text = "" if code is None else code
    if not isinstance(text, str) or not (text.strip() == "" or LANGUAGE_CODE.fullmatch(text.strip().lower())):
        raise Invalid({"language": _("Give the ISO 639 code of a language, two or three letters such as en.")})
    return text.strip().lower()


def clean_known_languages(codes: Collection[str]) -> list[str]:
    """The codes of the languages that a person knows, sorted, each once; raises `Invalid`."""
    try:
        languages = sorted({code for text in codes if (code := clean_language_code(text))})
    except Invalid as problem:
        raise Invalid({"known_languages": next(iter(problem.fields.values()))}) from None
    if len(languages) > MOST_LANGUAGES:
        raise Invalid({"known_languages": _("Choose at most %(most)s languages.", most=MOST_LANGUAGES)})
    return languages


def clean_token_name(text: str) -> str:
    """A token's name; raises `Invalid`."""
    name = " ".join(text.split())
    if not name or len(name) > 60 or not name.isprintable():
        raise Invalid({"name": _("Enter a name of at most 60 characters for the token.")})
    return name


def clean_scopes(scopes: Collection[str], most: Collection[str] | None = None) -> list[str]:
    """A new token's scopes in their usual order; `most` is what the token that asks for it has. Raises `Invalid`."""
    if not scopes or (unknown := set(scopes) - set(SCOPES)):
        complaint = _("There is no scope %(value)s. ", value=repr(sorted(unknown)[0])) if scopes else ""
        raise Invalid({"scopes": _("%(said)sChoose from %(scopes)s.", said=complaint, scopes=", ".join(SCOPES))})
    if most is not None and (beyond := set(scopes) - set(most)):
        raise Invalid(
            {
                "scopes": _(
                    "A token cannot grant scopes that it does not have: %(value)s.", value=", ".join(sorted(beyond))
                )
            }
        )
    return [name for name in SCOPES if name in scopes]
