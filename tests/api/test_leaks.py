"""Nobody reads what is not theirs: hidden and retracted examples, addresses, and what only owners may see.

Every GET route is read by everybody, in search of words that stand in one place of the database alone.
"""

from collections.abc import Callable

import pytest
from sqlalchemy.orm import Session

from dynabench.collection import hiding
from dynabench.rounds import invitations
from dynabench.rounds import service as rounds
from dynabench.settings import Settings
from dynabench.tasks import builtin
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
    with new_stage(settings) as made:
        author = made.callers["author"]
        hidden, retracted = (
            made.write(author, made.scene.given, f"This is not so, {word}.") for word in (HIDDEN, RETRACTED)
        )
        for number, word in ((hidden, HIDDEN), (retracted, RETRACTED)):
            said = author.post(f"/api/v1/examples/{number}/explanations", json={"why_correct": f"Because of {word}."})
            assert said.status_code == 201, said.text
        author.post(f"/api/v1/examples/{retracted}/retract")
        register(made.client, NAME).patch("/api/v1/me", json={"pseudonym": "the countess"})
        made.scene.secrets |= {"hidden": hidden, "retracted": retracted}
        made.database.write(arrange, hidden)
        listed = {"visibility": "private", "note": MODEL_NOTE}
        assert made.callers["admin"].patch(f"/api/v1/models/{PRIVATE_MODEL}", json=listed).status_code == 200
        return made.scene


def arrange(session: Session, hidden: int) -> None:
    hiding.hide(session, None, hidden, f"It is about {HIDDEN}.")
    source = next(each.source for each in builtin() if each.config.id == "nli")
    rounds.save_task(session, None, f"# {CONFIG}\n{source}")
    rounds.set_role(session, None, "nli", NAME, "expert")
    invitations.invite(session, None, "nli", "expert", note=NOTE)


@pytest.fixture
def furnish() -> Furnish:
    return furnished_with_secrets


READ: dict[str, list[tuple[str, str]]] = {}
"""What each role reads, as path and text: it is the same for all tests here, and read by the first that asks."""


def read(stage: Stage, role: str) -> list[tuple[str, str]]:
    """All that this role reads at GET routes; pages of an example are read for each of the three."""
    if role not in READ:
        found = []
        for (method, path), route in ROUTES.items():
            if method == "GET":
                numbers = (None, *stage.scene.secrets.values()) if "/examples/{id}" in path else (None,)
                found += [(path, stage.call(method, path, role, route, number).text) for number in numbers]
        READ[role] = found
    return READ[role]


def found(stage: Stage, role: str, words: set[str], but: Callable[[str], bool] = lambda _: False) -> list[str]:
    """Which routes show any of `words` to `role`; `but` names those that may."""
    return [
        f"{role} reads {word} at {path}"
        for path, text in read(stage, role)
        if not but(path)
        for word in words
        if word in text
    ]


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


@pytest.mark.parametrize("role", sorted(EVERYBODY - {"owner", "admin"}))
def test_private_models_are_named_to_nobody(stage: Stage, role: str):
    assert not found(stage, role, {PRIVATE_MODEL, MODEL_NOTE}, lambda path: path == "/models/compare")


def test_owners_read_of_a_private_model_where_they_choose_targets_alone(stage: Stage):
    where = ("/manage/rounds", "/models/compare")  # the second repeats what it was asked for, and that there is none
    assert not found(stage, "owner", {PRIVATE_MODEL, MODEL_NOTE}, lambda path: path.endswith(where))
