"""The real platform with the demo rounds, started by its own command, and people who visit it in a real Chromium."""

import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Browser

from benchmarks import talker as talking
from benchmarks.running import operate, platform
from dynabench.client import Client
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.rounds import contexts, demo
from dynabench.rounds.contexts import ContextRow
from dynabench.tasks.shipped import TEMPLATES, shipped_tasks
from tests.browser.people import PASSWORD, Guest, models_answer
from tests.collection.chat.conftest import NORTH, SOUTH
from tests.crowd.mturk_server import MechanicalTurk
from tests.crowd.prolific_server import Prolific
from tests.models.served import painter
from tests.models.served.painter import Painter, Studio
from tests.small_demo import prepare_home
from tests.web import gallery


@pytest.fixture(scope="package")
def prolific() -> Iterator[Prolific]:
    """A local server that speaks Prolific's API; the platform's studies are there."""
    server = Prolific()
    yield server
    server.close()


@pytest.fixture(scope="package")
def turk() -> Iterator[MechanicalTurk]:
    """A local server that speaks Mechanical Turk's API and shows the platform's studies in frames."""
    server = MechanicalTurk()
    yield server
    server.close()


@pytest.fixture(scope="package")
def talker() -> Iterator[talking.Talker]:
    """A local server that speaks the API of chat models, with two voices that the platform has as models."""
    voices = {"north": NORTH, "south": SOUTH}
    server = talking.Talker(**{name: talking.Voice(words, before=4) for name, words in voices.items()})
    yield server
    server.stop()


@pytest.fixture(scope="package")
def studio() -> Iterator[Studio]:
    """A local server that speaks an images API, with two painters that the platform has as models."""
    server = Studio(oils=Painter(refuses="forbidden"), pixels=Painter(form="JPEG"))
    yield server
    server.stop()


@pytest.fixture(scope="package")
def site(
    tmp_path_factory: pytest.TempPathFactory,
    prolific: Prolific,
    turk: MechanicalTurk,
    talker: talking.Talker,
    studio: Studio,
) -> Iterator[SimpleNamespace]:
    """`base` (address) and `home` (folder) of a platform whose models answer; `cookies` of who logged in there, and
    its `admins`."""
    home = tmp_path_factory.mktemp("platform")
    prepare_home(home)
    for name in talker.voices:
        talking.folder(home / "models", name, talker.url, name)
    for name in studio.painters:
        painter.folder(home / "models", name, studio.url, pictures=2, size="256x256")
    addresses = {"prolific": prolific.address, "mturk": turk.address}
    crowd = {
        "crowd_urls": json.dumps(addresses),
        "crowd_hosts": ", ".join(["127.0.0.1", *(address[7:] for address in addresses.values())]),
    }
    with platform(
        home, answer_seconds="15", private_endpoints="127.0.0.1", **crowd
    ) as base:  # what a loaded machine may take
        models_answer(base)
        yield SimpleNamespace(base=base, home=home, cookies={}, admins=set())


@pytest.fixture(scope="package")
def storied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A platform with three released rounds of two tasks, with scores; `cookies` of who logged in there.

    `ada`, whose `token` this is, administers it.
    """
    home = tmp_path_factory.mktemp("storied")
    prepare_home(home, "nli", "sentiment")
    with platform(home) as base:
        models_answer(base)
        with Client(base) as program:
            program.register("ada", "ada@example.org", PASSWORD)
            operate(home, "user", "promote", "ada", "--admin")
            token = program.log_in("ada", PASSWORD)
        yield SimpleNamespace(base=base, home=home, cookies={}, token=token)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """A Chromium; gone before other folders' tests, which use event loops of their own."""
    with gallery.chromium() as browser:
        yield browser


@pytest.fixture(scope="package")
def admin(site: SimpleNamespace) -> Iterator[Client]:
    """A program that may make tasks and open rounds."""
    with Client(site.base) as program:
        program.register("adele", "adele@example.org", PASSWORD)
        operate(site.home, "user", "promote", "adele", "--admin")
        program.log_in("adele", PASSWORD)
        yield program


MODELS = {"translation": "translation-lexicon", "qa-extended": "qa-extended-reader", "vqa": "vqa-vilt"}


@pytest.fixture(scope="package")
def start_task(site: SimpleNamespace, admin: Client) -> Callable[[str], str]:
    """Open a round of a shipped task if the demo does not, as the task's models are weak; its id."""
    started: set[str] = set()

    def start(task: str) -> str:
        if task in TEMPLATES and task not in started:
            started.add(task)
            [template] = [shipped for shipped in shipped_tasks() if shipped.config.id == task]
            admin.save_task(template.source)
            settings = Settings(home=site.home)
            db = Database(settings.url)
            values = [*template.contexts(), *demo.store_picture_contexts(db, settings, template.config)]
            rows = [ContextRow(number, item["values"], item["tag"]) for number, item in enumerate(values, start=1)]
            db.write(contexts.add_contexts, task, template.config, rows)
            db.close()
            admin.open_round(task, [MODELS[task]])
        return task

    return start


@pytest.fixture
def visitor(site: SimpleNamespace) -> Iterator[Client]:
    """A program without an account: looks things up in the sandbox before a person writes them."""
    with Client(site.base) as client:
        yield client


@pytest.fixture
def guest(chromium: Browser, site: SimpleNamespace) -> Iterator[Callable[..., Guest]]:
    """Let people in: `ada = guest("ada")` has an account, `guest()` has none. Options are those of a browser context.

    Anything that a page says on its console, refused scripts and styles among it, fails the test.
    """
    inside: list[Guest] = []

    def let_in(name: str = "", **options: Any) -> Guest:
        inside.append(Guest(chromium, site.base, **options))
        if name:
            inside[-1].come_in(name, site.cookies)
        return inside[-1]

    yield let_in
    lines = [line for single in inside for line in single.console_errors]
    for first in inside:
        first.context.close()
    assert lines == []
