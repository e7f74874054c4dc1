"""The console's page on annotator quality: estimates, their files, and the choice of the rule after its preview."""

from dynabench.quality import service, verdict_rules
from dynabench.quality.tables import VerdictRuleChoice
from tests.collection.conftest import draw, send, written

HERE = "/tasks/nli/manage/quality"


def test_estimates_are_computed_on_request_and_a_rule_is_chosen_after_its_preview(
    owner, moderator, ada, bob, enter, database
):
    page = enter(owner)
    assert "No estimates yet" in page.get(HERE).text
    handout = draw(ada)
    text = "It is so." if handout["goal"]["label"] == "contradiction" else "It is not so."
    example = send(ada, written(handout, text)).json()["id"]
    assert bob.post(f"/api/v1/examples/{example}/validations", json={"vote": "correct"}).status_code == 201
    assert page.submit(HERE, page="/settings").status_code == 303
    assert "are being computed" in page.get(HERE).text
    assert owner.get("/api/v1/tasks/nli/quality").json()["running"] is True
    assert owner.request("PUT", "/api/v1/tasks/nli/rounds/1/rule", json={"rule": "weighted"}).status_code == 409
    results = service.compute_estimates(database.read(service.read_votes, "nli"))
    database.write(service.store_estimates, "nli", results, 1)
    for address in (HERE, f"{HERE}?round=1"):
        html = page.get(address).text
        assert "bob" in html
        assert "Votes: 1, examples: 1" in html
    assert "0 of 1 verdicts would change" in html
    assert "Weigh votes" not in enter(moderator).get(f"{HERE}?round=1").text
    page = enter(owner)
    assert page.get(f"{HERE}/validators.csv").text.splitlines()[1].split(",")[1] == "bob"
    assert page.get(f"{HERE}/agreement.csv?round=1").text.splitlines()[1].startswith("vote,")
    assert page.submit("/tasks/nli/manage/rounds/1/rule", page="/settings", rule="weighted").status_code == 303
    assert "Verdicts are being recounted" in page.get(f"{HERE}?round=1").text
    job = database.read(lambda session: session.query(VerdictRuleChoice).one().job_id)
    assert not database.write(verdict_rules.weigh_some, job, 1)
    assert "Weighted: each vote counts" in page.get(f"{HERE}?round=1").text
    state = owner.get("/api/v1/tasks/nli/rounds/1/rule").json()
    assert (state["rule"], state["running"], state["examples"]) == ("weighted", False, 1)
    document = owner.get("/api/v1/tasks/nli/quality?round=1").json()
    assert document["validators"][0]["name"] == "bob"
    assert document["agreement"][0]["alpha"] is None
