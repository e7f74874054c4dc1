"""The people and the first example of the authorization matrix, and the base of what is made for its routes."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from typing import Any, TypeVar, cast

from sqlalchemy.orm import Session

from dynabench.kit.db import Database
from tests.conftest import Browser, Caller

NAMES = {
    "member": "mia",  # a person with an account
    "author": "ada",  # an annotator, who wrote the example
    "expert": "eva",
    "moderator": "moe",
    "owner": "olga",
    "admin": "root",
    "banned": "bea",  # an annotator who is banned
}


Written = TypeVar("Written")


@dataclass(frozen=True)
class Keys:
    """The ways of a person in: the number of the account, a token with all scopes, a logged-in browser."""

    id: int
    token: str
    cookies: CookieJar


@dataclass
class Scene:
    """The first contents of the database, and of each copy of it."""

    people: dict[str, Keys]
    context: dict[str, Any]
    example: int = 0
    job: str = ""
    data_job: str = ""
    evaluation: int = 0
    secrets: dict[str, int] = field(default_factory=dict)  # examples by what became of them


class SceneProps:
    """Makes things in the scene's database."""

    client: Any
    database: Database
    scene: Scene
    callers: dict[str, Caller]
    browsers: dict[str, Browser]
    ids: dict[str, int]
    student: int = 0
    team_secret: str = ""
    reading = False
    """Whether nothing is called but routes that change nothing."""

    def once(self, name: Hashable, make: Callable[[Session], Written]) -> Written:
        """Write a thing and return what `make` returns; for who only reads, the first one serves all."""
        remembered: dict[Hashable, Any] = self.__dict__.setdefault("_remembered", {})
        if self.reading and name in remembered:
            return cast(Written, remembered[name])
        remembered[name] = self.database.write(make)
        return cast(Written, remembered[name])
