"""Lists of the owner's console and of submissions, page by page: the next pages show the rest, and nothing twice."""

import re
from collections.abc import Callable
from html import unescape
from types import ModuleType

import pytest
from sqlalchemy.orm import Session

from dynabench.benchmark.registry import submission_pages
from dynabench.benchmark.registry.tables import Submission
from dynabench.collection.manage import figures, people, plans
from dynabench.datasets import manage_contexts
from dynabench.people.roles import Role
from dynabench.quality.signals import manage as signals
from dynabench.quality.signals.tables import Signal
from dynabench.rounds.tables import Context
from dynabench.validation.controls import manage as controls
from dynabench.validation.manage import examples, validators
from tests.conftest import Browser
from tests.validation.control_world import ControlWorld

COUNT, PAGE = 7, 3
LISTS: dict[str, tuple[ModuleType, str, str, str]] = {
    "writers": (people, "manage/people?round=1", "after", r'id="ban-wrote-(\d+)"'),
    "roles": (people, "manage/people", "seat", r'id="role-(\d+)"'),
    "figures of writers": (figures, "manage/figures?view=annotator", "after", r'href="[^"]*examples\?author=([\w-]+)'),
    "validators": (validators, "manage/validators", "start", r'href="[^"]*/validators/(\d+)"'),
    "control items": (controls, "manage/controls", "start", r"gold (\d+) is known"),
    "examples": (examples, "manage/examples", "after", r'name="ids" value="(\d+)"'),
    "people with signals": (signals, "manage/signals", "before", r"person=(\d+)"),
    "contexts": (manage_contexts, "manage/contexts", "after", r'aria-label="Context (\d+)"'),
    "contexts to choose": (plans, "manage/rounds/1/contexts", "after", r'aria-label="Context (\d+)"'),
    "submissions": (submission_pages, "submissions", "after", r"model-(\d+)<"),
}
"""By name: its module, its address, what its address calls the place of the next page, and a pattern of its rows."""


@pytest.fixture
def owner(database, person, browser: Callable[[], Browser]) -> Browser:
    """The browser of the owner of a task with seven rows in each list."""
    world = ControlWorld(database, "{gold: 0.1}", gold=COUNT)
    olga = person("olga")
    authors = [world.person(role="annotator") for _number in range(COUNT)]
    written = [world.example(author) for author in authors]
    for number, voter in enumerate(authors):
        world.vote(voter, written[number - 1], "correct")

    def add(session: Session) -> None:
        session.add(Role(task_id=world.task, person_id=olga.id, role="owner"))
        for number, author in enumerate(authors):
            context = {"premise": f"Premise {number}."}
            session.add(Context(task_id=world.task, values=context, digest=f"{number + 5:064}", draw=number + 5))
            session.add(
                Submission(task_id=world.task, kind="hub", name=f"model-{number}", state="ready", person_id=author.id)
            )
            facts = {"characters": 40, "seconds": 1.0}
            place = {"task_id": world.task, "round_id": world.round_id, "example_id": written[number]}
            session.add(Signal(**place, person_id=author.id, kind="speed", value=2.0, threshold=1.0, facts=facts))

    database.write(add)
    opened = browser()
    assert opened.log_in("olga").status_code == 303
    return opened


def test_the_pages_of_a_list_show_every_row_once(owner, monkeypatch):
    problems = []
    for name, (module, address, place, pattern) in LISTS.items():
        size = "PAGE_ROWS" if hasattr(module, "PAGE_ROWS") else "PAGE_SIZE"
        assert getattr(module, size) == 25, name
        with monkeypatch.context() as patch:
            patch.setattr(module, size, PAGE)
            rows, path, pages = [], f"/tasks/checks/{address}", 0
            while path and pages < 2 * COUNT:
                answer = owner.get(path)  # a link that its own page refuses is a defect, too
                assert answer.status_code == 200, (name, path)
                rows += dict.fromkeys(re.findall(pattern, answer.text))
                links = [unescape(link) for link in re.findall(r'href="([^"#]*)', answer.text)]
                steps = [link for link in links if re.search(rf"[?&]{place}=", link) and link.partition("?")[0] in path]
                path, pages = (steps[-1] if steps else ""), pages + 1
        if len(rows) != len(set(rows)) or len(set(rows)) < COUNT or pages < COUNT // PAGE:
            problems.append((name, pages, rows))
    assert problems == []
