"""The administrators' routes: part of the authorization matrix."""

from tests.api.route import Route

ADMIN: dict[tuple[str, str], Route] = {
    ("GET", "/admin"): Route("admin"),
    ("GET", "/admin/people"): Route("admin"),
    ("GET", "/admin/people.csv"): Route("admin"),
    ("GET", "/admin/people/{id}"): Route("admin"),
    ("POST", "/admin/people/{id}"): Route("admin", form={"act": "?"}),
    ("POST", "/admin/people/{id}/reset-link"): Route("admin", form={}),
    ("GET", "/admin/tasks"): Route("admin"),
    ("GET", "/admin/tasks.csv"): Route("admin"),
    ("GET", "/admin/models"): Route("admin"),
    ("GET", "/admin/models.csv"): Route("admin"),
    ("POST", "/admin/models/load"): Route("admin", form={"name": "nli-a", "host": "1"}),
    ("GET", "/admin/jobs"): Route("admin"),
    ("GET", "/admin/jobs.csv"): Route("admin"),
    ("POST", "/admin/jobs/{job}/{act}"): Route("admin", form={}),
    ("GET", "/admin/settings"): Route("admin"),
    ("GET", "/api/v1/admin/health"): Route("admin"),
    ("GET", "/api/v1/admin/people"): Route("admin"),
    ("POST", "/api/v1/admin/people/{id}/reset"): Route("admin"),
    ("GET", "/api/v1/admin/jobs"): Route("admin"),
    ("POST", "/api/v1/admin/jobs/{job}/cancel"): Route("admin"),
    ("POST", "/api/v1/admin/jobs/{job}/retry"): Route("admin"),
}
