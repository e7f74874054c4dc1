"""Errors as answers: RFC 9457 documents for programs, pages for people, fragments for htmx."""

import errno
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from itertools import islice
from typing import Any
from urllib.parse import quote, urlsplit

import structlog
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DataError, OperationalError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from dynabench import web
from dynabench.crowd import frames
from dynabench.hubs import answers
from dynabench.hubs.problems import error_headers
from dynabench.kit.errors import (
    MOST_NAMED,
    Invalid,
    NoRoom,
    NotFound,
    Problem,
    Unauthenticated,
    Unavailable,
    translate_validation,
)
from dynabench.kit.forms import previous_page
from dynabench.kit.language import _
from dynabench.kit.security import HEADERS, STALE_FORM
from dynabench.kit.storable import printable
from dynabench.people.accounts.auth import identify
from dynabench.rounds import demo
from dynabench.site.dead_links import Advice, advise
from dynabench.site.search.nearest import nearest_pages, words_of_address
from dynabench.site.search.service import SearchHit

log = structlog.get_logger("dynabench.web")

_ANSWER: dict[str, Any] = {
    "description": "A problem: what happened, what it means, what to do.",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
ANSWERS: dict[int | str, dict[str, Any]] = {"default": _ANSWER, 422: _ANSWER}
"""How every operation documents what may go wrong."""
DOCUMENT = {
    "type": "object",
    "title": "Problem",
    "description": "RFC 9457 problem details.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "fields": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "Messages by dotted name of the field, such as `input.hypothesis`.",
        },
        "retry_after": {"type": "integer", "description": "Seconds, with status 429 and 503."},
        "position": {"type": "integer", "description": "Place in the queue of a model that is busy, with status 503."},
        "seconds": {"type": "number", "description": "About how long that queue takes."},
    },
}


class BadRequest(Problem):
    """The request is not one that can be read."""

    status, title = 400, _("Bad request")


class Unexpected(Problem):
    """An error of ours."""

    status, title = 500, _("Something went wrong")


def is_api(request: Request) -> bool:
    """Return whether a program sends the request: its path is below `/api/`."""
    return request.url.path.startswith("/api/")


async def respond(request: Request, problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to a request that ran into `problem`."""
    more = dict(headers or {})
    if "retry_after" in problem.extra:
        more["Retry-After"] = str(problem.extra["retry_after"])
    more |= web.refresh(request, problem) if isinstance(problem, Unavailable) else {}
    if is_api(request):
        if isinstance(problem, Unauthenticated):
            more["WWW-Authenticate"] = "Bearer"
        if request.url.path.startswith(f"{answers.PREFIX}/"):  # its clients read `error` and these headers
            problem.extra["error"] = problem.detail
            more |= error_headers(problem)
            log.info("the hub refused", path=request.url.path, status=problem.status, id=more["X-Request-Id"])
        return document(problem, more)
    if frames.is_framed(request):
        return frames.show_problem(request, problem, more)
    if isinstance(problem, Unauthenticated):
        return _to_login(request)
    if "onboarding" in problem.extra:
        return _to_page(request, str(problem.extra["onboarding"]))
    if problem.status < 500 and getattr(request.state, "viewer", None) is None:
        await identify(request)  # the page's header shows who is logged in, also where no route asked
    nearest: list[SearchHit] = []
    advice = advise(request, problem)
    if problem.status == 404 and advice is None and not web.pages.wants_fragment(request):
        with suppress(Exception):  # an error page is no place for another error
            nearest = await nearest_pages(request)
    return _page(request, problem, more, nearest, advice)


def document(problem: Problem, headers: Mapping[str, str]) -> Response:
    """The answer for programs; of very many wrong fields it names some."""
    members = problem.document()
    if len(members.get("fields", ())) > MOST_NAMED:
        members["fields"] = dict(islice(members["fields"].items(), MOST_NAMED))
    return JSONResponse(members, problem.status, headers, media_type="application/problem+json")


def _page(
    request: Request,
    problem: Problem,
    headers: Mapping[str, str],
    nearest: Sequence[SearchHit] = (),
    advice: Advice | None = None,
) -> Response:
    try:
        response: Response = web.render(
            request,
            "web/error.html",
            status=problem.status,
            fragment="web/_error.html",
            problem=problem,
            nearest=nearest,
            advice=advice,
            wanted=words_of_address(request.url.path),
            form_page=previous_page(request) if problem.detail in (STALE_FORM, DISK_FULL) else "",
        )
    except Exception:
        log.exception("the error page failed")
        response = PlainTextResponse(f"{problem.title}\n{problem.detail}", problem.status)
    response.headers.update(headers)
    return response


def _to_login(request: Request) -> Response:
    """Return a redirect to the login page, which leads back to the page that the person is on."""
    fragment = request.headers.get("hx-request") == "true"
    if fragment:
        here = _path_of(request.headers.get("hx-current-url", "/"))
    elif request.method in ("GET", "HEAD"):
        here = _path_of(str(request.url))
    else:
        here = _path_of(request.headers.get("referer", "/"))
    return _to_page(request, f"{request.app.url_path_for('login')}?next={quote(here)}", status=401)


def _to_page(request: Request, address: str, status: int = 403) -> Response:
    """Return a redirect, which htmx follows as well; `status` is what htmx gets."""
    if request.headers.get("hx-request") == "true":
        return Response(status_code=status, headers={"HX-Redirect": address})
    return RedirectResponse(address, 303)


def _path_of(address: str) -> str:
    parts = urlsplit(address)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def dotted(location: tuple[int | str, ...]) -> str:
    """`("body", "input", "hypothesis")` as `input.hypothesis`; what is not in the body is named alone."""
    rest = location[1:] if location and location[0] in ("body", "query", "path", "header", "cookie") else location
    return ".".join(str(part) for part in rest) or "body"


def from_validation(error: RequestValidationError) -> Problem:
    """FastAPI's own checks as a problem: 400 for a body that is no JSON, else a message per field."""
    errors: list[Any] = list(error.errors())
    if any(error_entry["type"] == "json_invalid" for error_entry in errors):
        return BadRequest(_("The body is not valid JSON."))
    return Invalid(
        {printable(dotted(error_entry["loc"])): _message(error_entry) for error_entry in errors[:MOST_NAMED]}
    )


def _message(error: dict[str, Any]) -> str:
    instead = {"missing": _("This is required."), "extra_forbidden": _("There is no such field.")}
    return instead.get(error["type"]) or translate_validation(str(error["msg"]))


async def on_problem(request: Request, error: Exception) -> Response:
    """Respond to a request that the platform's own code refused."""
    assert isinstance(error, Problem)
    if isinstance(error, NotFound):
        error = await demo.answer_instead(request, error)
    return await respond(request, error)


async def on_validation(request: Request, error: Exception) -> Response:
    """Respond to a request that FastAPI's validation refused."""
    assert isinstance(error, RequestValidationError)
    return await respond(request, from_validation(error))


async def on_http(request: Request, error: Exception) -> Response:
    """Respond to a refusal of the framework: no such address, another method, a body that cannot be read."""
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, Problem):  # raised where only exceptions of the framework pass
        return await respond(request, error.__cause__, error.headers)
    phrase = HTTPStatus(error.status_code).phrase.capitalize()
    if request.url.path.startswith("/static/"):  # answered under any load, so no page is made of it
        return PlainTextResponse(phrase, error.status_code, error.headers)
    problem = Problem(NO_SUCH_PAGE if error.status_code == 404 else str(error.detail or phrase))
    problem.status, problem.title = error.status_code, phrase
    return await respond(request, problem, error.headers)


NO_SUCH_PAGE = _("This page does not exist.")


async def on_data_error(request: Request, error: Exception) -> Response:
    """The last line of defence: a value that passed every check and that the database cannot hold."""
    log.warning("the database refused a value", path=request.url.path, error=str(getattr(error, "orig", error)))
    return await respond(request, BadRequest(_("A value in this request cannot be stored.")))


async def on_full_disk(request: Request, error: Exception) -> Response:
    """Respond to a request whose values no longer fit on the disk; any other error of database or files goes on."""
    if not _is_full(error):
        raise error
    log.error("the disk is full", path=request.url.path, error=str(getattr(error, "orig", error)))
    return await respond(request, NoRoom(DISK_FULL))


DISK_FULL = _("This site's disk is full. Nothing was saved; tell the site's operator, and send it again later.")
SQLITE_FULL = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE})
POSTGRES_FULL = "53100"
FILES_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def _is_full(error: Exception) -> bool:
    cause = getattr(error, "orig", error)
    if getattr(cause, "errno", 0) in FILES_FULL:
        return True
    return getattr(cause, "sqlite_errorcode", 0) in SQLITE_FULL or getattr(cause, "sqlstate", "") == POSTGRES_FULL


async def on_exception(request: Request, error: Exception) -> Response:
    """An error of ours: logged with its traceback by the server, told without it."""
    problem = Unexpected(_("This is our mistake, and it was logged. Nothing was changed; try again."))
    return await respond(request, problem, HEADERS)  # this answer does not pass the middleware that adds them


def install(app: FastAPI) -> None:
    """Answer all errors of `app` in this way."""
    app.add_exception_handler(Problem, on_problem)
    app.add_exception_handler(RequestValidationError, on_validation)
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(DataError, on_data_error)
    app.add_exception_handler(OperationalError, on_full_disk)
    app.add_exception_handler(OSError, on_full_disk)
    app.add_exception_handler(Exception, on_exception)
