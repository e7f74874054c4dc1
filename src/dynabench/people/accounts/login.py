"""Passwords, joining and logging in, as the API and the pages share them."""

import os
from dataclasses import dataclass
from datetime import timedelta
from functools import cache

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError
from fastapi import Request
from sqlalchemy.orm import Session

from dynabench.kit import security
from dynabench.kit.db import Database, now
from dynabench.kit.errors import Invalid, Unauthenticated
from dynabench.kit.language import _
from dynabench.people.accounts import recovery, rules, second_factor, service
from dynabench.people.accounts.tables import Person

MEMORY_KIB = 19_456  # with 2 passes OWASP's least; the default here is 3
_limiter: RunVar[CapacityLimiter] = RunVar("password_limiter")


@cache
def _hasher(cost: int) -> PasswordHasher:
    return PasswordHasher(time_cost=cost, memory_cost=MEMORY_KIB, parallelism=1, type=Type.ID)


@cache
def _dummy_hash(cost: int) -> str:
    """A hash that no password fits: verifying against it takes as long as against a real one."""
    return _hasher(cost).hash(os.urandom(32))


def hash_password(password: str, cost: int) -> str:
    """The Argon2id hash of a password after `cost` passes; blocks for tens of milliseconds."""
    return _hasher(cost).hash(password)


def verify_password(stored: str | None, password: str, cost: int) -> bool:
    """Return whether the password fits the stored hash.

    It takes as long where there is no hash (no such person, or one without a password).
    """
    try:
        return _hasher(cost).verify(stored or _dummy_hash(cost), password) and bool(stored)
    except (VerificationError, InvalidHashError):
        return False


def needs_rehash(stored: str, cost: int) -> bool:
    """Return whether the hash was made with other parameters than today's."""
    return _hasher(cost).check_needs_rehash(stored)


def _slots() -> CapacityLimiter:
    try:
        return _limiter.get()
    except LookupError:
        limiter = CapacityLimiter(max(2, os.cpu_count() or 2))
        _limiter.set(limiter)
        return limiter


async def hash_password_in_thread(password: str, cost: int) -> str:
    """`make` in a thread."""
    return await to_thread.run_sync(hash_password, password, cost, limiter=_slots())


async def verify_password_in_thread(stored: str | None, password: str, cost: int) -> bool:
    """`check` in a thread."""
    return await to_thread.run_sync(verify_password, stored, password, cost, limiter=_slots())


MINUTE, HOUR = 60.0, 3600.0


@dataclass(frozen=True)
class CheckedCredentials:
    """A person who gave the right password; `rehashed` replaces a hash that was made with other parameters."""

    person: Person
    rehashed: str | None


async def join_site(request: Request, username: str, email: str, password: str, agree: bool) -> Person:
    """Register an account; raises `Invalid`, `Conflict` or `TooMany`."""
    newcomer = rules.check_registration(username, email, password, agree)
    security.throttle(request, "register", 120, HOUR, key=security.address(request))  # a class room shares one
    hashed = await hash_password_in_thread(newcomer.password, request.app.state.settings.password_cost)
    db: Database = request.app.state.db
    return await db.awrite(_register, newcomer, hashed, request.app.state.settings.mails)


def _register(session: Session, newcomer: rules.Newcomer, password_hash: str, mails: bool) -> Person:
    person = service.register_account(session, newcomer, password_hash)
    if mails:
        recovery.mail_confirmation(session, person.id)
    return person


async def start_session(request: Request, person_id: int, rehashed: str | None = None, provider: str = "") -> str:
    """Log a person in with the browser that sent the request; returns the value of its new cookie."""
    db: Database = request.app.state.db
    agent = request.headers.get("user-agent", "")
    return await db.awrite(
        service.start_session, person_id, security.session_cookie(request), rehashed, agent, provider
    )


def person_with_id(session: Session, person_id: int) -> Person | None:
    """Return a person with an account; None where it is deleted."""
    person = session.get(Person, person_id)
    return None if person is None or person.deleted_at is not None else person


async def check_second_factor(request: Request, person_id: int, code: str) -> bool:
    """Return whether the code is that of the person's app; guessing is limited. Raises `TooMany`."""
    security.throttle(request, "code", 10, 10 * MINUTE, key=f"person {person_id}")
    state = request.app.state
    return bool(await state.db.awrite(second_factor.check_code, state.settings.key, person_id, code))


async def check_credentials(request: Request, name: str, password: str) -> CheckedCredentials:
    """Check username (or mail address) and password; takes as long for unknown names.

    Tries are counted by name and address together, so that nobody who guesses at a name locks its owner out.
    Raises `Unauthenticated` or `TooMany`.
    """
    address = security.address(request)
    security.throttle(request, "login", 120, MINUTE, key=address)
    security.throttle(request, "login", 10, MINUTE, key=f"name {name.strip().lower()[:254]} {address}")
    db: Database = request.app.state.db
    person = await db.aread(service.find_account, name)
    cost = request.app.state.settings.password_cost
    if not await verify_password_in_thread(person.password_hash if person else None, password, cost) or person is None:
        raise Unauthenticated(_("Wrong username or password."))
    old = needs_rehash(person.password_hash, cost)
    return CheckedCredentials(person, await hash_password_in_thread(password, cost) if old else None)


def refusal_text(person: Person) -> str:
    """Say why a password was not taken: it is wrong, or the person has none yet."""
    if person.password_hash:
        return _("Wrong password.")
    return _("Your account has no password yet. Set one in Settings, Security.")


async def confirm_password(request: Request, person: Person, password: str) -> bool:
    """Return whether this is the logged-in person's own password; guessing is limited as at log-in."""
    security.throttle(request, "login", 10, MINUTE, key=f"person {person.id}")
    return await verify_password_in_thread(person.password_hash, password, request.app.state.settings.password_cost)


FRESH = timedelta(minutes=15)
"""How long after a log-in at a provider a person may set a first password."""


async def _require_fresh_session(request: Request) -> None:
    cookie = security.session_cookie(request)
    begun = await request.app.state.db.aread(service.session_begun, security.digest(cookie)) if cookie else None
    if begun is None or now() - begun > FRESH:
        raise Invalid({"current": _("To set a password, log out and in again; you then have 15 minutes.")})


async def change_password(request: Request, person: Person, current: str, password: str) -> None:
    """Replace the password of a person who knows it, or set the first of one who has just logged in at a provider.

    Every browser is logged out. Raises `Invalid` or `TooMany`.
    """
    if not person.password_hash:
        await _require_fresh_session(request)
    elif not await confirm_password(request, person, current):
        raise Invalid({"current": _("Wrong password.")})
    if problem := rules.password_problem(password, person.username, person.email):
        raise Invalid({"password": problem})
    hashed = await hash_password_in_thread(password, request.app.state.settings.password_cost)
    await request.app.state.db.awrite(service.change_password, person.id, hashed)
