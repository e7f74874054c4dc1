"""Nobody reads what is not theirs: hidden and retracted examples, addresses, and what only owners may see.

Every GET route is read by everybody, in search of words that stand in one place of the database alone.
"""

from collections.abc import Callable

import pytest
from sqlalchemy.orm import Session

from dynabench.collection import withdrawal
from dynabench.kit.settings import Settings
from dynabench.rounds import invitations
from dynabench.rounds import service as rounds
from dynabench.tasks import shipped_tasks
from tests.api.route import EVERYBODY, MAY
from tests.api.routes import ROUTES
from tests.api.stage import NAMES, Scene, Stage, new_stage
from tests.collection import conftest as world
from tests.conftest import register
from tests.furnished import Furnish

host, rules = world.host, world.rules
pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)

HIDDEN, RETRACTED, CONFIG, NOTE, NAME = "hiddenzebra", "retractedzebra", "configzebra", "notezebra", "namezebra"
PRIVATE_MODEL, MODEL_NOTE = "nli-b", "modelzebra"
OUTSIDE = EVERYBODY - {"author", "moderator", "owner", "admin"}


def furnished_with_secrets(settings: Settings) -> Scene:
    """The stage with an example that a moderator hid, one that its author took back, and things of the owners'."""
    with new_stage(settings) as stage:
        author = stage.callers["author"]
        hidden, retracted = (
            stage.write(author, stage.scene.context, f"This is not so, {word}.") for word in (HIDDEN, RETRACTED)
        )
        for number, word in ((hidden, HIDDEN), (retracted, RETRACTED)):
            response = author.post(
                f"/api/v1/examples/{number}/explanations", json={"why_correct": f"Because of {word}."}
            )
            assert response.status_code == 201, response.text
        author.post(f"/api/v1/examples/{retracted}/retract")
        register(stage.client, NAME).patch("/api/v1/me", json={"pseudonym": "the countess"})
        stage.scene.secrets |= {"hidden": hidden, "retracted": retracted}
        stage.database.write(arrange, hidden)
        listed = {"visibility": "private", "note": MODEL_NOTE}
        assert stage.callers["admin"].patch(f"/api/v1/models/{PRIVATE_MODEL}", json=listed).status_code == 200
        return stage.scene


def arrange(session: Session, hidden: int) -> None:
    withdrawal.hide(session, None, hidden, f"It is about {HIDDEN}.")
    source = next(shipped_task.source for shipped_task in shipped_tasks() if shipped_task.config.id == "nli")
    rounds.save_task(session, None, f"# {CONFIG}\n{source}")
    rounds.set_role(session, None, "nli", NAME, "expert")
    invitations.create_invitation(session, None, "nli", "expert", note=NOTE)


@pytest.fixture
def furnish() -> Furnish:
    return furnished_with_secrets


def read(stage: Stage, role: str) -> list[tuple[str, str]]:
    """All that this role reads at GET routes, as path and text; pages of an example are read for each of the three."""
    texts = []
    stage.reading = True
    for (method, path), route in ROUTES.items():
        if method == "GET":
            numbers = (None, *stage.scene.secrets.values()) if "/examples/{id}" in path else (None,)
            for number in numbers:
                answer = stage.call(method, path, role, route, number)
                assert answer.status_code < 500, (role, path)
                texts.append((path, answer.text))
    return texts


def leaks(texts: list[tuple[str, str]], words: set[str], but: Callable[[str], bool] = lambda _: False) -> list[str]:
    """List the routes that show any of `words`; `but` names those that may."""
    return [f"{word} at {path}" for path, text in texts if not but(path) for word in words if word in text]


BRIEFLY = ("anon", "member", "moderator", "owner")
"""Roles that see different things; others see what one of these does."""


@pytest.mark.parametrize(
    "role", [pytest.param(role, marks=() if role in BRIEFLY else pytest.mark.slow) for role in sorted(EVERYBODY)]
)
def test_everybody_reads_only_what_is_theirs(stage: Stage, role: str):
    """Hidden and retracted examples, owners' configs and notes, names behind pseudonyms, addresses, private models."""

    def moderation(path: str) -> bool:
        route = ROUTES["GET", path]
        return route.hidden and role in MAY[route.access]

    texts = read(stage, role)
    emails = {f"{name}@example.org" for item, name in NAMES.items() if item != role} | {f"{NAME}@example.org"}
    accounts = ("/admin/people", "/api/v1/admin/people")  # of people whom administrators help to log in
    wrong = leaks(texts, emails, lambda path: role == "admin" and path.startswith(accounts))
    if role in OUTSIDE:
        wrong += leaks(texts, {HIDDEN, RETRACTED})
    if role in ("moderator", "owner"):
        wrong += leaks(texts, {HIDDEN}, moderation)
    if role not in ("owner", "admin"):
        wrong += leaks(texts, {CONFIG, NOTE, NAME})
        wrong += leaks(texts, {PRIVATE_MODEL, MODEL_NOTE}, lambda path: path == "/models/compare")
    if role == "owner":  # who chooses targets; the comparison repeats what it was asked for, and that there is none
        where = ("/manage/rounds", "/models/compare")
        wrong += leaks(texts, {PRIVATE_MODEL, MODEL_NOTE}, lambda path: path.endswith(where))
    assert not wrong


@pytest.mark.parametrize("role", ["anon", "member", "expert", "banned", "moderator", "owner", "admin"])
def test_hidden_and_retracted_examples_are_checked_by_nobody(stage: Stage, role: str):
    view = []
    for _ in range(5):
        caller = stage.client if role == "anon" else stage.callers[role]
        answer = caller.post("/api/v1/tasks/nli/validations/next")
        view.append(answer.text)
        if answer.status_code == 200:
            caller.post(f"/api/v1/examples/{answer.json()['example_id']}/skip")
    assert not [text for text in view if HIDDEN in text or RETRACTED in text]
