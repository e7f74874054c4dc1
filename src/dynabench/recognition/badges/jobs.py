"""The worker's part in badges: folding contributions within seconds, and deciding weeks and boards every minute."""

import logging
import threading
import time
from datetime import date, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.collection.tables import Tally
from dynabench.kit.db import Database, now
from dynabench.kit.settings import Settings
from dynabench.recognition.badges import events, service

log = logging.getLogger(__name__)
PAUSE, LONGEST_PAUSE = 0.7, 10.0
"""Seconds between two looks at whether contributions wait."""
REST = 9
"""Times as long as folding took, until the next look: each person is counted anew at each, and where many people write
at once, their examples are worth more of the processor than their badges."""


class _DecidedWeeks:
    """The Monday of the last week that this process has decided."""

    last: date | None = None


def fold_until(database: Database, stop: threading.Event) -> None:
    """Fold contributions into badges until `stop` is set. An error is logged and tried again: nothing is lost."""
    pause = PAUSE
    while not stop.wait(pause):
        begun = time.monotonic()
        try:
            while service.fold_contributions(database) and not stop.is_set():
                pass
        except Exception:
            log.exception("Awarding badges failed.")
        pause = min(max(PAUSE, REST * (time.monotonic() - begun)), LONGEST_PAUSE)


def award_weeks_and_boards(database: Database, settings: Settings) -> None:
    """Award the winners of all weeks that are decided and were not looked at by this process, and the best models."""
    service.award_at_once(database, database.read(events.board_badges))
    newest = events.last_decided_week(now().date())
    if _DecidedWeeks.last == newest:
        return
    monday = _DecidedWeeks.last or database.read(_first_week)
    while monday is not None and monday <= newest:
        service.award_at_once(database, database.read(events.week_badges, monday), silent=monday < newest)
        monday += timedelta(days=7)
    _DecidedWeeks.last = newest


def _first_week(session: Session) -> date | None:
    first = session.scalar(select(func.min(Tally.day)))
    if first is None:
        return None
    day = date.fromisoformat(first)
    return day - timedelta(days=day.weekday())
