"""The routes of studies and who may use them: that part of `routes.ROUTES`."""

from tests.api.route import Route

STUDY = {"round": 1, "name": "Another study"}
CROWD: dict[tuple[str, str], Route] = {
    ("GET", "/api/v1/tasks/{task}/studies"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/studies"): Route("owner", json=STUDY),
    ("GET", "/api/v1/tasks/{task}/studies/{id}"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/studies/{id}/state"): Route("owner", json={"state": "paused"}),
    ("GET", "/api/v1/tasks/{task}/studies/{id}/participants"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/studies/{id}/participants/{participant}/decision"): Route(
        "owner", json={"approve": True}
    ),
    ("DELETE", "/api/v1/tasks/{task}/studies/{id}"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/consent"): Route("owner"),
    ("PUT", "/api/v1/tasks/{task}/consent"): Route("owner", json={"text": "We keep your texts."}),
    ("GET", "/tasks/{task}/manage/studies"): Route("owner"),
    ("GET", "/tasks/{task}/manage/studies/new"): Route("owner"),
    ("POST", "/tasks/{task}/manage/studies"): Route("owner", form={"round": "1", "name": "x", "work.examples": "1"}),
    ("GET", "/tasks/{task}/manage/studies/{id}"): Route("owner"),
    ("GET", "/tasks/{task}/manage/studies/{id}/edit"): Route("owner"),
    ("POST", "/tasks/{task}/manage/studies/{id}/edit"): Route("owner", form={"name": ""}),
    ("POST", "/tasks/{task}/manage/studies/{id}/bonuses"): Route("owner", form={}),
    ("POST", "/tasks/{task}/manage/studies/{id}/bonuses/{order}/{decision}"): Route("owner", form={}),
    ("GET", "/tasks/{task}/manage/studies/{id}/bonuses/{order}"): Route("owner"),
    ("POST", "/tasks/{task}/manage/studies/{id}/bonuses/{order}"): Route("owner", form={"reference": ""}),
    ("GET", "/tasks/{task}/manage/studies/{id}/bonuses/{order}/list.csv"): Route("owner"),
    ("GET", "/tasks/{task}/manage/studies/{id}/participants/compare"): Route("owner"),
    ("POST", "/tasks/{task}/manage/studies/{id}/participants/compare"): Route("owner", form={"list": "w1,CODE"}),
    ("POST", "/tasks/{task}/manage/studies/{id}/participants/decisions"): Route("owner", form={}),
    ("POST", "/tasks/{task}/manage/studies/{id}/participants/links"): Route("owner", form={"ids": "w1"}),
    ("POST", "/tasks/{task}/manage/crowd-accounts/{provider}"): Route("owner", form={"token": ""}),
    ("POST", "/api/v1/crowd/{provider}/{account}/events"): Route("worker", json={}, scope="manage"),
    ("POST", "/tasks/{task}/manage/studies/{id}/{act}"): Route("owner", form={}),
    ("POST", "/tasks/{task}/manage/studies/{id}/participants/{participant}/{decision}"): Route("owner", form={}),
    ("GET", "/tasks/{task}/manage/studies/{id}/participants.csv"): Route("owner"),
    ("POST", "/tasks/{task}/manage/consent"): Route("owner", form={"text": "We keep your texts."}),
    ("GET", "/studies/{slug}"): Route("anyone", params={"participantId": ""}),
    ("POST", "/studies/{slug}/enter"): Route("anyone", form={"participantId": ""}),
    ("GET", "/studies/{slug}/frame"): Route("anyone", params={"ticket": "", "to": ""}),
    ("GET", "/studies/{slug}/bar"): Route("worker"),
    ("POST", "/studies/{slug}/consent"): Route("worker", form={"consent": "1"}),
    ("POST", "/studies/{slug}/decline"): Route("worker", form={}),
    ("POST", "/studies/{slug}/finish"): Route("worker", form={}),
    ("POST", "/studies/{slug}/withdraw"): Route("worker", form={}),
}
