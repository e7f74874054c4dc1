"""A lock with two classes of users: whoever is in a hurry goes first."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """One holder at a time; a patient one waits while anybody in a hurry does. Not reentrant."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held = False
        self._hurried = 0

    @contextmanager
    def hurried(self) -> Iterator[None]:
        """Hold the lock as soon as its holder leaves."""
        with self._changed:
            self._hurried += 1
            self._changed.wait_for(lambda: not self._held)
            self._hurried -= 1
            self._held = True
        yield from self._hold()

    @contextmanager
    def patient(self) -> Iterator[None]:
        """Hold the lock once it is free and nobody in a hurry wants it."""
        with self._changed:
            self._changed.wait_for(lambda: not self._held and not self._hurried)
            self._held = True
        yield from self._hold()

    def _hold(self) -> Iterator[None]:
        try:
            yield
        finally:
            with self._changed:
                self._held = False
                self._changed.notify_all()
