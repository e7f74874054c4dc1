"""Places to restore into, and the command line over a platform's settings."""

from contextlib import ExitStack

import pytest
from typer.testing import CliRunner

from dynabench.cli import app
from dynabench.kit.settings import Settings, get_settings
from tests.furnished import settings_for

HOST = "http://127.0.0.1:1"
"""Where models are: the tests' targets are answered by rules of the tests, and lie in no folder."""


@pytest.fixture
def settings(tmp_path, database_url):
    """Settings of a platform whose models are elsewhere."""
    return settings_for(tmp_path / "home", database_url).model_copy(update={"host_url": HOST})


@pytest.fixture
def elsewhere(request, tmp_path):
    """Make settings of an empty place, with a database of one kind or the other."""
    with ExitStack() as stack:

        def make(kind, name="elsewhere"):
            url = ""
            if kind == "postgres":
                url = stack.enter_context(request.getfixturevalue("server").database("template0"))
            home = tmp_path / name
            return Settings(home=home, database_url=url, host_url=HOST, password_cost=1, rate_limit=False)

        yield make


@pytest.fixture
def command(monkeypatch):
    """Run the command line over settings."""

    def run(settings, *words):
        monkeypatch.setenv("DYNABENCH_HOME", str(settings.home))
        monkeypatch.setenv("DYNABENCH_DATABASE_URL", settings.database_url)
        monkeypatch.setenv("DYNABENCH_SECRET", settings.secret)
        monkeypatch.setenv("DYNABENCH_HOST_URL", settings.host_url)
        get_settings.cache_clear()
        return CliRunner().invoke(app, [str(word) for word in words])

    yield run
    get_settings.cache_clear()
