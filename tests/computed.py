"""One worker that computes modules for all applications of a test process: starting one takes a second."""

from collections.abc import Iterator

import pytest

from dynabench.site import app as application
from dynabench.site.cards.calculator import Calculator


class Shared(Calculator):
    """Stays when an application ends."""

    def close(self) -> None:
        """Not yet."""


@pytest.fixture(scope="session")
def worker() -> Iterator[Calculator]:
    """The worker; it starts when it is first asked for something."""
    shared = Shared()
    yield shared
    Calculator.close(shared)


@pytest.fixture(autouse=True)
def calculator(worker: Calculator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Applications use it."""
    monkeypatch.setattr(application, "Calculator", lambda: worker)
