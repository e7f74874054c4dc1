"""The console's people: roles, bans, links, and who wrote what."""

import re

import pytest

from tests.collection.conftest import draw, send, written

HERE = "/tasks/nli/manage/people"


@pytest.fixture
def wrote(ada):
    drawn = draw(ada)
    return send(ada, written(drawn, "Nobody is there."))


def test_owners_see_who_wrote_with_rates_and_moderators_the_same_without_usernames(owner, moderator, ada, wrote, enter):
    ada.patch("/api/v1/me", json={"pseudonym": "the countess"})
    owner.post("/api/v1/tasks/nli/roles", json={"username": "ada", "role": "annotator"})
    seen = enter(owner).get(HERE).text
    assert "the countess" in seen
    assert re.search(r"the countess <span class=\"muted\">ada</span>", seen)
    page = enter(moderator).get(HERE).text
    assert "the countess" in page
    assert not re.search(r"\bada\b", page)
    assert "Invite by link" not in page
    assert "Give a role" not in page


def test_experts_stand_apart(owner, person, ada, wrote, enter):
    eva = person("eva")
    owner.post("/api/v1/tasks/nli/roles", json={"username": "eva", "role": "expert"})
    send(eva, written(draw(eva), "Nobody is there."))
    page = enter(owner)
    everybody = page.get(HERE).text
    assert everybody.index("annotators</th>") < everybody.index("experts</th>")
    experts = page.get(f"{HERE}?who=experts").text
    assert '<th scope="row">eva</th>' in experts
    assert '<th scope="row">ada</th>' not in experts


def test_a_link_is_made_shown_once_accepted_and_revoked(owner, ada, enter):
    page = enter(owner)
    submission = page.submit(f"{HERE}/invitations", page="/settings", role="expert", note="for Ada", uses="2", days="3")
    assert submission.status_code == 201
    link = re.search(r"http://testserver(/join/[\w-]+)", submission.text)[1]
    guest = enter(ada)
    assert "Join Natural language inference as an expert" in guest.get(link).text
    assert guest.submit(link, page="/settings").headers["location"] == "/tasks/nli"
    again = page.get(HERE).text
    assert link not in again
    assert "for Ada" in again
    assert "1/2" in again
    number = re.search(r"invitations/(\d+)/revoke", again)[1]
    assert page.submit(f"{HERE}/invitations/{number}/revoke", page="/settings").status_code == 303
    assert guest.get(link).status_code == 404


def test_wrong_numbers_of_a_link_are_said_beside_their_fields(owner, enter):
    answer = enter(owner).submit(f"{HERE}/invitations", page="/settings", role="owner", uses="2", days="x")
    assert answer.status_code == 422
    assert "works only once" in answer.text
    assert "1 to 90 days" in answer.text
    assert 'value="x"' in answer.text


def test_a_role_is_changed_and_the_last_owner_stays(owner, ada, person, enter):
    olga = person("olga")
    owner.post("/api/v1/tasks/nli/roles", json={"username": "olga", "role": "owner"})
    page = enter(owner)
    assert page.submit(f"{HERE}/roles", page="/settings", username="ada", role="moderator").status_code == 303
    assert enter(ada).get(HERE).status_code == 200
    submission = page.submit(f"{HERE}/roles", page="/settings", username="olga", role="")
    assert submission.status_code == 409
    assert "last owner" in submission.text
    assert page.submit(f"{HERE}/roles", page="/settings", username="nobody", role="expert").status_code == 404
    assert olga.get("/api/v1/tasks/nli/people").status_code == 200


@pytest.mark.slow
def test_a_ban_on_the_page_is_read_by_the_banned_and_lifted(moderator, ada, wrote, enter):
    page = enter(moderator)
    assert page.submit(f"{HERE}/{ada.id}/ban", page="/settings", reason="").status_code == 422
    assert page.submit(f"{HERE}/{ada.id}/ban", page="/settings", reason="The same text again.").status_code == 303
    assert "The same text again." in page.get(HERE).text
    hers = enter(ada)
    assert "The same text again." in hers.get("/").text
    assert hers.get("/tasks/nli/create").status_code == 403
    assert page.submit(f"{HERE}/{ada.id}/lift", page="/settings").status_code == 303
    assert hers.get("/tasks/nli/create").status_code == 200


def test_the_table_is_downloaded(owner, ada, wrote, enter):
    answer = enter(owner).get(f"{HERE}.csv")
    header, row, *_ = answer.text.removeprefix("\ufeff").splitlines()
    assert header.startswith("name,group,examples,fooled")
    assert row.startswith("ada,crowd,1,")


def test_people_without_a_round_are_an_empty_page(admin, database, enter):
    config = "id: bare\nname: Bare\ninput: [{name: x, type: text}]\nanswer: {name: y, type: choice, options: [a, b]}\n"
    saved = admin.post("/api/v1/tasks", json={"config": config})
    assert saved.status_code == 201, saved.text
    answer = enter(admin).get("/tasks/bare/manage/people")
    assert answer.status_code == 200
    assert "No one yet" in answer.text
