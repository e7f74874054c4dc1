"""Who sends a request: dependencies that handlers name in their signatures."""

from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.security import HTTPBearer

from dynabench import security
from dynabench.accounts import service
from dynabench.accounts.tables import Person
from dynabench.db import Database, now
from dynabench.errors import Forbidden, Unauthenticated

USED_EVERY = timedelta(minutes=1)
scheme = HTTPBearer(auto_error=False, description="An API token from `POST /api/v1/tokens` or the settings page.")


async def identify(request: Request) -> Person | None:
    """The person behind the request's token or cookie, by one indexed read; kept as `request.state.viewer`."""
    db: Database = request.app.state.db
    token, cookie = security.bearer(request), security.session_cookie(request)
    person: Person | None = None
    if token is not None:
        found = await db.aread(service.person_of_token, security.digest(token))
        if found is None:
            raise Unauthenticated("This token is unknown or revoked. Make a new one with POST /api/v1/tokens.")
        person, row = found
        if row.used_at is None or now() - row.used_at > USED_EVERY:
            await db.awrite(service.mark_used, row.id)
    elif cookie:
        person = await db.aread(service.person_of_session, security.digest(cookie))
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
