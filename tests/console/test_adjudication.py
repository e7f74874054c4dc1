"""The desk of experts in the browser's pages: a case, a refused decision, a decision, and its undo."""

from tests.collection.conftest import draw, send, written

HERE = "/tasks/nli/adjudicate"


def test_an_expert_decides_on_the_page_and_takes_it_back(owner, ada, bob, person, enter):
    handout = draw(ada)
    text = "It is so." if handout["goal"]["label"] == "contradiction" else "It is not so."
    example = send(ada, written(handout, text)).json()["id"]
    assert bob.post(f"/api/v1/examples/{example}/validations", json={"vote": "correct"}).status_code == 201
    voter = person("cleo")
    assert voter.post(f"/api/v1/examples/{example}/validations", json={"vote": "flagged"}).status_code == 201
    expert = person("expert")
    assert owner.post("/api/v1/tasks/nli/roles", json={"username": "expert", "role": "expert"}).status_code < 300
    page = enter(expert)
    assert "Nothing to decide" in page.get(HERE).text
    html = page.get(f"{HERE}?which=split").text
    assert f"Example {example}" in html
    assert ">bob" not in html
    assert "cleo" not in html
    address = f"{HERE}/{example}"
    empty = page.submit(address, page="/settings", verdict="correct", which="split")
    assert empty.status_code == 422
    assert "Give a reason" in empty.text
    sent = page.submit(address, page="/settings", verdict="correct", reason="It follows.", which="split")
    assert sent.status_code == 303
    assert "It follows." in page.get(HERE).text
    assert page.get("/tasks/nli/adjudications.csv").text.splitlines()[1].split(",")[2:4] == ["correct", "It follows."]
    assert owner.get(f"/api/v1/examples/{example}").json()["verdict"] == "correct"
    (case,) = expert.get("/api/v1/tasks/nli/adjudications?which=split").json() or [None]
    assert case is None
    assert page.submit("/tasks/nli/adjudications/1/undo", page="/settings").status_code == 303
    assert owner.get(f"/api/v1/examples/{example}").json()["verdict"] == "pending"
    assert "taken back" in page.get(HERE).text
    acts = [act["kind"] for act in owner.get("/api/v1/tasks/nli/acts").json()["items"]]
    assert acts[:2] == ["example.adjudicate.undo", "example.adjudicate"]
    assert enter(bob).get(HERE).status_code == 403
