"""Accounts and tokens as JSON."""

from typing import Any

from fastapi import APIRouter, Request

from dynabench import security
from dynabench.accounts import entry, rules, schemas, service
from dynabench.accounts.auth import Member
from dynabench.accounts.tables import Person

router = APIRouter(prefix="/api/v1", tags=["accounts"])


@router.post("/accounts", status_code=201)
async def create_account(request: Request, body: schemas.Registration) -> schemas.Account:
    """Register. Whoever registers agrees to the terms and to the licence of the data."""
    person = await entry.join(request, body.username, body.email, body.password, body.agree)
    return schemas.Account(id=person.id, username=person.username)


@router.get("/me")
async def read_me(person: Member) -> schemas.Me:
    """Your own account."""
    return _me(person)


@router.patch("/me")
async def change_me(request: Request, body: schemas.Changes, person: Member) -> schemas.Me:
    """Change your account."""
    if body.pseudonym is not None:
        name = rules.clean_pseudonym(body.pseudonym)
        person = await request.app.state.db.awrite(service.choose_pseudonym, person.id, name)
    return _me(person)


def _me(person: Person) -> schemas.Me:
    return schemas.Me.model_validate(person, from_attributes=True)


@router.post("/tokens", status_code=201)
async def create_token(request: Request, body: schemas.Credentials) -> schemas.NewToken:
    """A new API token for a username (or mail address) and password; the secret is shown this once."""
    name = rules.clean_token_name(body.name)
    proven = await entry.prove(request, body.username, body.password)
    token, secret = await request.app.state.db.awrite(service.create_token, proven.person.id, name, proven.rehashed)
    return schemas.NewToken(id=token.id, token=secret)


@router.get("/tokens")
async def list_tokens(request: Request, person: Member) -> schemas.TokenList:
    """Your tokens that still work."""
    rows: list[Any] = await request.app.state.db.aread(service.tokens, person.id)
    return schemas.TokenList(items=[schemas.TokenShown.model_validate(row, from_attributes=True) for row in rows])


@router.delete("/tokens/{id}", status_code=204)
async def revoke_token(request: Request, id: security.RowId, person: Member) -> None:
    """Revoke one of your tokens at once."""
    await request.app.state.db.awrite(service.revoke_token, person.id, id)
