"""Access to the routes of releases: that part of `routes.ROUTES`."""

from tests.api.route import Route

RELEASES: dict[tuple[str, str], Route] = {
    ("GET", "/api/v1/tasks/{task}/releases"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/rounds/{n}/release"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/rounds/{n}/release/zip"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/rounds/{n}/release/files/{file}"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/rounds/{n}/release/files/{folder}/{file}"): Route("anyone"),
    ("POST", "/api/v1/tasks/{task}/rounds/{n}/release/preview"): Route("owner", json={}),
    ("POST", "/api/v1/tasks/{task}/rounds/{n}/release"): Route("owner", json={}),
    ("GET", "/tasks/{task}/rounds/{n}/release"): Route("anyone"),
    ("GET", "/tasks/{task}/manage/rounds/{n}/release"): Route("owner"),
    ("POST", "/tasks/{task}/manage/rounds/{n}/release"): Route("owner", form={"sure": "0"}),
}
