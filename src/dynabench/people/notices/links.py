"""Links in mails that say who follows them: signed, with or without an end, and nothing to be looked up."""

import hmac
import time
from base64 import urlsafe_b64encode

from dynabench.kit.errors import NotFound
from dynabench.kit.language import _
from dynabench.kit.security import keyed

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
