"""The console's validators: their table, and a ban that excludes votes after its effects were shown."""

import re

import pytest

from dynabench.kit.jobs import Job
from dynabench.validation import exclusion
from tests.collection.conftest import draw, send, written

HERE = "/tasks/nli/manage/validators"


@pytest.fixture
def bob_voted(ada, bob) -> int:
    handout = draw(ada)
    text = "It is so." if handout["goal"]["label"] == "contradiction" else "It is not so."
    example = send(ada, written(handout, text)).json()["id"]
    assert bob.post(f"/api/v1/examples/{example}/validations", json={"vote": "correct"}).status_code == 201
    return bob.id


@pytest.mark.slow
def test_a_ban_excludes_votes_once_its_effects_were_shown_and_lifting_it_brings_them_back(
    owner, moderator, bob, bob_voted, enter, database
):
    page = enter(owner)
    assert 'href="/tasks/nli/manage/validators/' in page.get(HERE).text
    lines = page.get(f"{HERE}.csv").text.splitlines()
    assert lines[1].split(",")[1] == "bob"
    mine = f"{HERE}/{bob_voted}"
    assert "1 vote would no longer count" in page.get(mine).text
    assert "would no longer count" not in enter(moderator).get(mine).text  # owners decide on votes
    empty = page.submit(f"{mine}/ban", page="/settings", reason=" ", exclude="yes")
    assert empty.status_code == 422
    assert "Give a reason" in empty.text
    assert page.submit(f"{mine}/ban", page="/settings", reason="Random.", exclude="yes").status_code == 303
    running = page.get(mine).text
    assert "Verdicts are being recounted" in running
    job = database.read(lambda session: session.query(Job).filter_by(kind=exclusion.KIND).one().id)
    database.write(exclusion.recount_some, job, "nli", bob_voted, True)
    after = page.get(mine).text
    assert re.search(r"1 vote no longer counts\.", after)
    assert "1 vote excluded" in page.get(HERE).text
    state = owner.get(f"/api/v1/tasks/nli/validators/{bob_voted}/exclusion").json()
    assert (state["change"], state["effects"]["votes"]) == ("restore", 1)
    people_page = page.get("/tasks/nli/manage/people").text
    assert f'action="{mine}/lift"' in people_page  # both ways to lift the ban
    assert f'action="/tasks/nli/manage/people/{bob_voted}/lift"' in people_page
    assert page.submit(f"{mine}/lift", page="/settings", restore="true").status_code == 303
    assert owner.get(f"/api/v1/tasks/nli/validators/{bob_voted}/exclusion").json()["decision"]["excluded"] is False
    acts = [act["kind"] for act in owner.get("/api/v1/tasks/nli/acts").json()["items"]]
    assert acts[:5] == ["votes.restored", "task.lift", "votes.recounted", "votes.excluded", "task.ban"]


def test_the_api_lists_validators_and_refuses_exclusion_without_a_ban(owner, bob_voted):
    (row,) = owner.get("/api/v1/tasks/nli/validators").json()["items"]
    assert (row["id"], row["name"], row["votes"], row["banned"]) == (bob_voted, "bob", 1, None)
    assert owner.request("PUT", f"/api/v1/tasks/nli/validators/{bob_voted}/exclusion").status_code == 409
    assert owner.delete(f"/api/v1/tasks/nli/validators/{bob_voted}/exclusion").json() is None
    assert owner.get("/api/v1/tasks/nli/validators?round=9").status_code == 404


def test_a_task_without_votes_has_an_empty_table(owner, enter):
    assert "No votes yet" in enter(owner).get(HERE).text
