"""Accounts and tokens as JSON."""

from fastapi import APIRouter, Depends, Request

from dynabench.kit import security
from dynabench.kit.api import Db
from dynabench.kit.errors import Invalid
from dynabench.kit.language import _
from dynabench.people.accounts import login, rules, schemas, second_factor, service
from dynabench.people.accounts.auth import Member, Viewer, needs, scope
from dynabench.people.accounts.tables import Person

router = APIRouter(prefix="/api/v1", tags=["accounts"], dependencies=[Depends(scope("account"))])


@router.post("/accounts", status_code=201)
async def create_account(request: Request, body: schemas.Registration) -> schemas.Account:
    """Register. People who register agree to the terms and to the licence of the data."""
    person = await login.join_site(request, body.username, body.email, body.password, body.agree)
    return schemas.Account.model_validate(person)


@router.get("/me")
async def read_me(person: Member) -> schemas.Me:
    """Your own account."""
    return schemas.Me.model_validate(person)


@router.patch("/me")
async def change_me(db: Db, body: schemas.Changes, person: Member) -> schemas.Me:
    """Change your account."""
    if body.pseudonym is not None:
        name = rules.clean_pseudonym(body.pseudonym)
        person = await db.awrite(service.choose_pseudonym, person.id, name)
    if body.known_languages is not None:
        languages = rules.clean_known_languages(body.known_languages)
        person = await db.awrite(service.choose_known_languages, person.id, languages)
    if body.public_profile is not None:
        person = await db.awrite(service.choose_public_profile, person.id, body.public_profile)
    return schemas.Me.model_validate(person)


@router.post("/me/password", status_code=204)
async def set_password(request: Request, body: schemas.PasswordIn, person: Member) -> None:
    """A new password; every browser is logged out, tokens go on working."""
    await login.change_password(request, person, body.current, body.password)


@router.get("/me/notices")
async def list_notices(db: Db, person: Member) -> schemas.NoticeList:
    """Return your notices: results of your jobs, warnings, bans; the latest 50."""
    return schemas.NoticeList.cut(await db.aread(service.recent_notices, person.id, 50), 50)


@router.post("/me/notices/{id}/seen", status_code=204)
async def see_notice(db: Db, id: security.RowId, person: Member) -> None:
    """Show a notice no more; twice changes nothing."""
    await db.awrite(service.dismiss_notice, person.id, id)


@router.post("/tokens", status_code=201)
async def create_token(request: Request, db: Db, body: schemas.TokenIn, viewer: Viewer) -> schemas.NewToken:
    """A new API token; its secret is shown this once.

    For a username (or mail address) and password, or for the token that asks: that one needs the scope `account`, and
    gives no scope that it lacks itself.
    """
    name, scopes = rules.clean_token_name(body.name), rules.clean_scopes(body.scopes, request.state.scopes)
    person_id, rehashed = await _token_owner(request, body, viewer)
    token, secret = await db.awrite(service.create_token, person_id, name, scopes, rehashed)
    return schemas.NewToken(id=token.id, token=secret, scopes=scopes)


async def _token_owner(request: Request, body: schemas.TokenIn, viewer: Person | None) -> tuple[int, str | None]:
    if body.username is None and body.password is None and viewer is not None:
        return viewer.id, None
    if missing := [name for name in ("username", "password") if getattr(body, name) is None]:
        raise Invalid(dict.fromkeys(missing, _("Send a username and password, or a token with the scope “account”.")))
    proven = await login.check_credentials(request, str(body.username), str(body.password))
    person_id = proven.person.id
    needs_code = await request.app.state.db.aread(second_factor.has_second_factor, person_id)
    if needs_code and not await login.check_second_factor(request, person_id, body.code):
        raise Invalid({"code": _("Two-factor log-in is on. Send a code that your app shows, or a recovery code.")})
    return person_id, proven.rehashed


@router.get("/tokens")
@needs("account")
async def list_tokens(db: Db, person: Member) -> schemas.TokenList:
    """Your tokens that still work."""
    return schemas.TokenList.model_validate({"items": await db.aread(service.list_tokens, person.id)})


@router.delete("/tokens/{id}", status_code=204)
async def revoke_token(db: Db, id: security.RowId, person: Member) -> None:
    """Revoke one of your tokens at once."""
    await db.awrite(service.revoke_token, person.id, id)
