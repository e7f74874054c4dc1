"""Signed tokens for links in mails: no table holds them, and each holds for one purpose, person and state of things."""

import hmac
import time
from base64 import urlsafe_b64encode

from dynabench.kit.errors import NotFound
from dynabench.kit.language import _
from dynabench.kit.security import keyed


class DeadLink(NotFound):
    """A link of a mail that does not work."""

    def __init__(self) -> None:
        super().__init__(_("This link has expired, was used already, is not complete, or belongs to another address."))


def make_link_token(key: bytes, purpose: str, person_id: int, address: str, seconds: int = 0) -> str:
    """A token for `purpose` that holds for this person and address, for `seconds` (0: for good).

    `person.until.signature`; the signature is an HMAC-SHA-256 under the deployment's key, in URL-safe base64.
    """
    until = int(time.time()) + seconds if seconds else 0
    return f"{person_id}.{until}.{_signature(key, purpose, person_id, until, address)}"


def linked_person(token: str) -> int:
    """Return the id of the person that a token names; the token is not checked yet.

    Raise `DeadLink` for a text that is no token.
    """
    return _parts(token)[0]


def check_link_token(key: bytes, purpose: str, token: str, address: str) -> None:
    """Raises `DeadLink` unless the token was made for this purpose and address, and has not ended."""
    person_id, until, signature = _parts(token)
    right = _signature(key, purpose, person_id, until, address)
    if not hmac.compare_digest(signature.encode(), right.encode()) or (until and until < time.time()):
        raise DeadLink


def _parts(token: str) -> tuple[int, int, str]:
    person, _, rest = token.partition(".")
    until, _, signature = rest.partition(".")
    for number in (person, until):
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            raise DeadLink
    return int(person), int(until), signature


def _signature(key: bytes, purpose: str, person_id: int, until: int, address: str) -> str:
    return urlsafe_b64encode(keyed(key, purpose, f"{person_id} {until} {address}")).decode().rstrip("=")
