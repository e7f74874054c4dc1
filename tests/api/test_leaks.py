"""Nobody reads what is not theirs: hidden and retracted examples, addresses, and what only owners may see.

Every GET route is read by everybody, in search of words that stand in one place of the database alone.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy.orm import Session

from dynabench.collection import hiding
from dynabench.db import Database
from dynabench.rounds import invitations
from dynabench.rounds import service as rounds
from dynabench.tasks import builtin
from tests.api.routes import EVERYBODY, MAY, ROUTES
from tests.api.stage import NAMES, Stage
from tests.collection import conftest as world
from tests.conftest import Caller

host, rules = world.host, world.rules
pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)

HIDDEN, RETRACTED, CONFIG, NOTE, NAME = "hiddenzebra", "retractedzebra", "configzebra", "notezebra", "namezebra"
OUTSIDE = EVERYBODY - {"author", "moderator", "owner", "admin"}


@pytest.fixture
def stage(client: Any, database: Database, person: Callable[[str], Caller]) -> Iterator[Stage]:
    """The stage with an example that a moderator hid, one that its author took back, and things of the owners'."""
    made = Stage(client, database, person)
    author = made.callers["author"]
    hidden, retracted = (made.write(author, made.given, f"This is not so, {word}.") for word in (HIDDEN, RETRACTED))
    for number, word in ((hidden, HIDDEN), (retracted, RETRACTED)):
        said = author.post(f"/api/v1/examples/{number}/explanations", json={"why_correct": f"Because of {word}."})
        assert said.status_code == 201, said.text
    author.post(f"/api/v1/examples/{retracted}/retract")
    person(NAME).patch("/api/v1/me", json={"pseudonym": "the countess"})
    made.ids["hidden"], made.ids["retracted"] = hidden, retracted

    def arrange(session: Session) -> None:
        hiding.hide(session, None, hidden, f"It is about {HIDDEN}.")
        source = next(each.source for each in builtin() if each.config.id == "nli")
        rounds.save_task(session, None, f"# {CONFIG}\n{source}")
        rounds.set_role(session, None, "nli", NAME, "expert")
        invitations.invite(session, None, "nli", "expert", note=NOTE)

    database.write(arrange)
    yield made
    made.close()


def found(stage: Stage, role: str, words: set[str], but: Callable[[str], bool] = lambda _: False) -> list[str]:
    """Which routes show any of `words` to `role`; `but` names those that may."""
    wrong = []
    for (method, path), route in ROUTES.items():
        if method != "GET" or but(path):
            continue
        numbers = (None, stage.ids["hidden"], stage.ids["retracted"]) if "/examples/{id}" in path else (None,)
        for number in numbers:
            answer = stage.call(method, path, role, route, number)
            wrong += [f"{role} reads {word} at {path}" for word in words if word in answer.text]
    return wrong


@pytest.mark.parametrize("role", sorted(OUTSIDE))
def test_hidden_and_retracted_examples_are_read_by_nobody_outside(stage: Stage, role: str):
    assert not found(stage, role, {HIDDEN, RETRACTED})


@pytest.mark.parametrize("role", ["moderator", "owner"])
def test_hidden_examples_are_on_pages_of_moderation_alone(stage: Stage, role: str):
    def moderation(path: str) -> bool:
        route = ROUTES["GET", path]
        return route.hidden and role in MAY[route.who]

    assert not found(stage, role, {HIDDEN}, moderation)


@pytest.mark.parametrize("role", ["anon", "member", "expert", "banned", "moderator", "owner", "admin"])
def test_hidden_and_retracted_examples_are_checked_by_nobody(stage: Stage, role: str):
    shown = []
    for _ in range(5):
        caller = stage.client if role == "anon" else stage.callers[role]
        answer = caller.post("/api/v1/tasks/nli/validations/next")
        shown.append(answer.text)
        if answer.status_code == 200:
            caller.post(f"/api/v1/examples/{answer.json()['example_id']}/skip")
    assert not [text for text in shown if HIDDEN in text or RETRACTED in text]


@pytest.mark.parametrize("role", sorted(EVERYBODY - {"owner", "admin"}))
def test_nobody_but_owners_reads_configs_notes_and_usernames_behind_pseudonyms(stage: Stage, role: str):
    assert not found(stage, role, {CONFIG, NOTE, NAME})


@pytest.mark.parametrize("role", sorted(EVERYBODY))
def test_nobody_reads_the_address_of_somebody_else(stage: Stage, role: str):
    others = {f"{name}@example.org" for each, name in NAMES.items() if each != role} | {f"{NAME}@example.org"}
    assert not found(stage, role, others)
