"""A task with a round in the test's database, and a second database to bring exports into."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from tests.furnished import bare
from tests.validation.world import World


@pytest.fixture
def world(database: Database) -> World:
    """A round whose validators judge or answer blind."""
    return World(database, mode="mixed")


@pytest.fixture
def elsewhere(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Another deployment's database, with tables alone."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    with request.getfixturevalue("files" if database_kind == "sqlite" else "server").copy(bare, folder) as (url, _):
        db = Database(Settings(database_url=url).url)
        yield db
        db.close()


@pytest.fixture
def other_settings(tmp_path: Any) -> Settings:
    """Settings of the other deployment: another secret, so other pseudonyms for people of its own."""
    return Settings(home=tmp_path / "elsewhere", secret="another secret " * 3)
