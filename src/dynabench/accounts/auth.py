"""Who sends a request: dependencies that handlers name in their signatures."""

from collections.abc import Callable, Coroutine, Iterator
from datetime import timedelta
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.security import HTTPBearer

from dynabench import security
from dynabench.accounts import notices, service
from dynabench.accounts.tables import SCOPES, Person
from dynabench.db import Database, now
from dynabench.errors import Forbidden, Unauthenticated

USED_EVERY = timedelta(minutes=1)
scheme = HTTPBearer(auto_error=False, description="An API token from `POST /api/v1/tokens` or the settings page.")


async def identify(request: Request) -> Person | None:
    """The person behind the request's token or cookie, by one indexed read; kept as `request.state.viewer`.

    What a token may do is kept as `request.state.scopes`; cookies and visitors leave it None. Tokens open the JSON
    API alone: on a page, where no route names a scope, whoever sends one is a visitor.
    """
    db: Database = request.app.state.db
    token, cookie = security.bearer(request), security.session_cookie(request)
    person: Person | None = None
    request.state.scopes, request.state.notices = None, ()
    if token is not None and request.url.path.startswith("/api/"):
        found = await db.aread(service.person_of_token, security.digest(token))
        if found is None:
            raise Unauthenticated("This token is unknown or revoked. Make a new one with POST /api/v1/tokens.")
        person, row = found
        request.state.scopes = frozenset(row.scopes)
        if row.used_at is None or now() - row.used_at > USED_EVERY:
            await db.awrite(service.mark_used, row.id)
    elif cookie and token is None:
        person, request.state.notices = await db.aread(notices.person_and_notices, security.digest(cookie))
    request.state.viewer = person
    return person


async def _viewer(request: Request, _: Annotated[Any, Depends(scheme)]) -> Person | None:
    return await identify(request)


Viewer = Annotated[Person | None, Depends(_viewer)]


async def _member(viewer: Viewer) -> Person:
    if viewer is None:
        raise Unauthenticated("Log in, or send an API token in the Authorization header.")
    return viewer


Member = Annotated[Person, Depends(_member)]


async def _admin(member: Member) -> Person:
    if not member.admin:
        raise Forbidden("This is for the deployment's administrators.")
    return member


Admin = Annotated[Person, Depends(_admin)]


class Scope:
    """A dependency: what a token must be allowed on these routes. Cookies may do all that their person may.

    `name` for requests that change something, `reading` for those that do not. Every route of the JSON API has one:
    `APIRouter(dependencies=[Depends(auth.scope("annotate"))])`, or a stricter one of its own besides.
    """

    def __init__(self, name: str, reading: str) -> None:
        self.name, self.reading = name, reading

    def needed(self, method: str) -> str:
        """The scope that a request with this method needs."""
        return self.reading if method in security.SAFE_METHODS else self.name

    async def __call__(self, request: Request, _: Viewer) -> None:
        """Refuse a token that lacks the scope."""
        require_scope(request, self.needed(request.method))


def scope(name: str, reading: str = "read") -> Scope:
    """See `Scope`; the names are those of `SCOPES`."""
    if not {name, reading} <= set(SCOPES):
        raise ValueError(f"{name} and {reading} must be among {SCOPES}")
    return Scope(name, reading)


def require_scope(request: Request, name: str) -> None:
    """Refuse a token that lacks the scope `name`; for what only some requests of a route do."""
    scopes = getattr(request.state, "scopes", None)
    if scopes is not None and name not in scopes:
        text = f"This token lacks the scope “{name}”. Make one that has it, on the settings page or with POST /tokens."
        raise Forbidden(text, scope=name)


def scopes_of(dependant: Dependant, method: str) -> Iterator[str]:
    """The scopes that a route with these dependencies asks of tokens."""
    if isinstance(dependant.call, Scope):
        yield dependant.call.needed(method)
    for each in dependant.dependencies:
        yield from scopes_of(each, method)


def needs_login(dependant: Dependant) -> bool:
    """Whether a route with these dependencies turns visitors away."""
    return dependant.call is _member or any(needs_login(each) for each in dependant.dependencies)


def limited(name: str, times: int, seconds: float) -> Callable[..., Coroutine[Any, Any, None]]:
    """A dependency: at most `times` requests in `seconds` per person, or per address for visitors.

    Use as `dependencies=[Depends(limited("predict", 60, 60))]`.
    """

    async def check(request: Request, _: Viewer) -> None:
        security.throttle(request, name, times, seconds)

    return check
