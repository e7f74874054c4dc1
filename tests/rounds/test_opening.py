"""A round opens only on models that all hosts that have them serve; until then its opening is refused, and heals."""

import asyncio
import shutil
from pathlib import Path

import pytest
from sqlalchemy import select

from dynabench.cli import round as command
from dynabench.jobs import Job
from dynabench.models import catalog, serving
from dynabench.models.catalog import BUILTIN
from dynabench.models.client import Host
from dynabench.models.host.app import create_app as create_host
from dynabench.models.host.repository import Repository
from dynabench.rounds import queries, schedule, service
from dynabench.settings import get_settings
from dynabench.tasks import builtin
from tests.jobs.conftest import until
from tests.models.conftest import served
from tests.models.waiting import until_ready

ROUNDS = "/api/v1/tasks/sentiment/rounds"


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """The folder of the host's models."""
    folder = tmp_path / "models"
    shutil.copytree(BUILTIN / "sentiment-ngram", folder / "sentiment-ngram")
    shutil.copytree(BUILTIN / "nli-ngram", folder / "nli-ngram")
    return folder


@pytest.fixture
def address(tmp_path: Path, models: Path):
    """Where the host answers, while it runs."""
    with served(create_host(Repository([models])), f"unix:{tmp_path / 'host.sock'}") as address:
        until_ready(address)
        yield address


@pytest.fixture
def host(address: str) -> Host:
    """The web process's way to it."""
    return Host(address, 5.0)


@pytest.fixture
def owner(person, database):
    """The owner of the task sentiment, with a draft of a round against its model."""
    olga = person("olga")
    [task] = [each for each in builtin() if each.config.id == "sentiment"]
    card = catalog.entry("sentiment-ngram", places=[BUILTIN]).card

    def draft(session) -> int:
        service.save_task(session, None, task.source)
        service.set_role(session, None, "sentiment", olga.name, "owner")
        for each in session.scalars(queries.rounds("sentiment")):
            if each.state == "open":
                service.close_round(session, None, "sentiment", each.number)
        return service.draft_round(session, None, "sentiment", [card]).number

    olga.draft = f"{ROUNDS}/{database.write(draft)}"
    return olga


def test_a_draft_waits_for_its_model_and_opens_once_it_is_there(owner, models, tmp_path, database, settings):
    shutil.move(models / "sentiment-ngram", tmp_path / "away")
    restarted = f"unix:{tmp_path / 'again.sock'}"
    with served(create_host(Repository([models])), restarted) as address:
        until_ready(address)
        owner.client.app.state.host = Host(address, 5.0)
        refused = owner.post(f"{owner.draft}/open")
        assert refused.status_code == 503, refused.text
        assert "sentiment-ngram" in refused.json()["detail"]
        assert int(refused.headers["Retry-After"]) <= 5
        assert owner.get(owner.draft).json()["state"] == "draft"
        shutil.move(tmp_path / "away", models / "sentiment-ngram")
        opened = until(lambda: (found := owner.post(f"{owner.draft}/open")).status_code == 200 and found, 60)
        assert opened.json()["state"] == "open"


def test_every_host_that_has_the_model_serves_it(address, models, tmp_path):
    """A host without the model's folder does not count; one whose copy is on its way does."""
    empty = tmp_path / "others"
    shutil.copytree(BUILTIN / "nli-ngram", empty / "nli-ngram")
    version = asyncio.run(_version(address))
    key = ("sentiment-ngram", version)
    with served(create_host(Repository([empty])), f"unix:{tmp_path / 'second.sock'}") as second:
        until_ready(second)
        assert asyncio.run(_awaited(f"{address},{second}", key)) == []
        shutil.copytree(BUILTIN / "sentiment-ngram", empty / "sentiment-ngram")
        assert asyncio.run(_awaited(f"{address},{second}", key)) == []
        states = asyncio.run(_states(second))
        assert states["sentiment-ngram"].state == "READY", "it was loaded because somebody asked for it"
        [missing] = asyncio.run(_awaited(f"{address},{second}", ("sentiment-ngram", "0" * 16)))
        assert missing.name == "sentiment-ngram"


async def _awaited(url: str, key: tuple[str, str]) -> list[serving.AwaitedModel]:
    host = Host(url, 5.0)
    try:
        return await serving.awaited(host, [key])
    finally:
        await host.close()


async def _states(url: str):
    host = Host(url, 5.0)
    try:
        return {state.name: state for state in await host.states()}
    finally:
        await host.close()


async def _version(url: str) -> str:
    return (await _states(url))["sentiment-ngram"].version


def test_a_round_that_opens_at_its_moment_tries_again(owner, database):
    """What the job does when models are missing: it says what it waits for and asks for itself again."""

    def look(session) -> tuple[int, list[str]]:
        number = int(owner.draft.rpartition("/")[2])
        of = session.scalars(queries.round_numbered("sentiment", number)).one()
        waiting = session.scalars(select(Job).where(Job.kind == "turn_round", Job.sent_at.is_(None))).all()
        return of.id, [each.payload["round"] for each in waiting if each.due_at is not None]

    id, _ = database.read(look)
    payload = {"round": id, "event": "opens_at", "at": "", "person": None}
    assert [name for name, _version in database.read(schedule.models_awaited, payload)] == ["sentiment-ngram"]
    assert database.write(schedule.put_off, payload, "sentiment-ngram: it is being loaded") == "waits"
    assert database.read(look)[1] == [id]


def test_the_console_says_in_grey_what_is_awaited(owner, browser, models, tmp_path):
    shutil.move(models / "sentiment-ngram", tmp_path / "away")
    with served(create_host(Repository([models])), f"unix:{tmp_path / 'again.sock'}") as address:
        until_ready(address)
        owner.client.app.state.host = Host(address, 5.0)
        olga = browser()
        olga.log_in("olga")
        page = owner.draft.replace("/api/v1", "").replace("/rounds", "/manage/rounds")
        shown = olga.submit(f"{page}/open", page)
        assert shown.status_code == 503
        assert "sentiment-ngram" in shown.text
        assert "callout bad" not in shown.text
        assert "/open" in shown.text, "the button is still there"


def test_the_command_waits_says_for_what_and_ends(address, monkeypatch, capsys):
    monkeypatch.setenv("DYNABENCH_HOST_URL", address)
    get_settings.cache_clear()
    monkeypatch.setattr(command, "PATIENCE", 0.5)
    try:
        with pytest.raises(serving.NotServed):
            command._until_served([("sentiment-ngram", "0" * 16)])
    finally:
        get_settings.cache_clear()
    assert "Waiting" in capsys.readouterr().err
