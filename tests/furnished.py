"""Databases that hold something from the start: made once by each process that runs tests, copied for each test."""

import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.operations.migrations import metadata

numbers = itertools.count(1)
Furnish = Callable[[Settings], Any]
"""Writes what a database is to hold from the start, by the settings of its deployment; returns what tests need of it,
such as tokens."""


def in_memory() -> str | None:
    """A folder in memory, where there is one with room: copying a database there takes a tenth of the time."""
    folder = "/dev/shm"
    return folder if os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > 2**30 else None


def bare(_: Settings) -> None:
    """Nothing but the tables."""


def settings_for(home: Path, url: str) -> Settings:
    """Settings with a home of their own, cheap passwords and no limits on how often."""
    environment = tuple(sorted(pair for pair in os.environ.items() if pair[0].startswith("DYNABENCH_")))
    return _settings(environment).model_copy(update={"home": home, "database_url": url})


@cache
def _settings(environment: tuple[tuple[str, str], ...]) -> Settings:
    """The settings of an environment, read once: looking up every field takes longer than making an application."""
    return Settings(secret="a secret for tests of 32 bytes or more", password_cost=1, rate_limit=False)


@dataclass(frozen=True)
class Furnished:
    """A database to copy, the home of its deployment, and what `Furnish` returned."""

    source: str
    home: Path
    facts: Any


class Files:
    """SQLite databases."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.templates: dict[Furnish, Furnished] = {}

    @contextmanager
    def copy(self, furnish: Furnish, to: Path) -> Iterator[tuple[str, Any]]:
        """The URL of a new database, whose deployment's home is `to`/home, and the facts of it; deleted afterwards."""
        stored = self.source_of(furnish)
        _move_in(stored, to)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            path = shutil.copy(stored.source, Path(folder) / "test.sqlite")
            yield f"sqlite:///{path}", stored.facts

    def source_of(self, furnish: Furnish) -> Furnished:
        """Return the source of the copies."""
        if furnish not in self.templates:
            folder = self.folder / str(next(numbers))
            folder.mkdir()
            path = folder / "template.sqlite"
            if furnish is not bare:
                shutil.copy(self.source_of(bare).source, path)
            url = f"sqlite:///{path}"
            facts = _furnish(furnish, settings_for(folder / "home", url))
            database = Database(url)
            with database.engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            database.close()
            self.templates[furnish] = Furnished(str(path), folder / "home", facts)
        return self.templates[furnish]


class Server:
    """Databases of a PostgreSQL server."""

    def __init__(self, folder: Path, server: Any) -> None:
        self.folder, self.server = folder, server
        self.templates: dict[Furnish, Furnished] = {}
        self.connection = psycopg.connect(server.get_uri(), autocommit=True)

    @contextmanager
    def copy(self, furnish: Furnish, to: Path) -> Iterator[tuple[str, Any]]:
        """The URL of a new database, whose deployment's home is `to`/home, and the facts of it; dropped afterwards."""
        stored = self.source_of(furnish)
        _move_in(stored, to)
        with self.database(stored.source) as url:
            yield url, stored.facts

    def source_of(self, furnish: Furnish) -> Furnished:
        """Return the source of the copies."""
        if furnish not in self.templates:
            name = self.create("template0" if furnish is bare else self.source_of(bare).source)
            home = self.folder / name
            facts = _furnish(furnish, settings_for(home, self.server.get_uri(name)))
            self.templates[furnish] = Furnished(name, home, facts)
        return self.templates[furnish]

    @contextmanager
    def database(self, template: str) -> Iterator[str]:
        """The URL of a copy of `template`, dropped afterwards."""
        name = self.create(template)
        yield self.server.get_uri(name)
        self.run(f"DROP DATABASE {name} WITH (FORCE)")

    def create(self, template: str) -> str:
        """Copy a database; the copy's name."""
        name = f"test_{os.getpid()}_{next(numbers)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        return name

    def run(self, statement: str) -> None:
        """Run a statement about databases."""
        self.connection.execute(statement)


def _furnish(furnish: Furnish, settings: Settings) -> Any:
    if furnish is bare:
        database = Database(settings.url)
        metadata().create_all(database.engine)
        database.close()
    return furnish(settings)


def _move_in(furnished: Furnished, to: Path) -> None:
    if furnished.home.exists():
        shutil.copytree(furnished.home, to / "home")
