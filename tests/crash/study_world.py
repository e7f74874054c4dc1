"""A deployment with a round that asks for a quiz, a local Prolific, and the lives of a study's workers step by step."""

import html
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import httpx2
from alembic import command
from sqlalchemy import select
from starlette.testclient import TestClient

from dynabench.crowd.tables import Participation
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.models.client import Host
from dynabench.operations import migrations
from dynabench.rounds import contexts
from dynabench.rounds import service as rounds
from dynabench.rounds.contexts import ContextRow
from dynabench.site.app import create_app
from dynabench.tasks import shipped_tasks
from tests.collection.conftest import Root, promoted, rule_host
from tests.conftest import register
from tests.crash.deployment import Deployment, Sent, Steps, Tab
from tests.crowd.prolific_server import Prolific

QUIZ = """
onboarding:
  activities: [write, check]
  questions:
    - {name: label, question: "Who decides?", options: [right people, the model], right: right people}
    - {name: plain, question: "May it be nonsense?", options: ["yes", "right, no"], right: "right, no"}
  drawn: 2
  pass_mark: 2
  attempts: 1
"""
VOTES = 2


def open_round(settings: Settings) -> Root:
    """Furnish a database: an admin, and a round of nli with a quiz."""
    database = Database(settings.url)
    with database.engine.begin() as connection:
        command.stamp(migrations.config(connection), "head")

    def seed(session):
        [shipped] = [task for task in shipped_tasks() if task.config.id == "nli"]
        rounds.save_task(session, None, shipped.source + QUIZ)
        rows = [ContextRow(n, row["values"], row["tag"]) for n, row in enumerate(shipped.contexts(), start=1)]
        contexts.add_contexts(session, "nli", shipped.config, rows[:10])

    with rule_host() as rules, TestClient(create_app(settings, host=Host(rules.url, 2.0))) as client:
        root = promoted(register(client, "root"))
        database.write(seed)
        opened = root.post("/api/v1/tasks/nli/rounds", json={"targets": ["nli-a"]})
        assert opened.status_code == 201, opened.text
    database.close()
    return Root(root.id, root.token)


@dataclass
class StudyWorld:
    """The deployment, the platform, the owner's program, and each worker's submission by what becomes of it."""

    deployment: Deployment
    prolific: Prolific
    database: Database
    settings: Settings
    owner: httpx2.Client
    study: int = 0
    sessions: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)

    def api(self, method: str, path: str, body: object = None) -> httpx2.Response:
        answer = self.owner.request(method, f"/api/v1{path}", json=body)
        assert answer.status_code < 300, answer.text
        return answer

    def part(self, fate: str) -> Participation:
        statement = select(Participation).where(Participation.external_session == self.sessions[fate])
        return self.database.read(lambda session: session.scalars(statement).one())

    def kill_in_call(self, role: str, path: str, acts: bool, cause: Callable[[], object]) -> None:
        """Kill a process while the platform has its call, before it acts on it or after."""
        self.prolific.hold(path, acts)
        with ThreadPoolExecutor(1) as pool:
            caused = pool.submit(cause)
            assert self.prolific.reached.wait(60), self.deployment.log.read_text()[-3000:]
            self.deployment.kill(role)
            self.prolific.released.set()
            assert role == "worker" or isinstance(caused.exception(), httpx2.TransportError)
            assert role == "web" or caused.result() is None

    def kill_web_in_call(self, path: str, cause: Callable[[], object]) -> None:
        """Kill the web process in a call of the platform, before the platform acts on it and after."""
        for acts in (False, True):
            self.kill_in_call("web", path, acts, cause)
            self.deployment.start("web")

    def kill_worker_in_call(self, path: str, cause: Callable[[], object]) -> None:
        """Kill the worker in a job's call of the platform, and the next worker when it repeats the call."""
        self.kill_in_call("worker", path, False, cause)
        self.kill_in_call("worker", path, True, lambda: self.deployment.start("worker"))


def take_part(world: StudyWorld, tab: Tab, entry: str, fate: str) -> Steps:
    """A worker's steps from the platform's link to the code, which the platform is given."""
    [study] = world.prolific.books.studies
    parameters = world.prolific.reserve(study)
    world.sessions[fate] = parameters["SESSION_ID"]
    yield Sent("GET", entry, parameters)
    if fate == "declined":
        yield Sent("POST", f"{entry}/decline")
    else:
        yield Sent("POST", f"{entry}/consent", {"consent": re.search(r'name="consent" value="(\d+)"', tab.page)[1]})
        if fate == "reported":
            yield Sent("POST", f"{entry}/finish", {"early": "yes"})
        else:
            yield from qualify(tab, "write", fate != "failed")
            if fate != "failed":
                yield from write(world, tab, fate)
                yield from qualify(tab, "check", True)
                yield from check(tab)
                yield Sent("POST", f"{entry}/finish")
    world.prolific.complete(world.sessions[fate], re.search(r"complete\?cc=([A-Z2-9]+)", tab.page)[1])


def qualify(tab: Tab, activity: str, passing: bool) -> Steps:
    """Read the instructions and take the quiz."""
    way = f"/tasks/nli/onboarding/{activity}"
    yield Sent("GET", way, changes=False)
    yield Sent("POST", f"{way}/read", {"part": "instructions"})
    yield Sent("POST", f"{way}/quiz")
    for _ in range(2):
        yield Sent("GET", way, changes=False)
        options = [html.unescape(text) for text in re.findall(r'name="option" value="([^"]*)"', tab.page)]
        option = next(text for text in options if text.startswith("right") is passing)
        yield Sent("POST", re.search(rf'action="({way}/quiz/[0-9]+/[0-9]+)"', tab.page)[1], {"option": option})
    yield Sent("GET", way, changes=False)


def write(world: StudyWorld, tab: Tab, fate: str) -> Steps:
    """Write one example that fools the model, which sees nothing but the word “not”."""
    yield Sent("GET", "/tasks/nli/create")
    fields = {
        name: re.search(rf'name="{name}"[^>]*value="([^"]+)"', tab.page)[1]
        for name in ("context_id", "answer.label", "key")
    }
    world.keys[fate] = fields["key"]
    text = f"The people who are {fate} were {'there' if fields['answer.label'] == 'contradiction' else 'not there'}."
    yield Sent("POST", "/tasks/nli/create", fields | {"input.hypothesis": text})


def check(tab: Tab) -> Steps:
    """Vote on the examples of two other workers."""
    yield Sent("GET", "/tasks/nli/validate")
    for _ in range(VOTES):
        form = re.search(r'<form class="vote"[^>]* action="(/tasks/nli/validate/[0-9]+)"', tab.page)
        assert form, tab.page
        yield Sent("POST", form[1], {"vote": "correct"})
