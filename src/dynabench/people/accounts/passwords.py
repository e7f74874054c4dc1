"""Argon2id: slow on purpose, so in threads, and never more at once than the machine has cores for."""

import os
from functools import cache

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

MEMORY_KIB = 19_456  # with 2 passes OWASP's least; the default here is 3
_limiter: RunVar[CapacityLimiter] = RunVar("password_limiter")


@cache
def _hasher(cost: int) -> PasswordHasher:
    return PasswordHasher(time_cost=cost, memory_cost=MEMORY_KIB, parallelism=1, type=Type.ID)


@cache
def _nobody(cost: int) -> str:
    """A hash that no password fits: verifying against it takes as long as against a real one."""
    return _hasher(cost).hash(os.urandom(32))


def make(password: str, cost: int) -> str:
    """The Argon2id hash of a password after `cost` passes; blocks for tens of milliseconds."""
    return _hasher(cost).hash(password)


def check(stored: str | None, password: str, cost: int) -> bool:
    """Return whether the password fits the stored hash.

    It takes as long where there is no hash (no such person).
    """
    try:
        return _hasher(cost).verify(stored or _nobody(cost), password) and stored is not None
    except (VerificationError, InvalidHashError):
        return False


def outdated(stored: str, cost: int) -> bool:
    """Return whether the hash was made with other parameters than today's."""
    return _hasher(cost).check_needs_rehash(stored)


def _slots() -> CapacityLimiter:
    try:
        return _limiter.get()
    except LookupError:
        limiter = CapacityLimiter(max(2, os.cpu_count() or 2))
        _limiter.set(limiter)
        return limiter


async def amake(password: str, cost: int) -> str:
    """`make` in a thread."""
    return await to_thread.run_sync(make, password, cost, limiter=_slots())


async def acheck(stored: str | None, password: str, cost: int) -> bool:
    """`check` in a thread."""
    return await to_thread.run_sync(check, stored, password, cost, limiter=_slots())
