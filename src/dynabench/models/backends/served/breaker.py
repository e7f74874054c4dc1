"""One breaker for each endpoint, shared by all models of this process that are served there."""

from functools import cache

from dynabench.models.breaker import Breaker

TRIPS = 4
"""Failures in a row after which an endpoint is left alone."""
PAUSE = 10.0
"""Seconds for which it is; then one call tries it."""


@cache
def breaker(origin: str) -> Breaker:
    """The breaker of `scheme://host:port`."""
    return Breaker(TRIPS, PAUSE)
