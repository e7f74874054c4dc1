"""The routes of classes, teams and competitions with the people who may use them: part of the authorization matrix."""

from tests.api.route import Route

CLASSES: dict[tuple[str, str], Route] = {
    ("GET", "/class"): Route("anyone", params={"code": ""}),
    ("POST", "/class"): Route("anyone", form={"code": "", "name": ""}),
    ("POST", "/class/return"): Route("anyone", form={"personal": ""}),
    ("GET", "/classes"): Route("member"),
    ("POST", "/classes"): Route("member", form={"name": ""}),
    ("GET", "/classes/{id}"): Route("keeper"),
    ("POST", "/classes/{id}"): Route("keeper", form={"name": ""}),
    ("GET", "/classes/{id}/grades.csv"): Route("keeper"),
    ("POST", "/classes/{id}/state"): Route("keeper", form={"open": "true"}),
    ("POST", "/classes/{id}/students/{person_id}/code"): Route("keeper", form={}),
    ("POST", "/classes/{id}/students/{person_id}/remove"): Route("keeper", form={}),
    ("POST", "/classes/{id}/reset"): Route("keeper", form={"confirm": ""}),
    ("POST", "/classes/{id}/code"): Route("keeper", form={}),
    ("POST", "/classes/{id}/delete"): Route("keeper", form={}),
    ("GET", "/api/v1/classes"): Route("member"),
    ("POST", "/api/v1/classes"): Route("member", json={"name": "", "task": "nli"}, scope="manage"),
    ("POST", "/api/v1/classes/join"): Route("anyone", json={"code": "", "name": ""}),
    ("POST", "/api/v1/classes/return"): Route("anyone", json={"code": ""}),
    ("GET", "/api/v1/classes/{id}"): Route("keeper"),
    ("PATCH", "/api/v1/classes/{id}"): Route("keeper", json={}, scope="manage"),
    ("GET", "/api/v1/classes/{id}/students"): Route("keeper"),
    ("POST", "/api/v1/classes/{id}/students/{person_id}/code"): Route("keeper", scope="manage"),
    ("DELETE", "/api/v1/classes/{id}/students/{person_id}"): Route("keeper", scope="manage"),
    ("POST", "/api/v1/classes/{id}/reset"): Route("keeper", json={"confirm": ""}, scope="manage"),
    ("POST", "/api/v1/classes/{id}/code"): Route("keeper", scope="manage"),
    ("DELETE", "/api/v1/classes/{id}"): Route("keeper", scope="manage"),
}
COMMUNITIES = CLASSES
