"""Logging in at a provider: the way there, the way back, and what follows for accounts that are new here."""

from functools import cache
from hmac import compare_digest
from typing import Any

import structlog
from fastapi import APIRouter, Depends, Request
from starlette.responses import RedirectResponse, Response

from dynabench.kit import security
from dynabench.kit.api import Db, page_address, site_address
from dynabench.kit.errors import Conflict, Invalid, NotFound, Problem
from dynabench.kit.forms import Text, redirect, rejection, safe_next
from dynabench.kit.language import _
from dynabench.kit.settings import OidcProvider, Settings
from dynabench.people.accounts import login, pending, rules
from dynabench.people.accounts.auth import Member, Viewer, limited
from dynabench.people.accounts.oidc import service
from dynabench.people.accounts.oidc.provider import Claims, LoginProvider
from dynabench.people.accounts.pages import log_in, login_form
from dynabench.people.accounts.tables import LoginStep, PendingLogin
from dynabench.web import render

router = APIRouter(include_in_schema=False)
log = structlog.get_logger("dynabench.web")
LIMITED = [Depends(limited("provider log-in", 60, 600))]


@cache
def _login_provider(issuer: str, client_id: str, secret: str, name: str, label: str, scope: str) -> LoginProvider:
    return LoginProvider(
        OidcProvider(name=name, label=label, issuer=issuer, client_id=client_id, client_secret=secret, scope=scope)
    )


def provider_named(settings: Settings, name: str) -> LoginProvider:
    """Return the provider with this name; `NotFound` where the site has none."""
    for config in settings.oidc:
        if config.name == name:
            return _login_provider(
                config.issuer, config.client_id, config.client_secret, config.name, config.label, config.scope
            )
    raise NotFound(_("This site has no such log-in provider."))


def _way_back(request: Request, name: str) -> str:
    """The address of this site that the provider leads back to, which is registered there."""
    return page_address(request, "provider_callback", provider=name)


@router.get("/login/with/{provider}", name="login_with", dependencies=LIMITED)
async def login_with(
    request: Request, db: Db, viewer: Viewer, provider: str, next: str = "/", link: bool = False
) -> Response:
    """Lead the browser to the provider; with `link`, to link its account to the person who is logged in."""
    settings = request.app.state.settings
    chosen = provider_named(settings, provider)
    person_id = viewer.id if viewer is not None and link else None
    if viewer is not None and not link:
        return RedirectResponse(safe_next(next), status_code=303)
    details = {"provider": provider, "next": safe_next(next), "link": link}
    state = await db.awrite(pending.begin_login, LoginStep.PROVIDER, person_id, details)
    try:
        address = await chosen.login_address(settings.key, state, _way_back(request, provider))
    except Problem as problem:
        return await _failed(request, problem, safe_next(next))
    response = RedirectResponse(address, status_code=303, headers={"Cache-Control": "no-store"})
    pending.keep_login(request, response, state)
    return response


@router.get("/login/with/{provider}/callback", name="provider_callback", dependencies=LIMITED)
async def provider_callback(
    request: Request,
    db: Db,
    viewer: Viewer,
    provider: str,
    state: str = "",
    code: str = "",
    iss: str = "",
    error: str = "",
) -> Response:
    """Take the browser back from the provider."""
    settings, next = request.app.state.settings, "/"
    try:
        chosen = provider_named(settings, provider)
        cookie = pending.login_cookie(request)
        if not state or not compare_digest(state.encode(), cookie.encode()):
            raise pending.EndedLogIn()
        begun = await db.awrite(pending.end_login, state, LoginStep.PROVIDER)
        next = begun.details["next"]
        linked_to = viewer.id if begun.details["link"] and viewer is not None else None
        if begun.details["provider"] != provider or begun.person_id != linked_to:
            raise pending.EndedLogIn()
        if error or not code:
            raise chosen.refusal(error[:100] or "it sent no code")
        claims = await chosen.claims(settings.key, state, code, _way_back(request, provider), iss)
    except Problem as problem:
        return await _failed(request, problem, next)
    person = await db.awrite(service.person_of_identity, claims)
    if person is not None and begun.person_id is None:
        return await log_in(request, person.id, next, provider=provider)
    if person is not None:
        done = "linked" if person.id == begun.person_id else "elsewhere"
        return redirect(request, "security", query={"done": done})
    secret, step = await db.awrite(service.next_step, claims, begun.person_id, provider, next)
    response = redirect(request, f"provider_{step}")
    pending.keep_login(request, response, secret)
    return response


async def _failed(request: Request, problem: Problem, next: str) -> Response:
    """The log-in page again, with what went wrong; the reason is for the operator's log."""
    log.warning("log-in at a provider failed", reason=str(problem.extra.get("reason", problem.detail))[:300])
    response = login_form(request, next, error=problem.detail, status=problem.status)
    pending.forget_login(request, response)
    return response


async def _begun(request: Request, step: LoginStep) -> tuple[PendingLogin, Claims, LoginProvider]:
    state = request.app.state
    begun = await state.db.aread(pending.read_login, pending.login_cookie(request), step)
    return begun, Claims(**begun.details["claims"]), provider_named(state.settings, begun.details["provider"])


async def _join_page(request: Request, status: int = 200, **values: Any) -> Response:
    _begin, claims, provider = await _begun(request, LoginStep.JOIN)
    context: dict[str, Any] = {
        "username": service.suggested_username(claims), "email": claims.email, "errors": {}, "claims": claims,
        "label": provider.config.label,
    }  # fmt: skip
    return render(request, "oidc/join.html", status=status, **(context | values))


@router.get("/login/provider/join", name="provider_join")
async def ask_to_join(request: Request, _: Viewer) -> Response:
    """The form for a person who comes from a provider and has no account here."""
    return await _join_page(request)


@router.post("/login/provider/join")
async def join_from_provider(
    request: Request, db: Db, username: Text = "", email: Text = "", agree: Text = ""
) -> Response:
    """Join without a password."""
    begun, claims, provider = await _begun(request, LoginStep.JOIN)
    security.throttle(request, "register", 120, login.HOUR, key=security.address(request))
    chosen = claims.email if claims.verified else email
    settings = request.app.state.settings
    try:
        newcomer = rules.check_registration(username, chosen, None, agree == "yes")
        person = await db.awrite(service.join_with_identity, newcomer, claims, settings.mails)
    except (Invalid, Conflict) as problem:
        return await _join_page(request, username=username, email=chosen, **rejection(problem, "username"))
    return await log_in(request, person.id, begun.details["next"], provider=provider.config.name)


async def _proof_page(request: Request, status: int = 200, error: str = "") -> Response:
    begun, claims, provider = await _begun(request, LoginStep.PROOF)
    values = {"email": claims.email, "label": provider.config.label, "next": begun.details["next"]}
    mails = request.app.state.settings.mails
    return render(request, "oidc/proof.html", status=status, error=error, mails=mails, **values)


@router.get("/login/provider/proof", name="provider_proof")
async def ask_for_proof(request: Request, _: Viewer) -> Response:
    """The form by which a person who comes from a provider proves that the account with their address is theirs."""
    return await _proof_page(request)


@router.post("/login/provider/proof")
async def prove(request: Request, db: Db, password: Text = "") -> Response:
    """Link the provider's account to the one whose password this is, and log in."""
    begun, claims, provider = await _begun(request, LoginStep.PROOF)
    cookie = pending.login_cookie(request)
    person = await db.aread(login.person_with_id, begun.person_id or 0)
    if person is None or not await login.confirm_password(request, person, password):
        await db.awrite(pending.count_failure, cookie, LoginStep.PROOF)
        if begun.tries + 1 >= pending.MOST_TRIES:
            return await _failed(request, pending.EndedLogIn(), begun.details["next"])
        return await _proof_page(request, 422, _("Wrong password."))
    try:
        await db.awrite(service.link_identity, person.id, claims)
    except Conflict as problem:
        return await _failed(request, problem, begun.details["next"])
    return await log_in(request, person.id, begun.details["next"], provider=provider.config.name, asks_code=True)


@router.get("/login/provider/confirm", name="provider_confirm")
async def ask_to_confirm(request: Request, person: Member) -> Response:
    """Ask the person who is logged in whether a provider's account is theirs."""
    begun, claims, provider = await _begun(request, LoginStep.CONFIRM)
    if begun.person_id != person.id:
        raise pending.EndedLogIn()
    return render(request, "oidc/confirm.html", claims=claims, label=provider.config.label, person=person)


@router.post("/login/provider/confirm")
async def confirm(request: Request, db: Db, person: Member) -> Response:
    """Let the person log in with the provider's account from now on."""
    begun, claims, _provider = await _begun(request, LoginStep.CONFIRM)
    if begun.person_id != person.id:
        raise pending.EndedLogIn()
    await db.awrite(pending.end_login, pending.login_cookie(request), LoginStep.CONFIRM)
    await db.awrite(service.link_identity, person.id, claims)
    response = redirect(request, "security", query={"done": "linked"})
    pending.forget_login(request, response)
    return response


@router.post("/settings/identities/{id}/unlink", name="unlink_identity")
async def unlink(request: Request, db: Db, id: security.RowId, person: Member) -> Response:
    """Log in with a provider's account no more."""
    await db.awrite(service.unlink_identity, person.id, id)
    return redirect(request, "security", query={"done": "unlinked"})


@router.get("/logged-out", name="logged_out_page")
async def logged_out_page(request: Request, _: Viewer, provider: str = "") -> Response:
    """Say that one is still logged in at the provider, and lead there to log out as well; without one lead home."""
    if not provider:
        return RedirectResponse("/", status_code=303)
    chosen = provider_named(request.app.state.settings, provider)
    address = await chosen.logout_address(f"{site_address(request)}/")
    return render(request, "oidc/logged_out.html", label=chosen.config.label, address=address)
