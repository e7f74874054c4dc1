"""These pages and addresses are the same on all databases, and all tests share one worker."""

from collections.abc import Iterator

import pytest

from dynabench import app as application
from dynabench.cards.calculator import Calculator


@pytest.fixture
def database_kind() -> str:
    """SQLite alone."""
    return "sqlite"


class Shared(Calculator):
    """Stays when an application ends."""

    def close(self) -> None:
        """Not yet."""


@pytest.fixture(scope="session")
def worker() -> Iterator[Calculator]:
    """One worker for all tests: starting one takes a second."""
    shared = Shared()
    yield shared
    Calculator.close(shared)


@pytest.fixture(autouse=True)
def calculator(worker: Calculator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Applications use it."""
    monkeypatch.setattr(application, "Calculator", lambda: worker)
