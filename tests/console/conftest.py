"""A task with owners, a moderator and annotators, and browsers for them."""

from collections.abc import Callable

import pytest

from dynabench.kit.db import Database
from dynabench.rounds import service
from tests.collection import conftest as world
from tests.conftest import Browser, Caller

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob

Enter = Callable[[Caller], Browser]


@pytest.fixture
def enter(browser: Callable[[], Browser]) -> Enter:
    """A browser in which somebody is logged in: `page = enter(owner)`."""

    def log_in(caller: Caller) -> Browser:
        opened = browser()
        assert opened.log_in(caller.name).status_code == 303
        return opened

    return log_in


@pytest.fixture
def moderator(owner: Caller, person: Callable[[str], Caller], database: Database) -> Caller:
    """Somebody who moderates nli."""
    mo = person("moses")
    database.write(service.set_role, None, "nli", mo.name, "moderator")
    return mo


def sent(browser: Browser, name: str, content: bytes, task: str = "nli") -> str:
    """Send a file of contexts on the page; where its columns are told apart."""
    headers = {"X-CSRF-Token": browser.token("/settings")}
    files = {"file": (name, content)}
    answer = browser.client.post(f"/tasks/{task}/manage/contexts/files", files=files, headers=headers)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]
