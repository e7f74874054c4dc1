"""Plumbing of handlers: the database and the settings as dependencies, parameters of lists, files as downloads."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from fastapi import Depends, Header, Query, Request
from pydantic import BeforeValidator, Field
from starlette.responses import Response, StreamingResponse

from dynabench.kit.csv_tables import pieces
from dynabench.kit.db import Database
from dynabench.kit.security import cookie_name
from dynabench.kit.settings import Settings


async def _database(request: Request) -> Database:
    database: Database = request.app.state.db
    return database


async def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


Db = Annotated[Database, Depends(_database)]
"""The database, as a parameter of a handler: `db: Db`."""

AppSettings = Annotated[Settings, Depends(_settings)]
"""The settings of the site, as a parameter of a handler."""


def site_address(request: Request) -> str:
    """Return the configured public address of this site, else the one of the request; without a slash at its end."""
    settings: Settings = request.app.state.settings
    return settings.site or str(request.base_url).rstrip("/")


def page_address(request: Request, route: str, **parameters: Any) -> str:
    """Return the whole address of a page of this site."""
    return site_address(request) + str(request.app.url_path_for(route, **parameters))


def set_cookie(request: Request, response: Response, name: str, value: str, seconds: int) -> None:
    """Give the browser a cookie of this site that no script reads, under `security.cookie_name`."""
    settings: Settings = request.app.state.settings
    whole = cookie_name(settings, name)
    response.set_cookie(whole, value, seconds, secure=settings.secure_cookies, httponly=True, samesite="lax")


def delete_cookie(request: Request, response: Response, name: str) -> None:
    """Take a cookie that `set_cookie` gave from the browser."""
    settings: Settings = request.app.state.settings
    response.delete_cookie(cookie_name(settings, name), secure=settings.secure_cookies, httponly=True, samesite="lax")


_NEXT = "The `next` of the page before."
After = Annotated[
    Annotated[int, Field(ge=0, le=2**63 - 1)] | None,
    BeforeValidator(lambda text: None if text == "" else text),
    Query(description=_NEXT),
]
"""The row after which a page begins (`after: After = None`); for lists whose cursor is a row's number."""

TextAfter = Annotated[str, Query(max_length=130, description=_NEXT)]
"""The text after which a page begins (`after: TextAfter = ""`); for lists whose cursor is a name or has two parts."""

IdempotencyKey = Annotated[
    str | None, Header(alias="Idempotency-Key", min_length=1, max_length=100, pattern=r"^[\x21-\x7e]+$")
]
"""A request's key, with which it is answered as the first time when it is sent again: `key: IdempotencyKey = None`."""

Limit = Annotated[int, Query(ge=1, le=100)]
"""How many items a page has: `limit: Limit = 50`."""


def attachment(filename: str) -> dict[str, str]:
    """Return the header by which a browser saves a response under `filename` (plain ASCII) instead of showing it."""
    return {"Content-Disposition": f'attachment; filename="{filename}"'}


MARKDOWN = "text/markdown; charset=utf-8"


def file_route(description: str, *types: str) -> dict[str, Any]:
    """Return the arguments that document a route whose answer is a file of one of these media types."""
    content: dict[str, Any] = {name.partition(";")[0]: {} for name in types}
    return {"response_class": Response, "responses": {200: {"description": description, "content": content}}}


def download(content: bytes, media: str, filename: str) -> Response:
    """Return bytes as a download under a name."""
    return Response(content, media_type=media, headers=attachment(filename))


def csv_response(filename: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> StreamingResponse:
    """Return a CSV file as a download, written while the rows are read; spreadsheets do not run its cells."""
    headers = attachment(filename) | {"Cache-Control": "no-store"}
    return StreamingResponse(pieces(header, rows), media_type="text/csv; charset=utf-8", headers=headers)
