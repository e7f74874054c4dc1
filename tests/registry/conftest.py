"""The tests' own model host with two NLI models and one of sentiment, of which some are for few people alone."""

from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from dynabench.rounds import service as rounds
from tests.collection import conftest as world
from tests.conftest import Browser, Caller

host, rules, client, furnish, admin, owner = (
    world.host,
    world.rules,
    world.client,
    world.furnish,
    world.admin,
    world.owner,
)

PAIR = {"premise": "It rains.", "hypothesis": "It does not rain."}


@pytest.fixture
def listing(owner: Caller) -> Callable[..., Any]:
    """Say who may see a model, as the admin."""

    def say(model: str, visibility: str, **more: Any) -> Any:
        return owner.patch(f"/api/v1/models/{model}", json={"visibility": visibility, **more})

    return say


@pytest.fixture
def seated(client: TestClient, owner: Caller, person: Callable[[str], Caller]) -> Caller:
    """Somebody with a role in the task nli."""
    created = person("seated")
    client.app.state.db.write(rounds.set_role, None, "nli", "seated", "annotator")
    return created


@pytest.fixture
def visitor(browser: Callable[[], Browser]) -> Browser:
    """A browser in which nobody is logged in."""
    return browser()


@pytest.fixture
def ada(person: Callable[[str], Caller], owner: Caller) -> Caller:
    return person("ada")


@pytest.fixture
def bob(person: Callable[[str], Caller], owner: Caller) -> Caller:
    return person("bob")
