"""The routes of control items and who may use them: that part of `routes.ROUTES`."""

from tests.api.route import Route

CONTROLS: dict[tuple[str, str], Route] = {
    ("GET", "/api/v1/tasks/{task}/controls"): Route("owner", scope="manage"),
    ("POST", "/api/v1/tasks/{task}/controls"): Route("owner", scope="manage", json={"decided": 1}),
    ("PATCH", "/api/v1/tasks/{task}/controls/{item}"): Route("owner", scope="manage", json={"retired": True}),
    ("GET", "/api/v1/tasks/{task}/controls/validators"): Route("owner", scope="manage"),
    ("GET", "/api/v1/tasks/{task}/controls/decisions"): Route("owner", scope="manage"),
    ("POST", "/api/v1/tasks/{task}/controls/decisions/{decision}"): Route(
        "owner", scope="manage", json={"then": "end"}
    ),
    ("GET", "/tasks/{task}/manage/controls"): Route("owner"),
    ("POST", "/tasks/{task}/manage/controls/files"): Route("owner", form={}),
    ("POST", "/tasks/{task}/manage/controls/decided"): Route("owner", form={"count": "1"}),
    ("POST", "/tasks/{task}/manage/controls/items/{item}"): Route("owner", form={"then": "retire"}),
    ("POST", "/tasks/{task}/manage/controls/decisions/{decision}"): Route("owner", form={"then": "end"}),
    ("GET", "/tasks/{task}/manage/controls/items.csv"): Route("owner"),
    ("GET", "/tasks/{task}/manage/controls/validators.csv"): Route("owner"),
}
