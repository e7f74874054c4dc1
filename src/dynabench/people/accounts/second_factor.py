"""Codes of an app beside the password (TOTP, RFC 6238); functions run in the caller's transaction."""

import hmac
import secrets
import struct
import time
from base64 import b32encode
from collections.abc import Sequence
from urllib.parse import quote

from sqlalchemy.orm import Session

from dynabench.kit.db import now
from dynabench.kit.errors import Conflict, Invalid
from dynabench.kit.language import _
from dynabench.kit.sealing import seal, unseal
from dynabench.kit.security import digest
from dynabench.people.accounts import service
from dynabench.people.accounts.tables import SecondFactor

DIGITS, PERIOD, DRIFT = 6, 30, 1
"""Digits of a code, seconds that it is shown, and periods by which the app's clock may differ."""
RECOVERY_CODES = 10
SEALED_FOR = "second factor"


def has_second_factor(session: Session, person_id: int) -> bool:
    """Return whether a person is asked for a code at log-in."""
    factor = session.get(SecondFactor, person_id)
    return factor is not None and factor.confirmed_at is not None


def begin_setup(session: Session, key: bytes, person_id: int) -> None:
    """Make a secret for a person's app; it counts once a code of the app confirms it."""
    if has_second_factor(session, person_id):
        raise Conflict(_("Two-factor log-in is already on. Turn it off before you set up another app."))
    factor = session.get(SecondFactor, person_id) or SecondFactor(person_id=person_id, recovery_codes=[])
    factor.secret = seal(key, SEALED_FOR, secrets.token_bytes(20))
    session.add(factor)


def secret_to_confirm(session: Session, key: bytes, person_id: int) -> str | None:
    """Return the secret of a person's app as people type it, as long as no code has confirmed it; else None."""
    factor = session.get(SecondFactor, person_id)
    if factor is None or factor.confirmed_at is not None:
        return None
    secret = _secret(key, factor)
    return None if secret is None else b32encode(secret).decode()


def app_address(secret: str, username: str, site: str) -> str:
    """Return the address that an app reads from a picture."""
    label = quote(f"Dynabench:{username}")
    issuer = quote(f"Dynabench {site}".strip())
    return f"otpauth://totp/{label}?secret={secret}&issuer={issuer}&algorithm=SHA1&digits={DIGITS}&period={PERIOD}"


def confirm_setup(session: Session, key: bytes, person_id: int, code: str) -> list[str]:
    """Ask a person for codes from now on; return the recovery codes, which are shown once. Raises `Invalid`."""
    factor = session.get(SecondFactor, person_id, with_for_update=True)
    if factor is None or factor.confirmed_at is not None or not _take_code(key, factor, code):
        raise Invalid({"code": _("Wrong code. Check the clock of your phone, and enter the code it shows now.")})
    factor.confirmed_at = now()
    service.record_act(session, person_id, "second_factor.on", {"person": person_id})
    return _renew(factor)


def check_code(session: Session, key: bytes, person_id: int, code: str) -> bool:
    """Return whether a code is the app's at this moment, or a recovery code; each works once."""
    factor = session.get(SecondFactor, person_id, with_for_update=True)
    if factor is None or factor.confirmed_at is None:
        return False
    return _take_code(key, factor, code) or _take_recovery_code(factor, code)


def renew_recovery_codes(session: Session, person_id: int) -> list[str]:
    """Replace a person's recovery codes; return the new ones, which are shown once."""
    return _renew(session.get_one(SecondFactor, person_id, with_for_update=True))


def drop_second_factor(session: Session, by: int | None, person_id: int) -> None:
    """Ask a person for no code any more; recorded in the audit log. Twice changes nothing."""
    factor = session.get(SecondFactor, person_id)
    if factor is not None:
        session.delete(factor)
        service.record_act(session, by, "second_factor.off", {"person": person_id})


def count_recovery_codes(session: Session, person_id: int) -> int:
    """Return how many recovery codes a person has left."""
    factor = session.get(SecondFactor, person_id)
    return len(factor.recovery_codes) if factor else 0


def code_at(secret: bytes, step: int) -> str:
    """Return the code of a time step (RFC 4226, with SHA-1 as all apps have it)."""
    mac = hmac.digest(secret, struct.pack(">Q", step), "sha1")
    offset = mac[-1] & 15
    number = struct.unpack(">I", mac[offset : offset + 4])[0] & 0x7FFFFFFF
    return f"{number % 10**DIGITS:0{DIGITS}d}"


def _take_code(key: bytes, factor: SecondFactor, code: str) -> bool:
    secret, typed = _secret(key, factor), "".join(code.split())
    if secret is None or len(typed) != DIGITS or not (typed.isascii() and typed.isdigit()):
        return False
    present = int(time.time()) // PERIOD
    for step in range(present - DRIFT, present + DRIFT + 1):
        if step > factor.last_step and hmac.compare_digest(code_at(secret, step), typed):
            factor.last_step = step
            return True
    return False


def _take_recovery_code(factor: SecondFactor, code: str) -> bool:
    typed = digest("".join(character for character in code.lower() if character.isalnum()))
    rest = [recovery_code for recovery_code in factor.recovery_codes if not hmac.compare_digest(recovery_code, typed)]
    if len(rest) == len(factor.recovery_codes):
        return False
    factor.recovery_codes = rest
    return True


def _renew(factor: SecondFactor) -> list[str]:
    codes = [b32encode(secrets.token_bytes(10)).decode().lower() for _ in range(RECOVERY_CODES)]
    factor.recovery_codes = [digest(code) for code in codes]
    return ["-".join(_groups(code)) for code in codes]


def _groups(code: str) -> Sequence[str]:
    return [code[first : first + 4] for first in range(0, len(code), 4)]


def _secret(key: bytes, factor: SecondFactor) -> bytes | None:
    return unseal(key, SEALED_FOR, factor.secret)
