"""Access to the routes of the cycle: that part of `routes.ROUTES`."""

from tests.api.route import Route

CYCLE: dict[tuple[str, str], Route] = {
    ("GET", "/api/v1/tasks/{task}/turns"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/lineage"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/turns/{turn}"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/turns/preview"): Route("owner", json={}),
    ("POST", "/api/v1/tasks/{task}/turns"): Route("owner", json={"plan": {"next": {"parents": [99]}}}),
    ("POST", "/api/v1/tasks/{task}/turns/{turn}/pause"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/turns/{turn}/resume"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/turns/{turn}/undo"): Route("owner"),
    ("GET", "/tasks/{task}/manage/rounds/{n}/finish"): Route("owner"),
    ("POST", "/tasks/{task}/manage/rounds/{n}/finish"): Route("owner", form={"sure": "0"}),
    ("GET", "/tasks/{task}/manage/cycle"): Route("owner"),
    ("POST", "/tasks/{task}/manage/cycle"): Route("owner", form={"then": "preview"}),
    ("GET", "/tasks/{task}/manage/cycle/{turn}"): Route("owner"),
    ("POST", "/tasks/{task}/manage/cycle/{turn}/pause"): Route("owner"),
    ("POST", "/tasks/{task}/manage/cycle/{turn}/resume"): Route("owner"),
    ("POST", "/tasks/{task}/manage/cycle/{turn}/undo"): Route("owner", form={"sure": ""}),
}
