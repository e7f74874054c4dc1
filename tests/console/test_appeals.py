"""Pages of appeals: a banned person answers, an expert grants, and both histories show it."""

OWN = "/me/decisions"
HERE = "/tasks/nli/appeals"


def test_a_ban_is_appealed_against_and_lifted_on_the_pages(owner, moderator, bob, person, enter):
    assert moderator.post("/api/v1/tasks/nli/bans", json={"person": bob.id, "reason": "Copies."}).status_code == 204
    expert = person("expert")
    assert owner.post("/api/v1/tasks/nli/roles", json={"username": "expert", "role": "expert"}).status_code < 300
    page = enter(bob)
    assert "Copies." in page.get(OWN).text
    sent = {"task": "nli", "kind": "ban", "subject": "0"}
    assert page.submit(OWN, page="/settings", **sent, text="").status_code == 422
    assert page.submit(OWN, page="/settings", **sent, text="Mine <b>alone</b>.").status_code == 303
    assert "waits for an answer" in page.get(OWN).text
    assert page.submit(OWN, page="/settings", **sent, text="Again.").status_code == 409
    assert page.get(HERE).status_code == 403
    html = enter(moderator).get(HERE).text
    assert "Mine &lt;b&gt;alone&lt;/b&gt;." in html
    assert "another expert, moderator or owner answers" in html
    page = enter(expert)
    number = expert.get("/api/v1/tasks/nli/appeals").json()[0]["id"]
    assert page.submit(f"{HERE}/{number}", page="/settings", outcome="grant", answer=" ").status_code == 422
    assert page.submit(f"{HERE}/{number}", page="/settings", outcome="grant", answer="Yours.").status_code == 303
    assert "No appeals" in page.get(HERE).text
    assert "Yours." in page.get(f"{HERE}?which=answered").text
    assert page.get(f"{HERE}.csv").text.splitlines()[1].split(",")[1:3] == ["bob", "ban"]
    page = enter(bob)
    assert "No decisions about you" in page.get(OWN).text
    assert "granted" in page.get(OWN).text
    assert bob.get("/api/v1/me/appeals").json()[0]["answer"] == "Yours."
    assert bob.get("/api/v1/me/decisions").json() == []
