"""A round opens only on models that all hosts that have them serve; until then its opening is refused, and heals."""

import asyncio
import os
import shutil
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import select
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from dynabench.cli import round as command
from dynabench.kit import jobs
from dynabench.kit.db import now
from dynabench.kit.jobs import Job
from dynabench.kit.settings import get_settings
from dynabench.models import catalog, serving
from dynabench.models.catalog import BUILTIN
from dynabench.models.client import Host
from dynabench.models.host import wire
from dynabench.models.host.app import create_app as create_host
from dynabench.models.host.memory import used_after_release
from dynabench.models.host.repository import Repository
from dynabench.rounds import jobs as schedule
from dynabench.rounds import planning, queries, service
from dynabench.rounds.plan import PlannedRound
from dynabench.tasks import shipped_tasks
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
    """Return the address of the host, while it runs."""
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
    [task] = [shipped_task for shipped_task in shipped_tasks() if shipped_task.config.id == "sentiment"]
    card = catalog.entry("sentiment-ngram", places=[BUILTIN]).card

    def draft(session) -> int:
        service.save_task(session, None, task.source)
        service.set_role(session, None, "sentiment", olga.name, "owner")
        for row in session.scalars(queries.rounds("sentiment")):
            if row.state == "open":
                service.close_round(session, None, "sentiment", row.number)
        return service.draft_round(session, None, "sentiment", [card]).number

    olga.draft = f"{ROUNDS}/{database.write(draft)}"
    return olga


@pytest.mark.slow
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
        opened = until(lambda: (response := owner.post(f"{owner.draft}/open")).status_code == 200 and response, 60)
        assert opened.json()["state"] == "open"


@pytest.mark.slow
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


async def _awaited(url: str, *keys: tuple[str, str]) -> list[serving.AwaitedModel]:
    host = Host(url, 5.0)
    try:
        return await serving.awaited(host, keys)
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


@pytest.mark.slow
def test_a_round_that_opens_at_its_moment_tries_again(owner, database):
    """The job names the missing models that it waits for, and asks for itself again."""

    def look(session) -> tuple[int, list[str]]:
        number = int(owner.draft.rpartition("/")[2])
        source = session.scalars(queries.round_numbered("sentiment", number)).one()
        waiting = session.scalars(select(Job).where(Job.kind == "turn_round", Job.sent_at.is_(None))).all()
        return source.id, [item.payload["round"] for item in waiting if item.due_at is not None]

    id, _ = database.read(look)
    payload = {"round": id, "event": "opens_at", "at": "", "person": None}
    assert [name for name, _version in database.read(schedule.awaited_models, payload)] == ["sentiment-ngram"]
    assert database.write(schedule.postpone_opening, payload, "sentiment-ngram: it is being loaded") == "waits"
    assert database.read(look)[1] == [id]


@pytest.mark.slow
def test_a_round_that_opens_at_its_moment_waits_while_no_host_answers(owner, database, settings, monkeypatch):
    monkeypatch.setattr(jobs, "_database", database)
    monkeypatch.setattr(schedule, "get_settings", lambda: settings)
    number = int(owner.draft.rpartition("/")[2])
    moment = now() + timedelta(hours=1)

    def plan(session) -> int:
        planning.change_plan(session, None, "sentiment", number, PlannedRound(opens_at=moment))
        return session.scalars(queries.round_numbered("sentiment", number)).one().id

    payload = {"round": database.write(plan), "event": "opens_at", "at": moment.isoformat(), "person": None}
    assert schedule.turn_step(payload) == "waits"
    assert owner.get(owner.draft).json()["state"] == "draft"


@pytest.mark.slow
def test_what_an_operator_unloaded_is_not_loaded_by_an_opening(address, models, tmp_path):
    key = ("sentiment-ngram", asyncio.run(_version(address)))
    with served(create_host(Repository([models])), f"unix:{tmp_path / 'second.sock'}") as second:
        until_ready(second)
        with httpx2.Client(transport=httpx2.HTTPTransport(uds=address.removeprefix("unix:"))) as http:
            assert http.post("http://host/v2/repository/models/sentiment-ngram/unload").status_code == 200
        assert [item.name for item in asyncio.run(_awaited(address, key))] == ["sentiment-ngram"]
        assert asyncio.run(_awaited(f"{address},{second}", key)) == []
        assert asyncio.run(_states(address))["sentiment-ngram"].reason == "unloaded"


@pytest.mark.release
def test_models_on_demand_are_loaded_first_and_those_that_do_not_fit_together_open_all_the_same(models, tmp_path):
    """Two models of ten gigabytes, by the account of a host that may use fifteen besides what this process takes."""
    for folder in models.iterdir():
        os.truncate(os.open(folder / "README.md", os.O_CREAT | os.O_WRONLY), 10 * 2**30)
    host = create_host(Repository([models], memory=used_after_release() + 15 * 2**30))
    with served(host, f"unix:{tmp_path / 'small.sock'}") as address:
        until_ready(address)
        states = asyncio.run(_states(address))
        assert {name: item.on_demand for name, item in states.items()} == {"nli-ngram": False, "sentiment-ngram": True}
        keys = [(name, states[name].version) for name in ("nli-ngram", "sentiment-ngram")]
        until(lambda: asyncio.run(_awaited(address, keys[1])) == [], 60)
        assert asyncio.run(_states(address))["sentiment-ngram"].state == "READY"
        for _ in range(2):
            assert asyncio.run(_awaited(address, *keys)) == [], "each of them was loaded once"
            assert asyncio.run(_states(address))["sentiment-ngram"].state == "READY"


@pytest.mark.slow
def test_all_processes_of_a_host_have_a_model_before_a_round_opens_on_it(tmp_path):
    ready = {"name": "m", "version": "1", "state": "READY", "reason": "", "on_demand": False, "cold": False}
    ready["card"] = wire.card_json(catalog.entry("sentiment-ngram", places=[BUILTIN]).card)
    loading = ready | {"state": "LOADING", "cold": True}
    listed = {"first": [ready], "second": [loading]}

    def process(name):
        async def index(request):
            return JSONResponse(listed[name])

        async def load(request):
            listed[name] = listed[name] or [loading]
            return JSONResponse({})

        routes = [("/v2/repository/index", index), ("/v2/repository/models/{model}/load", load)]
        app = Starlette(routes=[Route(path, answer, methods=["POST"]) for path, answer in routes])
        return served(app, f"unix:{tmp_path / name}.sock")

    with process("first") as first, process("second") as second:

        def reasons():
            return [item.why for item in asyncio.run(_awaited(f"{first},{second}", ("m", "1")))]

        assert reasons() == ["it is being loaded"]
        listed["second"] = []
        assert reasons() == ["it is being loaded"], "a process that has just started has not seen it yet"
        listed["second"] = [loading | {"state": "UNAVAILABLE", "reason": wire.UNLOADED}]
        assert reasons() == []
        listed["second"] = [ready]
        assert reasons() == []


@pytest.mark.slow
def test_the_console_says_in_grey_what_is_awaited(owner, browser, models, tmp_path):
    shutil.move(models / "sentiment-ngram", tmp_path / "away")
    with served(create_host(Repository([models])), f"unix:{tmp_path / 'again.sock'}") as address:
        until_ready(address)
        owner.client.app.state.host = Host(address, 5.0)
        olga = browser()
        olga.log_in("olga")
        page = owner.draft.replace("/api/v1", "").replace("/rounds", "/manage/rounds")
        submission = olga.submit(f"{page}/open", page)
        assert submission.status_code == 503
        assert "sentiment-ngram" in submission.text
        assert "callout bad" not in submission.text
        assert "/open" in submission.text, "the button is still there"


@pytest.mark.slow
def test_the_command_waits_says_for_what_and_ends(address, monkeypatch, capsys):
    monkeypatch.setenv("DYNABENCH_HOST_URL", address)
    get_settings.cache_clear()
    monkeypatch.setattr(command, "PATIENCE", 0.5)
    try:
        with pytest.raises(serving.NotServed):
            command.until_served([("sentiment-ngram", "0" * 16)])
    finally:
        get_settings.cache_clear()
    assert "Waiting" in capsys.readouterr().err


def test_the_command_goes_on_where_no_host_answers_and_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DYNABENCH_HOST_URL", f"unix:{tmp_path / 'nobody.sock'}")
    get_settings.cache_clear()
    try:
        command.until_served([("sentiment-ngram", "0" * 16)])
    finally:
        get_settings.cache_clear()
    assert "The models do not answer yet" in capsys.readouterr().err
