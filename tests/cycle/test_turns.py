"""Turns as owners see them: foreseen, begun, paused, resumed, undone, over the API and on pages; forks and merges."""

import pytest
from markupsafe import escape
from sqlalchemy import select

from dynabench.cycle import durable, queries, round_steps, service, training, views
from dynabench.cycle import plan as plans
from dynabench.cycle.tables import CycleTurn
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.models import catalog
from dynabench.models.client import Host
from dynabench.models.host.app import create_app as create_host
from dynabench.models.host.repository import Repository
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from tests.cycle import world
from tests.models.conftest import served
from tests.models.waiting import until_ready

API = "/api/v1/tasks/films/turns"
PAGE = "/tasks/films/manage/cycle"
pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)


@pytest.fixture(autouse=True)
def installed(settings, monkeypatch):
    """The models of this deployment are those in its home."""
    monkeypatch.setattr(catalog, "folders", lambda settings_=None: [settings.folder / "models"])


def begun(settings):
    """The films' task with a target, which is trained once."""
    database = Database(settings.url)
    world.begin(database, settings)
    database.close()


@pytest.fixture
def furnish():
    return begun


@pytest.fixture
def films(database):
    return database


@pytest.fixture
def olga(films, person):
    result = person("olga")
    films.write(rounds.set_role, None, world.TASK, "olga", "owner")
    return result


def done(films, settings, promoted=True):
    """A turn whose decision is made, with its next round opened as the job does."""
    with pytest.raises(errors.Conflict, match="Nothing was collected"):
        world.start(films, world.plan())
    world.collect(films, settings, 20)
    started = world.start(films, world.plan())

    def finish(session):
        turn = session.get_one(CycleTurn, started)
        turn.state = "running"
        name, _, version = turn.present[0].partition("@")
        turn.report = {"promoted": [name] if promoted else [], "models": {name: version}, "why": "Because."}
        rounds.close_round(session, None, world.TASK, 1)
        round_steps.next_round(session, settings, started, turn.attempt)
        service.finish_turn(session, started, turn.attempt)

    films.write(finish)
    return started


def numbers(films):
    return films.read(lambda s: [(r.number, r.state) for r in s.scalars(select(Round).order_by(Round.number))])


@pytest.mark.slow
def test_a_turn_is_foreseen_begun_paused_and_resumed(films, olga, settings, person):
    world.collect(films, settings, 40)
    mia = person("mia")
    assert mia.post(API + "/preview", json={}).status_code == 403
    body = {"plan": {"candidates": [{"name": "ngram", "method": "ngram", "seeds": [0, 1]}]}}
    document = olga.post(API + "/preview", json=body).json()
    assert (document["round"], document["closes"], document["examples"], document["verified"]) == (1, True, 40, 40)
    assert document["models"] == ["films-r1-ngram-s0", "films-r1-ngram-s1"]
    assert document["seconds"] is None
    wrong = olga.post(API, json={"plan": {"candidates": [{"name": "a", "base": "/etc"}], "promote": {"by": "luck"}}})
    assert wrong.status_code == 422
    assert olga.post(API, json={"plan": {"candidates": [{"name": "a", "base": "/etc"}]}}).status_code == 422
    response = olga.post(API, json=body)
    assert (response.status_code, response.json()["state"]) == (202, "queued")
    assert olga.post(API, json=body).status_code == 409
    at = f"{API}/{response.json()['id']}"
    assert olga.post(at + "/undo").status_code == 409
    assert olga.post(at + "/pause").json()["state"] == "paused"
    with pytest.raises(service.TurnStopped):
        films.read(service.running_turn, response.json()["id"], 1)
    assert olga.post(at + "/pause").status_code == 409
    assert olga.post(at + "/resume").json()["state"] == "queued"
    with pytest.raises(service.TurnStopped):
        films.read(service.running_turn, response.json()["id"], 1)
    assert [item["id"] for item in olga.get(API).json()["items"]] == [response.json()["id"]]
    films.write(service.fail_turn, response.json()["id"], 2, "No reason.")
    assert olga.get(at).json()["reason"] == "No reason."
    durable.fail_lost_turns(films, settings)


@pytest.mark.slow
def test_a_promotion_is_taken_back(films, olga, browser, settings):
    created = done(films, settings)
    assert numbers(films) == [(1, "closed"), (2, "open")]
    mine = browser()
    mine.log_in("olga")
    page = mine.get(f"{PAGE}/{created}").text
    assert "This opens a new round with the previous targets and closes round 2" in page
    assert "Because." in page, "a report of an earlier version, without its rule, keeps its words"
    refused = olga.post(f"{API}/{created}/undo")
    assert refused.status_code == 503, "no host answers"
    assert mine.submit(f"{PAGE}/{created}/undo", f"{PAGE}/{created}", sure="1").status_code == 503
    assert numbers(films) == [(1, "closed"), (2, "open")]
    with served(create_host(Repository([settings.folder / "models"])), settings.host_address) as address:
        until_ready(address)
        olga.client.app.state.host = Host(address, 5.0)
        document = olga.post(f"{API}/{created}/undo").json()
    assert (document["state"], document["next"], document["back"]) == ("undone", 2, 3)
    assert numbers(films) == [(1, "closed"), (2, "closed"), (3, "open")]
    graph = {item["round"]: item["parents"] for item in olga.get("/api/v1/tasks/films/lineage").json()["items"]}
    assert graph == {1: [], 2: [1], 3: [1]}
    assert olga.post(f"{API}/{created}/undo").status_code == 409


@pytest.mark.slow
def test_what_was_collected_since_a_promotion_is_kept_when_it_is_taken_back(films, settings):
    created = done(films, settings)
    assert world.collect(films, settings, 20) == 2
    films.write(round_steps.undo_promotion, settings, None, world.TASK, created)
    content = films.read(
        lambda s: {
            lineage_link.round.number: lineage_link.parents for lineage_link in queries.lineage_links(s, world.TASK)
        }
    )
    assert content == {1: (), 2: (1,), 3: (2,)}


@pytest.mark.slow
def test_nothing_that_was_not_promoted_is_taken_back(films, settings):
    created = done(films, settings, promoted=False)
    with pytest.raises(errors.Conflict, match="promoted nothing"):
        films.write(round_steps.undo_promotion, settings, None, world.TASK, created)


@pytest.mark.slow
def test_rounds_fork_and_merge(films, settings):
    done(films, settings)
    fork = plans.read_plan(
        {"candidates": [{"name": "ngram", "method": "ngram"}], "next": {"open": False, "parents": [2]}}
    )
    answer = films.read(views.preview_turn, settings, None, world.TASK, fork, 1)
    assert (answer.next, answer.parents, answer.opens, answer.closes) == (3, [1, 2], False, False)
    assert "which follows 1, 2" in " ".join(views.preview_sentences(answer))
    with pytest.raises(errors.Invalid) as wrong:
        films.read(views.preview_turn, settings, None, world.TASK, plans.read_plan({"next": {"parents": [9]}}), 1)
    assert "next.parents" in wrong.value.fields
    with pytest.raises(errors.Invalid) as wrong:
        films.read(
            training.outside_datasets,
            world.TASK,
            plans.read_plan({"train": {"outside": [{"dataset": "none"}]}}),
        )
    assert "train.outside.0.dataset" in wrong.value.fields


def test_plans_are_read_strictly():
    assert plans.parse_plan("").candidates[0].method == "lora"
    for text in ("candidates: [{name: a}, {name: a}]", "candidates: []", "what: 1", "{", "promote: {by: luck}"):
        with pytest.raises(errors.Invalid):
            plans.parse_plan(text)


@pytest.mark.slow
def test_why_a_turn_failed_is_said_in_the_readers_language(films, olga, browser, settings):
    world.collect(films, settings, 20)
    turn = world.start(films, world.plan())
    mine = browser()
    mine.log_in("olga")

    def page(reason):
        films.write(lambda session: setattr(session.get_one(CycleTurn, turn), "state", "running"))
        films.write(service.fail_turn, turn, 1, reason)
        assert olga.get(f"{API}/{turn}").json()["reason"] == reason
        return mine.get(f"{PAGE}/{turn}", headers={"accept-language": "es"}).text

    known_values = _("The target %(name)s is no longer installed, so nothing can be compared with it.", name="<films>")
    assert "El objetivo &lt;films&gt; ya no está instalado" in page(known_values)
    for plain in ("out of <memory>", '{"message": "odd"}'):
        assert f'<span lang="en" dir="ltr">{escape(plain)}</span>' in page(plain)


@pytest.mark.slow
def test_the_pages_of_a_turn(films, olga, browser, settings):
    world.collect(films, settings, 20)
    mine = browser()
    mine.log_in("olga")
    assert "Start a turn" in mine.get(PAGE).text
    form = {"methods": "ngram", "seeds": "0", "by": "fooling", "discount": "0", "older": "0", "most": "1"}
    assert mine.submit(PAGE, page=PAGE, **form | {"seeds": "x"}).status_code == 422
    assert mine.submit(PAGE, page=PAGE, **form | {"discount": "2"}).status_code == 422
    seen = mine.submit(PAGE, page=PAGE, **form, then="preview")
    assert "Round 1 is closed." in seen.text
    begun = mine.submit(PAGE, page=PAGE, **form, then="begin")
    assert begun.status_code == 303
    assert "Waiting for the worker." in mine.get(begun.headers["location"]).text
    assert "A turn is in progress." in mine.get(PAGE).text
    where = begun.headers["location"]
    mine.submit(where + "/pause", page=PAGE)
    assert "Resume" in mine.get(where).text
    assert mine.submit(where + "/undo", page=where).status_code == 422
