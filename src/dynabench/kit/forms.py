"""Plumbing of forms: where a form leads when it is done, and the form shown again with what is wrong."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import urlencode, urlsplit

from fastapi import Form, Request
from starlette.responses import RedirectResponse

from dynabench.kit.errors import Problem

Text = Annotated[str, Form(max_length=4000)]
"""A field of a form: `name: Text = ""`."""

Texts = Annotated[Sequence[str], Form()]
"""A field that is sent several times, such as a group of checkboxes: `scopes: Texts = ()`."""


def redirect(
    request: Request, route: str, /, *, query: Mapping[str, object] | None = None, anchor: str = "", **path: object
) -> RedirectResponse:
    """Lead the browser to the page of `route` once a form is done, with `path` as its path parameters.

    Empty and absent values of `query` are left out of the address.
    """
    address = str(request.app.url_path_for(route, **path))
    if sent := {name: value for name, value in (query or {}).items() if value not in (None, "", False)}:
        address += f"?{urlencode(sent)}"
    return RedirectResponse(f"{address}#{anchor}" if anchor else address, status_code=303)


def field_errors(problem: Problem, beside: str) -> dict[str, str]:
    """Return the messages of a problem by field; one that names no field is shown `beside` this one."""
    fields: dict[str, str] = problem.extra.get("fields") or {beside: problem.detail}
    return fields


def rejection(problem: Problem, beside: str) -> dict[str, Any]:
    """Return what a page needs to show its form again: the `status` of the response, and `errors` by field.

    Use as `return await _page(request, task, typed=typed, **rejection(problem, "name"))`.
    """
    return {"status": problem.status, "errors": field_errors(problem, beside)}


def read_number(text: str, digits: int = 18) -> int:
    """Return the whole number, of at most `digits` digits, that a page sends back, 0 for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else 0


def read_moment(text: str) -> datetime | None:
    """Return the moment with a time zone that a page sends back, None for anything else."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def safe_next(address: str) -> str:
    """Return an address that a form names to go on to: a path of this site, or the home page for anything else."""
    plain = address.isascii() and address.isprintable() and "\\" not in address
    if not plain or not address.startswith("/") or address.startswith("//") or urlsplit(address).netloc:
        return "/"
    return address


def previous_page(request: Request) -> str:
    """Return path and query of the page from which a form was sent."""
    parts = urlsplit(request.headers.get("referer", "/"))
    return safe_next(f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}")
