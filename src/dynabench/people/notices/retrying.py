"""The times at which mails and calls that did not get through are tried again."""

import secrets
from datetime import datetime, timedelta

from dynabench.kit.db import now

WAITS = (5, 300, 1800, 7200, 18_000, 28_800, 28_800)
"""Seconds before the second try and each later one: eight tries in about a day."""
MOST = len(WAITS) + 1
JITTER = 0.2
_random = secrets.SystemRandom()


def next_try(tries: int) -> datetime | None:
    """Return when to try again after `tries` tries; None after the last try.

    The time is spread by a fifth either way, so that messages that failed together do not come back
    together.
    """
    if tries >= MOST:
        return None
    return now() + timedelta(seconds=WAITS[tries - 1] * _random.uniform(1 - JITTER, 1 + JITTER))
