"""Requests and responses of the accounts API."""

from datetime import datetime

from pydantic import BaseModel, Field

from dynabench.kit.schemas import Page, RowModel, StrictModel
from dynabench.people.accounts import rules
from dynabench.people.accounts.rules import USUAL_SCOPES
from dynabench.people.accounts.tables import SCOPES


class Registration(StrictModel):
    """A new account. Who registers here agrees to the terms and to the data's licence; `agree: false` is refused."""

    username: str = Field(description="3 to 40 letters, digits, dots, hyphens or underscores.")
    email: str = Field(description="A mail address; nothing is sent to it unless mail is configured.")
    password: str = Field(description="10 to 200 characters.")
    agree: bool = Field(True, description="Agreement to the terms and the data's licence.")


class Account(RowModel):
    """The account that was made."""

    id: int
    username: str


class Me(Account):
    """Your own account."""

    email: str
    pseudonym: str = Field(description="The name that boards show in place of the username; empty for none.")
    known_languages: list[str] = Field(
        description="Codes of the languages in which you are given contexts and checks; empty for all."
    )
    public_profile: bool = Field(description="True where everybody sees your profile.")
    admin: bool
    created_at: datetime


class Changes(StrictModel):
    """The changes to your account; members left out stay as they are."""

    pseudonym: str | None = Field(None, description="3 to 40 characters; empty shows the username again.")
    known_languages: list[str] | None = Field(
        None, max_length=rules.MOST_LANGUAGES, description="ISO 639 codes, such as en; empty for all languages."
    )
    public_profile: bool | None = Field(None, description="Whether everybody sees your profile, or you alone.")


class TokenIn(StrictModel):
    """A new token: who you are, unless another token of yours asks, and what it may do."""

    username: str | None = Field(None, description="Username or mail address; left out where a token asks.")
    password: str | None = Field(None, description="Left out where a token with the scope `account` asks.")
    code: str = Field("", max_length=40, description="Code of the person's app, where two-factor log-in is on.")
    name: str = Field("API", description="What the token is for; shown in the settings.")
    scopes: list[str] = Field(
        default_factory=lambda: list(USUAL_SCOPES), max_length=20, description=f"Some of {', '.join(SCOPES)}."
    )


class PasswordIn(StrictModel):
    """A new password in place of the current one."""

    current: str
    password: str = Field(description="10 to 200 characters.")


class TokenShown(RowModel):
    """An API token, without its secret."""

    id: int
    name: str
    prefix: str = Field(description="How the secret begins.")
    scopes: list[str] = Field(description="What may be done with it.")
    created_at: datetime
    used_at: datetime | None = Field(description="When it was last used, to the minute.")


class NewToken(BaseModel):
    """A new token; the secret is shown this once."""

    id: int
    token: str = Field(description="Send it as `Authorization: Bearer <token>`.")
    scopes: list[str]


class TokenList(Page[TokenShown]):
    """Your tokens that still work, newest first, all on one page."""


class NoticeOut(RowModel):
    """Something that you were told, such as a moderator's warning."""

    id: int
    kind: str = Field(description="`submission`, `evaluation`, `dataset`, `warning`, `ban`, `lifted` or `webhook`.")
    text: str
    link: str = Field(description="Path of the page that has more, or nothing.")
    at: datetime
    seen_at: datetime | None


class NoticeList(Page[NoticeOut]):
    """Your latest notices, newest first, all on one page."""
