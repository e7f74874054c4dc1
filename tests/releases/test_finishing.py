"""Finishing a round by the wizard: choices in the address, one transaction at the end, progress from the database."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from dynabench.benchmark.releases import release_steps, service
from dynabench.cycle import finishing
from dynabench.cycle.finishing import FinishPlan, NextStep
from dynabench.kit import errors, jobs
from dynabench.models import serving
from dynabench.rounds import queries
from dynabench.rounds import service as rounds
from tests.conftest import Browser
from tests.releases.world import collected_once

PAGE = "/tasks/checks/manage/rounds/1/finish"


@pytest.fixture
def furnish():
    return collected_once


@pytest.fixture
def world(furnished, database):
    return furnished[1].moved_to(database)


@pytest.fixture
def olga(world, person, client):
    person("olga")
    world.db.write(rounds.set_role, None, world.task, "olga", "owner")
    browser = Browser(client)
    assert browser.log_in("olga").status_code == 303
    return browser


def states(world) -> dict[int, str]:
    return world.db.read(lambda session: {row.number: row.state for row in session.scalars(queries.rounds(world.task))})


def hidden_fields(page: str) -> dict[str, str]:
    """The choices that the last form sends again."""
    form = page[page.index('method="post" action="' + PAGE) :]
    return dict(re.findall(r'type="hidden" name="(?!csrf)(\w+)" value="([^"]*)"', form))


@pytest.mark.slow
def test_a_round_is_closed_and_released_after_four_steps_and_progress_lives_on(world, olga, settings, monkeypatch):
    state = olga.get(PAGE).text
    assert "People can still write." in state
    assert "10 examples wait for votes." not in state
    split = olga.get(PAGE, params={"step": "split", "seed": "2"}).text
    assert "only closed rounds are released" not in split
    assert "for testing, never published" in split
    assert olga.get(PAGE, params={"step": "split", "train": "lots"}).status_code == 200
    following = olga.get(PAGE, params={"step": "next", "seed": "2", "release": "yes"}).text
    assert 'name="seed" value="2"' in following  # the choices of earlier steps come along
    confirm = olga.get(PAGE, params={"step": "confirm", "seed": "2", "release": "yes", "follow": "nothing"}).text
    assert "Round 1 closes" in confirm
    fields = hidden_fields(confirm)
    assert (fields["seed"], fields["seen"]) == ("2", "open")
    wrong = olga.submit(PAGE, page="/settings", **fields, sure="2", anyway="yes")
    assert (wrong.status_code, states(world)) == (422, {1: "open"})
    assert "Type the number of the round" in wrong.text
    done = olga.submit(PAGE, page="/settings", **fields, sure="1", anyway="yes")
    assert (done.status_code, states(world)) == (303, {1: "closed"})
    again = olga.submit(PAGE, page="/settings", **fields, sure="1", anyway="yes")  # a double click, or another tab
    assert again.status_code == 303
    assert "Waiting for the worker" in olga.get(PAGE).text
    assert "Waiting for the worker" in olga.get(f"{PAGE}?step=confirm").text
    monkeypatch.setattr(jobs, "_database", world.db)
    release = world.db.read(service.release_of_round, world.task, 1)
    assert release.rules["seed"] == 2
    release_steps.make_release(world.db, settings, release.id)
    page = olga.get(PAGE).text
    assert "Open the release" in page
    assert "Choose what next" in page
    following = olga.get(f"{PAGE}?step=next").text
    assert "Open the next round with the same targets" in following


@pytest.mark.slow
def test_the_next_round_opens_in_the_same_transaction_or_nothing_happens(world, olga, monkeypatch):
    fields = {"seen": "open", "release": "later", "follow": "round"}
    unserved = olga.submit(PAGE, page="/settings", **fields)
    assert (unserved.status_code, states(world)) == (503, {1: "open"})

    async def served(host, targets):
        return None

    monkeypatch.setattr(serving, "require", served)
    assert olga.submit(PAGE, page="/settings", **fields).status_code == 303
    assert states(world) == {1: "closed", 2: "open"}
    stale = olga.submit(PAGE, page="/settings", **fields)
    assert stale.status_code == 409
    assert "has changed since" in stale.text
    assert states(world) == {1: "closed", 2: "open"}


def test_two_owners_who_finish_a_round_at_once_open_one_next_round(world):
    start = threading.Barrier(4)

    def finish(_: int) -> str:
        start.wait()
        plan = FinishPlan("open", anyway=True, follow=NextStep.ROUND)
        try:
            world.db.write(finishing.finish_round, world.owner, world.task, 1, plan)
        except errors.Conflict:
            return "refused"
        return "done"

    with ThreadPoolExecutor(4) as pool:
        outcomes = sorted(pool.map(finish, range(4)))
    assert outcomes == ["done", "refused", "refused", "refused"]
    assert states(world) == {1: "closed", 2: "open"}
    finished = world.db.read(finishing.read_finished, world.owner, world.task, 1)
    assert finished.release.state == "queued"
    assert [child.number for child in finished.children] == [2]


@pytest.mark.slow
def test_a_turn_of_the_cycle_takes_the_rules_of_the_release_with_it(world, olga):
    fields = {"follow": "turn", "filled": "yes", "methods": "ngram", "seeds": "0, 1", "by": "recency", "open": "yes"}
    confirm = olga.get(PAGE, params={"step": "confirm", "seed": "5", **fields}).text
    assert "Round 1 is released" in confirm
    assert olga.get(PAGE, params={"step": "confirm", **fields, "seeds": "many"}).text.count("Enter whole numbers") == 1
    sent = olga.submit(PAGE, page="/settings", **fields, seen="open", seed="5", sure="1", anyway="yes")
    assert sent.status_code == 303
    turn = world.db.read(finishing.read_finished, world.owner, world.task, 1).turn
    assert (turn.plan["release"]["seed"], turn.plan["anyway"]) == (5, True)
    assert [candidate["method"] for candidate in turn.plan["candidates"]] == ["ngram"]
    assert "Turn of the cycle" in olga.get(PAGE).text


def test_only_owners_finish_rounds_and_drafts_are_refused(world):
    with pytest.raises(errors.Forbidden):
        world.db.write(finishing.finish_round, world.person(), world.task, 1, FinishPlan("open"))
    world.state("draft")
    with pytest.raises(errors.Conflict):
        world.db.write(finishing.finish_round, world.owner, world.task, 1, FinishPlan("draft"))
