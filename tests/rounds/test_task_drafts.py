"""Drafts of new tasks: saved, opened, saved again, deleted, created; their author alone sees them."""

import re

import pytest

from dynabench.rounds import task_drafts
from tests.collection import conftest as world

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, ada, bob = world.admin, world.ada, world.bob

BROKEN = "name: Irony\nid: irony\ninput: ["
WHOLE = """name: Irony
id: irony
input: [{name: text, type: text}]
answer: {name: label, type: choice, options: [ironic, plain], goal: chosen}
"""


@pytest.fixture
def page(ada, browser):
    inside = browser()
    inside.log_in("ada")
    return inside


def save(page, config, **more):
    """Save a draft; its number."""
    answer = page.submit("/tasks/new", page="/settings", config=config, then="draft", **more)
    assert answer.status_code == 303, answer.text
    return int(re.search(r"draft=(\d+)", answer.headers["location"])[1])


def names(page):
    """The drafts that the page of a new task lists, by name."""
    return re.findall(r'href="[^"]*\?draft=\d+"><bdi>([^<]*)', page.get("/tasks/new").text)


@pytest.mark.slow
def test_a_draft_is_saved_opened_changed_and_deleted(page):
    assert names(page) == []
    draft = save(page, BROKEN, note="For a seminar.")
    assert save(page, BROKEN, note="For a seminar.") == draft, "the same text again"
    opened = page.get(f"/tasks/new?draft={draft}").text
    assert "input: [" in opened
    assert "For a seminar." in opened
    assert save(page, BROKEN.replace("Irony", "Sarcasm"), draft=str(draft)) == draft
    assert names(page) == ["Sarcasm"]
    assert page.submit(f"/tasks/new/drafts/{draft}/delete", page="/settings").status_code == 303
    assert names(page) == []
    assert page.get(f"/tasks/new?draft={draft}").status_code == 404
    assert save(page, WHOLE, draft=str(draft)) > 0, "deleted in another tab: saved anew"


def test_a_draft_whose_task_is_proposed_is_a_draft_no_longer(page):
    draft = save(page, WHOLE)
    assert page.submit("/tasks/new", page="/settings", config="id: x", draft=str(draft)).status_code == 422
    assert names(page) == ["Irony"]
    assert page.submit("/tasks/new", page="/settings", config=WHOLE, draft=str(draft)).status_code == 303
    assert names(page) == []
    assert "irony" in page.get("/proposals").text


@pytest.mark.slow
def test_nobody_else_sees_a_draft(page, ada, bob, admin, browser):
    draft = save(page, WHOLE)
    assert ada.get("/api/v1/proposals").json()["items"] == []
    for caller in (bob, admin):
        other = browser()
        other.log_in(caller.name)
        assert other.get(f"/tasks/new?draft={draft}").status_code == 404
        assert other.submit(f"/tasks/new/drafts/{draft}/delete", page="/settings").status_code == 404
        assert caller.get("/api/v1/proposals").json()["items"] == []
        assert caller.get(f"/api/v1/proposals/{draft}").status_code == 404
    decision = admin.post(f"/api/v1/proposals/{draft}/decision", json={"accept": True})
    assert decision.status_code == 404
    assert names(page) == ["Irony"]


def test_a_person_has_so_many_drafts_and_no_more(page):
    for number in range(task_drafts.MOST_DRAFTS):
        save(page, f"name: Draft {number}")
    full = page.submit("/tasks/new", page="/settings", config="name: One more", then="draft")
    assert full.status_code == 422
    assert "Delete one first" in full.text
    assert len(names(page)) == task_drafts.MOST_DRAFTS
