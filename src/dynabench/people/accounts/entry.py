"""Joining and logging in, as the API and the pages share it: limits, slow hashing outside transactions, then one write.

The only part of accounts between a request and the service.
"""

from dataclasses import dataclass

from fastapi import Request

from dynabench.kit import security
from dynabench.kit.db import Database
from dynabench.kit.errors import Invalid, Unauthenticated
from dynabench.kit.language import _
from dynabench.people.accounts import passwords, rules, service
from dynabench.people.accounts.tables import Person

MINUTE, HOUR = 60.0, 3600.0


@dataclass(frozen=True)
class Proven:
    """Somebody who gave the right password; `rehashed` replaces a hash that was made with other parameters."""

    person: Person
    rehashed: str | None


async def join(request: Request, username: str, email: str, password: str, agree: bool) -> Person:
    """Register an account; raises `Invalid`, `Conflict` or `TooMany`."""
    newcomer = rules.newcomer(username, email, password, agree)
    security.throttle(request, "register", 120, HOUR, key=security.address(request))  # a class room shares one
    hashed = await passwords.amake(newcomer.password, request.app.state.settings.password_cost)
    db: Database = request.app.state.db
    return await db.awrite(service.register, newcomer, hashed)


async def prove(request: Request, name: str, password: str) -> Proven:
    """Check username (or mail address) and password; takes as long for unknown names.

    Tries are counted by name and address together, so that nobody who guesses at a name locks its owner out.
    Raises `Unauthenticated` or `TooMany`.
    """
    address = security.address(request)
    security.throttle(request, "login", 120, MINUTE, key=address)
    security.throttle(request, "login", 10, MINUTE, key=f"name {name.strip().lower()[:254]} {address}")
    db: Database = request.app.state.db
    person = await db.aread(service.find, name)
    cost = request.app.state.settings.password_cost
    if not await passwords.acheck(person.password_hash if person else None, password, cost) or person is None:
        raise Unauthenticated(_("Wrong username or password."))
    old = passwords.outdated(person.password_hash, cost)
    return Proven(person, await passwords.amake(password, cost) if old else None)


async def confirm(request: Request, person: Person, password: str) -> bool:
    """Return whether this is the logged-in person's own password; guessing is limited as at log-in."""
    security.throttle(request, "login", 10, MINUTE, key=f"person {person.id}")
    return await passwords.acheck(person.password_hash, password, request.app.state.settings.password_cost)


async def change_password(request: Request, person: Person, current: str, password: str) -> None:
    """A new password for somebody who knows the old one; every browser is logged out. Raises `Invalid` or `TooMany`."""
    if not await confirm(request, person, current):
        raise Invalid({"current": _("This is not your password.")})
    if problem := rules.password_problem(password, person.username, person.email):
        raise Invalid({"password": problem})
    hashed = await passwords.amake(password, request.app.state.settings.password_cost)
    await request.app.state.db.awrite(service.change_password, person.id, hashed)
