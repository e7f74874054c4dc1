"""The sender of a request: dependencies that handlers name in their signatures."""

from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.security import HTTPBearer
from sqlalchemy.orm import class_mapper, make_transient_to_detached

from dynabench.kit import language, security
from dynabench.kit.db import Database, now
from dynabench.kit.errors import Forbidden, Unauthenticated
from dynabench.kit.language import _
from dynabench.people.accounts import queries, second_factor, service, worker_access
from dynabench.people.accounts.tables import SCOPES, Person

_COLUMNS = Person.__table__.c.keys()
Handler = TypeVar("Handler", bound=Callable[..., Any])
USED_EVERY, SEEN_EVERY = timedelta(minutes=1), timedelta(minutes=5)


async def identify(request: Request) -> Person | None:
    """The person behind the request's token or cookie, by one indexed read; kept as `request.state.viewer`.

    What a token may do is kept as `request.state.scopes`; cookies and visitors leave it None. Tokens open the JSON
    API alone: on a page, where no route names a scope, the sender of one is a visitor.
    """
    db: Database = request.app.state.db
    token, cookie = security.bearer(request), security.session_cookie(request)
    person: Person | None = None
    request.state.scopes, request.state.unseen = None, service.UnseenNotices()
    if token is not None and request.scope["path"].startswith("/api/"):
        digest = security.digest(token)
        row = await db.afirst(queries.BY_TOKEN, {"digest": digest})
        if row is None:
            raise Unauthenticated(_("This token is unknown or revoked. Create a new one with POST /api/v1/tokens."))
        *columns, token_id, scopes, used_at = row
        person = _loaded(columns)
        request.state.scopes = frozenset(scopes)
        if used_at is None or now() - used_at > USED_EVERY:
            await db.awrite(service.mark_token_used, token_id)
    elif cookie and token is None:
        digest = security.digest(cookie)
        person, seen_at, request.state.unseen = await db.aread(service.person_and_notices, digest)
        if person is not None and person.worker_task:
            person = person if worker_access.may_reach(person, request.url.path) else None
            request.state.scopes = worker_access.WORKER_SCOPES
        if person is not None and (seen_at is None or now() - seen_at > SEEN_EVERY):
            await db.awrite(service.mark_session_used, digest)
    request.state.viewer = person
    if person is not None and person.language and not request.url.path.startswith("/api/"):
        language.current.set(person.language)
    return person


def _loaded(columns: Sequence[Any]) -> Person:
    """Return a row of the table of people as a session would have loaded it: the constructor takes twice as long."""
    person: Person = class_mapper(Person).class_manager.new_instance()
    person.__dict__.update(zip(_COLUMNS, columns, strict=True))
    make_transient_to_detached(person)
    return person


class Identification(HTTPBearer):
    """The dependency that identifies the sender; the API's document describes it as a bearer token."""

    async def __call__(self, request: Request) -> Person | None:  # type: ignore[override]
        """Return the person who sent the request."""
        return await identify(request)


scheme = Identification(
    scheme_name="HTTPBearer",
    auto_error=False,
    description="An API token from `POST /api/v1/tokens` or the settings page.",
)
Viewer = Annotated[Person | None, Depends(scheme)]


async def _member(viewer: Viewer) -> Person:
    if viewer is None:
        raise Unauthenticated(_("Log in, or send an API token in the Authorization header."))
    return viewer


Member = Annotated[Person, Depends(_member)]


async def _admin(request: Request, member: Member) -> Person:
    if not member.admin:
        raise Forbidden(_("Only administrators of this site can do this."))
    state = request.app.state
    needs_factor = state.settings.admin_second_factor and member.password_hash
    if needs_factor and not await state.db.aread(second_factor.has_second_factor, member.id):
        raise Forbidden(_("Administrators of this site need two-factor log-in. Set it up in Settings, Security."))
    return member


Admin = Annotated[Person, Depends(_admin)]


class Scope:
    """A dependency of routers: what a token must be allowed there. Cookies may do all that their person may.

    `read` for requests that change nothing, `name` for the others, or what the handler says with `needs`. Every
    router of the JSON API has one: `APIRouter(dependencies=[Depends(auth.scope("annotate"))])`.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def needed(self, method: str, handler: object) -> str:
        """The scope that a request with this method to this handler needs."""
        return _own_scopes.get(handler) or ("read" if method in security.SAFE_METHODS else self.name)

    async def __call__(self, request: Request, _viewer: Viewer) -> None:
        """Refuse a token that lacks the scope."""
        scopes, name = request.state.scopes, self.needed(request.method, request.scope.get("endpoint"))
        if scopes is not None and name not in scopes:
            text = _(
                "This token lacks the scope “%(name)s”. Create one that has it in the settings or with POST /tokens.",
                name=name,
            )
            raise Forbidden(text, scope=name)


_own_scopes: dict[object, str] = {}


def scope(name: str) -> Scope:
    """See `Scope`; `name` is one of `SCOPES`."""
    if name not in SCOPES:
        raise ValueError(f"{name} is not among {SCOPES}")
    return Scope(name)


def needs(name: str) -> Callable[[Handler], Handler]:
    """A decorator for handlers whose scope is not that of their router; it stands below `@router.post(...)`."""

    def mark(handler: Handler) -> Handler:
        _own_scopes[handler] = scope(name).name
        return handler

    return mark


def scopes_of(dependant: Dependant, method: str) -> set[str]:
    """The scopes that a route, given as its dependencies, asks of tokens: one for each route of the JSON API."""
    calls = [dependency.call for dependency in dependant.dependencies]
    return {call.needed(method, dependant.call) for call in calls if isinstance(call, Scope)}


def needs_login(dependant: Dependant) -> bool:
    """Return whether a route with these dependencies turns visitors away."""
    return dependant.call is _member or any(needs_login(dependency) for dependency in dependant.dependencies)


def limited(name: str, times: int, seconds: float) -> Callable[..., Coroutine[Any, Any, None]]:
    """A dependency: at most `times` requests in `seconds` per person, or per address for visitors.

    Use as `dependencies=[Depends(limited("predict", 60, 60))]`.
    """

    async def check(request: Request, _: Viewer) -> None:
        security.throttle(request, name, times, seconds)

    return check
