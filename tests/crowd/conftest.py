"""A task with an open round, an owner, and a published study with a generic panel."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from dynabench.crowd import consent, studies
from dynabench.crowd.studies import StudyPlan
from dynabench.crowd.tables import StudyState
from tests.collection import conftest as world
from tests.conftest import Browser
from tests.console import conftest as console

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, owner, ada, enter = world.admin, world.owner, world.ada, console.enter

CONSENT = "We keep your texts. Write to crowd@example.org."


@dataclass(frozen=True)
class OpenStudy:
    """A study of nli: its id, its name in addresses, and the page of its owner."""

    id: int
    slug: str

    @property
    def manage(self) -> str:
        return f"/tasks/nli/manage/studies/{self.id}"

    def entry(self, worker: str) -> str:
        return f"/studies/{self.slug}?participantId={worker}"

    @property
    def page(self) -> str:
        return f"/studies/{self.slug}"


@pytest.fixture
def make_study(owner, database) -> Callable[..., OpenStudy]:
    """Publish a study: `make_study(examples=1, votes=0, settings={...})`."""

    def make(examples: int = 1, votes: int = 0, settings: dict | None = None, publish: bool = True) -> OpenStudy:
        def write(session):
            consent.save_text(session, None, "nli", CONSENT)
            plan = StudyPlan("Fool a model", settings or {}, {"examples": examples, "votes": votes})
            study = studies.draft_study(session, None, "nli", 1, "generic", plan)
            if publish:
                studies.move_study(session, None, "nli", study.id, StudyState.PUBLISHED)
            return OpenStudy(study.id, study.slug)

        return database.write(write)

    return make


@pytest.fixture
def worker(browser: Callable[[], Browser]) -> Callable[..., Browser]:
    """A browser by which a worker entered a study: `worker(study, "w1", agree=True)`."""

    def come(study: OpenStudy, name: str, agree: bool = True) -> Browser:
        opened = browser()
        answer = opened.get(study.entry(name))
        assert answer.status_code == 303, answer.text
        if agree:
            text = opened.get(study.page).text
            version = re.search(r'name="consent" value="(\d+)"', text)
            assert version, text
            answer = opened.submit(f"{study.page}/consent", page=study.page, consent=version[1])
            assert answer.status_code == 303, answer.text
        return opened

    return come


def write_example(page: Browser, hypothesis: str = "It did not happen.") -> None:
    """Write one example of nli in a worker's browser, with the goal that the worker was given."""
    text = page.get("/tasks/nli/create").text
    context = re.search(r'name="context_id"[^>]*value="([^"]*)"', text)
    goal = re.search(r'name="answer.label" value="([a-z]+)"(?: checked| *>)', text) or re.search(
        r'name="answer.label"[^>]*value="([a-z]+)"', text
    )
    assert context, text
    assert goal, text
    fields = {"context_id": context[1], "answer.label": goal[1], "input.hypothesis": hypothesis}
    answer = page.submit("/tasks/nli/create", page="/tasks/nli/create", **fields)
    assert answer.status_code == 200, answer.text
    assert 'class="study-bar"' in answer.text, "also without scripts"
