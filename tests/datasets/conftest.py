"""A task with a round in the test's database, and a second database to bring exports into."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from dynabench.db import Database
from dynabench.settings import Settings
from tests.conftest import postgres_database
from tests.validation.world import World


@pytest.fixture
def world(database: Database) -> World:
    """A round whose validators judge or answer blind."""
    return World(database, mode="mixed")


@pytest.fixture
def elsewhere(database_kind: str, request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Database]:
    """Another deployment's database, with tables alone."""
    if database_kind == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_template"), tmp_path / "elsewhere.sqlite")
        urls = iter([f"sqlite:///{tmp_path / 'elsewhere.sqlite'}"])
    else:
        urls = postgres_database(request.getfixturevalue("postgres"), "template")
    db = Database(next(urls).replace("postgresql://", "postgresql+psycopg://", 1))
    yield db
    db.close()
    next(urls, None)


@pytest.fixture
def other_settings(tmp_path: Any) -> Settings:
    """Settings of the other deployment: another secret, so other pseudonyms for people of its own."""
    return Settings(home=tmp_path / "elsewhere", secret="another secret")
