"""A clock that the builder sets, so that the services date what they write in the past months."""

from datetime import datetime, timedelta, tzinfo
from typing import Any

from dynabench.kit import db


class SimulatedClock:
    """Stands in for `datetime` where the services read the time; it moves only when it is told to."""

    def __init__(self, start: datetime) -> None:
        self.moment = start
        self._original: Any = vars(db)["datetime"]

    def now(self, zone: tzinfo | None = None) -> datetime:
        """Return the simulated moment."""
        return self.moment.astimezone(zone) if zone else self.moment

    def advance(self, seconds: float) -> None:
        """Move on by some seconds."""
        self.moment += timedelta(seconds=seconds)

    def move_to(self, moment: datetime) -> None:
        """Move on to a moment; never back."""
        self.moment = max(self.moment, moment)

    def __enter__(self) -> "SimulatedClock":
        vars(db)["datetime"] = self
        return self

    def __exit__(self, *error: object) -> None:
        vars(db)["datetime"] = self._original
